/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/dpdk.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "port/credit.h"
#include "port/dpdk_port.h"
#include "port/frame.h"

#define PREFETCH_AHEAD 4
#define TX_TRIES       8  /* calls in a row that send nothing, before frames are dropped */
#define KERNEL_BURST   32 /* frames from the kernel sent at a time */

_Static_assert(sizeof(uintptr_t) <= sizeof(uint64_t), "frame_at holds an mbuf's address");

static struct dpdk_port *dpdk_self(struct port *p)
{
	return (struct dpdk_port *)p;
}

static struct rte_mbuf *mbuf_of(const struct port_msg *m)
{
	return (struct rte_mbuf *)(uintptr_t)m->frame_at;
}

/* --- Out -------------------------------------------------------------------------------------- */

/* Tries several times, as the device may be behind. Frees the rest; returns its number. */
static uint16_t transmit_dpdk(struct dpdk_port *d, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t n_sent = 0, more;

	for (int tries = 0; n_sent < n && tries < TX_TRIES; tries++) {
		more = rte_eth_tx_burst(d->device->id, d->queue, mbufs + n_sent,
					(uint16_t)(n - n_sent));
		n_sent = (uint16_t)(n_sent + more);
		if (more)
			tries = 0;
	}
	if (n_sent < n)
		rte_pktmbuf_free_bulk(mbufs + n_sent, (unsigned int)(n - n_sent));
	return (uint16_t)(n - n_sent);
}

static uint32_t sum_lengths(struct rte_mbuf *const *mbufs, uint16_t n)
{
	uint32_t sum = 0;

	for (uint16_t i = 0; i < n; i++)
		sum += mbufs[i]->data_len;
	return sum;
}

/* Sends replies; returns how many were dropped. */
static uint16_t transmit_replies(struct dpdk_port *d, struct rte_mbuf **mbufs, uint16_t n)
{
	uint32_t n_bytes = sum_lengths(mbufs, n);
	uint16_t n_lost = n ? transmit_dpdk(d, mbufs, n) : 0;

	port_count(&d->port.stats.tx, (uint64_t)n - n_lost);
	port_count(&d->port.stats.tx_dropped, n_lost);
	if (n)
		port_count(&d->port.stats.tx_bytes, (uint64_t)n_bytes * (n - n_lost) / n);
	return n_lost;
}

/* The frame is complete at the mbuf's data. */
static void finish_dpdk(struct rte_mbuf *mbuf, uint32_t len)
{
	mbuf->data_len = (uint16_t)len;
	mbuf->pkt_len = len;
	mbuf->ol_flags = 0;
}

static void dpdk_send(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n)
{
	struct rte_mbuf *out[PORT_BURST], *back[PORT_BURST];
	unsigned int n_back = 0;
	uint16_t n_out = 0;

	(void)now_ns;
	for (unsigned int i = 0; i < n; i++) {
		const struct port_msg *m = &msgs[i];
		const struct frame f = { .net_off = m->net_off, .family = m->family };
		struct rte_mbuf *mbuf = mbuf_of(m);

		if (!m->len) {
			port_count_unsent(p, m);
			back[n_back++] = mbuf;
			continue;
		}
		assert(m->len <= m->cap);
		finish_dpdk(mbuf, frame_reply(&f, rte_pktmbuf_mtod(mbuf, uint8_t *), m->len));
		out[n_out++] = mbuf;
	}
	if (n_back)
		rte_pktmbuf_free_bulk(back, n_back);
	(void)transmit_replies(dpdk_self(p), out, n_out);
}

/* --- The kernel's frames ---------------------------------------------------------------------- */

static void give_to_kernel(struct dpdk_port *d, struct rte_mbuf *mbuf)
{
	bool is_given =
		exception_give(d->port.fd, rte_pktmbuf_mtod(mbuf, uint8_t *), mbuf->data_len);

	port_count(is_given ? &d->port.stats.to_kernel : &d->port.stats.to_kernel_lost, 1);
	rte_pktmbuf_free(mbuf);
}

static struct rte_mbuf *take_from_kernel(struct dpdk_port *d)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(d->pool);
	uint32_t len;

	if (!mbuf)
		return NULL;
	len = exception_take(d->port.fd, rte_pktmbuf_mtod(mbuf, uint8_t *),
			     rte_pktmbuf_tailroom(mbuf));
	if (!len) {
		rte_pktmbuf_free(mbuf);
		return NULL;
	}
	finish_dpdk(mbuf, len);
	return mbuf;
}

/* At most one burst a round, so that the kernel's frames do not delay queries. */
static void send_for_kernel(struct dpdk_port *d)
{
	struct rte_mbuf *mbufs[KERNEL_BURST];
	uint16_t n = 0, n_lost;

	while (n < KERNEL_BURST && (mbufs[n] = take_from_kernel(d)) != NULL)
		n++;
	if (!n)
		return;
	n_lost = transmit_dpdk(d, mbufs, n);
	port_count(&d->port.stats.from_kernel, (uint64_t)n - n_lost);
	port_count(&d->port.stats.from_kernel_lost, n_lost);
}

/* --- In --------------------------------------------------------------------------------------- */

/* The room for a reply ends at the mbuf's end or at the MTU, but is never less than the query. */
static uint32_t dpdk_room_for(const struct dpdk_device *device, const struct rte_mbuf *mbuf,
			      const struct frame *f)
{
	uint32_t in_mbuf = (uint32_t)mbuf->buf_len - mbuf->data_off - f->data_off;
	uint32_t headers = (uint32_t)f->data_off - f->net_off;
	uint32_t mtu = __atomic_load_n(&device->mtu, __ATOMIC_RELAXED);
	uint32_t in_mtu = mtu > headers ? mtu - headers : 0;
	uint32_t room = in_mbuf < in_mtu ? in_mbuf : in_mtu;

	return room > f->data_len ? room : f->data_len;
}

static void fill_dpdk(struct port_msg *m, const struct dpdk_port *d, struct rte_mbuf *mbuf,
		      const struct frame *f)
{
	size_t n = f->family == AF_INET ? 4 : 16;

	*m = (struct port_msg){
		.data = rte_pktmbuf_mtod_offset(mbuf, uint8_t *, f->data_off),
		.len = f->data_len,
		.cap = dpdk_room_for(d->device, mbuf, f),
		.family = f->family,
		.peer_port = f->peer_port,
		.local_port = f->local_port,
		.frame_at = (uintptr_t)mbuf,
		.net_off = f->net_off,
	};
	memcpy(m->peer, f->peer, n);
	memcpy(m->local, f->local, n);
}

/* False: the mbuf went to the kernel or was freed. Only frames of one segment are answered. */
static bool take_dpdk(struct dpdk_port *d, struct rte_mbuf *mbuf, struct port_msg *m)
{
	const struct volley_state *services = d->device->services;
	uint8_t *bytes = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint32_t len = mbuf->data_len;
	struct frame f;
	bool is_query;

	if (d->tunnels.kinds && mbuf->nb_segs == 1)
		bytes = (uint8_t *)rte_pktmbuf_adj(mbuf,
						   (uint16_t)frame_decap(&d->tunnels, bytes, &len));
	is_query = mbuf->nb_segs == 1 && !frame_parse(&f, bytes, len);
	if (is_query && (!services || exception_is_ours(services, d->device->mac, &f, bytes))) {
		fill_dpdk(m, d, mbuf, &f);
		return true;
	}
	if (d->port.fd >= 0 && mbuf->nb_segs == 1) {
		give_to_kernel(d, mbuf);
	} else {
		port_count(&d->port.stats.malformed, 1);
		rte_pktmbuf_free(mbuf);
	}
	return false;
}

static unsigned int take_dpdk_burst(struct dpdk_port *d, struct rte_mbuf **mbufs, uint16_t n_in,
				    struct port_msg *msgs)
{
	unsigned int n = 0;
	uint64_t n_bytes = 0;

	for (uint16_t i = 0; i < n_in && i < PREFETCH_AHEAD; i++)
		rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
	for (uint16_t i = 0; i < n_in; i++) {
		if (i + PREFETCH_AHEAD < n_in)
			rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + PREFETCH_AHEAD], void *));
		n_bytes += mbufs[i]->pkt_len;
		n += take_dpdk(d, mbufs[i], &msgs[n]);
	}
	port_count(&d->port.stats.rx, n_in);
	port_count(&d->port.stats.rx_bytes, n_bytes);
	return n;
}

/* When to poll again: at once while there is traffic, then later and later. */
static void set_wake(struct dpdk_port *d, uint64_t now_ns, uint16_t n_in)
{
	uint64_t sleep_ns;

	d->n_empty = n_in || d->device->busy_poll ? 0 : d->n_empty + 1;
	d->wake_at_ns = 0;
	if (d->n_empty <= DPDK_SPINS)
		return;
	sleep_ns = (uint64_t)(d->n_empty - DPDK_SPINS) * DPDK_SLEEP_MIN_NS;
	if (sleep_ns > DPDK_SLEEP_MAX_NS) {
		d->n_empty--; /* keeps it from growing for ever */
		sleep_ns = DPDK_SLEEP_MAX_NS;
	}
	d->wake_at_ns = now_ns + sleep_ns;
}

/* Not all frames are queries, so fewer than n_cap messages do not mean that no more frames are
 * there: port_wake_at() is then 0. */
static unsigned int dpdk_receive(struct port *p, uint64_t now_ns, struct port_msg *msgs,
				 unsigned int n_cap)
{
	struct dpdk_port *d = dpdk_self(p);
	struct rte_mbuf *mbufs[PORT_BURST];
	uint64_t handed = credit_handed(d->credit);
	uint16_t n_in;

	assert(n_cap <= PORT_BURST);
	if (p->fd >= 0)
		send_for_kernel(d);
	n_in = rte_eth_rx_burst(d->device->id, d->queue, mbufs, (uint16_t)n_cap);
	credit_take(d->credit, n_in);
	if (!n_in)
		credit_settle(d->credit, handed);
	set_wake(d, now_ns, n_in);
	return n_in ? take_dpdk_burst(d, mbufs, n_in, msgs) : 0;
}

static uint64_t dpdk_wake_at(struct port *p)
{
	return dpdk_self(p)->wake_at_ns;
}

/* --- Replies that come late ------------------------------------------------------------------- */

/* The octets before the IP header are still those of the query. */
static void dpdk_defer(struct port *p, const struct port_msg *msg, struct port_return *out)
{
	(void)p;
	out->l2_bytes = (uint8_t)msg->net_off;
	memcpy(out->l2, rte_pktmbuf_mtod(mbuf_of(msg), uint8_t *), msg->net_off);
}

static struct rte_mbuf *make_late(struct dpdk_port *d, const struct port_reply *reply)
{
	const struct port_return *to = reply->to;
	const struct frame f = {
		.net_off = to->l2_bytes,
		.family = to->family,
		.peer_port = to->peer_port,
		.local_port = to->local_port,
		.peer = to->peer,
		.local = to->local,
	};
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(d->pool);

	if (!mbuf)
		return NULL;
	/* This mbuf has at least the room of the query's: its data begins no later. */
	if (FRAME_HEADERS_MAX + reply->len > rte_pktmbuf_tailroom(mbuf)) {
		rte_pktmbuf_free(mbuf);
		return NULL;
	}
	finish_dpdk(mbuf, frame_write(&f, to->l2, rte_pktmbuf_mtod(mbuf, uint8_t *), reply->data,
				      reply->len));
	return mbuf;
}

static unsigned int dpdk_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			       unsigned int n)
{
	struct dpdk_port *d = dpdk_self(p);
	struct rte_mbuf *out[PORT_BURST];
	uint16_t n_out = 0;

	(void)now_ns;
	for (unsigned int i = 0; i < n; i++) {
		if (!replies[i].len) {
			port_count(&p->stats.no_reply, 1);
			continue;
		}
		out[n_out] = make_late(d, &replies[i]);
		if (out[n_out])
			n_out++;
		else
			port_count(&p->stats.tx_dropped, 1);
	}
	return n_out - transmit_replies(d, out, n_out);
}

/* --- Life ------------------------------------------------------------------------------------- */

/* Gives the worker's thread a place in the caches of DPDK's pools. It works without, too. */
static int dpdk_start(struct port *p)
{
	struct dpdk_port *d = dpdk_self(p);

	credit_start(d->credit, 1u << (31 - __builtin_clz(d->device->rx_descs | 2u)) >> 1);
	if (rte_lcore_id() == LCORE_ID_ANY)
		(void)rte_thread_register();
	return 0;
}

static void dpdk_stop(struct port *p)
{
	credit_stop(dpdk_self(p)->credit);
}

static void dpdk_close(struct port *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

static const struct port_ops dpdk_ops = {
	.receive = dpdk_receive,
	.send = dpdk_send,
	.defer = dpdk_defer,
	.reply = dpdk_reply,
	.start = dpdk_start,
	.stop = dpdk_stop,
	.wake_at = dpdk_wake_at,
	.close = dpdk_close,
};

int dpdk_open(struct port **out, struct dpdk_device *device, const struct dpdk_queue *queue)
{
	struct dpdk_port *d;
	int fd = -1;

	if (queue->number >= device->n_queues)
		return -EINVAL;
	if (*device->tap) {
		fd = exception_open(device->tap, device->mac, device->mtu);
		if (fd < 0)
			return fd;
	}
	d = calloc(1, sizeof(*d));
	if (!d) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	d->port = (struct port){ .ops = &dpdk_ops, .kind = PORT_DPDK, .fd = fd };
	snprintf(d->port.name, sizeof(d->port.name), "dpdk %.48s queue %u", device->name,
		 queue->number);
	d->device = device;
	d->pool = device->pools[queue->number];
	d->queue = queue->number;
	d->credit = queue->credit;
	d->tunnels = queue->tunnels;
	*out = &d->port;
	return 0;
}
