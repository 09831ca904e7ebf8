/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the transfer thread, and functions that all its modules use. Control's calls become
 * posts to the loop; the loop's events become posts to control. The loop's thread alone owns every
 * zone, every connection and every timer, so that they need no lock.
 *
 *      transfer.c      control's calls ─► calls.c ─► mailbox ─► loop.c ─► secondary*, primary*
 *      zone_table.c    the zones that the thread knows, by apex
 *      remotes.c       keys and remotes of one configuration; counted: each user holds a reference
 *      peer.c          an address of a remote: and its idle connections
 *      exchange.c      one question by TCP or TLS, and the messages of its answer
 *      udp_query.c     one question by UDP with its retries, signed and checked
 *      reply_report.c  replies to requests of others: counted, and reported to the tap
 *      timers.c        refresh, retry, expiry, NOTIFY again; by the clock that loop.c reads
 *
 * The thread is a liburcu QSBR thread that is offline most of the time. Code that needs a zone for
 * longer takes a reference (served_get()).
 */
#ifndef VOLLEY_TRANSFER_TRANSFER_THREAD_H
#define VOLLEY_TRANSFER_TRANSFER_THREAD_H

#include <event2/event.h>
#include <pthread.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "resolver/random.h"
#include "transfer/timers.h"
#include "transfer/transfer_types.h"
#include "transfer/zone_table.h"

struct remotes;
struct primary;   /* the other side: transfers out, NOTIFY out, UPDATE in */
struct secondary; /* slots for rounds of all zones */
struct tap_producer;
struct transfer_event;

struct transfer {
	struct transfer_env env;
	/* Control's thread owns these. */
	void (*event)(void *user, struct transfer_event *event); /* transfer_event_fn */
	void *user;
	pthread_t pthread;
	bool is_running;
	struct post *unpolled;              /* events that control has taken and not handled yet */
	struct tls_listener_kept *tls_kept; /* for the next configuration; NULL: none yet */
	/* Both threads use these. */
	bool is_stopping; /* atomic */
	struct mailbox to_loop, to_control;
	struct transfer_counters counters; /* written by the loop, see transfer_count() */
	struct engine_answers answers;     /* written by the loop: reply_report.h */
	/* The loop's thread owns the rest. */
	struct event_base *base;
	struct event *on_mail, *on_due;
	struct clock_now now; /* set by loop_wake(): the time in all callbacks */
	void (*read_clock)(struct clock_now *now); /* clock_read(), or a test's */
	struct timers timers;
	struct random random;
	struct tap_producer *tap; /* NULL: no events */
	struct remotes *remotes;  /* those of the last configuration; one reference */
	struct transfer_zones zones;
	struct secondary *secondary;
	struct primary *primary;
};

/* In the loop's thread only. */
#define transfer_count(t, name) \
	__atomic_store_n(&(t)->counters.name, (t)->counters.name + 1, __ATOMIC_RELAXED)

/*
 * Reads the clock into t->now. No other code here reads a clock, except to measure its own
 * duration. Each callback of libevent that needs the time calls this first.
 */
void loop_wake(struct transfer *t);
/* Sets the timer to @after_ns after t->now. */
void loop_set(struct transfer *t, struct timer *timer, uint64_t after_ns);

/* A reference to the served version of this zone; the caller gives it back by zone_unref(). NULL:
 * the zone is not served. */
struct zone *served_get(struct transfer *t, const struct transfer_zone *zone);
/* Its serial number; false: the zone is not served. */
bool served_serial(struct transfer *t, const struct transfer_zone *zone, uint32_t *serial);

/*
 * The loop of the transfer thread: libevent, and control's calls from the mailbox. Nothing in it
 * blocks: a module with much to do does a part of it, and the rest in a later turn.
 */

struct transfer;

/* Opens everything except the thread. t->read_clock has to be set. loop_close() is needed after an
 * error, too. Control's thread, or a test that acts as the thread. */
int loop_open(struct transfer *t) __attribute__((warn_unused_result));
/* The thread's function: runs until t->is_stopping. */
void *loop_run(void *transfer);
/* To be called after the thread has ended. */
void loop_close(struct transfer *t);

/*
 * Control's calls on their way into the loop's thread, in the order in which control made them.
 * call_post() returns at once; call_wait() returns when the loop has run the call.
 */

struct call;

typedef void call_fn(struct transfer *t, struct call *call);

struct call {
	struct post post; /* first */
	call_fn *run;
	/* wakes the caller; NULL: no caller waits, and the call is freed after run() */
	void *done;
};

/* Runs all calls in the chain. The loop's thread. */
void calls_run(struct transfer *t, struct post *post);

/* Sends a copy of @call, @bytes long, which begins with a struct call. Without memory for the copy
 * it does the same as call_wait(). Control's thread. */
void call_post(struct transfer *t, struct call *call, size_t bytes);
/* Returns after the call has run, so @call may be on the caller's stack. Control's thread. */
void call_wait(struct transfer *t, struct call *call);

#endif
