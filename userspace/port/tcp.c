/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Epoll, timers and turns. tcp_conn.c moves the octets, tcp_send.c sends replies, tcp_admit.c
 * admits connections, tcp_claim.c those of peers, tcp_open.c has the listeners.
 *
 * Each connection is in the list of the timer that runs for it. A list has one timeout, so
 * appending keeps it in the order of deadlines, and expiry looks only at the first.
 */
#include "port/tcp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "port/tcp_port.h"
#include "port/tcp_tls.h"

#define EVENTS_CAP 64
#define TAKE_MAX   8 /* messages of one connection in its turn */

static struct tcp_port *tcp_self(struct port *p)
{
	return (struct tcp_port *)p;
}

static void watch_tcp(struct tcp_port *t, struct tcp_conn *c, uint32_t interest)
{
	struct epoll_event event = { .events = interest };

	if (interest == c->interest)
		return;
	event.data.u64 = tcp_port_tag(t, c);
	/* This cannot fail: the fd is in the epoll, and a change needs no memory. */
	(void)epoll_ctl(t->port.fd, EPOLL_CTL_MOD, c->fd, &event);
	c->interest = interest;
}

/* Gives back its place in the limits. */
static void leave_class(struct tcp_port *t, struct tcp_conn *c)
{
	if (c->class == TCP_PEERS && t->config.peers) {
		tcp_peers_give(t->config.peers);
		return;
	}
	if (c->timer == TCP_PARTIAL)
		tcp_share_count_half(t->share, -1);
	tcp_share_give(t->share, &c->place);
}

/* Frees its slot. */
static void forget_conn(struct tcp_port *t, struct tcp_conn *c)
{
	struct port_watch *watch = c->watch;

	port_count(&t->port.stats.tx_dropped, c->n_queued);
	t->n_queued -= c->n_queued;
	leave_class(t, c);
	c->fd = -1;
	c->gen++;
	tcp_conn_reset(c, &t->pool);
	cds_list_del(&c->client_link);
	cds_list_del_init(&c->ready_link);
	cds_list_move(&c->timer_link, &t->free);
	port_count(&t->port.stats.conns_closed, 1);
	if (watch)
		watch->tell(watch, PORT_GONE);
}

/* Removes it from the epoll first: close() does not if a child process has the descriptor. */
void tcp_port_end(struct tcp_port *t, struct tcp_conn *c)
{
	(void)epoll_ctl(t->port.fd, EPOLL_CTL_DEL, c->fd, NULL);
	if (c->ssl)
		tcp_tls_end(c->ssl);
	close(c->fd);
	forget_conn(t, c);
}

/* True if replies are outstanding, in this burst or late. */
static bool owes(const struct tcp_conn *c)
{
	return c->n_taken || c->n_deferred;
}

static enum tcp_timer timer_for(const struct tcp_conn *c, bool more)
{
	if (c->out_bytes)
		return TCP_WRITING;
	if (more || owes(c))
		return TCP_BUSY;
	if (c->in_end > c->in_start || c->stage != TCP_OPEN)
		return TCP_PARTIAL;
	return c->n_queries ? TCP_IDLE : TCP_NEW;
}

/* A running timer is not restarted, unless a slow reader has made progress. */
void tcp_port_set_timer(struct tcp_port *t, struct tcp_conn *c, enum tcp_timer timer,
			uint64_t now_ns)
{
	if (timer == c->timer && !(timer == TCP_WRITING && c->progress))
		return;
	if (c->class == TCP_CLIENTS && (timer == TCP_PARTIAL) != (c->timer == TCP_PARTIAL))
		tcp_share_count_half(t->share, timer == TCP_PARTIAL ? 1 : -1);
	if (timer == TCP_IDLE)
		tcp_conn_trim(c);
	c->timer = timer;
	c->progress = false;
	c->since_ns = now_ns;
	cds_list_del(&c->timer_link);
	cds_list_add_tail(&c->timer_link, &t->timers[c->class][timer]);
}

/* Closes our sending side only, since a reset would lose answers on their way. */
static void say_goodbye(struct tcp_conn *c)
{
	if (c->ssl)
		tcp_tls_shut(c->ssl);
	shutdown(c->fd, SHUT_WR);
	c->stage = TCP_SHUT;
}

/* True if a message can be taken. A message of length 0 is counted when its turn comes. */
static bool has_message(struct tcp_port *t, struct tcp_conn *c)
{
	bool was_open = c->stage == TCP_OPEN, yes = tcp_conn_has_message(c);

	if (was_open && c->stage != TCP_OPEN) {
		port_count(&t->port.stats.rx, 1);
		port_count(&t->port.stats.malformed, 1);
	}
	return yes;
}

/* Reads octets that epoll does not report, after all complete messages were taken. 0 or -errno. */
static int read_hidden(struct tcp_conn *c, bool has_more, bool is_full)
{
	if (has_more || is_full || c->n_taken || !tcp_conn_is_hiding(c))
		return 0;
	return tcp_conn_read(c);
}

void tcp_port_update(struct tcp_port *t, struct tcp_conn *c, uint64_t now_ns)
{
	bool more = has_message(t, c);
	bool full = c->out_bytes >= TCP_OUT_HIGH || c->n_deferred >= TCP_DEFERRED_MAX;
	uint32_t interest = 0;

	if (!c->out_bytes && !owes(c))
		c->alone = false;
	full |= c->alone;
	if (read_hidden(c, more, full) < 0) {
		tcp_port_end(t, c);
		return;
	}
	more = has_message(t, c);
	if (!more && !c->out_bytes && !owes(c)) {
		if (c->eof) {
			tcp_port_end(t, c);
			return;
		}
		if (c->stage == TCP_FINISHED)
			say_goodbye(c);
	}
	if (more && !full) {
		if (cds_list_empty(&c->ready_link))
			cds_list_add_tail(&c->ready_link, &t->ready);
	} else {
		cds_list_del_init(&c->ready_link);
	}
	if (!c->eof && !full)
		interest |= EPOLLIN;
	if (c->out_bytes)
		interest |= EPOLLOUT;
	watch_tcp(t, c, interest);
	tcp_port_set_timer(t, c, timer_for(c, more), now_ns);
}

/* Counts the replies that waited, and tells the watch, when all of them were sent. */
static void settle_tcp(struct tcp_port *t, struct tcp_conn *c)
{
	if (c->out_bytes)
		return;
	port_count(&t->port.stats.tx, c->n_queued);
	t->n_queued -= c->n_queued;
	c->n_queued = 0;
	if (c->watch)
		c->watch->tell(c->watch, PORT_ROOM);
}

static void on_conn(struct tcp_port *t, struct tcp_conn *c, uint32_t events, uint64_t now_ns)
{
	/* Reset, or closed on both sides: no answer can be delivered. */
	int err = events & (EPOLLERR | EPOLLHUP) ? -ECONNRESET : 0;

	if (!err && events & EPOLLOUT) {
		err = tcp_conn_flush(c, &t->pool);
		settle_tcp(t, c);
	}
	if (err >= 0 && events & EPOLLIN)
		err = tcp_conn_read(c);
	if (err < 0)
		tcp_port_end(t, c);
	else
		tcp_port_update(t, c, now_ns);
}

static void take_event(struct tcp_port *t, uint64_t tag, uint32_t events, uint64_t now_ns)
{
	struct tcp_conn *c;
	eventfd_t value;

	if (tag == TCP_WAKE_TAG) {
		(void)eventfd_read(t->wake_fd, &value);
		t->is_woken = true;
		return;
	}
	if (tag == TCP_INTAKE_TAG) {
		tcp_port_take_arrivals(t, now_ns);
		return;
	}
	if (tag > TCP_LISTENER_TAG - TCP_LISTENERS_MAX) {
		tcp_port_accept(t, (uint32_t)(TCP_LISTENER_TAG - tag), now_ns);
		return;
	}
	c = &t->conns[(uint32_t)tag];
	/* An earlier event of this call may have closed it and given its slot to another. */
	if (c->fd >= 0 && tcp_port_tag(t, c) == tag)
		on_conn(t, c, events, now_ns);
}

static void take_tcp_events(struct tcp_port *t, uint64_t now_ns)
{
	struct epoll_event events[EVENTS_CAP];
	int n = epoll_wait(t->port.fd, events, EVENTS_CAP, 0);

	for (int i = 0; i < n; i++)
		take_event(t, events[i].data.u64, events[i].events, now_ns);
}

static void expire_list(struct tcp_port *t, struct cds_list_head *timer, uint64_t now_ns)
{
	while (!cds_list_empty(timer)) {
		struct tcp_conn *c = tcp_first(timer);

		if (tcp_port_deadline(t, c) > now_ns)
			break;
		port_count(&t->port.stats.conns_timed_out, 1);
		tcp_port_end(t, c);
	}
}

static void expire_tcp(struct tcp_port *t, uint64_t now_ns)
{
	for (enum tcp_timer i = 0; i < TCP_BUSY; i++)
		for (enum tcp_class class = 0; class < TCP_N_CLASSES; class ++)
			expire_list(t, &t->timers[class][i], now_ns);
	if (t->resume_at_ns <= now_ns) {
		t->resume_at_ns = PORT_NEVER;
		tcp_port_watch_listeners(t, true);
	}
}

/* The idle timeout at the current scale; it may shorten later. */
static uint16_t idle_100ms(const struct tcp_port *t, const struct tcp_conn *c)
{
	uint64_t idle_ns =
		t->timeout_ns[c->class][TCP_IDLE] / TCP_SHARE_SCALE_FULL * t->scale[c->class];

	/* This is the last query that the connection may send. */
	if (t->queries_max && c->n_queries >= t->queries_max)
		return 0;
	idle_ns /= 100 * CLOCK_NS_PER_MS;
	return idle_ns < UINT16_MAX ? (uint16_t)idle_ns : UINT16_MAX;
}

static void fill_msg(struct tcp_port *t, struct tcp_conn *c, struct port_msg *m, unsigned int slot)
{
	const uint8_t *bytes;
	uint32_t at = c->in_start, len = tcp_conn_take(c, &bytes);

	*m = (struct port_msg){
		.data = tcp_port_buffer(t, slot),
		.len = len,
		.cap = TCP_MESSAGE_MAX,
		.family = c->peer.family,
		.stream = true,
		.encrypted = c->ssl,
		.idle_100ms = idle_100ms(t, c),
		.peer_port = c->peer.port,
		.local_port = c->local.port,
		.slot = (uint32_t)(c - t->conns),
		.gen = c->gen,
		.frame_at = at,
		.net_off = (uint16_t)c->n_taken,
	};
	memcpy(m->peer, c->peer.bytes, sizeof(m->peer));
	memcpy(m->local, c->local.bytes, sizeof(m->local));
	memcpy(m->data, bytes, len);
	c->n_taken++;
	port_count(&t->port.stats.rx, 1);
	port_count(&t->port.stats.rx_bytes, len);
}

/* One connection's turn. Its messages are adjacent, so that one call writes the replies. */
static unsigned int take_turn(struct tcp_port *t, struct tcp_conn *c, struct port_msg *msgs,
			      unsigned int n, unsigned int n_cap)
{
	for (unsigned int i = 0; i < TAKE_MAX && n < n_cap; i++) {
		if (c->n_deferred + i == TCP_DEFERRED_MAX)
			break;
		if (!tcp_port_can_queue(t, n + 1) || !has_message(t, c))
			break;
		fill_msg(t, c, &msgs[n], n);
		n++;
		if (t->queries_max && c->n_queries >= t->queries_max)
			c->stage = TCP_FINISHED;
	}
	return n;
}

bool tcp_port_evict_writer(struct tcp_port *t)
{
	for (enum tcp_class class = 0; class < TCP_N_CLASSES; class ++) {
		struct cds_list_head *writing = &t->timers[class][TCP_WRITING];

		if (cds_list_empty(writing))
			continue;
		port_count(&t->port.stats.conns_evicted, 1);
		tcp_port_end(t, tcp_first(writing));
		return true;
	}
	return false;
}

/*
 * Each ready connection has at most one turn: if it has more messages, the update after the replies
 * appends it to the list again.
 */
static unsigned int take_tcp_messages(struct tcp_port *t, struct port_msg *msgs, unsigned int n_cap)
{
	unsigned int n = 0;

	/* If no connection is writing, the pool has room for one message: see tcp_open(). */
	while (!cds_list_empty(&t->ready) && !tcp_port_can_queue(t, 1) && tcp_port_evict_writer(t))
		;
	while (!cds_list_empty(&t->ready) && n < n_cap && tcp_port_can_queue(t, n + 1)) {
		struct tcp_conn *c = cds_list_first_entry(&t->ready, struct tcp_conn, ready_link);

		cds_list_del_init(&c->ready_link);
		n = take_turn(t, c, msgs, n, n_cap);
	}
	return n;
}

static unsigned int tcp_receive(struct port *p, uint64_t now_ns, struct port_msg *msgs,
				unsigned int n_cap)
{
	struct tcp_port *t = tcp_self(p);

	t->now_ns = now_ns;
	take_tcp_events(t, now_ns);
	t->scale[TCP_CLIENTS] = tcp_share_scale(t->share);
	expire_tcp(t, now_ns);
	tcp_port_grant(t, now_ns);
	tcp_port_grant_peers(t, now_ns);
	t->n_taken = take_tcp_messages(t, msgs, n_cap < TCP_BURST ? n_cap : TCP_BURST);
	tcp_port_rank(t, now_ns);
	return t->n_taken;
}

static void tcp_defer(struct port *p, const struct port_msg *msg, struct port_return *out)
{
	const struct tcp_conn *c = &tcp_self(p)->conns[msg->slot];

	/* It may have ended within this burst. */
	out->is_tls13 = c->gen == msg->gen && c->ssl && tcp_tls_is_13(c->ssl);
}

static uint64_t earlier_of(const struct tcp_port *t, struct cds_list_head *timer, uint64_t first)
{
	uint64_t at = cds_list_empty(timer) ? first : tcp_port_deadline(t, tcp_first(timer));

	return at < first ? at : first;
}

static uint64_t tcp_wake_at(struct port *p)
{
	struct tcp_port *t = tcp_self(p);
	uint64_t first = t->resume_at_ns;

	if (!cds_list_empty(&t->ready))
		return 0;
	for (enum tcp_timer i = 0; i < TCP_BUSY; i++)
		for (enum tcp_class class = 0; class < TCP_N_CLASSES; class ++)
			first = earlier_of(t, &t->timers[class][i], first);
	return first;
}

static int tcp_start(struct port *p)
{
	struct tcp_port *t = tcp_self(p);

	return t->config.intake ? tcp_intake_join(t->config.intake, &t->arrivals) : 0;
}

/* Accepts the connections that wait, so that they get an answer; no more come after that. */
static void tcp_stop(struct port *p)
{
	struct tcp_port *t = tcp_self(p);

	if (t->config.intake) {
		tcp_intake_leave(t->config.intake, &t->arrivals);
		tcp_port_take_arrivals(t, t->now_ns);
	}

	for (uint32_t i = 0; i < t->n_listeners; i++)
		tcp_port_close_listener(t, &t->listeners[i]);
}

static void tcp_close(struct port *p)
{
	struct tcp_port *t = tcp_self(p);

	for (uint32_t i = 0; i < t->n_fresh; i++) {
		t->conns[i].watch = NULL;
		if (t->conns[i].fd >= 0)
			tcp_port_end(t, &t->conns[i]);
	}
	tcp_port_fini(t);
	free(t);
}

const struct port_ops tcp_ops = {
	.receive = tcp_receive,
	.send = tcp_port_send,
	.defer = tcp_defer,
	.reply = tcp_port_reply,
	.claim = tcp_port_claim,
	.has_room = tcp_port_has_room,
	.start = tcp_start,
	.stop = tcp_stop,
	.wake_at = tcp_wake_at,
	.close = tcp_close,
};
