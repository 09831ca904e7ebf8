/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DPDK: bursts straight from a device's queue by a poll mode driver, and replies from the mbuf that
 * brought the query. One device, one port for each of its queues, each driven by one worker.
 *
 *      device queue ─► rx burst ─┬─ ours ─► handler ─► reply in place ─► tx burst ─► device queue
 *                                └─ not ours ─► tap ═► kernel ═► tap ─► tx burst ─────┘
 *
 * What is ours is decided in one of two ways:
 *
 *      services NULL   by what stands before the device: on net_af_xdp our XDP program hands up
 *                      nothing else, answers hits by itself, and passes the rest to the kernel
 *      services, tap   here: DPDK owns the device, so the kernel sees it through a tap interface. All that
 *                      is not UDP to a service goes there (ARP, ND, ICMP, TCP, fragments, other
 *                      ports), and what the kernel sends there leaves by the device (dpdk_exception.h)
 *
 * A device has no descriptor to sleep on, so the worker asks it again and again: at once while there is
 * traffic, then, the longer nothing comes, the rarer, up to DPDK_SLEEP_MAX_NS (port_wake_at()). With
 * busy_poll it never sleeps.
 *
 * The EAL, DPDK's own state, is one for the process, and can be had once in its life. Headers of DPDK
 * are included by dpdk*.c only.
 */
#ifndef VOLLEY_PORT_DPDK_H
#define VOLLEY_PORT_DPDK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/frame.h"
#include "port/port.h"
#include "xdp/abi.h"

#define DPDK_QUEUES_MAX   64
#define DPDK_DEVICE_CAP   512     /* of a device's words, with their NUL */
#define DPDK_SLEEP_MIN_NS 50000   /* after DPDK_SPINS rounds without traffic */
#define DPDK_SLEEP_MAX_NS 1000000 /* the longest sleep, and so the delay of a query that ends it */
#define DPDK_SPINS        64

struct dpdk_eal {
	bool huge_pages;            /* false: --no-huge, ordinary memory */
	uint32_t memory_mib;        /* 0: as the EAL thinks; must be said without huge pages */
	const char *const *devices; /* PCI addresses to look for at the start; without any, no PCI */
	unsigned int n_devices;
	const char *const *options; /* more words for the EAL */
	unsigned int n_options;
};

struct dpdk_config {
	const char *device; /* "net_af_xdp0,iface=eth0" or "0000:3b:00.0" */
	uint16_t n_queues;  /* 0: as many as the device has, at most DPDK_QUEUES_MAX */
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
 * Starts the EAL: without telemetry, without files that stay, on the core that calls, whose affinity and
 * signals are as before. Threads of its own: one for interrupts. What it logs goes to our log. Once in
 * a process; control's thread, before other threads if they shall not wait for it. 0, or -errno with a
 * sentence in err.
 */
__attribute__((warn_unused_result)) int dpdk_eal_open(const struct dpdk_eal *eal, char *err,
						      size_t err_cap);

/* Ends it, after the last device. Nothing if it was not started. */
void dpdk_eal_close(void);

/*
 * Finds or makes the device, sets up its queues, starts it; on net_af_xdp that attaches the XDP program of
 * its words. Control's thread. 0, or -errno with a sentence in err: -ENODEV, -ENOMEM, -EBUSY ...
 */
__attribute__((warn_unused_result)) int dpdk_device_open(struct dpdk_device **out,
							 const struct dpdk_config *config,
							 char *err, size_t err_cap);

/* After all of its ports. On net_af_xdp that takes the XDP program off, whichever it is. NULL is allowed. */
void dpdk_device_close(struct dpdk_device *device);

/* Replies keep to it from now on; it is not set in the device. 0: as it is. Control's thread. */
void dpdk_device_set_mtu(struct dpdk_device *device, uint32_t mtu);

uint16_t dpdk_device_queues(const struct dpdk_device *device);

/* "net_af_xdp". As long as the device. */
const char *dpdk_device_driver(const struct dpdk_device *device);

/* Any thread. */
void dpdk_device_counters(const struct dpdk_device *device, struct dpdk_counters *out);

struct dpdk_queue {
	uint16_t number;
	struct volley_queue *credit;  /* in the maps of the XDP program before it; NULL: none */
	struct frame_tunnels tunnels; /* only where such a program has looked at the outer address */
};

/* The port of one queue, none twice at a time; closed with port_close() before the device. 0 or -errno. */
__attribute__((warn_unused_result)) int dpdk_open(struct port **out, struct dpdk_device *device,
						  const struct dpdk_queue *queue);

#endif
