/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replies on their way to their connections: those of a burst, and those that come late. Between a
 * receive and its send, late replies may end connections whose messages are with the worker; the
 * connection's generation tells.
 */
#include <assert.h>
#include <sys/uio.h>

#include "base/wire.h"
#include "port/tcp_port.h"

#define PIECES_LATE 2 /* length and bytes: before the caller's bytes there is no room */

/* The chunks of one message of any length hold so many bytes of shorter ones too. */
#define RUN_BYTES (TCP_CHUNKS_PER_MSG * sizeof(((struct tcp_chunk *)0)->bytes))

static struct tcp_port *self(struct port *p)
{
	return (struct tcp_port *)p;
}

/* NULL where the connection has ended. */
static struct tcp_conn *find(struct tcp_port *t, uint32_t slot, uint32_t gen)
{
	struct tcp_conn *c = &t->conns[slot];

	return c->gen == gen ? c : NULL;
}

/* Write replies of n_bytes, lengths not included. False: the connection has ended for it. */
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

/* Back from the first of them on that says so: all that follow do. */
static void put_back(struct tcp_port *t, struct tcp_conn *c, const struct port_msg *msgs,
		     unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		assert(msgs[i].put_back && !msgs[i].len);
		port_count_unsent(&t->port, &msgs[i]);
	}
	tcp_conn_put_back(c, (uint32_t)msgs->frame_at, n);
}

static void drop(struct tcp_port *t, const struct port_msg *msgs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (msgs[i].len)
			port_count(&t->port.stats.tx_dropped, 1);
		else
			port_count_unsent(&t->port, &msgs[i]);
	}
}

/* The replies to one connection. The length goes right before the bytes: the buffer has room
 * there. */
static void send_to(struct tcp_port *t, struct tcp_conn *c, struct port_msg *msgs, unsigned int n,
		    uint64_t now_ns)
{
	struct iovec iov[TCP_BURST];
	unsigned int n_out = 0;
	uint64_t n_bytes = 0;
	bool closes = false;

	c->n_taken = 0;
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *start = msgs[i].data - TCP_PREFIX_BYTES;

		if (msgs[i].put_back) {
			put_back(t, c, msgs + i, n - i);
			break;
		}
		if (msgs[i].closes) {
			drop(t, msgs + i, n - i);
			closes = true;
			break;
		}
		if (!msgs[i].len) {
			port_count_unsent(&t->port, &msgs[i]);
			c->n_deferred += msgs[i].deferred;
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
	struct tcp_port *t = self(p);
	unsigned int next;

	t->n_taken = 0;
	for (unsigned int i = 0; i < n; i = next) {
		struct tcp_conn *c = find(t, msgs[i].slot, msgs[i].gen);

		for (next = i + 1; next < n && msgs[next].slot == msgs[i].slot; next++)
			;
		if (c && !msgs[i].given) {
			send_to(t, c, msgs + i, next - i, now_ns);
			continue;
		}
		drop(t, msgs + i, next - i);
		if (c)
			tcp_port_forget(t, c);
	}
}

/* How many of n replies, one at least, are for the same connection and fit the chunks of one
 * message. */
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

	port_count(&stats->late_orphaned, n);
	for (unsigned int i = 0; i < n; i++)
		port_count(replies[i].len ? &stats->tx_dropped : &stats->no_reply, 1);
}

/*
 * Room for one message beside the replies of the burst that is out. Where only that burst holds it,
 * and nobody else is writing, the connection itself goes.
 */
static void make_room(struct tcp_port *t, struct tcp_conn *c)
{
	while (!tcp_port_can_queue(t, t->n_taken + 1)) {
		if (tcp_port_evict_writer(t))
			continue;
		port_count(&t->port.stats.conns_evicted, 1);
		tcp_port_end(t, c);
		return;
	}
}

/* How many were sent or wait. */
static unsigned int send_late(struct tcp_port *t, struct tcp_conn *c,
			      const struct port_reply *replies, unsigned int n, uint64_t now_ns)
{
	uint8_t prefixes[PORT_BURST][TCP_PREFIX_BYTES];
	struct iovec iov[PORT_BURST * PIECES_LATE];
	unsigned int n_out = 0;
	uint64_t n_bytes = 0;

	assert(n <= c->n_deferred);
	c->n_deferred -= n;
	for (unsigned int i = 0; i < n; i++) {
		struct iovec *pieces = &iov[n_out * PIECES_LATE];

		if (!replies[i].len) {
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
	tcp_port_update(t, c, now_ns);
	return n_out;
}

unsigned int tcp_port_reply(struct port *p, uint64_t now_ns, const struct port_reply *replies,
			    unsigned int n)
{
	struct tcp_port *t = self(p);
	unsigned int n_sent = 0, n_run;

	for (unsigned int i = 0; i < n; i += n_run) {
		const struct port_return *to = replies[i].to;
		struct tcp_conn *c = find(t, to->slot, to->gen);

		n_run = run_of(replies + i, n - i);
		if (c)
			make_room(t, c);
		/* It may be the one that made room. */
		if (c && find(t, to->slot, to->gen))
			n_sent += send_late(t, c, replies + i, n_run, now_ns);
		else
			drop_late(t, replies + i, n_run);
	}
	return n_sent;
}
