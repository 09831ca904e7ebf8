/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transfer thread: all messages from and to other name servers about zones. It asks primaries
 * (SOA, AXFR, IXFR, over UDP, TCP and TLS), takes NOTIFY and UPDATE, sends NOTIFY to secondaries,
 * and gives them zones. Control says with which servers it may talk, and decides what to do with a
 * zone that came, and publishes it.
 *
 *      workers ─► worker/handover_queue.h ──────► ┌──────────────┐ ◄─ transfer_put_zone(), _refresh() ── control
 *      primaries ◄─► secondary.c                  │ one thread,  │ ── events: a zone, changes, an ─────► control
 *      secondaries ◄─► primary.c, server.c        │ one libevent │    update, expired
 *                                                 └──────────────┘ ◄─ transfer_settled(), _answer() ──── control
 *
 * For each zone one event with a zone or changes is out at a time: the thread asks no primary again
 * until control has settled it (other events are not settled). The thread reads the zones that are
 * served from the published set, under RCU.
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
/* Ends the thread; connections and listeners are closed. No event follows. A second call does
 * nothing. */
void transfer_stop(struct transfer *t);
void transfer_free(struct transfer *t); /* after transfer_stop(); NULL is allowed */

/*
 * Takes keys, remotes, limits and the TLS listener from @config. They are copied, and hold for all
 * exchanges that begin from now on. 0; -ENOMEM; or the error of a listener or a certificate, with a
 * sentence in
 * @err, and all is as before.
 */
int transfer_configure(struct transfer *t, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Whether transfer_configure() would take its keys, remotes and certificates; no socket is opened.
 * 0, or as that, with a sentence in @err. Any thread.
 */
int transfer_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/*
 * Adds a zone, or changes its settings to @zone (copied). The thread keeps the zone up to date if
 * it has primaries, transfers it to secondaries, and sends them NOTIFY. If the zone is known
 * already, its timers go on, and @past is ignored. The thread asks at once for zones with primaries
 * that are not in the published set, @n_transfers of the configuration at a time. So publish the
 * content of a file first.
 */
int transfer_put_zone(struct transfer *t, const uint8_t *apex, const struct config_zone *zone,
		      const struct transfer_past *past) __attribute__((warn_unused_result));
void transfer_drop_zone(struct transfer *t, const uint8_t *apex);

/*
 * The event of this zone is settled: 0, and the version with that serial number is served; or the
 * reason why it was refused (ERR_ZONE after changes: the thread asks for the whole zone next; else
 * it asks again after the retry time).
 */
void transfer_settled(struct transfer *t, const uint8_t *apex, int code);
/* The reply to an update: an rcode (dns/proto.h), once the change is served, or not. */
void transfer_answer(struct transfer *t, void *request, unsigned int rcode);
/* Another version is served: secondaries get a NOTIFY. After each publish of the zone. */
void transfer_published(struct transfer *t, const uint8_t *apex);

/* Asks the primaries now; @whole: for the whole zone, even if there is nothing newer.
 * ERR_NOT_FOUND. */
int transfer_refresh(struct transfer *t, const uint8_t *apex, bool whole)
	__attribute__((warn_unused_result));
/* Tells secondaries anew. ERR_NOT_FOUND. */
int transfer_notify(struct transfer *t, const uint8_t *apex) __attribute__((warn_unused_result));

int transfer_status(struct transfer *t, const uint8_t *apex, struct transfer_status *out)
	__attribute__((warn_unused_result)); /* ERR_NOT_FOUND */
/* Of n zones, apexes[i] to out[i]: the thread, which may be busy, is waited for once. */
void transfer_statuses(struct transfer *t, const uint8_t *const *apexes,
		       struct transfer_status *out, size_t n);

void transfer_counters_read(const struct transfer *t, struct transfer_counters *out);

/*
 * Adds the replies that the thread itself has made, a transfer being one, to *sum; by_way has a
 * place for each enum tap_transport. Each value is whole; the set is not of one instant. Any
 * thread.
 */
void transfer_answers_add(const struct transfer *t, struct engine_answers *sum);

/*
 * When the certificate of server.tls that the last transfer_configure() has put in use ends, in
 * seconds since 1970; 0: there is no listener for TLS.
 */
uint64_t transfer_certificate_end(const struct transfer *t);

#endif
