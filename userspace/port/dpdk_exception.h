/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exception path. The kernel does not see a device that DPDK owns, so it has a tap interface in
 * its place, with the device's MAC address. Frames that are not ours go to the tap, and frames that
 * the kernel sends to the tap leave by the device: ARP, ND, ICMP, TCP, ssh.
 *
 * The operator sets addresses and routes on the tap. A tap that exists already (`ip tuntap add ...
 * mode tap multi_queue`) keeps them over a restart. Otherwise the tap is created, and it goes when
 * its last descriptor is closed. Each queue of the device has a queue of the tap.
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
 * Opens one queue of the tap. The first one sets the tap's MAC address and MTU and sets it up.
 * Returns a non-blocking descriptor, or -errno. Control's thread.
 */
__attribute__((warn_unused_result)) int exception_open(const char *ifname, const uint8_t mac[6],
						       uint16_t mtu);

/*
 * True if a frame that frame_parse() has accepted is for a service of ours. A frame for another
 * address or port, for a group or for another host goes to the kernel. Any thread.
 */
bool exception_is_ours(const struct volley_state *services, const uint8_t mac[6],
		       const struct frame *f, const uint8_t *bytes);

/* Gives one frame to the kernel. False: the kernel did not take it. */
bool exception_give(int fd, const uint8_t *bytes, uint32_t len);

/* Takes one frame of at most cap bytes from the kernel. Returns its length; 0: none now. */
uint32_t exception_take(int fd, uint8_t *bytes, uint32_t cap);

#endif
