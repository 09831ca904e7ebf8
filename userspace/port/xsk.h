/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AF_XDP: frames that the XDP program redirects come straight from a receive queue into memory that
 * we share with the kernel (the UMEM), and replies leave from the same frame that brought the
 * query.
 *
 * The UMEM is cut into frames of one size. Each frame is in exactly one of these places, and goes
 * round in this order; → is a step of ours, ⇒ one of the kernel's:
 *
 *      free stack → fill ring ⇒ receive queue ⇒ RX ring → burst (worker) ─┬→ TX ring ⇒ completion ring ┐
 *          ▲                                                              ├→ backlog → TX ring ...     │
 *          │◄─────────────────────── no reply, malformed, dropped ────────┘                            │
 *          └◄──────────────────────────────────────────────────────────────────────────────────────────┘
 *
 * A frame holds: headroom of the kernel's (256 bytes) │ headers │ query, then reply │ room up to the
 * frame's end. So a reply may be as long as the room, and as the interface's MTU allows: that is
 * cap.
 *
 * A reply that comes late leaves from a frame of the free stack; its query's own frame went round
 * long before. For each that is to come, up to one in XSK_LATE_SHARE of all frames, one is kept
 * back from the fill ring.
 *
 * The kernel may take nothing of what it is told to send (iface/txqueues.h says when, for one): it
 * is told again after 1, 2, 4 ... ms, up to a tenth of a second. Control sees it (xsk_sent_read())
 * and takes the queue away.
 *
 * A TX ring without room: completions are drained, the kernel is told to send, some times over;
 * what still finds no room waits in a backlog, in order; what finds no room there is counted as
 * dropped.
 *
 * In copy mode the fill ring is kept at a few hundred frames, however many there are: see
 * xsk_umem.c.
 *
 * Memory: n_frames * frame_bytes per port, pinned: it counts against RLIMIT_MEMLOCK unless the
 * process has CAP_IPC_LOCK (-ENOBUFS).
 */
#ifndef VOLLEY_PORT_XSK_H
#define VOLLEY_PORT_XSK_H

#include <linux/if_xdp.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"
#include "port/xsk_config.h"

/* How many frames are where. Sums to n_frames when nothing is on its way from queue to RX ring. */
struct xsk_frames {
	uint32_t free;
	uint32_t fill; /* in the fill ring, for the kernel to take */
	uint32_t tx;   /* given to send, not yet seen in the completion ring */
	uint32_t backlog;
	uint32_t total;
};

/*
 * Open a socket on one receive queue of an interface. Traffic comes only after port_start(), which
 * enters it in the map; port_stop() takes it out. Closed with port_close().
 *
 * Control's thread; waits up to a second for a socket that was closed just before to let go of the
 * queue. 0 or -errno: -ENODEV (no such interface), -EINVAL (no such queue, bad size), -EBUSY (the
 * queue has a socket), -EOPNOTSUPP (no zero-copy), -ENOBUFS (RLIMIT_MEMLOCK), -EPERM.
 */
__attribute__((warn_unused_result)) int xsk_open(struct port **out,
						 const struct xsk_config *config);

/* Whether the kernel agreed to zero-copy. Any thread. */
bool xsk_is_zerocopy(const struct port *p);

/* Where the frames are. The worker's thread, or any when the port has no worker. */
void xsk_frames_read(const struct port *p, struct xsk_frames *out);

/*
 * What has become of the frames that were given to send, as counts that wrap: given by us, taken by
 * the kernel from the TX ring, and completed: 2^32 frames later all is as before. ring: as many
 * fit.
 */
struct xsk_sent {
	uint32_t given;
	uint32_t taken;
	uint32_t completed;
	uint32_t ring;
};

/* Any thread: the rings are shared memory. */
void xsk_sent_read(const struct port *p, struct xsk_sent *out);

/* The kernel's own counters (rx_dropped, rx_ring_full, ...). Any thread. 0 or -errno. */
__attribute__((warn_unused_result)) int xsk_kernel_stats(const struct port *p,
							 struct xdp_statistics *out);

#endif
