/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The primary's side of the transfer thread: requests of other name servers and clients about zones.
 *
 *      primary.c    begin, end, settings; single messages from the workers
 *      server.c     connections that workers gave away, and connections of server_tls.c
 *      inquiry.c    one message: its signature, the rules, its kind; replies
 *      questions.c  ordinary questions on connections: to a worker and back
 *      handout.c    transfers out, so many at a time and of one client, others in line
 *      updates.c    UPDATE: to control and back
 *      notify_out.c NOTIFY to secondaries, paced
 *      rules.c      the rules; and the sieve that workers have of them
 *
 * All of it belongs to the loop's thread, unless a comment says otherwise.
 */
#ifndef VOLLEY_TRANSFER_PRIMARY_H
#define VOLLEY_TRANSFER_PRIMARY_H

#include <urcu/list.h>

#include "base/limits.h"
#include "transfer/internal.h"

struct engine;
struct handover_rules;
struct notifier;
struct server;
struct server_tls;

struct primary_settings {
	uint8_t **keys; /* names, folded wire: for the workers' sieve */
	size_t n_keys;
	uint32_t idle_s;
	struct server_tls *tls; /* listeners; NULL: none */
};

struct primary {
	struct primary_settings *settings; /* NULL until there are some */
	struct event *on_handover;
	struct event *on_replies;
	struct cds_list_head questions; /* questions.c */
	struct event *on_rules;
	struct handover_rules *rules; /* the rules that the workers have now */
	uint64_t rules_made_ns, rules_took_ns;
	struct engine *engine; /* for ordinary questions */
	struct server *server;
	struct notifier *notifier;
	/* Transfers: handout.c. */
	struct cds_list_head handouts, handouts_waiting;
	uint32_t n_handouts;   /* that have a place */
	uint32_t n_lent;       /* that run without one: handout.h */
	struct limits clients; /* whose they are */
	bool is_starting;
	/* Updates that control has: updates.c. */
	struct cds_list_head updates;
	uint32_t n_updates;
	uint8_t in[DNS_MESSAGE_MAX + 1];  /* a message of a connection */
	uint8_t out[DNS_MESSAGE_MAX + 1]; /* a reply */
};

/* ---- rules.c ------------------------------------------------------------------------------------ */

/* The client that asks. */
struct who {
	struct port_addr addr;      /* IPv4 as such, also behind an IPv6 socket */
	const struct tsig_key *key; /* of t->book, that signed; NULL: none */
	bool is_tls;
};

/* Whether one of these rules holds: the prefix, the key and TLS, as far as it asks for them. */
bool rules_allow(const struct transfer *t, const struct config_rules *rules, const struct who *who);
/* Whether it is one of the zone's primaries, by address, and by key where that one has a key. */
bool rules_are_primary(const struct transfer *t, const struct transfer_zone *zone,
		       const struct who *who);
/* Makes the workers' sieve anew, soon: if 10,000 zones come together, it is made only a few times. */
void rules_change(struct transfer *t);
/* The workers have none any more. */
void rules_close(struct transfer *t);
int rules_open(struct transfer *t) __attribute__((warn_unused_result));

#endif
