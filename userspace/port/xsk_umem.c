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

#define HUGE_BYTES     (2ul << 20)
#define FRAME_SMALL    2048u
#define FRAME_LARGE    4096u
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

/* Without reserved huge pages: aligned memory gets transparent ones if possible. */
static void *map_transparent(size_t n_bytes)
{
	size_t more = n_bytes + HUGE_BYTES;
	uint8_t *whole =
		mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (whole == MAP_FAILED)
		return MAP_FAILED;
	before = -(uintptr_t)whole & (HUGE_BYTES - 1);
	if (before)
		munmap(whole, before);
	munmap(whole + before + n_bytes, HUGE_BYTES - before);
	(void)madvise(whole + before, n_bytes, MADV_HUGEPAGE);
	(void)madvise(whole + before, n_bytes,
		      MADV_POPULATE_WRITE); /* Linux 5.14; before, pages come one by one */
	return whole + before;
}

/* Huge pages cause fewer TLB misses; ordinary pages work, too. */
static int map_area(struct xsk_port *x)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	size_t n_bytes = (size_t)x->n_frames * x->frame_bytes;
	void *area;

	x->area_bytes = (n_bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
	area = mmap(NULL, x->area_bytes, PROT_READ | PROT_WRITE,
		    flags | MAP_POPULATE | MAP_HUGETLB | 21 << MAP_HUGE_SHIFT, -1, 0);
	if (area == MAP_FAILED)
		area = map_transparent(x->area_bytes);
	if (area == MAP_FAILED)
		return -errno;
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
static int create_socket(struct xsk_port *x, const struct xsk_config *config, uint32_t ring_cap)
{
	const struct xsk_rings_config rings = {
		.area = x->area,
		.area_bytes = (uint64_t)x->n_frames * x->frame_bytes,
		.frame_bytes = x->frame_bytes,
		.fill_cap = x->n_frames,
		.ring_cap = ring_cap,
		.ifindex = if_nametoindex(config->ifname),
		.queue = config->queue,
		.bind_flags = bind_flags(config->mode),
	};
	int fd = config->open_socket ? config->open_socket() : xsk_socket_open();

	return fd < 0 ? fd : xsk_rings_open(&x->rings, fd, &rings);
}

static int create_socket_patiently(struct xsk_port *x, const struct xsk_config *config,
				   uint32_t ring_cap)
{
	const struct timespec wait = { .tv_nsec = BUSY_WAIT_MS * 1000000L };
	int err;

	for (int i = 0; i < BUSY_TRIES; i++) {
		err = create_socket(x, config, ring_cap);
		if (err != -EBUSY)
			return err;
		nanosleep(&wait, NULL);
	}
	return -EBUSY;
}

static int set_busy_poll(int fd, uint32_t us, uint32_t budget)
{
	int prefer = 1, time_us = (int)us, n = (int)(budget ? budget : BUDGET_DEFAULT);

	if (setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &prefer, sizeof(prefer)) ||
	    setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &time_us, sizeof(time_us)) ||
	    setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &n, sizeof(n)))
		return -errno;
	return 0;
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
	x->frame_bytes = config->frame_bytes ? config->frame_bytes :
			 need <= FRAME_SMALL ? FRAME_SMALL :
					       FRAME_LARGE;
	*ring_cap = config->ring_cap ? config->ring_cap : XSK_RING_DEFAULT;
	if (!is_umem_power_of_two(x->n_frames) || !is_umem_power_of_two(*ring_cap) ||
	    (x->frame_bytes != FRAME_SMALL && x->frame_bytes != FRAME_LARGE))
		return -EINVAL;
	return 0;
}

int xsk_port_init(struct xsk_port *x, const struct xsk_config *config)
{
	uint32_t ring_cap = 0;
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
		err = map_area(x);
	if (!err)
		err = create_socket_patiently(x, config, ring_cap);
	if (err)
		return err;
	x->port.fd = x->rings.fd;
	x->zerocopy = ask_zerocopy(x->port.fd);
	x->fill_cap = x->zerocopy || x->n_frames < FILL_COPY ? x->n_frames : FILL_COPY;
	set_send_budget(x->port.fd, ring_cap);
	if (x->busy_poll)
		return set_busy_poll(x->port.fd, config->busy_poll_us, config->busy_poll_budget);
	return 0;
}

void xsk_port_fini(struct xsk_port *x)
{
	xsk_rings_close(&x->rings);
	if (x->area)
		munmap(x->area, x->area_bytes);
	free(x->free);
}
