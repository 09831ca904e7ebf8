/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the primary's side (transfer/primary.h), which its modules share, and the functions
 * by which they call each other. The loop's thread owns it.
 */
#ifndef VOLLEY_TRANSFER_PRIMARY_STATE_H
#define VOLLEY_TRANSFER_PRIMARY_STATE_H

#include <stdint.h>
#include <urcu/list.h>

#include "base/limits.h"
#include "transfer/transfer_thread.h"

struct engine;
struct handover_rules;
struct notifier;
struct peer_request;
struct server_tls;
struct transfer_zone;

struct primary_settings {
	uint8_t **keys; /* names, folded wire: for the workers' rules */
	size_t n_keys;
	struct server_tls *tls; /* listeners; NULL: none */
};

struct primary {
	struct primary_settings *settings; /* NULL before the first configuration */
	struct event *on_handover;
	struct cds_list_head questions; /* questions.c */
	struct event *on_rules;
	struct handover_rules *rules; /* the rules that the workers have now */
	uint64_t rules_made_ns, rules_took_ns;
	struct engine *engine; /* for ordinary questions */
	struct notifier *notifier;
	/* Transfers: transfer_out.c. */
	struct cds_list_head transfers, transfers_waiting;
	uint32_t n_transfers;  /* transfers that have a place */
	uint32_t n_lent;       /* transfers that run without one: transfer_out.h */
	struct limits clients; /* places by client */
	bool is_starting;
	/* Updates that control has: updates.c. */
	struct cds_list_head updates;
	uint32_t n_updates;
	uint8_t out[DNS_MESSAGE_MAX + 1]; /* a reply */
};

/*
 * A message to us: its signature is checked first; then opcode and type decide which module
 * answers.
 *
 *      TSIG ─► opcode ─┬─► NOTIFY: rules, reply, secondary_notified()
 *                      ├─► UPDATE: rules, updates.c
 *                      ├─► AXFR, IXFR: rules, transfer_out.c (IXFR by UDP: here)
 *                      └─► any other question: over TCP, by its worker (questions.c);
 *                          by UDP, and if a secondary asks for the SOA of its zone, by an engine
 *                          without a cache
 *
 * Threads: the loop's.
 */

void peer_dispatch(struct peer_request *rq);

/*
 * Signed questions over TCP and TLS that are not about transfers: the worker that they came from
 * answers them (handover_ask()) with its cache, RPZ and its resolver, and counts them as
 * its own. So a client gets the same answers with a signature as without.
 *
 *	peer_dispatch.c ─► questions_ask() ─► the worker ─► HANDOVER_ANSWERED ─► reply: signed, sent
 *
 * Threads: the loop's.
 */

/* To be called when the thread ends. The questions that workers have get no reply. */
void questions_close(struct transfer *t);

/*
 * Sends the question to its worker. cap: octets that the reply may have without its signature.
 * False: there is no memory, or no room for a reply; the caller answers it.
 */
bool questions_ask(struct peer_request *rq, size_t cap) __attribute__((warn_unused_result));

/*
 * UPDATE messages (RFC 2136): the rules are checked here, control makes the change and gives the
 * rcode with transfer_answer(). The reply is signed with the key of the request.
 *
 * Control has at most UPDATES_MAX at a time; more get SERVFAIL. A worker takes the next message of
 * a connection only after the answer. If the client goes meanwhile, control makes the change
 * nevertheless.
 *
 * Threads: the loop's.
 */

#define UPDATES_MAX 256

void updates_take(struct peer_request *rq);
void updates_answer(struct transfer *t, void *request, unsigned int rcode);
/* To be called when control answers no more: frees the updates that wait. */
void updates_close(struct transfer *t);

/*
 * NOTIFY to secondaries (RFC 1996): each remote in a zone's notify list gets one for each version.
 * It is repeated until the remote answers or NOTIFY_ROUNDS rounds are over. A newer version
 * replaces the NOTIFY that is not answered yet.
 *
 *      published ─► queue ─► NOTIFY_PER_TICK in NOTIFY_TICK_MS, NOTIFY_RUNNING_MAX at a time
 *                     ▲          │ no answer, from any of its addresses
 *                     └── a while ◄┘                     10,000 zones at start are 10 s of packets
 *
 * After an address did not answer, it gets no NOTIFY of any zone for a while (peer.h). Remotes with
 * TLS get it over TLS, the others by UDP (exchange.h).
 *
 * Threads: the loop's.
 */

#define NOTIFY_TICK_MS     10
#define NOTIFY_PER_TICK    10
#define NOTIFY_RUNNING_MAX 64

int notifier_open(struct transfer *t) __attribute__((warn_unused_result));
void notifier_close(struct transfer *t); /* after all zones were dropped */

/* The zone has a new list of remotes. They get a NOTIFY if there was no list before, or if a remote
 * of the old list had not answered. */
void notifier_put_zone(struct transfer *t, struct transfer_zone *zone);
void notifier_drop_zone(struct transfer *t, struct transfer_zone *zone);
/* Sends a NOTIFY to all its remotes, beginning with the first round. */
void notifier_notify(struct transfer *t, struct transfer_zone *zone);

/*
 * The loop accepts for the listeners for DNS over TLS (port/tls_listener.h) and counts what failed.
 *
 * Threads: control's opens it, so that errors are known at once; all else is the loop's.
 */

/* As tls_listener_open() and tls_listener_check(), with server.tls of this configuration. */
int server_tls_open(struct server_tls **out, struct tls_listener_kept **kept,
		    const struct config *config, struct tcp_intake *intake, char *err,
		    size_t err_cap) __attribute__((warn_unused_result));
int server_tls_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* Moves the handshakes of @before to @tls. To be called before server_tls_start(). */
void server_tls_inherit(struct server_tls *tls, struct server_tls *before);
/* Begins to accept. 0 or -ENOMEM. */
int server_tls_start(struct server_tls *tls, struct transfer *t)
	__attribute__((warn_unused_result));
/* Open connections stay. NULL is allowed. */
void server_tls_close(struct server_tls *tls);

#endif
