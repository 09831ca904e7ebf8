/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the modules of the transfer thread. Control's calls become posts to the loop; the loop's
 * events become posts to control. All else belongs to the loop's thread, which owns every zone, every
 * connection and every timer, so that nothing here has a lock.
 *
 *      transfer.c   control's side: calls ─► mailbox ─► loop.c ─► secondary*, primary*
 *      zones.c      the zones that the thread knows, by apex
 *      book.c       keys and remotes as one configuration has them; refcounted, since each exchange keeps its own
 *      peer.c       an address of a remote: connections that are kept for the next question
 *      stream.c     one connection out, TCP or TLS, that carries messages
 *      ask.c        one question by UDP with its retries, signed and checked
 *      answered.c   replies to requests of others: counted, and reported to the tap
 *      timers.c     timers for refresh, retry, expiry, NOTIFY again; by the clock that loop.c reads
 *
 * The thread is a liburcu QSBR thread that is offline except for moments: code that needs a zone for longer
 * takes a reference (served_get()).
 */
#ifndef VOLLEY_TRANSFER_INTERNAL_H
#define VOLLEY_TRANSFER_INTERNAL_H

#include <event2/event.h>
#include <pthread.h>

#include "base/clock.h"
#include "port/addr.h"
#include "resolver/random.h"
#include "transfer/book.h"
#include "transfer/mailbox.h"
#include "transfer/timers.h"
#include "transfer/transfer.h"

struct secondary;      /* of all zones: its lanes */
struct secondary_zone; /* of one zone, NULL where it has no primaries */
struct tap_producer;
struct primary;          /* the other side: server, transfers out, NOTIFY out, UPDATE in */
struct primary_zone;     /* of one zone */
struct primary_settings; /* its part of a configuration: rules, listeners, certificates */

struct transfer_zone {
	struct transfer_zone *next; /* in the table's bucket */
	uint8_t apex[DNS_NAME_MAX + 1];
	unsigned int apex_len;
	uint32_t hash;
	struct config_zone config; /* a copy */
	struct secondary_zone *secondary;
	struct primary_zone *primary;
};

struct transfer_zones {
	struct transfer_zone **buckets;
	uint32_t mask;
	uint32_t n;
};

struct transfer {
	struct transfer_env env;
	/* Control's. */
	transfer_event_fn *event;
	void *user;
	pthread_t pthread;
	bool is_running;
	struct server_tls_kept *tls_kept; /* from one configuration to the next; NULL: nothing yet */
	/* Both sides'. */
	bool is_stopping; /* atomic */
	struct mailbox to_loop, to_control;
	struct transfer_counters counters; /* written by the loop, see transfer_count() */
	struct engine_answers answers;     /* likewise: answered.h */
	/* The loop's, from here on. */
	struct event_base *base;
	struct event *on_mail, *on_due;
	struct clock_now now; /* loop_wake(): the time for all that the loop calls */
	void (*read_clock)(struct clock_now *now); /* clock_read(), or a test's */
	struct timers timers;
	struct random random;
	struct tap_producer *tap; /* NULL: no events */
	struct book *book;        /* the newest; one reference */
	struct transfer_zones zones;
	struct secondary *secondary;
	struct primary *primary;
};

/* In the loop's thread only. */
#define transfer_count(t, name) \
	__atomic_store_n(&(t)->counters.name, (t)->counters.name + 1, __ATOMIC_RELAXED)

/* transfer.c: all but the thread; t->read_clock is set. For transfer_new(), and tests that are the thread. */
int transfer_open(struct transfer *t) __attribute__((warn_unused_result));

/* loop.c */
int loop_open(struct transfer *t) __attribute__((warn_unused_result));
void *loop_run(void *transfer);
void loop_close(struct transfer *t);
/*
 * Reads the clock into t->now. No other code here reads a clock, except to measure its own duration.
 * Each callback of libevent that needs the time calls this first.
 */
void loop_wake(struct transfer *t);
/* The timer is due so long after t->now. */
void loop_set(struct transfer *t, struct timer *timer, uint64_t after_ns);

/* zones.c. transfer_zones_find() takes a folded name; NULL: it is not known. */
struct transfer_zone *transfer_zones_find(const struct transfer_zones *zones, const uint8_t *apex);
/* -ENOMEM where there is no room for a first table. */
int transfer_zones_insert(struct transfer_zones *zones, struct transfer_zone *zone)
	__attribute__((warn_unused_result));
void transfer_zones_remove(struct transfer_zones *zones, struct transfer_zone *zone);
/* Any order; @zone NULL: the first. For a walk that removes nothing. */
struct transfer_zone *transfer_zones_next(const struct transfer_zones *zones,
					  const struct transfer_zone *zone);
/* Allocates; any thread. NULL: no memory. */
struct transfer_zone *transfer_zone_new(const uint8_t *apex, const struct config_zone *config);
void transfer_zone_free(struct transfer_zone *zone);
/* The config of @from, which is freed, goes to @zone. */
void transfer_zone_adopt(struct transfer_zone *zone, struct transfer_zone *from);

/*
 * A reference to the version of this zone that is served; the caller gives it back by zone_unref(). NULL:
 * the zone is not served.
 */
struct zone *served_get(struct transfer *t, const struct transfer_zone *zone);
/* Its serial number; false: it is not served. */
bool served_serial(struct transfer *t, const struct transfer_zone *zone, uint32_t *serial);

/*
 * Sends a copy of @event to control, which then owns the memory of the event. On failure, -ENOMEM, that
 * memory is freed.
 */
int transfer_emit(struct transfer *t, const struct transfer_event *event)
	__attribute__((warn_unused_result));

/*
 * secondary.c. A NOTIFY that is allowed (RFC 1996), from a primary or by allow-notify; @serial NULL:
 * it had none. @from is asked first, if it is a primary.
 */
void secondary_notified(struct transfer *t, struct transfer_zone *zone,
			const struct port_addr *from, const uint32_t *serial);
int secondary_open(struct transfer *t) __attribute__((warn_unused_result));
void secondary_close(struct transfer *t);
/* A zone is new, or its configuration or the book has changed; goes. */
void secondary_put_zone(struct transfer *t, struct transfer_zone *zone,
			const struct transfer_past *past);
void secondary_drop_zone(struct transfer_zone *zone);
void secondary_settled(struct transfer_zone *zone, int code);
void secondary_refresh(struct transfer_zone *zone, bool whole);
void secondary_status(const struct transfer_zone *zone, struct transfer_status *out);
void secondary_configured(struct transfer *t);
/*
 * How long the zone may still be served (RFC 7314 section 3.2): the time until it expires, or, if it has
 * no primaries, the expire value of its SOA. False: it is not served.
 */
bool secondary_expire_left(struct transfer *t, const struct transfer_zone *zone, uint32_t *seconds);

/*
 * primary.c and the files that it uses. Before the thread runs: open. In the loop's thread: all else, but
 * for prepare and discard, which are control's.
 */
int primary_open(struct transfer *t) __attribute__((warn_unused_result));
/* Connections are closed, updates that wait get no reply. Before the base is freed. */
void primary_close(struct transfer *t);
/* From transfer_configure(): opens listeners, reads certificates. As that. */
int primary_prepare(struct primary_settings **out, struct transfer *t, const struct config *config,
		    char *err, size_t err_cap) __attribute__((warn_unused_result));
void primary_discard(struct primary_settings *settings); /* NULL is allowed */
/* These hold from now on; t->book is the new one already. */
void primary_configure(struct transfer *t, struct primary_settings *settings);
void primary_handle(struct transfer *t, struct handover_item *item);
void primary_put_zone(struct transfer *t, struct transfer_zone *zone);
void primary_drop_zone(struct transfer *t, struct transfer_zone *zone);
/* Secondaries are told the serial number that is served when the packet leaves. */
void primary_tell(struct transfer *t, struct transfer_zone *zone);
void primary_answer(struct transfer *t, void *request, unsigned int rcode);

#endif
