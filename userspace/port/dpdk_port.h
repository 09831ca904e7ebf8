/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a DPDK device and of the ports of its queues. For the dpdk port alone. */
#ifndef VOLLEY_PORT_DPDK_PORT_H
#define VOLLEY_PORT_DPDK_PORT_H

#include <linux/types.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/frame.h"
#include "port/port.h"
#include "xdp/abi.h"

#define DPDK_QUEUES_MAX 64

struct rte_mbuf;
struct rte_mempool;

struct dpdk_device {
	uint16_t id; /* of ethdev */
	uint16_t n_queues;
	uint16_t mtu; /* control sets it while workers read it */
	uint8_t mac[6];
	bool busy_poll;
	bool is_made; /* volleyd created it, and removes it on close */
	bool is_started;
	const struct volley_state *services;
	char tap[IF_NAMESIZE]; /* "": none */
	char name[64];
	char driver[32];
	uint16_t rx_descs;
	struct rte_mempool *pools[DPDK_QUEUES_MAX];
};

struct dpdk_port {
	struct port port; /* its fd is that of the tap, or -1 */
	struct dpdk_device *device;
	struct rte_mempool *pool;
	uint16_t queue;
	struct volley_queue *credit;
	struct frame_tunnels tunnels;
	unsigned int n_empty; /* rounds in a row without a frame */
	uint64_t wake_at_ns;
};

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
