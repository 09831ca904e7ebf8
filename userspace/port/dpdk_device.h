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

#define DPDK_DEVICE_CAP 512 /* of a device's name and parameters, with NUL */

struct dpdk_config {
	const char *device; /* "net_af_xdp0,iface=eth0" or "0000:3b:00.0" */
	uint16_t n_queues;  /* 0: all of the device, 64 at most */
	uint16_t rx_descs;  /* 0: 1024; the device may round and limit them */
	uint16_t tx_descs;
	uint32_t n_mbufs; /* of each queue; 0: 8191. net_af_xdp alone keeps 2048 in its fill ring */
	bool busy_poll;   /* never sleep */
	const struct volley_state *services; /* outlives the device; NULL: all frames are ours */
	/* the interface that gets all other frames, created if missing; NULL: none */
	const char *tap;
};

/* The device's own counters, summed over its queues. */
struct dpdk_counters {
	uint64_t ipackets, opackets;
	uint64_t imissed; /* lost before a queue, because it was full */
	uint64_t ierrors, oerrors;
	uint64_t rx_nombuf;
};

struct dpdk_device;

/*
 * Finds or creates the device, sets up its queues and starts it. With net_af_xdp this attaches the
 * XDP program of its parameters. Control's thread. 0, or -errno with a sentence in err: -ENODEV,
 * -ENOMEM, -EBUSY ...
 */
__attribute__((warn_unused_result)) int dpdk_device_open(struct dpdk_device **out,
							 const struct dpdk_config *config,
							 char *err, size_t err_cap);

/*
 * Call after all ports of the device were closed. With net_af_xdp this detaches the XDP program,
 * whichever it is. NULL is allowed.
 */
void dpdk_device_close(struct dpdk_device *device);

/* Limits replies to this MTU from now on; the device is not changed. 0: no change. */
void dpdk_device_set_mtu(struct dpdk_device *device, uint32_t mtu);

uint16_t dpdk_device_queues(const struct dpdk_device *device);

/* "net_af_xdp". Valid as long as the device. */
const char *dpdk_device_driver(const struct dpdk_device *device);

/* Any thread. */
void dpdk_device_counters(const struct dpdk_device *device, struct dpdk_counters *out);

#endif
