/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DPDK: a poll mode driver receives bursts straight from a device's queue, and a reply leaves in
 * the mbuf that brought the query. Each queue of a device is one port, driven by one worker.
 *
 *      device queue ─► rx burst ─┬─ ours ─► handler ─► reply in place ─► tx burst ─► device queue
 *                                └─ not ours ─► tap ═► kernel ═► tap ─► tx burst ─────┘
 *
 * Which frames are ours is decided in one of two ways:
 *
 *      services NULL   before the device: on net_af_xdp our XDP program answers hits itself, hands
 *                      up queries that are ours, and passes the rest to the kernel
 *      services, tap   here: DPDK owns the device, so the kernel sees it through a tap interface.
 *                      Frames that are not UDP to a service go there (ARP, ND, ICMP, TCP,
 *                      fragments, other ports), and frames that the kernel sends there leave by
 *                      the device (dpdk_port.h)
 *
 * A device has no descriptor to sleep on, so the worker polls it: at once while there is traffic,
 * then less and less often, up to DPDK_SLEEP_MAX_NS apart (port_wake_at()). With busy_poll it never
 * sleeps.
 *
 * A process has one EAL (DPDK's global state) and can start it only once. Only dpdk*.c include
 * headers of DPDK.
 */
#ifndef VOLLEY_PORT_DPDK_H
#define VOLLEY_PORT_DPDK_H

#include "port/dpdk_device.h"
#include "port/frame.h"
#include "port/port.h"

#define DPDK_SLEEP_MIN_NS 50000   /* after DPDK_SPINS rounds without traffic */
#define DPDK_SLEEP_MAX_NS 1000000 /* longest sleep: the most that a query is delayed */
#define DPDK_SPINS        64

struct dpdk_eal {
	bool huge_pages;     /* false: ordinary memory (--no-huge) */
	uint32_t memory_mib; /* 0: the EAL decides; must be set without huge pages */
	/* PCI addresses to probe at the start; if there are none, the EAL does not use PCI */
	const char *const *devices;
	unsigned int n_devices;
	const char *const *options; /* further arguments of the EAL */
	unsigned int n_options;
};

/*
 * Starts the EAL on the calling core, without telemetry and without files that stay. The thread
 * keeps its affinity and signals. The EAL has one thread of its own, for interrupts. Its log goes
 * to our log. Once in a process; control's thread, before other threads if they must not wait for
 * it. 0, or -errno with a sentence in err.
 */
__attribute__((warn_unused_result)) int dpdk_eal_open(const struct dpdk_eal *eal, char *err,
						      size_t err_cap);

/* Ends the EAL, after the last device. Does nothing if the EAL was not started. */
void dpdk_eal_close(void);

struct dpdk_queue {
	uint16_t number;
	struct volley_queue *credit; /* in the maps of the device's XDP program; NULL: none */
	/* only if an XDP program has checked the outer address */
	struct frame_tunnels tunnels;
};

/* Opens the port of one queue; a queue has one port at a time. The caller closes it with
 * port_close() before the device. 0 or -errno. */
__attribute__((warn_unused_result)) int dpdk_open(struct port **out, struct dpdk_device *device,
						  const struct dpdk_queue *queue);

#endif
