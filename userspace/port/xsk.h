/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AF_XDP: frames that the XDP program redirects come straight from a receive queue into memory that
 * volleyd shares with the kernel (the UMEM). A reply leaves in the frame that brought the query.
 *
 * The UMEM is cut into frames of one size. Each frame is in exactly one of these places and moves
 * in this order; → is a step of volleyd, ⇒ a step of the kernel:
 *
 *      free stack → fill ring ⇒ receive queue ⇒ RX ring → burst ─┬→ TX ring ⇒ completion ring ┐
 *          ▲                                           (worker)  ├→ backlog → TX ring ...     │
 *          │◄────────────── no reply, malformed, dropped ────────┘                            │
 *          └◄─────────────────────────────────────────────────────────────────────────────────┘
 *
 * A frame holds: the kernel's headroom (256 bytes) │ headers │ query, then reply │ room up to the
 * frame's end. That room and the interface's MTU limit a reply: cap of struct port_msg.
 *
 * A late reply leaves in a frame of the free stack, because its query's frame is in use again. For
 * each outstanding late reply one free frame is kept out of the fill ring, up to one in
 * XSK_LATE_SHARE of all frames.
 *
 * The kernel may take no frame from the TX ring (one case is in link/link.h). The port tells
 * it again after 1, 2, 4 ... ms, up to a tenth of a second. Control notices it (xsk_sent_read())
 * and closes the socket.
 *
 * If the TX ring has no room, the port drains completions and tells the kernel to send, several
 * times. Replies that still find no room wait in the backlog, in order. If the backlog is full,
 * they are dropped and counted.
 *
 * In copy mode the fill ring has a few hundred frames at most: see xsk_umem.c.
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

/*
 * Opens a socket on one receive queue of an interface. Traffic comes only after port_start(), which
 * enters the socket in the map; port_stop() removes it. The caller closes it with port_close().
 *
 * Control's thread. Waits up to a second if the kernel has not yet released the queue of a socket
 * that was just closed. 0 or -errno: -ENODEV (no such interface), -EINVAL (no such queue, bad
 * size), -EBUSY (the queue has a socket), -EOPNOTSUPP (no zero-copy), -ENOBUFS (RLIMIT_MEMLOCK),
 * -EPERM.
 */
__attribute__((warn_unused_result)) int xsk_open(struct port **out,
						 const struct xsk_config *config);

/* True if the socket is in zero-copy mode. Any thread. */
bool xsk_is_zerocopy(const struct port *p);

/*
 * The progress of the frames in the TX ring, as counters that wrap at 2^32: frames that the port
 * has put into the ring, that the kernel has taken from it, and that it has completed. ring: the
 * capacity of the TX ring.
 */
struct xsk_sent {
	uint32_t given;
	uint32_t taken;
	uint32_t completed;
	uint32_t ring;
};

/* Any thread: the rings are shared memory. */
void xsk_sent_read(const struct port *p, struct xsk_sent *out);

/* The kernel's counters of a socket (XDP_STATISTICS): fields of struct xdp_statistics, texts. */
#define XSK_KERNEL_LIST(X)                                                                      \
	X(rx_dropped, "frames that did not fit a buffer, or that the kernel dropped otherwise") \
	X(rx_ring_full, "frames dropped because the worker was too late: the RX ring was full") \
	X(rx_fill_ring_empty_descs, "frames dropped because no buffer was free for them")       \
	X(rx_invalid_descs, "buffers that the kernel refused: a fault of volleyd")              \
	X(tx_invalid_descs, "replies that the kernel refused: a fault of volleyd")              \
	X(tx_ring_empty_descs, "looks of the kernel into an empty TX ring")

/* Reads them. Any thread. 0 or -errno. */
__attribute__((warn_unused_result)) int xsk_kernel_stats(const struct port *p,
							 struct xdp_statistics *out);

#endif
