/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings of an AF_XDP port (port/xsk.h), and its fixed sizes. */
#ifndef VOLLEY_PORT_XSK_CONFIG_H
#define VOLLEY_PORT_XSK_CONFIG_H

#include <stdint.h>

#include "port/frame.h"

#define XSK_N_FRAMES_DEFAULT 4096
#define XSK_RING_DEFAULT     2048
#define XSK_BACKLOG_CAP      256 /* replies that wait for room in the TX ring */
#define XSK_LATE_SHARE       8
#define XSK_FRAME_SMALL      2048u
#define XSK_FRAME_LARGE      4096u

struct volley_queue; /* xdp/abi.h */

/* What a socket has before it has rings. */
struct xsk_socket_wish {
	uint32_t n_frames;
	uint32_t frame_bytes;
	uint32_t busy_poll_us; /* 0: no busy polling */
	uint32_t busy_poll_budget;
};

enum xsk_mode {
	XSK_AUTO, /* zero-copy if the driver supports it, else copy */
	XSK_ZEROCOPY,
	XSK_COPY,
};

struct xsk_config {
	const char *ifname;
	uint32_t queue;
	int xsks_map_fd;    /* of the XDP program; the caller closes it, after the port */
	uint32_t xdp_flags; /* XDP_FLAGS_*: how the program is attached */
	enum xsk_mode mode;
	uint32_t n_frames;     /* a power of two; 0: the default */
	uint32_t frame_bytes;  /* 2048 or 4096; 0: 2048 if the MTU fits */
	uint32_t ring_cap;     /* entries of RX, TX, completion ring: a power of two; 0: default */
	uint32_t busy_poll_us; /* 0: sleep until frames come; else SO_BUSY_POLL and no sleep */
	uint32_t busy_poll_budget;
	struct volley_queue *credit; /* of the queue, in the maps of the XDP program; NULL: none */
	struct frame_tunnels tunnels;
	/* As xsk_socket_open(), which it is if NULL. */
	int (*open_socket)(int memory_fd, const struct xsk_socket_wish *wish);
};

#endif
