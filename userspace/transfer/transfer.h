/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transfer thread: all messages from and to other name servers about zones. It asks primaries
 * (SOA, AXFR, IXFR, over UDP, TCP and TLS), receives NOTIFY and UPDATE, sends NOTIFY to
 * secondaries, and makes transfers for them. Workers have the connections of those that ask, and
 * this thread those to servers that it asks. Control tells it which servers it may talk with,
 * decides about each zone that came, and publishes it.
 *
 *  workers ─► worker/handover_queue.h ─► ┌──────────────┐ ◄─ transfer_put_zone(), _refresh() ─┐
 *  primaries ◄─► secondary.c             │ one thread,  │ ── events: a zone, changes, an ─► control
 *  NOTIFY ◄─► primary.c                  │ one libevent │    update, expired                  │
 *                                        └──────────────┘ ◄─ transfer_settled(), _answer() ───┘
 *
 * Each zone has at most one event with a zone or changes that control has not settled: until then
 * the thread does not ask its primaries again. Other events are not settled. The thread reads the
 * served zones from the published set, under RCU.
 *
 * Threads: control's thread calls all functions here, unless a comment says otherwise.
 */
#ifndef VOLLEY_TRANSFER_TRANSFER_H
#define VOLLEY_TRANSFER_TRANSFER_H

#include "transfer/transfer_events.h"
#include "transfer/transfer_types.h"

struct transfer;

int transfer_new(struct transfer **out, const struct transfer_env *env, transfer_event_fn *event,
		 void *user) __attribute__((warn_unused_result));
/* Ends the thread and closes connections and listeners. No event follows. A second call does
 * nothing. */
void transfer_stop(struct transfer *t);
void transfer_free(struct transfer *t); /* after transfer_stop(); NULL is allowed */

/*
 * Takes keys, remotes, limits and the TLS listener from @config. They are copied, and hold for all
 * exchanges that begin from now on. 0; -ENOMEM; or the error of a listener or a certificate, with a
 * sentence in @err: then nothing has changed.
 */
int transfer_configure(struct transfer *t, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* Checks that transfer_configure() would accept the keys, remotes and certificates of @config;
 * opens no socket. Results as there. Any thread. */
int transfer_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Adds a zone, or changes its settings to @zone (copied). The thread keeps the zone up to date if
 * it has primaries, transfers it to secondaries, and sends them NOTIFY. If the zone is known
 * already, its timers go on, and @past is ignored. A zone with primaries that is not in the
 * published set is asked for at once, n_transfers of the configuration at a time. So publish the
 * content of its file first.
 */
int transfer_put_zone(struct transfer *t, const uint8_t *apex, const struct config_zone *zone,
		      const struct transfer_past *past) __attribute__((warn_unused_result));
void transfer_drop_zone(struct transfer *t, const uint8_t *apex);
/* The memory of a zone here while nothing goes on, with an apex of so many octets. Pure. */
size_t transfer_zone_bytes(unsigned int apex_len, bool is_secondary);

/*
 * Control has settled the event of this zone. @code 0: the version of the event is served. Else it
 * was refused: after ERR_ZONE for changes the thread asks for the whole zone at once, otherwise it
 * asks again after the retry time.
 */
void transfer_settled(struct transfer *t, const uint8_t *apex, int code);
/* Sends the reply to an update, with @rcode (dns/proto.h): once the change is served, or was
 * refused. */
void transfer_answer(struct transfer *t, void *request, unsigned int rcode);
/*
 * Another version is served: secondaries get a NOTIFY. To be called after each publish of the zone.
 */
void transfer_published(struct transfer *t, const uint8_t *apex);

/* Asks the primaries now; @whole: for the whole zone, even if there is nothing newer. 0 or
 * ERR_NOT_FOUND. */
int transfer_refresh(struct transfer *t, const uint8_t *apex, bool whole)
	__attribute__((warn_unused_result));
/* Sends NOTIFY to the secondaries again. 0 or ERR_NOT_FOUND. */
int transfer_notify(struct transfer *t, const uint8_t *apex) __attribute__((warn_unused_result));

int transfer_status(struct transfer *t, const uint8_t *apex, struct transfer_status *out)
	__attribute__((warn_unused_result)); /* ERR_NOT_FOUND */
/* The status of n zones, apexes[i] to out[i]. Waits only once for the thread, which may be busy. */
void transfer_statuses(struct transfer *t, const uint8_t *const *apexes,
		       struct transfer_status *out, size_t n);

void transfer_counters_read(const struct transfer *t, struct transfer_counters *out);

/*
 * Adds the replies that the thread itself has made to *sum; a transfer counts as one. by_way is
 * indexed by enum tap_transport. Each value is whole, but the values are not of one instant. Any
 * thread.
 */
void transfer_answers_add(const struct transfer *t, struct engine_answers *sum);

/* When the certificate of server.tls ends that the last transfer_configure() has put in use:
 * seconds since 1970; 0: there is no listener for TLS. */
uint64_t transfer_certificate_end(const struct transfer *t);

#endif
