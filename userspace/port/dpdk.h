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
 *                      ports), and what the kernel sends there leaves by the device
 *                      (dpdk_exception.h)
 *
 * A device has no descriptor to sleep on, so the worker asks it again and again: at once while
 * there is traffic, then, the longer nothing comes, the rarer, up to DPDK_SLEEP_MAX_NS
 * (port_wake_at()). With busy_poll it never sleeps.
 *
 * The EAL, DPDK's own state, is one for the process, and can be had once in its life. Headers of
 * DPDK are included by dpdk*.c only.
 */
#ifndef VOLLEY_PORT_DPDK_H
#define VOLLEY_PORT_DPDK_H

#include "port/dpdk_device.h"
#include "port/frame.h"
#include "port/port.h"

#define DPDK_SLEEP_MIN_NS 50000   /* after DPDK_SPINS rounds without traffic */
#define DPDK_SLEEP_MAX_NS 1000000 /* the longest sleep, and so the delay of a query that ends it */
#define DPDK_SPINS        64

struct dpdk_eal {
	bool huge_pages;     /* false: --no-huge, ordinary memory */
	uint32_t memory_mib; /* 0: as the EAL thinks; must be said without huge pages */
	/* PCI addresses to look for at the start; without any, no PCI */
	const char *const *devices;
	unsigned int n_devices;
	const char *const *options; /* more words for the EAL */
	unsigned int n_options;
};

/*
 * Starts the EAL: without telemetry, without files that stay, on the core that calls, whose
 * affinity and signals are as before. Threads of its own: one for interrupts. What it logs goes to
 * our log. Once in a process; control's thread, before other threads if they shall not wait for it.
 * 0, or -errno with a sentence in err.
 */
__attribute__((warn_unused_result)) int dpdk_eal_open(const struct dpdk_eal *eal, char *err,
						      size_t err_cap);

/* Ends it, after the last device. Nothing if it was not started. */
void dpdk_eal_close(void);

struct dpdk_queue {
	uint16_t number;
	struct volley_queue *credit; /* in the maps of the XDP program before it; NULL: none */
	/* only where such a program has looked at the outer address */
	struct frame_tunnels tunnels;
};

/* The port of one queue, none twice at a time; closed with port_close() before the device. 0 or
 * -errno. */
__attribute__((warn_unused_result)) int dpdk_open(struct port **out, struct dpdk_device *device,
						  const struct dpdk_queue *queue);

#endif
