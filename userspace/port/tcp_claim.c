/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections of peers: they have places and timeouts of their own (port/tcp_peers.h). */
#include <errno.h>

#include "base/clock.h"
#include "port/tcp_port.h"

#define STALLED_NS (1 * CLOCK_NS_PER_S) /* without progress: a reader of a transfer has stalled */
#define RANK_SHIFT 60                   /* of the kind; below it is the time */

/* The timers of connections that may be closed for another peer, lowest rank first. */
static const enum tcp_timer ranked[] = { TCP_PARTIAL, TCP_IDLE, TCP_WRITING };

#define N_RANKED (sizeof(ranked) / sizeof(ranked[0]))

/* The connection with the lowest rank. NULL: none may be closed. */
static struct tcp_conn *find_lowest(struct tcp_port *t, uint64_t now_ns, uint64_t *rank)
{
	*rank = TCP_PEERS_NONE;
	for (uint64_t i = 0; i < N_RANKED; i++) {
		struct cds_list_head *list = &t->timers[TCP_PEERS][ranked[i]];
		struct tcp_conn *c = cds_list_empty(list) ? NULL : tcp_first(list);

		if (!c || (ranked[i] == TCP_WRITING && now_ns - c->since_ns < STALLED_NS))
			continue;
		*rank = i << RANK_SHIFT | c->since_ns;
		return c;
	}
	return NULL;
}

void tcp_port_rank(struct tcp_port *t, uint64_t now_ns)
{
	uint64_t rank;

	if (!t->config.peers)
		return;
	(void)find_lowest(t, now_ns, &rank);
	if (rank != t->as_peers.rank)
		__atomic_store_n(&t->as_peers.rank, rank, __ATOMIC_RELAXED);
}

/* There is one connection of a peer too many: closes the one with the lowest rank. False: there is
 * none to close. */
static bool make_peer_room(struct tcp_port *t, uint64_t now_ns)
{
	uint64_t rank;
	struct tcp_conn *c;

	tcp_port_rank(t, now_ns);
	if (tcp_peers_wish(t->config.peers, &t->as_peers))
		return true;
	c = find_lowest(t, now_ns, &rank);
	if (!c)
		return false;
	port_count(&t->port.stats.conns_evicted, 1);
	tcp_port_end(t, c);
	return true;
}

void tcp_port_grant_peers(struct tcp_port *t, uint64_t now_ns)
{
	uint32_t n = t->config.peers ? tcp_peers_take_wishes(&t->as_peers) : 0;

	while (n-- && tcp_peers_is_over(t->config.peers) && make_peer_room(t, now_ns))
		;
}

/* The connection becomes one of a peer. False: there is no place for it. */
static bool enter_peers(struct tcp_port *t, struct tcp_conn *c)
{
	if (!tcp_peers_take(t->config.peers))
		return false;
	if (tcp_peers_is_over(t->config.peers) && !make_peer_room(t, t->now_ns)) {
		tcp_peers_give(t->config.peers);
		return false;
	}
	tcp_port_set_timer(t, c, TCP_BUSY, t->now_ns);
	tcp_share_give(t->share, &c->place);
	cds_list_del_init(&c->client_link);
	c->class = TCP_PEERS;
	cds_list_move(&c->timer_link, &t->timers[TCP_PEERS][TCP_BUSY]);
	return true;
}

/* NULL: the connection ended within this burst. */
static struct tcp_conn *find_claimed(struct tcp_port *t, uint32_t slot, uint32_t gen)
{
	return t->conns[slot].gen == gen ? &t->conns[slot] : NULL;
}

int tcp_port_claim(struct port *p, const struct port_msg *msg, struct port_watch *watch)
{
	struct tcp_port *t = (struct tcp_port *)p;
	struct tcp_conn *c = find_claimed(t, msg->slot, msg->gen);
	bool is_first = c && c->class == TCP_CLIENTS;

	if (!c)
		return -ECONNRESET;
	if (watch && (msg->net_off || c->n_deferred || c->out_bytes))
		return -EAGAIN;
	if (is_first && t->config.peers && !enter_peers(t, c))
		return -ENOSPC;
	c->class = TCP_PEERS;
	if (watch) {
		c->watch = watch;
		c->alone = true;
	}
	return is_first;
}

bool tcp_port_has_room(const struct port *p, const struct port_return *to)
{
	struct tcp_port *t = (struct tcp_port *)(uintptr_t)p;
	const struct tcp_conn *c = find_claimed(t, to->slot, to->gen);

	return !c || !c->out_bytes;
}
