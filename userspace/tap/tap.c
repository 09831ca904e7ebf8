/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/tap.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "base/sandbox.h"
#include "tap/outlet.h"

#define RING_BYTES \
	(4u << 20)       /* a tenth of a second of a worker that answers 200,000 queries a second */
#define PAUSE_NS 5000000 /* between two looks at the rings: a wake-up for each event costs more */

struct observer {
	uint32_t every; /* 0: no observer */
	tap_observe_fn *fn;
	void *ctx;
};

struct tap {
	struct tap_switch is;
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* protects the fields below */
	pthread_cond_t wake;
	bool stops;
	struct tap_producer *producers;
	struct tap_outlet *outlets; /* of other processes */
	uint8_t *copied;            /* room for an event of theirs; NULL: there was no outlet */
	struct dnstap *dnstap;
	struct querylog *log;
	struct dnstap_config dnstap_config;
	uint32_t log_every;
	struct observer observers[TAP_N_OBSERVERS];
	uint32_t seed;
	tap_drain_fn *drain;
	void *drain_ctx;
	uint64_t events;
	uint64_t lost; /* by producers that are gone */
	/* By writers that are gone. */
	uint64_t dnstap_written, dnstap_lost, log_written, log_lost;
};

/* Xorshift (Marsaglia, 2003): the choice of answers need not be secret. */
static uint32_t draw_number(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* --- Producers -------------------------------------------------------------------------------- */

/* Gaps from 0 to 2 * (every - 1) answers: on average one in `every` is drawn. `left` may be from a
 * coarser setting. */
bool tap_draw(struct tap_producer *p, uint32_t every)
{
	if (p->left && p->left < 2 * every) {
		p->left--;
		return false;
	}
	p->left = draw_number(&p->seed) % (2 * every - 1);
	return true;
}

/* Never 0 (Marsaglia). It decides for both events of a query. */
uint32_t tap_draw_lot(struct tap_producer *p)
{
	return draw_number(&p->seed);
}

struct tap_event *tap_begin(struct tap_producer *p, const void *query, size_t n, size_t reply_cap)
{
	const size_t n_query = tap_wants_queries(p) ? n : 0;
	struct tap_event *e = tap_ring_reserve(&p->ring, sizeof(*e) + n_query + reply_cap);

	if (!e)
		return NULL;
	*e = (struct tap_event){ .query_bytes = (uint32_t)n, .n_query = (uint32_t)n_query };
	if (n_query)
		memcpy(e->octets, query, n_query);
	return e;
}

void tap_commit(struct tap_producer *p, struct tap_event *e, const void *reply, size_t n)
{
	e->n_reply = (uint32_t)n;
	if (n)
		memcpy(e->octets + e->n_query, reply, n);
	tap_ring_commit(&p->ring, tap_event_bytes(e));
}

void tap_lose(struct tap_producer *p)
{
	tap_ring_lose(&p->ring, 1);
}

void tap_date(struct tap_event *e, uint64_t asked_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	e->answered_ns = (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
	e->asked_ns = e->answered_ns - (clock_ns() - asked_ns);
}

struct tap_producer *tap_producer_new(struct tap *tap)
{
	struct tap_producer *p = aligned_alloc(64, (sizeof(*p) + 63) / 64 * 64);

	if (!p)
		return NULL;
	pthread_mutex_lock(&tap->lock);
	*p = (struct tap_producer){ .is = &tap->is, .seed = draw_number(&tap->seed) };
	if (tap->is.every && tap_ring_open(&p->ring, RING_BYTES)) {
		free(p);
		p = NULL;
	} else {
		p->next = tap->producers;
		tap->producers = p;
	}
	pthread_mutex_unlock(&tap->lock);
	return p;
}

/* --- The thread ------------------------------------------------------------------------------- */

/* Draws one in `every` of all answers; the events are already one in `common` of them. */
static bool is_drawn(struct tap *tap, uint32_t every, const struct tap_event *e)
{
	const uint64_t common = tap->is.every;

	return every <= common ||
	       (e->lot ? e->lot : draw_number(&tap->seed)) < (common << 32) / every;
}

/* dnstap comes last, since it shortens the addresses in place. */
void tap_handle(struct tap *tap, struct tap_event *e)
{
	tap->events++;
	for (int i = 0; i < TAP_N_OBSERVERS; i++) {
		const struct observer *o = &tap->observers[i];

		if (o->every && is_drawn(tap, o->every, e))
			o->fn(o->ctx, e);
	}
	if (tap->log && is_drawn(tap, tap->log_every, e))
		querylog_put(tap->log, e);
	if (tap->dnstap && is_drawn(tap, tap->dnstap_config.every, e))
		dnstap_put(tap->dnstap, e);
}

static void drain_producer(struct tap *tap, struct tap_producer *p)
{
	uint64_t at = tap_ring_begin(&p->ring);
	struct tap_event *e;
	size_t bytes;

	while ((e = tap_ring_next(&p->ring, &at, &bytes))) {
		tap_handle(tap, e);
		tap_ring_release(&p->ring, at);
	}
}

static void drain_outlet(struct tap *tap, struct tap_outlet *outlet)
{
	struct tap_event *e = (struct tap_event *)(void *)tap->copied;
	const uint64_t from = outlet->tail;

	/* As much as the ring has: the other process, which may write on, cannot hold us here. */
	while (e && outlet->tail - from < outlet->cap && tap_outlet_next(outlet, e))
		tap_handle(tap, e);
}

static void drain_tap(struct tap *tap)
{
	uint64_t before = tap->events;

	for (struct tap_producer *p = tap->producers; p; p = p->next)
		drain_producer(tap, p);
	for (struct tap_outlet *outlet = tap->outlets; outlet; outlet = outlet->next)
		drain_outlet(tap, outlet);
	if (tap->drain)
		tap->drain(tap->drain_ctx, tap);
	if (tap->events == before)
		return;
	if (tap->dnstap)
		dnstap_kick(tap->dnstap);
	if (tap->log)
		querylog_kick(tap->log);
}

static void pause_a_while(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	nanosleep(&pause, NULL);
}

static void *run_tap(void *arg)
{
	struct tap *tap = arg;
	bool stops = false;

	sandbox_enter(SANDBOX_QUIET);
	rcu_register_thread();
	rcu_thread_offline();
	while (!stops) {
		pthread_mutex_lock(&tap->lock);
		while (!tap->is.every && !tap->stops)
			pthread_cond_wait(&tap->wake, &tap->lock);
		drain_tap(tap);
		stops = tap->stops;
		pthread_mutex_unlock(&tap->lock);
		if (!stops)
			pause_a_while();
	}
	rcu_unregister_thread();
	return NULL;
}

/* Only the main thread handles signals: the new thread inherits a full mask. */
static int start_tap(struct tap *tap)
{
	sigset_t all, old;
	int err;

	if (tap->has_thread)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&tap->thread, NULL, run_tap, tap);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	tap->has_thread = !err;
	if (!err)
		pthread_setname_np(tap->thread, "volley-tap");
	return -err;
}

/* Hands the producer's last events to the writers. */
void tap_producer_free(struct tap *tap, struct tap_producer *p)
{
	struct tap_producer **at;

	if (!p)
		return;
	pthread_mutex_lock(&tap->lock);
	for (at = &tap->producers; *at != p; at = &(*at)->next)
		assert(*at); /* it has been in the list since it was made */
	*at = p->next;
	if (p->ring.memory)
		drain_producer(tap, p);
	tap->lost += tap_ring_lost(&p->ring);
	pthread_mutex_unlock(&tap->lock);
	tap_ring_close(&p->ring);
	free(p);
}

/* --- Producers of other processes ------------------------------------------------------------- */

/* Each process has its own copy of the switch, because a producer reads it for each answer. */
static void tell_outlet(const struct tap *tap, struct tap_outlet *outlet)
{
	struct tap_switch *is = &outlet->shared->is;
	uint32_t every = tap->copied ? tap->is.every : 0;

	__atomic_store_n(&is->wants_queries, tap->is.wants_queries, __ATOMIC_RELAXED);
	__atomic_store_n(&is->wants_forwarders, tap->is.wants_forwarders, __ATOMIC_RELAXED);
	__atomic_store_n(&is->every, every, __ATOMIC_RELAXED);
}

void tap_outlet_add(struct tap *tap, struct tap_outlet *outlet)
{
	pthread_mutex_lock(&tap->lock);
	if (!tap->copied)
		tap->copied = malloc(TAP_EVENT_MAX); /* without it nothing is told */
	outlet->next = tap->outlets;
	tap->outlets = outlet;
	tell_outlet(tap, outlet);
	pthread_mutex_unlock(&tap->lock);
}

void tap_outlet_remove(struct tap *tap, struct tap_outlet *outlet)
{
	struct tap_outlet **at;

	pthread_mutex_lock(&tap->lock);
	for (at = &tap->outlets; *at != outlet; at = &(*at)->next)
		assert(*at); /* it has been in the list since it was added */
	*at = outlet->next;
	drain_outlet(tap, outlet);
	tap->lost += tap_ring_lost(&outlet->shared->producer.ring);
	pthread_mutex_unlock(&tap->lock);
}

/* --- Settings --------------------------------------------------------------------------------- */

static bool is_same_dnstap(const struct tap *tap, const struct dnstap_config *config)
{
	return tap->dnstap && config && !memcmp(&tap->dnstap_config, config, sizeof(*config));
}

static uint32_t tap_least(uint32_t a, uint32_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Producers get their rings before they are told to use them. */
static int open_tap_rings(struct tap *tap)
{
	int err = 0;

	for (struct tap_producer *p = tap->producers; p && !err; p = p->next)
		if (!p->ring.memory)
			err = tap_ring_open(&p->ring, RING_BYTES);
	return err;
}

/* The caller holds the lock. */
static void set_switch(struct tap *tap)
{
	const struct dnstap_config *d = tap->dnstap ? &tap->dnstap_config : NULL;
	uint32_t every = tap_least(d ? d->every : 0, tap->log ? tap->log_every : 0);
	bool wants_queries = tap->observers[TAP_CAPTURE].every || (d && dnstap_wants_queries(d));

	for (int i = 0; i < TAP_N_OBSERVERS; i++)
		every = tap_least(every, tap->observers[i].every);
	if (every && open_tap_rings(tap))
		every = 0;
	__atomic_store_n(&tap->is.wants_queries, wants_queries, __ATOMIC_RELAXED);
	__atomic_store_n(&tap->is.wants_forwarders, d && dnstap_wants_forwarders(d),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&tap->is.every, every, __ATOMIC_RELAXED);
	for (struct tap_outlet *outlet = tap->outlets; outlet; outlet = outlet->next)
		tell_outlet(tap, outlet);
	pthread_cond_signal(&tap->wake);
}

/* Closes writers without the lock, because each may write its queue for half a second. */
static void close_writers(struct tap *tap, struct dnstap *dnstap, struct querylog *log)
{
	uint64_t n[4] = { 0 };

	dnstap_close(dnstap, &n[0], &n[1]);
	querylog_close(log, &n[2], &n[3]);
	pthread_mutex_lock(&tap->lock);
	tap->dnstap_written += n[0];
	tap->dnstap_lost += n[1];
	tap->log_written += n[2];
	tap->log_lost += n[3];
	pthread_mutex_unlock(&tap->lock);
}

/* Takes the writers out, except dnstap if it goes on. They still get the events drawn so far. */
static void take_out_tap(struct tap *tap, bool keeps_dnstap)
{
	struct dnstap *dnstap;
	struct querylog *log;

	pthread_mutex_lock(&tap->lock);
	drain_tap(tap);
	dnstap = keeps_dnstap ? NULL : tap->dnstap;
	log = tap->log;
	if (dnstap)
		tap->dnstap = NULL;
	tap->log = NULL;
	set_switch(tap);
	pthread_mutex_unlock(&tap->lock);
	close_writers(tap, dnstap, log);
}

int tap_configure(struct tap *tap, const struct dnstap_config *config, struct querylog_config *log,
		  const char **what)
{
	const bool keeps = is_same_dnstap(tap, config);
	const uint32_t log_every = log ? log->every : 0;
	struct dnstap *dnstap = NULL;
	struct querylog *fresh = NULL;
	int err = 0, code;

	take_out_tap(tap, keeps);
	if (config && !keeps) {
		*what = "dnstap";
		err = dnstap_open(&dnstap, config);
	}
	if (log) {
		code = querylog_open(&fresh, log);
		if (code && !err)
			*what = "query-log";
		err = err ? err : code;
	}
	if ((config || log) && !err)
		err = start_tap(tap);
	pthread_mutex_lock(&tap->lock);
	if (dnstap) {
		tap->dnstap = dnstap;
		tap->dnstap_config = *config;
	}
	tap->log = fresh;
	tap->log_every = log_every;
	set_switch(tap);
	pthread_mutex_unlock(&tap->lock);
	return err;
}

/* Only control's thread changes the pointers, by tap_configure(). */
int tap_reopen(struct tap *tap)
{
	if (tap->dnstap)
		dnstap_reopen(tap->dnstap);
	return tap->log ? querylog_reopen(tap->log) : 0;
}

/* Handles events of the old rate first. */
int tap_observe(struct tap *tap, enum tap_observer who, uint32_t every, tap_observe_fn *fn,
		void *ctx)
{
	int err = every ? start_tap(tap) : 0;

	if (err)
		return err;
	pthread_mutex_lock(&tap->lock);
	drain_tap(tap);
	tap->observers[who] = (struct observer){ every, fn, ctx };
	set_switch(tap);
	pthread_mutex_unlock(&tap->lock);
	return 0;
}

uint32_t tap_every(const struct tap *tap)
{
	return __atomic_load_n(&tap->is.every, __ATOMIC_RELAXED);
}

void tap_set_source(struct tap *tap, tap_drain_fn *fn, void *ctx)
{
	pthread_mutex_lock(&tap->lock);
	tap->drain = fn;
	tap->drain_ctx = ctx;
	pthread_mutex_unlock(&tap->lock);
}

void tap_counters_read(struct tap *tap, struct tap_counters *out)
{
	uint64_t written = 0, lost = 0;

	pthread_mutex_lock(&tap->lock);
	*out = (struct tap_counters){ .events = tap->events,
				      .lost = tap->lost,
				      .dnstap_written = tap->dnstap_written,
				      .dnstap_lost = tap->dnstap_lost,
				      .log_written = tap->log_written,
				      .log_lost = tap->log_lost,
				      .has_dnstap = tap->dnstap,
				      .has_log = tap->log };
	for (const struct tap_producer *p = tap->producers; p; p = p->next)
		out->lost += tap_ring_lost(&p->ring);
	for (const struct tap_outlet *o = tap->outlets; o; o = o->next)
		out->lost += tap_ring_lost(&o->shared->producer.ring);
	if (tap->dnstap) {
		dnstap_counters(tap->dnstap, &written, &lost);
		out->dnstap_written += written;
		out->dnstap_lost += lost;
		out->is_connected = dnstap_is_connected(tap->dnstap);
	}
	if (tap->log) {
		querylog_counters(tap->log, &written, &lost);
		out->log_written += written;
		out->log_lost += lost;
	}
	pthread_mutex_unlock(&tap->lock);
	out->events += out->lost;
}

int tap_new(struct tap **out)
{
	struct tap *tap = calloc(1, sizeof(*tap));

	if (!tap)
		return -ENOMEM;
	tap->seed = 0x9e3779b9;
	pthread_mutex_init(&tap->lock, NULL);
	pthread_cond_init(&tap->wake, NULL);
	*out = tap;
	return 0;
}

void tap_free(struct tap *tap)
{
	if (!tap)
		return;
	take_out_tap(tap, false);
	pthread_mutex_lock(&tap->lock);
	tap->stops = true;
	pthread_cond_signal(&tap->wake);
	pthread_mutex_unlock(&tap->lock);
	if (tap->has_thread)
		pthread_join(tap->thread, NULL);
	assert(!tap->producers && !tap->outlets);
	pthread_cond_destroy(&tap->wake);
	pthread_mutex_destroy(&tap->lock);
	free(tap->copied);
	free(tap);
}
