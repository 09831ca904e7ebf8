// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xskecho IF: AF_XDP in copy mode without a server behind it. It returns IPv4 queries in place,
 * with addresses and ports swapped and QR set: the limit of a server on these sockets whose answers
 * cost nothing. Bursts of 64; need-wakeup, so it calls the kernel only when the kernel asks for it;
 * poll() when no frame is there.
 *
 * 	free frames ─► fill ring ─► kernel ─► RX ring ─► TX ring ─► kernel ─► completion ring ─┐
 * 	     ▲─────────────────────────────────────────────────────────────────────────────────┘
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include "xskecho.skel.h"

#define BURST       64
#define N_FRAMES    8192u
#define FRAME_BYTES 2048u
#define RING_CAP    2048u
#define FILL_CAP    4096u
#define KICK_FRAMES 32 /* sent by the kernel in one call in copy mode */
#define POLL_MS     100

struct echo {
	uint8_t *area;
	struct xsk_umem *umem;
	struct xsk_socket *xsk;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons comp, rx;
	struct xskecho_bpf *bpf;
	uint64_t free[N_FRAMES];
	uint32_t n_free;
	int fd, ifindex;
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

static int open_umem(struct echo *e)
{
	const struct xsk_umem_config config = {
		.fill_size = FILL_CAP,
		.comp_size = RING_CAP,
		.frame_size = FRAME_BYTES,
	};
	size_t bytes = (size_t)N_FRAMES * FRAME_BYTES;

	e->area = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (e->area == MAP_FAILED)
		return -errno;
	while (e->n_free < N_FRAMES) {
		e->free[e->n_free] = (uint64_t)e->n_free * FRAME_BYTES;
		e->n_free++;
	}
	return xsk_umem__create(&e->umem, e->area, bytes, &e->fill, &e->comp, &config);
}

static int open_socket(struct echo *e, const char *ifname)
{
	const struct xsk_socket_config config = {
		.rx_size = RING_CAP,
		.tx_size = RING_CAP,
		.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = XDP_USE_NEED_WAKEUP | XDP_COPY,
	};
	int err = xsk_socket__create(&e->xsk, ifname, 0, e->umem, &e->rx, &e->tx, &config);

	e->fd = err ? -1 : xsk_socket__fd(e->xsk);
	return err;
}

static int attach(struct echo *e)
{
	const __u32 queue = 0;

	e->bpf = xskecho_bpf__open_and_load();
	if (!e->bpf ||
	    bpf_map_update_elem(bpf_map__fd(e->bpf->maps.sockets), &queue, &e->fd, BPF_ANY))
		return -errno;
	return bpf_xdp_attach(e->ifindex, bpf_program__fd(e->bpf->progs.hand_up),
			      XDP_FLAGS_DRV_MODE, NULL);
}

/* At least half a ring, so that both sides rarely write the producer's cache line. */
static void refill(struct echo *e)
{
	uint32_t pos, n = xsk_prod_nb_free(&e->fill, FILL_CAP);

	if (n > e->n_free)
		n = e->n_free;
	if (n < BURST || xsk_ring_prod__reserve(&e->fill, n, &pos) != n)
		return;
	for (uint32_t i = 0; i < n; i++)
		*xsk_ring_prod__fill_addr(&e->fill, pos + i) = e->free[--e->n_free];
	xsk_ring_prod__submit(&e->fill, n);
}

static void reclaim(struct echo *e)
{
	uint32_t pos, n = xsk_ring_cons__peek(&e->comp, RING_CAP, &pos);

	for (uint32_t i = 0; i < n; i++)
		e->free[e->n_free++] = *xsk_ring_cons__comp_addr(&e->comp, pos + i) &
				       ~((uint64_t)FRAME_BYTES - 1);
	if (n)
		xsk_ring_cons__release(&e->comp, n);
}

/* Only the UDP checksum would change, and IPv4 may leave it out. */
static void make_reply(uint8_t *frame)
{
	uint8_t kept[6];

	memcpy(kept, frame, 6);
	memcpy(frame, frame + 6, 6);
	memcpy(frame + 6, kept, 6);
	memcpy(kept, frame + 26, 4);
	memcpy(frame + 26, frame + 30, 4);
	memcpy(frame + 30, kept, 4);
	memcpy(kept, frame + 34, 2);
	memcpy(frame + 34, frame + 36, 2);
	memcpy(frame + 36, kept, 2);
	memset(frame + 40, 0, 2);
	frame[44] |= 0x80;
}

/* Calls until the kernel has taken all frames; in copy mode a call that leaves some returns
 * EAGAIN. */
static void kick(struct echo *e)
{
	int calls = BURST / KICK_FRAMES + 1;

	while (calls-- && *e->tx.producer != __atomic_load_n(e->tx.consumer, __ATOMIC_ACQUIRE) &&
	       xsk_ring_prod__needs_wakeup(&e->tx) &&
	       sendto(e->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) < 0 &&
	       (errno == EAGAIN || errno == EBUSY))
		;
}

/* Returns how many frames came; those without room in the TX ring are lost. */
static uint32_t answer_burst(struct echo *e)
{
	uint32_t rx_at, tx_at = 0, n = xsk_ring_cons__peek(&e->rx, BURST, &rx_at);
	uint32_t n_tx = n && xsk_prod_nb_free(&e->tx, n) >= n ? n : 0;

	if (n_tx)
		xsk_ring_prod__reserve(&e->tx, n_tx, &tx_at);
	for (uint32_t i = 0; i < n; i++) {
		const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&e->rx, rx_at + i);

		if (n_tx) {
			make_reply(e->area + desc->addr);
			*xsk_ring_prod__tx_desc(&e->tx, tx_at + i) = *desc;
		} else {
			e->free[e->n_free++] = desc->addr & ~((uint64_t)FRAME_BYTES - 1);
		}
	}
	if (n)
		xsk_ring_cons__release(&e->rx, n);
	if (n_tx)
		xsk_ring_prod__submit(&e->tx, n_tx);
	return n;
}

static void serve(struct echo *e)
{
	struct pollfd fd = { .fd = e->fd, .events = POLLIN };
	uint32_t n;

	while (!stopped) {
		n = answer_burst(e);
		kick(e);
		reclaim(e);
		refill(e);
		if (!n)
			poll(&fd, 1, POLL_MS);
	}
}

int main(int argc, char **argv)
{
	static struct echo e;
	int err;

	if (argc != 2 || !(e.ifindex = (int)if_nametoindex(argv[1]))) {
		fprintf(stderr, "usage: xskecho IF\n");
		return 2;
	}
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	err = open_umem(&e);
	if (!err)
		err = open_socket(&e, argv[1]);
	if (!err)
		err = attach(&e);
	if (err) {
		fprintf(stderr, "xskecho: %s: %s\n", argv[1], strerror(-err));
		return 1;
	}
	serve(&e);
	bpf_xdp_detach(e.ifindex, XDP_FLAGS_DRV_MODE, NULL);
	return 0;
}
