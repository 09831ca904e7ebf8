/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives queries and answers to dnstap, the query log and observers.
 *
 *      worker, transfer thread, resolver thread ─► a ring for each (tap/ring.h) ─┐
 *      XDP program ─► rings of the kernel ─► tap_source ─────────────────────────┴─► thread ─┐
 *                                             tap/dnstap.h, tap/querylog.h, observers ◄─────┘
 *
 * Producers draw the answers that become events: one in `every` on average, with random gaps, so
 * that regular traffic does not decide which. The finest rate of all readers applies; the thread
 * leaves out what a coarser one does not want. A thread that answers never waits: events without
 * room are lost and counted. With all readers off, a producer pays one load and one branch for an
 * answer.
 */
#ifndef VOLLEY_TAP_TAP_H
#define VOLLEY_TAP_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "tap/dnstap.h"
#include "tap/event.h"
#include "tap/producer.h"
#include "tap/querylog.h"

struct tap;
struct tap_outlet;

/* 0 or -ENOMEM. Control's thread, as all functions below that do not say otherwise. */
int tap_new(struct tap **out) __attribute__((warn_unused_result));
/* Call it when all producers are gone. Writes the waiting events if half a second is enough. NULL
 * is allowed. */
void tap_free(struct tap *tap);

/*
 * Opens files anew that were renamed or removed. 0; or -errno: the query log goes on in the file
 * that is open. Control's thread.
 */
int tap_reopen(struct tap *tap) __attribute__((warn_unused_result));

/* A source that the thread drains: drain() calls tap_handle() for each event. NULL: none. */
typedef void tap_drain_fn(void *ctx, struct tap *tap);
void tap_set_source(struct tap *tap, tap_drain_fn *drain, void *ctx);
/* Only for drain(). The event may be changed. */
void tap_handle(struct tap *tap, struct tap_event *e);

/*
 * Changes the settings; NULL: this writer is off. A dnstap writer with the same settings
 * goes on. Takes *log, also on an error. 0 or -errno: then the
 * writer that *what names ("dnstap" or "query-log") is off.
 */
int tap_configure(struct tap *tap, const struct dnstap_config *dnstap, struct querylog_config *log,
		  const char **what) __attribute__((warn_unused_result));

/* One in this many answers becomes an event; 0: none. */
uint32_t tap_every(const struct tap *tap);

/* Observers in this process, which look at events for a while. Each has a rate of its own, which
 * does not change what the writers get. */
enum tap_observer { TAP_TOP, TAP_CAPTURE, TAP_N_OBSERVERS };

/* The event is whole, and valid only during the call. The tap's thread waits for it: be quick. */
typedef void tap_observe_fn(void *ctx, const struct tap_event *e);

/* Calls fn(ctx) for one in `every` events from now on. With `every` 0, no call is made or under way
 * when this returns. 0, or -errno if the thread could not be started. Control's thread. */
int tap_observe(struct tap *tap, enum tap_observer who, uint32_t every, tap_observe_fn *fn,
		void *ctx) __attribute__((warn_unused_result));

/*
 * For a thread that answers. NULL: no memory. Free it when that thread has ended; NULL is allowed.
 */
struct tap_producer *tap_producer_new(struct tap *tap);
void tap_producer_free(struct tap *tap, struct tap_producer *p);

/* Reads the outlet from now on (tap/outlet.h), until tap_outlet_remove(), which hands the last
 * events to the writers. Any thread. */
void tap_outlet_add(struct tap *tap, struct tap_outlet *outlet);
void tap_outlet_remove(struct tap *tap, struct tap_outlet *outlet);

/* C(name, words) */
#define TAP_COUNTERS(C)                                                                  \
	C(events, "answers, and messages with upstreams, that were drawn as events")     \
	C(lost, "events that were lost because the tap's thread was behind")             \
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

/* Only for tap_draws(). */
bool tap_draw(struct tap_producer *p, uint32_t every);

/* True if this answer becomes an event. p may be NULL. */
static inline bool tap_draws(struct tap_producer *p)
{
	uint32_t every = p ? __atomic_load_n(&p->is->every, __ATOMIC_RELAXED) : 0;

	return every && tap_draw(p, every);
}

/* True if the octets of queries are wanted. p is not NULL. */
static inline bool tap_wants_queries(const struct tap_producer *p)
{
	return __atomic_load_n(&p->is->wants_queries, __ATOMIC_RELAXED);
}

/* Only for tap_draw_forwarder(). */
uint32_t tap_draw_lot(struct tap_producer *p);

/* If this query to an upstream becomes an event: its tap_event.lot; else 0. p may be NULL. */
static inline uint32_t tap_draw_forwarder(struct tap_producer *p)
{
	if (!p || !__atomic_load_n(&p->is->wants_forwarders, __ATOMIC_RELAXED) || !tap_draws(p))
		return 0;
	return tap_draw_lot(p);
}

/* An event with this query and room for a reply of reply_cap octets. NULL: the ring is full, which
 * is counted. The caller fills in the rest and calls tap_commit(), or just drops the event. */
struct tap_event *tap_begin(struct tap_producer *p, const void *query, size_t n, size_t reply_cap);
/* Adds the reply, which may be empty, and gives the event to the thread. */
void tap_commit(struct tap_producer *p, struct tap_event *e, const void *reply, size_t n);

/* Counts an event as lost that was drawn and cannot be made. */
void tap_lose(struct tap_producer *p);

/* Sets answered_ns to now, and asked_ns from the time asked_ns of clock_ns(). */
void tap_date(struct tap_event *e, uint64_t asked_ns);

#endif
