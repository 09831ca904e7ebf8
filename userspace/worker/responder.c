/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/responder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/limits.h"
#include "dns/edns.h"
#include "dns/proto.h"
#include "dns/query.h"
#include "querier/querier.h"
#include "worker/handover_queue.h"
#include "worker/reply_event.h"

#define MESSAGE_MAX   65535u
#define SCRATCH_BYTES (256u << 10)

/* A question upstream. to.port is NULL if no client waits for a reply, or if its port is gone. */
struct slot {
	struct engine_pending pending; /* first: resolver_take() returns pointers to it */
	struct port_return to;
	struct querier *asked; /* only compared; it may be gone */
	bool is_second;        /* it was asked again, of another resolver */
	bool is_taken;
	bool is_padded;   /* its reply must be padded */
	bool is_reported; /* its answer goes to the tap, and event is set */
	struct limits_place place;
	struct handover_item *item; /* gets the answer; NULL: its port does */
	struct slot *next_free;
	struct reply_event *event; /* of this slot; not touched unless the tap has a reader */
};

struct responder {
	struct engine *engine;
	struct querier **resolver;
	struct handover *handover; /* NULL: none, then way is NULL, too */
	struct handover_way *way;
	const struct port_msg *held; /* later messages of its connection in this burst wait */
	struct responder_counters counters;
	struct inbox inbox;
	unsigned int desk; /* of the querier */
	int bell_fd;
	unsigned int n_slots;
	/* slots that were ever used; the memory behind them was never touched */
	unsigned int n_used;
	struct slot *slots;
	struct engine_search *searches; /* one for each slot, like events */
	struct reply_event *events;
	struct tap_producer *tap;
	struct slot *free;
	struct limits limits; /* shares of the slots; only this thread uses them */

	/* Questions that are submitted together. */
	struct resolver_question *batch[PORT_BURST];
	unsigned int n_batch;

	/* Completed questions of one port. Their replies, in scratch, go out together. */
	struct slot *done[PORT_BURST];
	struct port_reply replies[PORT_BURST];
	unsigned int n_done, n_replies;
	uint32_t scratch_at;
	uint8_t scratch[SCRATCH_BYTES];
};

/* There is one writer, so no locked instruction is needed. Readers see whole values. */
static void count_responder(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static struct engine_times times_now(uint64_t now_ns)
{
	return (struct engine_times){
		.now_ns = now_ns,
		.now_s = clock_coarse_s(),
		.wall_s = (uint32_t)clock_wall_s(),
	};
}

/* ---- Slots and submitting -------------------------------------------------------------------- */

/* The next free slot, or NULL. */
static struct slot *responder_free_slot(struct responder *r)
{
	if (!r->free && r->n_used < r->n_slots) {
		r->free = &r->slots[r->n_used];
		r->free->pending.servers.search = &r->searches[r->n_used];
		r->free->event = &r->events[r->n_used++];
	}
	return r->free;
}

/* The same for a client's question. NULL also if the client has its share of the slots. */
static struct slot *free_slot_for(struct responder *r, const struct port_msg *m)
{
	return limits_has_room(&r->limits, m->family, m->peer) ? responder_free_slot(r) : NULL;
}

static void take_responder(struct responder *r, struct slot *s, struct querier *resolver)
{
	const struct resolver_question *q = &s->pending.question;

	/* It cannot fail: free_slot_for() has found a slot and room in the share. */
	(void)limits_take(&r->limits, q->family, q->client, &s->place);
	r->free = s->next_free;
	s->is_taken = true;
	s->is_reported = false;
	s->is_second = false;
	s->asked = resolver;
	count_responder(&r->counters.taken, 1);
}

static void give_back_responder(struct responder *r, struct slot *s)
{
	s->is_taken = false;
	limits_give(&r->limits, &s->place);
	s->to.port = NULL;
	s->item = NULL;
	s->next_free = r->free;
	r->free = s;
	count_responder(&r->counters.released, 1);
}

static void submit(struct responder *r, struct querier *resolver)
{
	if (r->n_batch)
		querier_submit(resolver, r->desk, r->batch, r->n_batch);
	r->n_batch = 0;
}

static void add_to_batch(struct responder *r, struct slot *s, struct querier *resolver)
{
	s->pending.question.inbox = &r->inbox;
	r->batch[r->n_batch++] = &s->pending.question;
	if (r->n_batch == PORT_BURST)
		submit(r, resolver);
}

/* ---- Messages -------------------------------------------------------------------------------- */

_Static_assert(PORT_N_KINDS <= ENGINE_WAYS, "each kind of port is a way");

/* True for a message that has the connection for itself: a transfer, a NOTIFY, an UPDATE. */
static bool needs_whole_stream(const struct port_msg *m)
{
	struct query q;
	enum query_verdict verdict = query_parse(&q, m->data, m->len);

	return m->stream &&
	       (verdict == QUERY_NOTIMP || q.qtype == DNS_TYPE_AXFR || q.qtype == DNS_TYPE_IXFR);
}

static void hand_over_responder(struct responder *r, struct port_msg *m, struct port *port)
{
	bool alone = needs_whole_stream(m),
	     is_put = handover_put(r->handover, r->way, port, m, alone);

	if (m->outcome == PORT_PUTS_BACK || (alone && m->outcome == PORT_DEFERS))
		r->held = m;
	count_responder(is_put ? &r->counters.handed_over : &r->counters.handover_lost,
			m->outcome != PORT_PUTS_BACK);
}

/* True if the message is of a connection whose later messages wait. */
static bool has_to_wait(const struct responder *r, struct port_msg *m)
{
	if (!r->held || !port_same_stream(r->held, m))
		return false;
	m->len = 0;
	m->outcome = PORT_PUTS_BACK;
	return true;
}

/* Where the answer goes: to the port, or to an item of the handover. */
struct asker {
	struct port *port;
	struct handover_item *item; /* NULL: to the port */
	const struct port_return *to;
};

/* Notes where a late reply to m goes. */
static void defer_reply(struct slot *s, struct port_msg *m, const struct asker *asker)
{
	s->item = asker->item;
	if (asker->item)
		s->to = *asker->to;
	else
		port_defer(asker->port, m, &s->to);
	m->outcome = PORT_DEFERS;
}

static void answer_responder(struct responder *r, struct engine_request *rq, struct port_msg *m,
			     const struct asker *asker, struct querier *resolver)
{
	struct port *port = asker->port;
	struct slot *s = resolver && port_can_defer(port) ? free_slot_for(r, m) : NULL;
	struct tap_event *event = tap_draws(r->tap) ? reply_event_begin(r->tap, m) : NULL;
	size_t len;

	rq->msg = m->data;
	rq->len = m->len;
	rq->stream = m->stream;
	rq->is_tls = m->encrypted && !asker->item; /* else the transfer thread pads */
	rq->idle_100ms = m->idle_100ms;
	rq->family = m->family;
	rq->client = m->peer;
	rq->pending = s ? &s->pending : NULL;
	len = engine_answer(r->engine, rq, m->data, m->cap);
	if (len == ENGINE_HANDOVER) {
		hand_over_responder(r, m, port);
		return;
	}
	if (len == ENGINE_CLOSE) {
		m->outcome = PORT_CLOSES;
		len = 0;
	}
	if (len == ENGINE_DEFERRED) {
		defer_reply(s, m, asker);
		s->is_padded = engine_pads(r->engine, rq);
		len = 0;
	}
	if (len && engine_pads(r->engine, rq))
		len = padding_add(m->data, len, m->cap, 0);
	m->len = (uint32_t)len;
	if (event && len)
		reply_event_end(r->tap, event, m->data, len, rq->now_ns);
	if (!s || !s->pending.submit)
		return;
	take_responder(r, s, resolver);
	if (event && m->outcome == PORT_DEFERS) {
		reply_event_keep(s->event, event, rq->now_ns);
		s->is_reported = true;
	}
	add_to_batch(r, s, resolver);
}

/* Prepares the first ENGINE_AHEAD of n messages. */
static void read_ahead(struct responder *r, const struct port_msg *msgs, unsigned int n)
{
	struct engine_message ahead[ENGINE_AHEAD];

	if (n > ENGINE_AHEAD)
		n = ENGINE_AHEAD;
	for (unsigned int i = 0; i < n; i++)
		ahead[i] = (struct engine_message){ msgs[i].data, msgs[i].len };
	engine_read_ahead(r->engine, ahead, n);
}

void responder_handle(void *ctx, struct port_msg *msgs, unsigned int n, struct port *port,
		      uint64_t now_ns)
{
	struct responder *r = ctx;
	struct querier *resolver = rcu_dereference(*r->resolver);
	struct engine_times times = times_now(now_ns);
	struct engine_request rq = {
		.now_ns = now_ns,
		.now_s = times.now_s,
		.wall_s = times.wall_s,
		.way = (uint8_t)port->kind,
		.hands_over = r->handover,
	};
	const struct asker asker = { .port = port };

	r->held = NULL;
	for (unsigned int i = 0; i < n; i++) {
		if (i % ENGINE_AHEAD == 0)
			read_ahead(r, &msgs[i], n - i);
		if (has_to_wait(r, &msgs[i]))
			continue;
		rq.ahead = 1 + i % ENGINE_AHEAD;
		answer_responder(r, &rq, &msgs[i], &asker, resolver);
	}
	submit(r, resolver);
}

/*
 * A question whose signature the transfer thread has checked: the rules for the handover do not
 * hold again.
 */
static void answer_item(void *ctx, struct handover_item *item, const struct port_return *to,
			uint64_t now_ns)
{
	struct responder *r = ctx;
	struct querier *resolver = rcu_dereference(*r->resolver);
	struct engine_times times = times_now(now_ns);
	struct engine_request rq = {
		.now_ns = now_ns,
		.now_s = times.now_s,
		.wall_s = times.wall_s,
		.way = (uint8_t)to->port->kind,
	};
	const struct asker asker = { .port = to->port, .item = item, .to = to };
	struct port_msg m = {
		.data = r->scratch, /* free: completions use it only within their call */
		.len = (uint32_t)item->n_bytes,
		.cap = to->cap,
		.family = item->family,
		.stream = true,
		.encrypted = item->transport >= HANDOVER_TLS,
		.idle_100ms = item->idle_100ms,
		.peer_port = item->peer_port,
		.local_port = item->local_port,
	};

	memcpy(m.peer, item->peer, sizeof(m.peer));
	memcpy(m.local, item->local, sizeof(m.local));
	memcpy(m.data, item->bytes, item->n_bytes);
	answer_responder(r, &rq, &m, &asker, resolver);
	submit(r, resolver);
	if (m.outcome != PORT_DEFERS)
		handover_answer(item, m.data, m.len, m.outcome == PORT_CLOSES);
}

void responder_refresh(struct responder *r, const struct volley_refresh *refreshes, unsigned int n)
{
	struct querier *resolver = rcu_dereference(*r->resolver);
	struct engine_times times = times_now(clock_ns());

	for (unsigned int i = 0; i < n; i++) {
		/* without a resolver there may be no slots */
		struct slot *s = resolver ? responder_free_slot(r) : NULL;

		if (!s) {
			count_responder(&r->counters.not_refreshed, n - i);
			break;
		}
		if (!engine_refresh(r->engine, &refreshes[i], &times, &s->pending))
			continue;
		take_responder(r, s, resolver);
		add_to_batch(r, s, resolver);
	}
	submit(r, resolver);
}

/* ---- Completions ----------------------------------------------------------------------------- */

/* Sends a port's replies. Frees their slots, or asks again if only the cache needs it. */
static void flush_responder(struct responder *r, struct port *port, struct querier *resolver,
			    uint64_t now_ns)
{
	if (r->n_replies)
		(void)port_reply(port, now_ns, r->replies, r->n_replies);
	count_responder(&r->counters.replies, r->n_replies);
	for (unsigned int i = 0; i < r->n_done; i++) {
		struct slot *s = r->done[i];

		s->to.port = NULL;
		if (s->pending.submit && resolver) {
			s->asked = resolver;
			add_to_batch(r, s, resolver);
		} else {
			give_back_responder(r, s);
		}
	}
	r->n_done = r->n_replies = 0;
	r->scratch_at = 0;
}

/* True if the question failed because its resolver ended, and there is another one. */
static bool is_to_be_moved(const struct slot *s, const struct querier *resolver)
{
	const struct resolver_question *q = &s->pending.question;

	return resolver && resolver != s->asked && !s->is_second &&
	       q->rcode == DNS_RCODE_SERVFAIL && q->ede_code == DNS_EDE_NOT_READY;
}

static void finish_responder(struct responder *r, struct slot *s, struct querier *resolver,
			     const struct engine_times *times)
{
	uint32_t cap = s->to.port && s->to.cap < MESSAGE_MAX ? s->to.cap : MESSAGE_MAX;
	uint8_t *out = r->scratch + r->scratch_at;
	size_t len = engine_finish(r->engine, &s->pending, times, out, cap);

	if (len == ENGINE_DEFERRED && resolver) { /* the client's answer needs another question */
		resolver_release(&s->pending.question);
		s->asked = resolver;
		add_to_batch(r, s, resolver);
		return;
	}
	if (len == ENGINE_DEFERRED)
		len = engine_fail(r->engine, &s->pending, times, out, cap);
	engine_abandon(&s->pending);
	r->done[r->n_done++] = s;
	if (s->item) {
		if (s->is_reported && len)
			reply_event_late(r->tap, s->event, out, len);
		handover_answer(s->item, out, len, false);
		s->item = NULL;
		return;
	}
	if (!s->to.port) {
		count_responder(&r->counters.orphaned, len != 0);
		return;
	}
	if (len && s->is_padded)
		len = padding_add(out, len, cap, 0);
	if (s->is_reported && len)
		reply_event_late(r->tap, s->event, out, len);
	r->replies[r->n_replies++] =
		(struct port_reply){ .to = &s->to, .data = out, .len = (uint32_t)len };
	r->scratch_at += (uint32_t)len;
}

static void complete_responder(struct responder *r, struct slot *s, struct querier *resolver,
			       const struct engine_times *times)
{
	if (is_to_be_moved(s, resolver)) {
		resolver_release(&s->pending.question);
		s->is_second = true;
		s->asked = resolver;
		count_responder(&r->counters.resubmitted, 1);
		add_to_batch(r, s, resolver);
		return;
	}
	if (r->n_done == PORT_BURST || SCRATCH_BYTES - r->scratch_at < MESSAGE_MAX)
		flush_responder(r, s->to.port, resolver, times->now_ns);
	finish_responder(r, s, resolver, times);
}

/* Completes the questions of the first one's port. Returns the others in their order. */
static struct slot *complete_port(struct responder *r, struct slot *first, struct querier *resolver,
				  const struct engine_times *times)
{
	struct port *port = first->to.port;
	struct inbox_link *others = NULL, **end = &others;

	for (struct slot *s = first, *next; s; s = next) {
		next = (struct slot *)resolver_next(&s->pending.question);
		if (s->to.port == port) {
			complete_responder(r, s, resolver, times);
			continue;
		}
		*end = &s->pending.question.link;
		end = &s->pending.question.link.next;
	}
	*end = NULL;
	flush_responder(r, port, resolver, times->now_ns);
	return (struct slot *)others;
}

static void ready_responder(void *ctx, uint64_t now_ns)
{
	struct responder *r = ctx;
	struct querier *resolver = rcu_dereference(*r->resolver);
	struct engine_times times = times_now(now_ns);
	struct slot *s = (struct slot *)resolver_take(&r->inbox);

	while (s)
		s = complete_port(r, s, resolver, &times);
	submit(r, resolver);
}

/* Questions that have come back from the resolver's process. */
static void ready_bell(void *ctx, uint64_t now_ns)
{
	struct responder *r = ctx;
	struct querier *resolver = rcu_dereference(*r->resolver);
	struct engine_times times = times_now(now_ns);
	struct slot *s;

	bells_quiet(r->bell_fd); /* before the look, so that no later ring is lost */
	s = resolver ? (struct slot *)querier_take(resolver, r->desk) : NULL;
	while (s)
		s = complete_port(r, s, resolver, &times);
	submit(r, resolver);
}

struct worker_source responder_source(struct responder *r)
{
	return (struct worker_source){ .fd = r->inbox.fd, .ready = ready_responder, .ctx = r };
}

struct worker_source responder_bell_source(struct responder *r)
{
	return (struct worker_source){ .fd = r->bell_fd, .ready = ready_bell, .ctx = r };
}

struct worker_source responder_handover_source(struct responder *r)
{
	return handover_source(r->way);
}

void responder_port_gone(void *ctx, struct port *port)
{
	struct responder *r = ctx;

	if (r->handover)
		handover_port_gone(r->way, port);
	for (unsigned int i = 0; i < r->n_used; i++)
		if (r->slots[i].is_taken && r->slots[i].to.port == port)
			r->slots[i].to.port = NULL;
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static void free_room(struct responder *r)
{
	free(r->events);
	free(r->searches);
	free(r->slots);
	r->events = NULL;
	r->searches = NULL;
	r->slots = NULL;
	r->n_slots = 0;
}

int responder_make_room(struct responder *r, unsigned int n)
{
	free_room(r);
	if (!n)
		return 0;
	r->slots = calloc(n, sizeof(*r->slots));
	r->searches = calloc(n, sizeof(*r->searches));
	r->events = calloc(n, sizeof(*r->events));
	if (!r->slots || !r->searches || !r->events) {
		free_room(r);
		return -ENOMEM;
	}
	r->n_slots = n;
	r->limits.max_total = n;
	return 0;
}

int responder_new(struct responder **out, const struct responder_config *config)
{
	struct responder *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->engine = config->engine;
	r->resolver = config->resolver;
	r->handover = config->handover;
	r->tap = config->tap;
	r->desk = config->desk;
	r->bell_fd = config->bell_fd;
	r->limits = (struct limits){ .has_shares = true, .prefix4 = 32, .prefix6 = 64 };
	err = responder_make_room(r, config->n_pending);
	if (!err && getrandom(r->limits.key, sizeof(r->limits.key), 0) != sizeof(r->limits.key))
		err = -EIO;
	if (!err && r->handover)
		err = handover_way_new(&r->way, answer_item, r);
	err = err ? err : inbox_open(&r->inbox);
	if (err) {
		handover_way_free(r->way);
		free_room(r);
		free(r);
		return err;
	}
	*out = r;
	return 0;
}

void responder_free(struct responder *r)
{
	struct resolver_question *q;

	if (!r)
		return;
	q = resolver_take(&r->inbox);
	while (q) {
		struct resolver_question *next = resolver_next(q);

		engine_abandon(&((struct slot *)q)->pending);
		q = next;
	}
	inbox_close(&r->inbox);
	for (unsigned int i = 0; i < r->n_used; i++)
		if (r->slots[i].is_taken && r->slots[i].item)
			handover_answer(r->slots[i].item, NULL, 0, false);
	handover_way_free(r->way);
	free_room(r);
	free(r);
}

void responder_counters_read(const struct responder *r, struct responder_counters *out)
{
#define COPY(name, words) out->name = __atomic_load_n(&r->counters.name, __ATOMIC_RELAXED);
	RESPONDER_COUNTERS(COPY)
#undef COPY
}
