/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rings in which the kernel's veth puts frames for the other end, one for each receive queue of
 * that end. A sender chooses the ring by its CPU.
 *
 * If the other end has GRO and no XDP program, the answers of a native program wait in its rings,
 * since nothing wakes that end (iface/vethpeer.h). A ring has room for 256 frames. If this end has
 * no segmentation offload, frames of kernel sockets use the ring, too, and such a frame wakes the
 * other end only if the ring has taken it (veth_xmit()). So once the ring is full, the kernel drops
 * every frame for it, until something else wakes the other end.
 */
#ifndef VOLLEY_BPF_VETHRING_H
#define VOLLEY_BPF_VETHRING_H

#include <stdint.h>

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
