/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A DPDK device, from which each worker reads one queue (port/dpdk.h).
 *
 * Threads: control's, unless a comment says otherwise.
 */
#ifndef VOLLEY_PORT_DPDK_DEVICE_H
#define VOLLEY_PORT_DPDK_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xdp/abi.h"

#define DPDK_DEVICE_CAP 512 /* of a device's words, with their NUL */

struct dpdk_config {
	const char *device; /* "net_af_xdp0,iface=eth0" or "0000:3b:00.0" */
	uint16_t n_queues;  /* 0: as many as the device has, 64 at most */
	uint16_t rx_descs;  /* 0: 1024; the device rounds and bounds them */
	uint16_t tx_descs;
	uint32_t n_mbufs; /* of each queue; 0: 8191. net_af_xdp alone keeps 2048 in its fill ring */
	bool busy_poll;   /* never sleep */
	const struct volley_state *services; /* outlives the device; NULL: all that comes is ours */
	const char *
		tap; /* the interface to which goes what is not ours, made if need be; NULL: none */
};

/* What the device says of itself, summed over its queues. */
struct dpdk_counters {
	uint64_t ipackets, opackets;
	uint64_t imissed; /* lost before a queue, since nobody took them in time */
	uint64_t ierrors, oerrors;
	uint64_t rx_nombuf;
};

struct dpdk_device;

/*
 * Finds or makes the device, sets up its queues, starts it; on net_af_xdp that attaches the XDP
 * program of its words. Control's thread. 0, or -errno with a sentence in err: -ENODEV, -ENOMEM,
 * -EBUSY ...
 */
__attribute__((warn_unused_result)) int dpdk_device_open(struct dpdk_device **out,
							 const struct dpdk_config *config,
							 char *err, size_t err_cap);

/*
 * After all of its ports. On net_af_xdp that takes the XDP program off, whichever it is. NULL is
 * allowed.
 */
void dpdk_device_close(struct dpdk_device *device);

/* Replies keep to it from now on; it is not set in the device. 0: as it is. Control's thread. */
void dpdk_device_set_mtu(struct dpdk_device *device, uint32_t mtu);

uint16_t dpdk_device_queues(const struct dpdk_device *device);

/* "net_af_xdp". As long as the device. */
const char *dpdk_device_driver(const struct dpdk_device *device);

/* Any thread. */
void dpdk_device_counters(const struct dpdk_device *device, struct dpdk_counters *out);

#endif
