/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which connections are admitted, and which are closed for them.
 *
 *      accepted ─► has its client a place left? ─ no ──► close one of that client: of this port, of
 *                          │ yes                         another port (a wish), or the new one
 *                  are there too many in all? ── yes ──► close one of this port, of another port
 *                          │ no                          (a wish), or the new one
 *                      a slot
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "port/tcp_port.h"
#include "port/tcp_tls.h"

#define YOUNG_NS        (100 * CLOCK_NS_PER_MS) /* a port meets a wish sooner than that */
#define ACCEPT_MAX      64                      /* connections accepted in a row */
#define ACCEPT_PAUSE_NS (100 * CLOCK_NS_PER_MS) /* pause after a lack of resources */
#define STALLED_NS      (200 * CLOCK_NS_PER_MS) /* without progress: a reader has stalled */
#define TAKE_TRIES      8
#define CLIENT_LOOK_MAX 256 /* most connections of a client that a search visits */

/* True if c may be closed for another: it neither waits for us nor takes replies now. */
static bool may_go(const struct tcp_conn *c, uint64_t now_ns)
{
	return c->timer != TCP_BUSY &&
	       (c->timer != TCP_WRITING || now_ns - c->since_ns >= STALLED_NS);
}

static void evict(struct tcp_port *t, struct tcp_conn *c)
{
	port_count(&t->port.stats.conns_evicted, 1);
	tcp_port_end(t, c);
}

/* The connection of this port to close first, of timers `first` to `last`. NULL: there is none. */
static struct tcp_conn *find_tcp_client_victim(struct tcp_port *t, enum tcp_timer first,
					       enum tcp_timer last, uint64_t now_ns)
{
	for (enum tcp_timer i = first; i <= last; i++)
		if (!cds_list_empty(&t->timers[TCP_CLIENTS][i]) &&
		    may_go(tcp_first(&t->timers[TCP_CLIENTS][i]), now_ns))
			return tcp_first(&t->timers[TCP_CLIENTS][i]);
	return NULL;
}

static bool is_tcp_client_of(const struct tcp_conn *c, const struct limits_place *client)
{
	return c->place.cell[0] == client->cell[0] && c->place.cell[1] == client->cell[1];
}

static struct cds_list_head *client_list(struct tcp_port *t, const struct limits_place *client)
{
	return &t->clients[client->cell[0] % TCP_CLIENT_LISTS];
}

/* Finds a client's connection to close: the lowest timer, then the oldest. */
static struct tcp_conn *find_own_victim(struct tcp_port *t, const struct limits_place *client,
					uint64_t now_ns)
{
	struct tcp_conn *c, *best = NULL;
	unsigned int n = 0;

	cds_list_for_each_entry(c, client_list(t, client), client_link) {
		if (++n > CLIENT_LOOK_MAX || (best && best->timer == TCP_PARTIAL))
			break;
		if (is_tcp_client_of(c, client) && may_go(c, now_ns) &&
		    (!best || c->timer < best->timer))
			best = c;
	}
	return best;
}

/*
 * There is one connection too many: closes one. Incomplete messages of any port go first. False:
 * the new connection must be closed.
 */
static bool make_tcp_client_room(struct tcp_port *t, uint64_t now_ns)
{
	struct tcp_conn *victim = find_tcp_client_victim(t, TCP_PARTIAL, TCP_PARTIAL, now_ns);

	if (!victim && tcp_share_has_half(t->share) && tcp_share_wish(t->share, t->wake_fd))
		return true;
	if (!victim)
		victim = find_tcp_client_victim(t, TCP_WRITING, TCP_IDLE, now_ns);
	if (!victim)
		return tcp_share_wish(t->share, t->wake_fd);
	evict(t, victim);
	return true;
}

/* A client has one connection too many: closes one of it. False: its new one must be closed. */
static bool make_client_room(struct tcp_port *t, const struct limits_place *client, uint64_t now_ns)
{
	struct tcp_conn *victim = find_own_victim(t, client, now_ns);

	if (!victim)
		return tcp_share_wish_client(t->share, t->wake_fd, client);
	evict(t, victim);
	return true;
}

/* True if the client may have one more connection, which is then counted. */
static bool take_tcp_client_place(struct tcp_port *t, const struct port_addr *client,
				  struct limits_place *place, uint64_t now_ns)
{
	/* Another port may take the place that an eviction here has freed. */
	for (unsigned int i = 0; i < TAKE_TRIES; i++) {
		enum limits_verdict verdict = tcp_share_take(t->share, client, place);
		struct tcp_conn *victim;

		if (verdict == LIMITS_TAKEN)
			return true;
		victim = verdict == LIMITS_CLIENT ?
				 find_own_victim(t, place, now_ns) :
				 find_tcp_client_victim(t, TCP_PARTIAL, TCP_IDLE, now_ns);
		if (!victim)
			break;
		evict(t, victim);
	}
	return false;
}

static struct tcp_conn *take_slot(struct tcp_port *t)
{
	struct tcp_conn *c;

	if (!cds_list_empty(&t->free))
		return tcp_first(&t->free);
	if (t->n_fresh == t->n_slots)
		return NULL;
	c = &t->conns[t->n_fresh];
	c->in = t->in + (size_t)t->n_fresh++ * TCP_IN_BYTES;
	CDS_INIT_LIST_HEAD(&c->ready_link);
	cds_list_add(&c->timer_link, &t->free);
	return c;
}

/* NULL on an error: only the descriptor is left, and no slot is used. */
static struct tcp_conn *enter_tcp_client(struct tcp_port *t, int fd, const struct port_addr *peer,
					 const struct limits_place *place, uint64_t now_ns)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct port_addr local;
	struct tcp_conn *c = take_slot(t);
	struct epoll_event event = { .events = EPOLLIN };

	if (!c)
		return NULL;
	c->fd = -1;
	event.data.u64 = tcp_port_tag(t, c);
	if (getsockname(fd, (struct sockaddr *)&ss, &len) ||
	    port_addr_from_sockaddr(&local, (struct sockaddr *)&ss) ||
	    epoll_ctl(t->port.fd, EPOLL_CTL_ADD, fd, &event))
		return NULL;
	c->fd = fd;
	c->peer = *peer;
	c->local = local;
	c->place = *place;
	c->interest = EPOLLIN;
	c->timer = TCP_BUSY;
	cds_list_add_tail(&c->client_link, client_list(t, place));
	port_count(&t->port.stats.conns_opened, 1);
	tcp_port_set_timer(t, c, TCP_NEW, now_ns);
	return c;
}

/* NULL: the connection is counted as refused, and the caller closes the descriptor. */
static struct tcp_conn *admit_tcp_client(struct tcp_port *t, int fd, const struct port_addr *peer,
					 uint64_t now_ns)
{
	struct limits_place place = { 0 };
	struct tcp_conn *c = NULL;

	if (take_tcp_client_place(t, peer, &place, now_ns)) {
		if ((!tcp_share_client_is_over(t->share, &place) ||
		     make_client_room(t, &place, now_ns)) &&
		    (!tcp_share_is_over(t->share) || make_tcp_client_room(t, now_ns)))
			c = enter_tcp_client(t, fd, peer, &place, now_ns);
		if (!c)
			tcp_share_give(t->share, &place);
	}
	if (!c)
		port_count(&t->port.stats.conns_refused, 1);
	return c;
}

static void take_arrival(struct tcp_port *t, struct tcp_arrival *a, uint64_t now_ns)
{
	struct tcp_conn *c = admit_tcp_client(t, a->fd, &a->peer, now_ns);

	if (!c) {
		tcp_arrival_drop(a);
		return;
	}
	c->ssl = a->ssl;
	tcp_tls_enter(c->ssl);
	free(a);
	/* The first query has mostly arrived: its reply then carries the session ticket. */
	if (tcp_conn_read(c) < 0) {
		tcp_port_end(t, c);
		return;
	}
	tcp_port_update(t, c, now_ns);
	/* Without a whole query, the client may wait for its tickets. */
	if (c->fd >= 0 && cds_list_empty(&c->ready_link))
		tcp_tls_flush(c->ssl);
}

void tcp_port_take_arrivals(struct tcp_port *t, uint64_t now_ns)
{
	struct tcp_arrival *a = tcp_intake_take(&t->arrivals), *next;

	for (; a; a = next) {
		next = a->next;
		take_arrival(t, a, now_ns);
	}
}

/* Accepts one connection. False: there is no more to accept now. */
static bool accept_one(struct tcp_port *t, int listen_fd, uint64_t now_ns)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof(ss);
	struct port_addr peer;
	int fd = accept4(listen_fd, (struct sockaddr *)&ss, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (errno == EAGAIN)
			return false;
		port_count(&t->port.stats.rx_errors, 1);
		if (err_is_exhausted(-errno)) {
			/* Epoll would report the listener again at once, to no use. */
			tcp_port_watch_listeners(t, false);
			t->resume_at_ns = now_ns + ACCEPT_PAUSE_NS;
			return false;
		}
		/* this client is gone (ECONNABORTED, EPROTO ...); there may be another */
		return true;
	}
	if (port_addr_from_sockaddr(&peer, (struct sockaddr *)&ss) ||
	    !admit_tcp_client(t, fd, &peer, now_ns))
		close(fd);
	return true;
}

void tcp_port_accept(struct tcp_port *t, uint32_t listener, uint64_t now_ns)
{
	for (int i = 0; i < ACCEPT_MAX; i++)
		if (!accept_one(t, t->listeners[listener].fd, now_ns))
			return;
}

/* Like find_tcp_client_victim(), but passes over young connections: another port may have an older
 * one to close. */
static struct tcp_conn *find_for_wish(struct tcp_port *t, enum tcp_timer last, uint64_t now_ns)
{
	struct tcp_conn *c;

	for (enum tcp_timer i = TCP_PARTIAL; i <= last; i++) {
		c = find_tcp_client_victim(t, i, i, now_ns);
		if (c && (i == TCP_PARTIAL || now_ns - c->since_ns >= YOUNG_NS))
			return c;
	}
	return NULL;
}

/* Called once after each wake-up: later wishes wake the port again. */
static void grant_to_clients(struct tcp_port *t, uint64_t now_ns)
{
	struct limits_place client;
	struct tcp_conn *victim;
	uint32_t at = 0;

	while (tcp_share_next_client_wish(t->share, t->wake_fd, &at, &client)) {
		victim = find_own_victim(t, &client, now_ns);
		if (victim && tcp_share_take_client_wish(t->share, &client))
			evict(t, victim);
	}
}

void tcp_port_grant(struct tcp_port *t, uint64_t now_ns)
{
	enum tcp_timer last;
	struct tcp_conn *victim;

	if (t->is_woken)
		grant_to_clients(t, now_ns);
	t->is_woken = false;
	while (tcp_share_is_wished(t->share)) {
		last = tcp_share_has_half(t->share) ? TCP_PARTIAL : TCP_IDLE;
		victim = find_for_wish(t, last, now_ns);
		if (!victim || !tcp_share_take_wish(t->share))
			return;
		evict(t, victim);
	}
}
