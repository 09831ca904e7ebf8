/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The primary's side of the transfer thread: requests of other name servers and clients about
 * zones.
 *
 *      primary.c    begin, end, settings; messages from the workers, and what becomes of them there
 *      peer_dispatch.c   one message: its signature, the rules, its kind
 *      peer_request.c    its reply
 *      questions.c  signed questions: to their worker and back
 *      transfer_out.c    transfers out: a limit in all and for each client, the others wait in line
 *      updates.c    UPDATE: to control and back
 *      notify_out.c NOTIFY to secondaries, paced
 *      rules.c      the rules, and the workers' rules that are made of them
 *
 *      worker: engine.c ─ AXFR, IXFR, NOTIFY, UPDATE, a TSIG
 *                │
 *      engine/handover_rules.c: not allowed? ── REFUSED or BADKEY at once
 *                │ no
 *      worker/handover_queue.c: a message
 *                ▼
 *      peer_dispatch.c: signature, rules
 *        ├─► transfer_out.c ─► xfr/xfr_out.h ─► messages, while there is room
 *        ├─► updates.c ─► control, and back
 *        ├─► secondary_notified()
 *        └─► questions.c ─► the worker answers ─► signed here
 *                │
 *      worker: port_reply() ◄─ worker/handover_queue.c ◄─ replies
 *
 * Threads: the loop's, except primary_prepare() and primary_discard(): control's. primary_open() is
 * called before the thread runs.
 */
#ifndef VOLLEY_TRANSFER_PRIMARY_H
#define VOLLEY_TRANSFER_PRIMARY_H

#include "transfer/transfer_thread.h"

struct primary_settings; /* from a configuration: rules, listeners, certificates */

int primary_open(struct transfer *t) __attribute__((warn_unused_result));
/*
 * Transfers end. Updates that wait get no reply. To be called before the event base is freed.
 */
void primary_close(struct transfer *t);
/* For transfer_configure(), with the same results: opens listeners, reads certificates. */
int primary_prepare(struct primary_settings **out, struct transfer *t, const struct config *config,
		    char *err, size_t err_cap) __attribute__((warn_unused_result));
void primary_discard(struct primary_settings *settings); /* NULL is allowed */
/* These settings hold from now on. t->remotes has been replaced before. */
void primary_configure(struct transfer *t, struct primary_settings *settings);
void primary_handle(struct transfer *t, struct handover_item *item, enum handover_event event);
void primary_put_zone(struct transfer *t, struct transfer_zone *zone);
void primary_drop_zone(struct transfer *t, struct transfer_zone *zone);
/* Sends NOTIFY to the secondaries, with the serial number that is served when the packet leaves. */
void primary_notify(struct transfer *t, struct transfer_zone *zone);
void primary_answer(struct transfer *t, void *request, unsigned int rcode);

#endif
