/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exception path: a device that DPDK owns is none of the kernel's, so the kernel has a tap
 * interface in its place, with the device's MAC address. What is not ours goes there, and what the
 * kernel sends there goes out by the device: ARP, ND, ICMP, TCP, ssh.
 *
 * Addresses and routes on the tap are the operator's. One that is there already (`ip tuntap add ...
 * mode tap multi_queue`) keeps them over a restart; else it is made, and goes with its last
 * descriptor. Each queue of the device has one of the tap's.
 *
 * For the dpdk port alone.
 */
#ifndef VOLLEY_PORT_DPDK_EXCEPTION_H
#define VOLLEY_PORT_DPDK_EXCEPTION_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/frame.h"
#include "xdp/abi.h"

/*
 * One queue of the tap; the first one of the tap gives it mac and MTU and sets it up. A descriptor
 * that never blocks, or -errno. Control's thread.
 */
__attribute__((warn_unused_result)) int exception_open(const char *ifname, const uint8_t mac[6],
						       uint16_t mtu);

/*
 * Whether a frame that frame_parse() took apart is for a service of ours. Anyone else's, by address
 * or port, and what came to a group or another host is the kernel's. Any thread.
 */
bool exception_is_ours(const struct volley_state *services, const uint8_t mac[6],
		       const struct frame *f, const uint8_t *bytes);

/* One frame to the kernel. Whether it took it. */
bool exception_give(int fd, const uint8_t *bytes, uint32_t len);

/* One frame from the kernel, at most cap bytes; its length, or 0: there is none now. */
uint32_t exception_take(int fd, uint8_t *bytes, uint32_t cap);

#endif
