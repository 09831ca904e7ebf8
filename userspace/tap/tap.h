/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is asked and answered, told to dnstap and the query log.
 *
 *      worker, transfer thread, resolver thread ─► a ring for each (tap/ring.h) ─┐
 *      XDP program ─► rings of the kernel ─► tap_source ─────────────────────────┴─► thread ─┬─► tap/dnstap.h
 *                                                                                            └─► tap/querylog.h
 *
 * Producers draw by themselves which answers they tell: one in `every` on average, with random
 * gaps, so that regular traffic does not decide which. The finer one of the two writers says how
 * often; the thread leaves out what the coarser one does not want. Nobody who answers waits: what
 * finds no room is lost, and counted. With both writers off a producer pays one load and one branch
 * for an answer.
 */
#ifndef VOLLEY_TAP_TAP_H
#define VOLLEY_TAP_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "tap/dnstap.h"
#include "tap/event.h"
#include "tap/querylog.h"
#include "tap/ring.h"

/* What producers read; atomic, tap_configure() writes it. */
struct tap_switch {
	uint32_t every;        /* 0: nothing is told */
	bool wants_queries;    /* octets of queries, too */
	bool wants_forwarders; /* what upstreams are asked, too */
};

/* Of one thread. */
struct tap_producer {
	const struct tap_switch *is;
	uint32_t left; /* answers to let by */
	uint32_t seed;
	struct tap_ring ring;
	struct tap_producer *next; /* the tap's, as the list */
};

struct tap;

/* 0 or -ENOMEM. Control's thread, as all below it that do not say otherwise. */
int tap_new(struct tap **out) __attribute__((warn_unused_result));
/* When all producers are gone. Writes what waits if that is done within half a second. NULL is
 * allowed. */
void tap_free(struct tap *tap);

/*
 * A source that the thread empties: drain() calls tap_handle() for each event. NULL: none.
 */
typedef void tap_drain_fn(void *ctx, struct tap *tap);
void tap_set_source(struct tap *tap, tap_drain_fn *drain, void *ctx);
/* For drain() alone. The event may be changed. */
void tap_handle(struct tap *tap, struct tap_event *e);

/*
 * Puts other settings in place; NULL: this writer is off. A writer of dnstap to a socket with the
 * same settings goes on; files are opened anew. *log is the tap's, on an error too. 0 or -errno,
 * and what could not be opened is off: *what is "dnstap" or "query-log".
 */
int tap_configure(struct tap *tap, const struct dnstap_config *dnstap, struct querylog_config *log,
		  const char **what) __attribute__((warn_unused_result));

/* One in so many answers is told; 0: none. */
uint32_t tap_every(const struct tap *tap);

/* Others of this process who look at events for a while. Each has a rate of its own, which changes
 * nothing of what the writers get. */
enum tap_observer { TAP_TOP, TAP_CAPTURE, TAP_N_OBSERVERS };

/* The event is whole, and lives for the call only. The thread's, which waits for it: so it has to
 * be short. */
typedef void tap_observe_fn(void *ctx, const struct tap_event *e);

/*
 * From now on fn(ctx) is called for one in `every` events. 0: it is called no more, and no call is
 * under way when this returns. 0, or -errno of the thread that could not be started. Control's
 * thread.
 */
int tap_observe(struct tap *tap, enum tap_observer who, uint32_t every, tap_observe_fn *fn,
		void *ctx) __attribute__((warn_unused_result));

/* For a thread that answers. NULL: no memory. Freed when that thread has ended; NULL is allowed. */
struct tap_producer *tap_producer_new(struct tap *tap);
void tap_producer_free(struct tap *tap, struct tap_producer *p);

/* C(name, words) */
#define TAP_COUNTERS(C)                                                                  \
	C(events, "answers, and messages of upstreams, that were drawn to be told")      \
	C(lost, "of these, lost, since the thread that tells them was behind")           \
	C(dnstap_written, "messages of dnstap that were written")                        \
	C(dnstap_lost, "messages of dnstap that were lost: no collector, or a slow one") \
	C(log_written, "lines of the query log that were written")                       \
	C(log_lost, "lines of the query log that were lost: a slow disk, or none")

struct tap_counters {
#define TAP_COUNTER_FIELD(name, words) uint64_t name;
	TAP_COUNTERS(TAP_COUNTER_FIELD)
#undef TAP_COUNTER_FIELD
	bool has_dnstap, is_connected, has_log;
};

void tap_counters_read(struct tap *tap, struct tap_counters *out);

/* --- For producers: the thread that has one --------------------------------------------------- */

/* For tap_draws() alone. */
bool tap_draw(struct tap_producer *p, uint32_t every);

/* Is this answer to be told? p may be NULL. */
static inline bool tap_draws(struct tap_producer *p)
{
	uint32_t every = p ? __atomic_load_n(&p->is->every, __ATOMIC_RELAXED) : 0;

	return every && tap_draw(p, every);
}

/* Are octets of queries wanted? p is not NULL. */
static inline bool tap_wants_queries(const struct tap_producer *p)
{
	return __atomic_load_n(&p->is->wants_queries, __ATOMIC_RELAXED);
}

/* For tap_draw_forwarder() alone. */
uint32_t tap_draw_lot(struct tap_producer *p);

/* Is this query to an upstream to be told? Its tap_event.lot; 0: no. p may be NULL. */
static inline uint32_t tap_draw_forwarder(struct tap_producer *p)
{
	if (!p || !__atomic_load_n(&p->is->wants_forwarders, __ATOMIC_RELAXED) || !tap_draws(p))
		return 0;
	return tap_draw_lot(p);
}

/*
 * An event with this query, and room for a reply of reply_cap octets. NULL: the ring is full, which
 * is counted. The caller fills in the rest and calls tap_commit(); or forgets it, and it never was.
 */
struct tap_event *tap_begin(struct tap_producer *p, const void *query, size_t n, size_t reply_cap);
/* The event with its reply, which may be empty, goes to the thread. */
void tap_commit(struct tap_producer *p, struct tap_event *e, const void *reply, size_t n);

/* An event that was drawn cannot be made, and counts as lost. */
void tap_lose(struct tap_producer *p);

/* Sets asked_ns and answered_ns: it was asked at asked_ns of clock_ns(), and is answered now. */
void tap_date(struct tap_event *e, uint64_t asked_ns);

#endif
