/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket of an AF_XDP port and its four rings, over a socket that another process may have
 * opened: opening it needs CAP_NET_RAW, all else needs none. libxdp's functions read and write the
 * rings; its set-up (up to 1.5 without a descriptor of the caller) would open the socket itself.
 *
 *      socket ─► XDP_UMEM_REG ─► rings: fill, completion, RX, TX ─► mmap of each ─► bind
 */
#ifndef VOLLEY_PORT_XSK_RINGS_H
#define VOLLEY_PORT_XSK_RINGS_H

#include <stdint.h>
#include <xdp/xsk.h>

struct xsk_rings {
	int fd; /* the socket; -1: none */
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons rx, comp;
	struct {
		void *at;
		size_t n_bytes;
	} maps[4];
};

struct xsk_rings_config {
	void *area;
	uint64_t area_bytes;
	uint32_t frame_bytes;
	uint32_t fill_cap; /* entries: a power of two, as ring_cap */
	uint32_t ring_cap; /* of the other three */
	uint32_t ifindex;
	uint32_t queue;
	uint16_t bind_flags;
};

/* A new AF_XDP socket or -errno. Needs CAP_NET_RAW. */
int xsk_socket_open(void) __attribute__((warn_unused_result));

/* Takes the unbound AF_XDP socket fd, also after an error. 0 or -errno. */
int xsk_rings_open(struct xsk_rings *rings, int fd, const struct xsk_rings_config *config)
	__attribute__((warn_unused_result));

/* Does nothing without a socket. */
void xsk_rings_close(struct xsk_rings *rings);

#endif
