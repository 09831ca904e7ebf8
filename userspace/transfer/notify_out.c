/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/primary_state.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "transfer/exchange.h"
#include "transfer/remotes.h"
#include "xfr/notify.h"

/* Seconds before the next round. RFC 1996 section 3.6 has 60 s and 5 rounds; the first waits are
 * shorter because most losses are short. */
static const uint16_t waits_s[] = { 5, 15, 60, 60, 60 };

#define NOTIFY_ROUNDS (sizeof(waits_s) / sizeof(waits_s[0]))

enum state {
	DONE,    /* there is nothing to send */
	QUEUED,  /* waits for its turn */
	RUNNING, /* waits for the answer to `query` or `exchange` */
	WAITING, /* waits for the next round */
};

/* A remote of a zone. */
struct target {
	struct cds_list_head link; /* in the queue */
	struct transfer *t;
	struct transfer_zone *zone;
	const char *name; /* points into the zone's configuration */
	enum state state;
	unsigned int n_rounds;
	struct timer wait; /* initialised when first needed */
	/* RUNNING. */
	struct remotes *remotes;
	struct remote *remote;
	uint32_t n_tried; /* addresses tried in this round */
	struct udp_query *query;
	struct exchange *exchange;
	struct tsig tsig;
	uint16_t id;
};

struct primary_zone {
	uint32_t n;
	struct target targets[];
};

struct notifier {
	struct cds_list_head queue;
	struct transfer *t;
	struct timer tick;
	uint32_t n_running;
};

/* ---- One target ------------------------------------------------------------------------------ */

static void leave_notify_out(struct target *g)
{
	switch (g->state) {
	case RUNNING:
		udp_query_abort(g->query);
		exchange_abort(g->exchange);
		tsig_fini(&g->tsig);
		remotes_put(g->remotes);
		g->query = NULL;
		g->exchange = NULL;
		g->t->primary->notifier->n_running--;
		break;
	case QUEUED:
		cds_list_del(&g->link);
		break;
	case WAITING:
		timer_cancel(&g->wait);
		break;
	case DONE:
		break;
	}
	g->state = DONE;
}

static void tick_soon(struct notifier *n)
{
	if (!timer_is_set(&n->tick))
		loop_set(n->t, &n->tick, NOTIFY_TICK_MS * CLOCK_NS_PER_MS);
}

static void enqueue_notify_out(struct target *g)
{
	struct notifier *n = g->t->primary->notifier;

	leave_notify_out(g);
	g->state = QUEUED;
	cds_list_add_tail(&g->link, &n->queue);
	tick_soon(n);
}

static void on_wait(void *user)
{
	enqueue_notify_out(user);
}

static bool can_wait(struct target *g)
{
	return g->wait.all || !timer_init(&g->wait, &g->t->timers, on_wait, g);
}

/* No address has answered in this round. */
static void end_round(struct target *g)
{
	leave_notify_out(g);
	if (g->n_rounds == NOTIFY_ROUNDS || !can_wait(g)) {
		transfer_count(g->t, notify_failed);
		log_warn("%s does not answer NOTIFY", g->name);
		return;
	}
	loop_set(g->t, &g->wait, waits_s[g->n_rounds++] * CLOCK_NS_PER_S);
	g->state = WAITING;
}

static void try_next(struct target *g);

/* Any answer ends it: section 3.12. */
static void on_notify_out_answer(void *user, int code, const uint8_t *reply, size_t n)
{
	struct target *g = user;
	struct peer *peer = &g->remote->peers[g->n_tried - 1];

	(void)reply, (void)n;
	g->query = NULL;
	if (!code) {
		peer_is_alive(peer);
		leave_notify_out(g);
		return;
	}
	if (code == -ETIMEDOUT)
		peer_is_dead(peer, g->t->now.ns);
	try_next(g);
}

static int on_notify_out_message(void *user, const uint8_t *msg, size_t n)
{
	struct target *g = user;
	enum tsig_verdict verdict = tsig_verify(&g->tsig, msg, n, g->t->now.wall_s, NULL);
	bool is_answer = verdict == TSIG_OK && notify_match(msg, n, g->id, g->zone->apex) >= 0;
	/* leave_notify_out() may free older remotes and their peers, so only a connection to a peer
	 * of the present remotes is kept. */
	bool is_kept = is_answer && g->remotes == g->t->remotes;

	g->exchange = NULL;
	if (is_answer)
		leave_notify_out(g);
	else
		try_next(g);
	return is_kept ? EXCHANGE_DONE : ERR_FORMAT;
}

static void on_notify_out_failed(void *user, int code, const char *why)
{
	struct target *g = user;

	(void)code, (void)why;
	g->exchange = NULL;
	try_next(g);
}

/* Writes the NOTIFY, unsigned, with the served SOA. Returns its length, or an error. */
static int write_notify(struct target *g, uint8_t *msg, size_t cap)
{
	struct zone *served = served_get(g->t, g->zone);
	const struct zone_rrset *soa;
	struct zone_rdata rd;
	int n;

	if (!served)
		return notify_build(msg, cap, g->id, g->zone->apex, NULL, 0, 0);
	soa = zone_soa(served);
	(void)zone_rdata_next(zone_rrset_first(served, soa), &rd);
	n = notify_build(msg, cap, g->id, g->zone->apex, rd.bytes, rd.len, soa->ttl);
	zone_unref(served);
	return n;
}

static int send_by_tls(struct target *g, struct peer *peer, uint8_t *msg, size_t n, size_t cap)
{
	static const struct exchange_handlers handlers = { on_notify_out_message,
							   on_notify_out_failed };
	int bytes;

	tsig_fini(&g->tsig);
	tsig_init(&g->tsig, g->remote->key);
	bytes = tsig_sign(&g->tsig, msg, n, cap, g->t->now.wall_s);
	if (bytes < 0)
		return bytes;
	return exchange_begin(&g->exchange, g->t, g->remote, peer, msg, (size_t)bytes, &handlers,
			      g);
}

static int send_to_notify_out(struct target *g, struct peer *peer)
{
	uint8_t msg[UDP_QUERY_MAX + TSIG_MAX];
	int n;

	g->id = random_u16(&g->t->random);
	n = write_notify(g, msg, UDP_QUERY_MAX);
	if (n < 0)
		return n;
	transfer_count(g->t, notify_sent);
	if (g->remote->tls != CONFIG_TLS_OFF)
		return send_by_tls(g, peer, msg, (size_t)n, sizeof(msg));
	return udp_query_start(&g->query, g->t, g->remote, peer, msg, (size_t)n,
			       on_notify_out_answer, g);
}

/* Tries the next address of the remote, or ends the round. */
static void try_next(struct target *g)
{
	while (g->n_tried < g->remote->n_peers) {
		struct peer *peer = &g->remote->peers[g->n_tried++];

		if (!peer_is_shunned(peer, g->t->now.ns) && !send_to_notify_out(g, peer))
			return;
	}
	end_round(g);
}

static void start_notify_out(struct target *g)
{
	struct transfer *t = g->t;

	leave_notify_out(g);
	g->remote = remotes_find(t->remotes, g->name);
	if (!g->remote)
		return;
	g->remotes = remotes_get(t->remotes);
	g->state = RUNNING;
	g->n_tried = 0;
	t->primary->notifier->n_running++;
	try_next(g);
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void on_notify_out_tick(void *user)
{
	struct notifier *n = user;

	for (unsigned int i = 0; i < NOTIFY_PER_TICK && n->n_running < NOTIFY_RUNNING_MAX; i++) {
		if (cds_list_empty(&n->queue))
			return;
		start_notify_out(cds_list_first_entry(&n->queue, struct target, link));
	}
	tick_soon(n);
}

void notifier_notify(struct transfer *t, struct transfer_zone *zone)
{
	struct primary_zone *p = zone->primary;

	(void)t;
	for (uint32_t i = 0; p && i < p->n; i++) {
		p->targets[i].n_rounds = 0;
		enqueue_notify_out(&p->targets[i]);
	}
}

/* True if the list is new, or if not all remotes have answered the last NOTIFY. */
static bool is_notify_out_due(struct transfer *t, const struct transfer_zone *zone)
{
	uint32_t serial;

	if (!zone->primary)
		return served_serial(t, zone, &serial);
	for (uint32_t i = 0; i < zone->primary->n; i++)
		if (zone->primary->targets[i].state != DONE)
			return true;
	return false;
}

void notifier_drop_zone(struct transfer *t, struct transfer_zone *zone)
{
	struct primary_zone *p = zone->primary;

	(void)t;
	for (uint32_t i = 0; p && i < p->n; i++) {
		leave_notify_out(&p->targets[i]);
		timer_fini(&p->targets[i].wait);
	}
	free(p);
	zone->primary = NULL;
}

/* Without memory no NOTIFY is sent: the secondaries ask later by themselves. */
void notifier_put_zone(struct transfer *t, struct transfer_zone *zone)
{
	bool due = is_notify_out_due(t, zone);
	char **names = zone->config->notify;
	uint32_t n = 0;

	notifier_drop_zone(t, zone);
	while (names && names[n])
		n++;
	if (!n)
		return;
	zone->primary = calloc(1, sizeof(*zone->primary) + n * sizeof(zone->primary->targets[0]));
	if (!zone->primary)
		return;
	zone->primary->n = n;
	for (uint32_t i = 0; i < n; i++)
		zone->primary->targets[i] =
			(struct target){ .t = t, .zone = zone, .name = names[i] };
	if (due)
		notifier_notify(t, zone);
}

int notifier_open(struct transfer *t)
{
	struct notifier *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	t->primary->notifier = n;
	CDS_INIT_LIST_HEAD(&n->queue);
	n->t = t;
	return timer_init(&n->tick, &t->timers, on_notify_out_tick, n);
}

void notifier_close(struct transfer *t)
{
	struct notifier *n = t->primary->notifier;

	if (!n)
		return;
	timer_fini(&n->tick);
	free(n);
	t->primary->notifier = NULL;
}
