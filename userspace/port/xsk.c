/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/xsk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <bpf/bpf.h>

#include "port/credit.h"
#include "port/frame.h"
#include "port/xsk_umem.h"

#define KICK_BATCH   32 /* frames that the kernel sends in one call in copy mode */
#define KICKS_EXTRA  4  /* calls more than the frames in the ring need */
#define PUSH_TRIES   3  /* tries in a row without room in the TX ring */
#define REFILL_PARTS 8  /* a usual refill adds at least fill_cap / REFILL_PARTS frames */
#define LOOK_NS      100000000
#define RETRY_NS     1000000 /* first pause before waiting replies are tried again */
#define VAIN_MAX     7       /* doublings of RETRY_NS: more would exceed LOOK_NS */

_Static_assert(PORT_L2_CAP == FRAME_L2_MAX, "a return holds what stands before the IP header");

static struct xsk_port *xsk_self(struct port *p)
{
	return (struct xsk_port *)p;
}

static void recycle(struct xsk_port *x, uint64_t addr)
{
	assert(x->n_free < x->n_frames);
	x->free[x->n_free++] = addr & ~((uint64_t)x->frame_bytes - 1);
}

/* From the completion ring to the free stack. */
static void reclaim(struct xsk_port *x)
{
	uint32_t pos, n = xsk_ring_cons__peek(&x->rings.comp, x->n_tx, &pos);

	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		recycle(x, *xsk_ring_cons__comp_addr(&x->rings.comp, pos + i));
	xsk_ring_cons__release(&x->rings.comp, n);
	x->n_tx -= n;
}

/* Free frames that the fill ring may have, without those kept for outstanding late replies. */
static uint32_t n_spare(const struct xsk_port *x)
{
	uint64_t n_late = port_deferred(&x->port), n_max = x->n_frames / XSK_LATE_SHARE;
	uint32_t n_kept = (uint32_t)(n_late < n_max ? n_late : n_max);

	return x->n_free > n_kept ? x->n_free - n_kept : 0;
}

/* From the free stack to the fill ring, in batches. */
static void refill_xsk(struct xsk_port *x)
{
	uint32_t level = x->rings.fill.size - xsk_prod_nb_free(&x->rings.fill, x->rings.fill.size);
	uint32_t pos = 0, n = x->fill_cap > level ? x->fill_cap - level : 0, n_max = n_spare(x);

	if (!level && !n_max)
		port_count(&x->port.stats.fill_starved, 1);
	if (n > n_max)
		n = n_max;
	/* A smaller batch only if the kernel may be short of frames. */
	if (n < x->fill_cap / REFILL_PARTS && level > x->fill_cap / 2)
		return;
	if (n && xsk_ring_prod__reserve(&x->rings.fill, n, &pos) == n) {
		for (uint32_t i = 0; i < n; i++)
			*xsk_ring_prod__fill_addr(&x->rings.fill, pos + i) = x->free[--x->n_free];
		xsk_ring_prod__submit(&x->rings.fill, n);
	}
}

/* A network driver without frames waits until it is told of new ones. With busy polling this call
 * lets the driver work. */
static void wake_driver(struct xsk_port *x, bool busy_poll)
{
	if (busy_poll || xsk_ring_prod__needs_wakeup(&x->rings.fill))
		(void)recvfrom(x->port.fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
}

/* Frames in the TX ring that the kernel has not taken yet. */
static uint32_t n_unsent(const struct xsk_port *x)
{
	return *x->rings.tx.producer - __atomic_load_n(x->rings.tx.consumer, __ATOMIC_ACQUIRE);
}

static bool is_transient(int err)
{
	return err == EAGAIN || err == EBUSY || err == ENOBUFS || err == EINTR;
}

/*
 * Tells the kernel to send. In copy mode it takes 32 frames a call and returns EAGAIN if there are
 * more. A call that moves no frame ends the loop, because then only waiting helps.
 */
static void kick(struct xsk_port *x)
{
	uint32_t left = n_unsent(x), tries = left / KICK_BATCH + KICKS_EXTRA, before;

	if (!left || !xsk_ring_prod__needs_wakeup(&x->rings.tx))
		return;
	while (left && tries--) {
		port_count(&x->port.stats.tx_kicks, 1);
		if (sendto(x->port.fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0 || !is_transient(errno))
			return;
		reclaim(x);
		before = left;
		left = n_unsent(x);
		if (left == before)
			return;
	}
}

/* Puts as many of n frames into the TX ring as it has room for, in order; returns their number. */
static uint32_t push_xsk(struct xsk_port *x, const struct xdp_desc *descs, uint32_t n)
{
	uint32_t pos = 0, room = xsk_prod_nb_free(&x->rings.tx, n);
	uint64_t n_bytes = 0;

	if (n > room)
		n = room;
	if (!n || xsk_ring_prod__reserve(&x->rings.tx, n, &pos) != n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		*xsk_ring_prod__tx_desc(&x->rings.tx, pos + i) = descs[i];
		n_bytes += descs[i].len;
	}
	xsk_ring_prod__submit(&x->rings.tx, n);
	x->n_tx += n;
	port_count(&x->port.stats.tx, n);
	port_count(&x->port.stats.tx_bytes, n_bytes);
	return n;
}

/* The same in several tries: each tells the kernel to send and drains completions. */
static uint32_t push_patiently(struct xsk_port *x, const struct xdp_desc *descs, uint32_t n)
{
	uint32_t done = push_xsk(x, descs, n), more;

	for (int tries = 0; tries < PUSH_TRIES && done < n;) {
		kick(x);
		reclaim(x);
		more = push_xsk(x, descs + done, n - done);
		tries = more ? 0 : tries + 1;
		done += more;
	}
	return done;
}

/* Sends from the front of the backlog, each time the part that is contiguous. */
static void flush_backlog(struct xsk_port *x)
{
	while (x->n_backlog) {
		uint32_t n = XSK_BACKLOG_CAP - x->backlog_at, done;

		if (n > x->n_backlog)
			n = x->n_backlog;
		done = push_patiently(x, &x->backlog[x->backlog_at], n);
		x->backlog_at = (x->backlog_at + done) % XSK_BACKLOG_CAP;
		x->n_backlog -= done;
		if (done < n)
			return;
	}
}

/* Keeps frames in the backlog. Returns how many it had to drop. */
static uint32_t keep_xsk(struct xsk_port *x, const struct xdp_desc *descs, uint32_t n)
{
	uint32_t room = XSK_BACKLOG_CAP - x->n_backlog, n_kept = n < room ? n : room;

	for (uint32_t i = 0; i < n_kept; i++)
		x->backlog[(x->backlog_at + x->n_backlog++) % XSK_BACKLOG_CAP] = descs[i];
	for (uint32_t i = n_kept; i < n; i++)
		recycle(x, descs[i].addr);
	port_count(&x->port.stats.tx_retried, n_kept);
	port_count(&x->port.stats.tx_dropped, n - n_kept);
	return n - n_kept;
}

/* The room for a reply ends at the frame's end or at the MTU, but is never less than the query. */
static uint32_t xsk_room_for(const struct xsk_port *x, uint64_t addr, const struct frame *f)
{
	uint32_t in_frame = x->frame_bytes - (uint32_t)(addr & (x->frame_bytes - 1)) - f->data_off;
	uint32_t headers = (uint32_t)f->data_off - f->net_off;
	uint32_t in_mtu = x->mtu > headers ? x->mtu - headers : 0;
	uint32_t room = in_frame < in_mtu ? in_frame : in_mtu;

	return room > f->data_len ? room : f->data_len;
}

/* False: the frame is no message for the handler. */
static bool take_xsk(struct xsk_port *x, const struct xdp_desc *desc, struct port_msg *m)
{
	uint8_t *bytes = xsk_umem__get_data(x->area, desc->addr);
	uint32_t len = desc->len, n = 0;
	struct frame f;

	if (x->tunnels.kinds)
		n = frame_decap(&x->tunnels, bytes, &len);
	bytes += n;
	if (frame_parse(&f, bytes, len))
		return false;
	*m = (struct port_msg){
		.data = bytes + f.data_off,
		.len = f.data_len,
		.cap = xsk_room_for(x, desc->addr + n, &f),
		.family = f.family,
		.peer_port = f.peer_port,
		.local_port = f.local_port,
		.frame_at = desc->addr + n,
		.net_off = f.net_off,
	};
	__builtin_memcpy(m->peer, f.peer, f.family == AF_INET ? 4 : 16);
	__builtin_memcpy(m->local, f.local, f.family == AF_INET ? 4 : 16);
	return true;
}

/*
 * Fetches headers and query of a whole burst before the first read: TLB and cache misses overlap.
 */
static void prefetch(const struct xsk_port *x, const struct xdp_desc *desc)
{
	const uint8_t *bytes = x->area + desc->addr;

	__builtin_prefetch(bytes, 1);
	__builtin_prefetch(bytes + 64, 1);
}

static unsigned int take_xsk_burst(struct xsk_port *x, struct port_msg *msgs, unsigned int n_cap)
{
	struct port_stats *stats = &x->port.stats;
	uint32_t pos, n_in = xsk_ring_cons__peek(&x->rings.rx, n_cap, &pos);
	uint64_t n_bytes = 0;
	unsigned int n = 0;

	if (!n_in)
		return 0;
	for (uint32_t i = 0; i < n_in; i++)
		prefetch(x, xsk_ring_cons__rx_desc(&x->rings.rx, pos + i));
	for (uint32_t i = 0; i < n_in; i++) {
		const struct xdp_desc *desc = xsk_ring_cons__rx_desc(&x->rings.rx, pos + i);

		n_bytes += desc->len;
		if (take_xsk(x, desc, &msgs[n])) {
			n++;
		} else {
			port_count(&stats->malformed, 1);
			recycle(x, desc->addr);
		}
	}
	xsk_ring_cons__release(&x->rings.rx, n_in);
	credit_take(x->credit, n_in);
	port_count(&stats->rx, n_in);
	port_count(&stats->rx_bytes, n_bytes);
	return n;
}

static void settle_if_empty(struct xsk_port *x)
{
	uint64_t handed = credit_handed(x->credit);

	if (!xsk_cons_nb_avail(&x->rings.rx, 1))
		credit_settle(x->credit, handed);
}

static uint32_t n_taken(const struct xsk_port *x)
{
	return __atomic_load_n(x->rings.tx.consumer, __ATOMIC_ACQUIRE);
}

/* The pause grows while the kernel takes nothing. */
static uint64_t retry_ns(const struct xsk_port *x)
{
	uint64_t ns = (uint64_t)RETRY_NS << x->n_vain;

	return ns < LOOK_NS ? ns : LOOK_NS;
}

static void note_retry(struct xsk_port *x)
{
	const uint32_t taken = n_taken(x);

	if (taken != x->taken_at || !n_unsent(x))
		x->n_vain = 0;
	else if (x->n_vain < VAIN_MAX)
		x->n_vain++;
	x->taken_at = taken;
}

/*
 * When to look again without a readable fd. A zero-copy driver may ask for a wake-up at any time,
 * and the fd does not show that. And if all frames handed over were lost, the XDP program hands
 * over no more before credit_settle().
 */
static void set_xsk_retry(struct xsk_port *x, uint64_t now_ns)
{
	if (x->n_backlog || (!x->zerocopy && n_unsent(x)))
		x->retry_at_ns = now_ns + retry_ns(x);
	else
		x->retry_at_ns = x->zerocopy || x->credit ? now_ns + LOOK_NS : PORT_NEVER;
}

static unsigned int xsk_receive(struct port *p, uint64_t now_ns, struct port_msg *msgs,
				unsigned int n_cap)
{
	struct xsk_port *x = xsk_self(p);
	unsigned int n;

	assert(n_cap <= PORT_BURST);
	reclaim(x);
	if (x->retry_at_ns <= now_ns) {
		flush_backlog(x);
		kick(x);
		note_retry(x);
		set_xsk_retry(x, now_ns);
	}
	n = take_xsk_burst(x, msgs, n_cap);
	awake_note(&x->awake, n);
	if (n < n_cap)
		settle_if_empty(x);
	refill_xsk(x);
	wake_driver(x, !n && x->busy_poll);
	return n;
}

/* Sends or keeps frames, in order: none overtakes the backlog. Returns how many were dropped. */
static uint32_t transmit_xsk(struct xsk_port *x, uint64_t now_ns, const struct xdp_desc *descs,
			     uint32_t n)
{
	uint32_t done, n_lost;

	flush_backlog(x);
	done = x->n_backlog ? 0 : push_patiently(x, descs, n);
	n_lost = keep_xsk(x, descs + done, n - done);
	kick(x);
	set_xsk_retry(x, now_ns);
	return n_lost;
}

static void xsk_send(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n)
{
	struct xsk_port *x = xsk_self(p);
	struct xdp_desc descs[PORT_BURST];
	uint32_t n_out = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct port_msg *m = &msgs[i];
		const struct frame f = { .net_off = m->net_off, .family = m->family };

		if (!m->len) {
			port_count_unsent(p, m);
			recycle(x, m->frame_at);
			continue;
		}
		assert(m->len <= m->cap);
		descs[n_out++] = (struct xdp_desc){
			.addr = m->frame_at,
			.len = frame_reply(&f, x->area + m->frame_at, m->len),
		};
	}
	(void)transmit_xsk(x, now_ns, descs, n_out);
}

/* The octets before the IP header are still those of the query. */
static void xsk_defer(struct port *p, const struct port_msg *msg, struct port_return *out)
{
	out->l2_bytes = (uint8_t)msg->net_off;
	memcpy(out->l2, xsk_self(p)->area + msg->frame_at, msg->net_off);
}

static uint32_t write_late(struct xsk_port *x, uint64_t addr, const struct port_reply *reply)
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

	return frame_write(&f, to->l2, x->area + addr, reply->data, reply->len);
}

static unsigned int xsk_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			      unsigned int n)
{
	struct xsk_port *x = xsk_self(p);
	struct xdp_desc descs[PORT_BURST];
	uint32_t n_out = 0, n_sent = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (!replies[i].len) {
			port_count(&p->stats.no_reply, 1);
			continue;
		}
		if (!x->n_free) {
			/* Sends the replies so far, so that their frames become free. */
			n_sent += n_out - transmit_xsk(x, now_ns, descs, n_out);
			n_out = 0;
			reclaim(x);
		}
		if (!x->n_free) {
			port_count(&p->stats.tx_dropped, 1);
			continue;
		}
		descs[n_out] = (struct xdp_desc){ .addr = x->free[--x->n_free] };
		descs[n_out].len = write_late(x, descs[n_out].addr, &replies[i]);
		n_out++;
	}
	return n_sent + n_out - transmit_xsk(x, now_ns, descs, n_out);
}

/* The kernel removes the map entry by itself when the socket is closed, but not before. */
static int xsk_start(struct port *p)
{
	struct xsk_port *x = xsk_self(p);

	/* A packet is lost without a free frame as well as without room in the ring. */
	credit_start(x->credit, x->rings.rx.size < x->fill_cap ? x->rings.rx.size : x->fill_cap);
	return bpf_map_update_elem(x->xsks_map_fd, &x->queue, &p->fd, BPF_ANY) ? -errno : 0;
}

static void xsk_stop(struct port *p)
{
	struct xsk_port *x = xsk_self(p);

	credit_stop(x->credit);
	(void)bpf_map_delete_elem(x->xsks_map_fd, &x->queue);
}

static uint64_t xsk_wake_at(struct port *p)
{
	return xsk_self(p)->busy_poll || awake_is_on(&xsk_self(p)->awake) ?
		       0 :
		       xsk_self(p)->retry_at_ns;
}

static void xsk_close(struct port *p)
{
	xsk_port_fini(xsk_self(p));
	free(p);
}

static const struct port_ops xsk_ops = {
	.receive = xsk_receive,
	.send = xsk_send,
	.defer = xsk_defer,
	.reply = xsk_reply,
	.start = xsk_start,
	.stop = xsk_stop,
	.wake_at = xsk_wake_at,
	.close = xsk_close,
};

int xsk_open(struct port **out, const struct xsk_config *config)
{
	struct xsk_port *x = calloc(1, sizeof(*x));
	int err;

	if (!x)
		return -ENOMEM;
	x->port = (struct port){ .ops = &xsk_ops, .kind = PORT_XSK, .fd = -1 };
	x->retry_at_ns = PORT_NEVER;
	err = xsk_port_init(x, config);
	if (err) {
		port_close(&x->port);
		return err;
	}
	refill_xsk(x);
	wake_driver(x, false);
	set_xsk_retry(x, 0);
	*out = &x->port;
	return 0;
}

bool xsk_is_zerocopy(const struct port *p)
{
	return ((const struct xsk_port *)p)->zerocopy;
}

void xsk_sent_read(const struct port *p, struct xsk_sent *out)
{
	const struct xsk_port *x = (const struct xsk_port *)p;

	/* Read in this order, completed is never ahead of taken, nor taken ahead of given. */
	out->completed = __atomic_load_n(x->rings.comp.producer, __ATOMIC_ACQUIRE);
	out->taken = n_taken(x);
	out->given = __atomic_load_n(x->rings.tx.producer, __ATOMIC_ACQUIRE);
	out->ring = x->rings.tx.size;
}

int xsk_kernel_stats(const struct port *p, struct xdp_statistics *out)
{
	socklen_t len = sizeof(*out);

	return getsockopt(p->fd, SOL_XDP, XDP_STATISTICS, out, &len) ? -errno : 0;
}
