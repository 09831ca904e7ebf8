/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions and tasks for which the kernel has no call, only programs of a few instructions: frames
 * in several buffers, the clock of programs, waking the other end of a veth.
 *
 * Frames in several buffers. With an MTU above about 3,500 octets, most drivers accept a native
 * program only if it is loaded for frames in several buffers (BPF_F_XDP_HAS_FRAGS, Linux 5.18).
 * Such a program answers a frame that fits one buffer as before. Of a larger frame it sees only the
 * first buffer, and passes it.
 *
 * We load a program this way only if the driver refuses it otherwise: with smaller frames, drivers
 * work as before. Control's thread.
 */
#ifndef VOLLEY_BPF_TINY_PROGRAMS_H
#define VOLLEY_BPF_TINY_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_program;

/* True if the kernel has BPF_F_XDP_HAS_FRAGS. Loads a program of two instructions to find out. */
bool frags_are_known(void);

/*
 * True if the interface's MTU does not fit one buffer, so a native program must be loaded this way.
 */
bool frags_are_due(const char *ifname);

/* Marks a program that is not yet loaded. 0 or -errno. */
int frags_want(struct bpf_program *program) __attribute__((warn_unused_result));

/*
 * The clock of BPF programs, CLOCK_MONOTONIC_COARSE of the kernel, as a program reads it. In a time
 * namespace the clocks of a process are shifted (time_namespaces(7)), and /proc gives the offsets
 * of a namespace that the process may not be in.
 *
 * Needs CAP_BPF and CAP_NET_ADMIN, as loading the XDP program does. Any thread.
 */

/*
 * *ahead_ns: by how much CLOCK_MONOTONIC of this process is ahead of the clock of BPF programs;
 * negative: behind. Less than a second counts as 0: without a time namespace they differ by a tick.
 * 0 or -errno; then *ahead_ns is 0.
 */
int ktime_offset(int64_t *ahead_ns) __attribute__((warn_unused_result));

/*
 * The rings in which the kernel's veth puts frames for the other end, one for each receive queue of
 * that end. A sender chooses the ring by its CPU.
 *
 * If the other end has GRO and no XDP program, the answers of a native program wait in its rings,
 * since nothing wakes that end (link/vethpeer.h). A ring has room for 256 frames. If this end has
 * no segmentation offload, frames of kernel sockets use the ring, too, and such a frame wakes the
 * other end only if the ring has taken it (veth_xmit()). So once the ring is full, the kernel drops
 * every frame for it, until something else wakes the other end.
 */

/*
 * Wakes the other end for all its rings: it receives the frames that wait. For this, one frame is
 * redirected to the interface on each CPU that this thread may use: veth_xdp_xmit() wakes the
 * other end even if the ring is full. The frame has `mac`, the interface's address, as source and
 * destination, and the EtherType of loopback tests (ETH_P_LOOPBACK), which hosts and switches
 * ignore.
 *
 * The interface is one of the thread's network namespace. Needs CAP_BPF and CAP_NET_ADMIN. Changes
 * the thread's CPU affinity meanwhile, so no other thread may change it. 0 or -errno; -EINVAL: a
 * kernel older than Linux 5.18.
 */
int vethring_wake(unsigned int ifindex, const uint8_t mac[6]) __attribute__((warn_unused_result));

#endif
