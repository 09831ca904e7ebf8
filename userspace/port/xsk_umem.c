/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/xsk_umem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "link/link.h"
#include "port/frame.h"

#define KERNEL_ROOM    256u /* XDP_PACKET_HEADROOM: the kernel's room before the data */
#define BUSY_TRIES     50   /* the kernel releases a queue some time after the socket's close */
#define BUSY_WAIT_MS   20
#define BUDGET_DEFAULT 64
#define SEND_BUDGET    256u
/*
 * Frames in the fill ring in copy mode: enough for the packets that come while the worker answers.
 * All these frames and their descriptors are used in turn, so with fewer frames more of them stay
 * in the core's cache (docs/decisions/0020). A zero-copy driver fills its own ring from the fill
 * ring, so it gets all frames.
 */
#define FILL_COPY 512u

#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9 /* linux/if_xdp.h of 6.17 */
#endif

static bool is_umem_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* *memory_fd is the caller's. */
static int map_area(struct xsk_port *x, int *memory_fd)
{
	size_t n_bytes = (size_t)x->n_frames * x->frame_bytes;
	void *area;

	n_bytes = (n_bytes + XSK_HUGE_BYTES - 1) & ~(XSK_HUGE_BYTES - 1);
	*memory_fd = xsk_memory_open(n_bytes, &area);
	if (*memory_fd < 0)
		return *memory_fd;
	x->area_bytes = n_bytes;
	x->area = area;
	x->free = malloc(x->n_frames * sizeof(*x->free));
	if (!x->free)
		return -ENOMEM;
	/* The frame with the lowest address is on top. */
	for (uint32_t i = 0; i < x->n_frames; i++)
		x->free[i] = (uint64_t)(x->n_frames - 1 - i) * x->frame_bytes;
	x->n_free = x->n_frames;
	return 0;
}

/* Without XDP_COPY and XDP_ZEROCOPY the kernel itself tries zero-copy and falls back to copying. */
static uint16_t bind_flags(enum xsk_mode mode)
{
	uint16_t mode_flag = mode == XSK_ZEROCOPY ? XDP_ZEROCOPY : mode == XSK_COPY ? XDP_COPY : 0;

	return (uint16_t)(XDP_USE_NEED_WAKEUP | mode_flag);
}

/* The fill ring has room for all frames, so a refill never fails. After a failed bind the UMEM
 * cannot be used for another try: each try has a new socket. */
static int create_socket(struct xsk_port *x, const struct xsk_config *config, int memory_fd,
			 uint32_t ring_cap)
{
	const struct xsk_socket_wish wish = {
		.n_frames = x->n_frames,
		.frame_bytes = x->frame_bytes,
		.busy_poll_us = config->busy_poll_us,
		.busy_poll_budget = !config->busy_poll_us    ? 0 :
				    config->busy_poll_budget ? config->busy_poll_budget :
							       BUDGET_DEFAULT,
	};
	const struct xsk_rings_config rings = {
		.fill_cap = x->n_frames,
		.ring_cap = ring_cap,
		.ifindex = if_nametoindex(config->ifname),
		.queue = config->queue,
		.bind_flags = bind_flags(config->mode),
	};
	int fd = (config->open_socket ? config->open_socket : xsk_socket_open)(memory_fd, &wish);

	return fd < 0 ? fd : xsk_rings_open(&x->rings, fd, &rings);
}

static int create_socket_patiently(struct xsk_port *x, const struct xsk_config *config,
				   int memory_fd, uint32_t ring_cap)
{
	const struct timespec wait = { .tv_nsec = BUSY_WAIT_MS * 1000000L };
	int err;

	for (int i = 0; i < BUSY_TRIES; i++) {
		err = create_socket(x, config, memory_fd, ring_cap);
		if (err != -EBUSY)
			return err;
		nanosleep(&wait, NULL);
	}
	return -EBUSY;
}

/* Lets one call send a whole burst in copy mode. Linux 6.17; before, a call sends 32 frames. */
static void set_send_budget(int fd, uint32_t ring_cap)
{
	uint32_t budget = ring_cap < SEND_BUDGET ? ring_cap : SEND_BUDGET;

	(void)setsockopt(fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &budget, sizeof(budget));
}

static bool ask_zerocopy(int fd)
{
	struct xdp_options options = { 0 };
	socklen_t len = sizeof(options);

	return !getsockopt(fd, SOL_XDP, XDP_OPTIONS, &options, &len) &&
	       options.flags & XDP_OPTIONS_ZEROCOPY;
}

static int choose_sizes(struct xsk_port *x, const struct xsk_config *config, uint32_t *ring_cap)
{
	struct link link;
	uint32_t need;
	int err = link_find(&link, config->ifname);

	if (err)
		return err;
	x->mtu = link.mtu;
	need = KERNEL_ROOM + FRAME_HEADERS_MAX - FRAME_IPV6_BYTES - FRAME_UDP_BYTES + x->mtu;
	x->n_frames = config->n_frames ? config->n_frames : XSK_N_FRAMES_DEFAULT;
	x->frame_bytes = config->frame_bytes     ? config->frame_bytes :
			 need <= XSK_FRAME_SMALL ? XSK_FRAME_SMALL :
						   XSK_FRAME_LARGE;
	*ring_cap = config->ring_cap ? config->ring_cap : XSK_RING_DEFAULT;
	if (!is_umem_power_of_two(x->n_frames) || !is_umem_power_of_two(*ring_cap) ||
	    (x->frame_bytes != XSK_FRAME_SMALL && x->frame_bytes != XSK_FRAME_LARGE))
		return -EINVAL;
	return 0;
}

int xsk_port_init(struct xsk_port *x, const struct xsk_config *config)
{
	uint32_t ring_cap = 0;
	int memory_fd = -1;
	int err = choose_sizes(x, config, &ring_cap);

	x->rings.fd = -1;
	x->queue = config->queue;
	x->xsks_map_fd = config->xsks_map_fd;
	x->credit = config->credit;
	x->tunnels = config->tunnels;
	x->busy_poll = config->busy_poll_us != 0;
	snprintf(x->port.name, sizeof(x->port.name), "xsk %s queue %u", config->ifname,
		 config->queue);
	if (!err)
		err = map_area(x, &memory_fd);
	if (!err)
		err = create_socket_patiently(x, config, memory_fd, ring_cap);
	if (memory_fd >= 0)
		close(memory_fd);
	if (err)
		return err;
	x->port.fd = x->rings.fd;
	x->zerocopy = ask_zerocopy(x->port.fd);
	x->fill_cap = x->zerocopy || x->n_frames < FILL_COPY ? x->n_frames : FILL_COPY;
	set_send_budget(x->port.fd, ring_cap);
	return 0;
}

void xsk_port_fini(struct xsk_port *x)
{
	xsk_rings_close(&x->rings);
	if (x->area)
		munmap(x->area, x->area_bytes);
	free(x->free);
}
