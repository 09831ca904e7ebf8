/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends replies to their connections: the replies of a burst, and late ones. Between a receive and
 * its send, a late reply may end a connection whose messages the worker has. The connection's
 * generation shows that.
 */
#include <assert.h>
#include <sys/uio.h>

#include "base/wire.h"
#include "port/tcp_port.h"

#define PIECES_LATE 2 /* length and bytes: there is no room before the caller's bytes */

/* Replies of so many bytes together fit the chunks for one message of the greatest length. */
#define RUN_BYTES (TCP_CHUNKS_PER_MSG * sizeof(((struct tcp_chunk *)0)->bytes))

static struct tcp_port *tcp_reply_self(struct port *p)
{
	return (struct tcp_port *)p;
}

/* NULL: the connection has ended. */
static struct tcp_conn *find_tcp_reply(struct tcp_port *t, uint32_t slot, uint32_t gen)
{
	struct tcp_conn *c = &t->conns[slot];

	return c->gen == gen ? c : NULL;
}

/* Writes replies; n_bytes does not include the length prefixes. False: the write failed, and the
 * connection was ended. */
static bool write_replies(struct tcp_port *t, struct tcp_conn *c, struct iovec *iov, unsigned int n,
			  unsigned int n_pieces, uint64_t n_bytes)
{
	struct port_stats *stats = &t->port.stats;
	int n_waiting = n ? tcp_conn_write(c, &t->pool, iov, n, n_pieces) : 0;

	if (n_waiting < 0) {
		port_count(&stats->tx_dropped, n);
		tcp_port_end(t, c);
		return false;
	}
	t->n_queued += (unsigned int)n_waiting;
	port_count(&stats->tx, n - (unsigned int)n_waiting);
	port_count(&stats->tx_retried, (uint64_t)n_waiting);
	port_count(&stats->tx_bytes, n_bytes);
	return true;
}

/* Puts back n messages, which all must have PORT_PUTS_BACK. */
static void put_back_tcp_reply(struct tcp_port *t, struct tcp_conn *c, const struct port_msg *msgs,
			       unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		assert(msgs[i].outcome == PORT_PUTS_BACK && !msgs[i].len);
		port_count_unsent(&t->port, &msgs[i]);
	}
	tcp_conn_put_back(c, (uint32_t)msgs->frame_at, n);
}

static void drop_tcp_reply(struct tcp_port *t, const struct port_msg *msgs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (msgs[i].len)
			port_count(&t->port.stats.tx_dropped, 1);
		else
			port_count_unsent(&t->port, &msgs[i]);
	}
}

/* Sends the replies to one connection. The buffer has room for the length before the bytes. */
static void send_to_tcp_reply(struct tcp_port *t, struct tcp_conn *c, struct port_msg *msgs,
			      unsigned int n, uint64_t now_ns)
{
	struct iovec iov[TCP_BURST];
	unsigned int n_out = 0;
	uint64_t n_bytes = 0;
	bool closes = false;

	c->n_taken = 0;
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *start = msgs[i].data - TCP_PREFIX_BYTES;

		if (msgs[i].outcome == PORT_PUTS_BACK) {
			put_back_tcp_reply(t, c, msgs + i, n - i);
			break;
		}
		if (msgs[i].outcome == PORT_CLOSES) {
			drop_tcp_reply(t, msgs + i, n - i);
			closes = true;
			break;
		}
		if (!msgs[i].len) {
			port_count_unsent(&t->port, &msgs[i]);
			c->n_deferred += msgs[i].outcome == PORT_DEFERS;
			continue;
		}
		assert(msgs[i].len <= TCP_MESSAGE_MAX);
		wire_store_be16(start, (uint16_t)msgs[i].len);
		iov[n_out++] = (struct iovec){ start, TCP_PREFIX_BYTES + msgs[i].len };
		n_bytes += msgs[i].len;
	}
	if (!write_replies(t, c, iov, n_out, 1, n_bytes))
		return;
	if (closes)
		tcp_port_end(t, c);
	else
		tcp_port_update(t, c, now_ns);
}

void tcp_port_send(struct port *p, uint64_t now_ns, struct port_msg *msgs, unsigned int n)
{
	struct tcp_port *t = tcp_reply_self(p);
	unsigned int next;

	t->n_taken = 0;
	for (unsigned int i = 0; i < n; i = next) {
		struct tcp_conn *c = find_tcp_reply(t, msgs[i].slot, msgs[i].gen);

		for (next = i + 1; next < n && msgs[next].slot == msgs[i].slot; next++)
			;
		if (c)
			send_to_tcp_reply(t, c, msgs + i, next - i, now_ns);
		else
			drop_tcp_reply(t, msgs + i, next - i);
	}
	tcp_port_rank(t, now_ns);
}

/* Returns how many of n replies (n > 0) are for one connection and fit one message's chunks. */
static unsigned int run_of(const struct port_reply *replies, unsigned int n)
{
	const struct port_return *to = replies->to;
	size_t n_bytes = TCP_PREFIX_BYTES + replies->len;
	unsigned int i;

	for (i = 1; i < n; i++) {
		n_bytes += TCP_PREFIX_BYTES + replies[i].len;
		if (replies[i].to->slot != to->slot || replies[i].to->gen != to->gen ||
		    n_bytes > RUN_BYTES)
			break;
	}
	return i;
}

static void drop_late(struct tcp_port *t, const struct port_reply *replies, unsigned int n)
{
	struct port_stats *stats = &t->port.stats;

	for (unsigned int i = 0; i < n; i++) {
		port_count(&stats->late_orphaned, !replies[i].more);
		port_count(replies[i].len ? &stats->tx_dropped : &stats->no_reply, 1);
	}
}

/*
 * Makes room for one message in addition to the replies of the worker's burst. If no connection is
 * writing, that burst holds all the room, and the connection c itself is ended.
 */
static void make_tcp_reply_room(struct tcp_port *t, struct tcp_conn *c)
{
	while (!tcp_port_can_queue(t, t->n_taken + 1)) {
		if (tcp_port_evict_writer(t))
			continue;
		port_count(&t->port.stats.conns_evicted, 1);
		tcp_port_end(t, c);
		return;
	}
}

/* Counts n messages of late replies: whole replies, or parts of the one with a watch. */
static void settle_late(struct tcp_conn *c, const struct port_reply *replies, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (replies[i].more)
			continue;
		assert(c->n_deferred);
		c->n_deferred--;
	}
	if (!c->n_deferred)
		c->watch = NULL;
}

/* Returns how many were sent or wait. */
static unsigned int send_late(struct tcp_port *t, struct tcp_conn *c,
			      const struct port_reply *replies, unsigned int n, uint64_t now_ns)
{
	uint8_t prefixes[PORT_BURST][TCP_PREFIX_BYTES];
	struct iovec iov[PORT_BURST * PIECES_LATE];
	unsigned int n_out = 0;
	uint64_t n_bytes = 0;
	bool closes = false;

	settle_late(c, replies, n);
	for (unsigned int i = 0; i < n; i++) {
		struct iovec *pieces = &iov[n_out * PIECES_LATE];

		if (!replies[i].len) {
			closes |= replies[i].closes;
			port_count(&t->port.stats.no_reply, 1);
			continue;
		}
		wire_store_be16(prefixes[n_out], (uint16_t)replies[i].len);
		pieces[0] = (struct iovec){ prefixes[n_out], TCP_PREFIX_BYTES };
		/* The kernel only reads what is sent. */
		pieces[1] = (struct iovec){ (void *)(uintptr_t)replies[i].data, replies[i].len };
		n_bytes += replies[i].len;
		n_out++;
	}
	if (!write_replies(t, c, iov, n_out, PIECES_LATE, n_bytes))
		return 0;
	if (closes)
		tcp_port_end(t, c);
	else
		tcp_port_update(t, c, now_ns);
	return n_out;
}

unsigned int tcp_port_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			    unsigned int n)
{
	struct tcp_port *t = tcp_reply_self(p);
	unsigned int n_sent = 0, n_run;

	for (unsigned int i = 0; i < n; i += n_run) {
		const struct port_return *to = replies[i].to;
		struct tcp_conn *c = find_tcp_reply(t, to->slot, to->gen);

		n_run = run_of(replies + i, n - i);
		if (c)
			make_tcp_reply_room(t, c);
		/* make_tcp_reply_room() may have ended this connection. */
		if (c && find_tcp_reply(t, to->slot, to->gen))
			n_sent += send_late(t, c, replies + i, n_run, now_ns);
		else
			drop_late(t, replies + i, n_run);
	}
	tcp_port_rank(t, now_ns);
	return n_sent;
}
