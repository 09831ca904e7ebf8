/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a DPDK device and of the ports of its queues. For the dpdk port alone. */
#ifndef VOLLEY_PORT_DPDK_PORT_H
#define VOLLEY_PORT_DPDK_PORT_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/frame.h"
#include "port/port.h"

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

#endif
