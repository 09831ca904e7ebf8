/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an AF_XDP port and its set-up: memory, UMEM, socket. For the xsk port alone. */
#ifndef VOLLEY_PORT_XSK_UMEM_H
#define VOLLEY_PORT_XSK_UMEM_H

#include "port/awake.h"
#include "port/port.h"
#include "port/xsk_config.h"
#include "port/xsk_rings.h"

struct xsk_port {
	struct port port;
	uint32_t queue;
	int xsks_map_fd;
	struct volley_queue *credit; /* NULL: none */
	bool zerocopy;
	bool busy_poll;
	uint32_t mtu;
	struct frame_tunnels tunnels;

	uint8_t *area; /* the UMEM's memory */
	size_t area_bytes;
	uint32_t n_frames;
	uint32_t frame_bytes;
	uint32_t fill_cap; /* most frames in the fill ring */
	struct xsk_rings rings;

	/* a stack: the frame used last is most likely still in the CPU's cache */
	uint64_t *free;
	uint32_t n_free;
	uint32_t n_tx; /* in the TX ring or with the kernel, not yet completed */
	uint64_t retry_at_ns;
	uint32_t n_vain;   /* retries in a row after which no frame left the TX ring */
	uint32_t taken_at; /* frames that the kernel had taken at the last retry */
	struct awake awake;
	uint32_t backlog_at, n_backlog; /* a ring: first and count */
	struct xdp_desc backlog[XSK_BACKLOG_CAP];
};

/* Fills the struct; all frames are in the free stack. 0 or -errno; call fini in both cases. */
__attribute__((warn_unused_result)) int xsk_port_init(struct xsk_port *x,
						      const struct xsk_config *config);
void xsk_port_fini(struct xsk_port *x);

#endif
