/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A question that is asked upstream, from resolver_submit() to its completion. */
#ifndef VOLLEY_RESOLVER_RESOLVER_QUESTION_H
#define VOLLEY_RESOLVER_RESOLVER_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "dns/name.h"
#include "resolver/deadlines.h"
#include "resolver/inbox.h"

enum resolver_security {
	RESOLVER_INSECURE, /* or nothing is validated */
	RESOLVER_BOGUS,
	RESOLVER_SECURE,
};

struct resolver_answer;
struct resolver_group;

struct resolver_question {
	struct inbox_link link; /* first: what inbox_take() returns is the question */

	/* Set by the caller. The resolver changes only the letter case of name. */
	struct inbox *inbox; /* where it comes back; open until resolver_stop() has returned */
	void *user;
	uint64_t deadline_ns;            /* CLOCK_MONOTONIC; at most 50 ms late without overload */
	uint8_t name[NAME_FOLDED_BYTES]; /* wire form, checked */
	uint16_t qtype;
	uint16_t qclass;
	bool checking_disabled; /* CD of the query */
	bool is_refresh;        /* the caller has an answer and wants a newer one */
	uint8_t family;         /* of the client, for its limits: AF_INET, AF_INET6, 0: no client */
	uint8_t client[16];
	/* The memory to ask, 0 or 1; 0 if both are equally good. The forwarder has none. */
	uint8_t memory;

	/* The completion: valid from inbox_take() to resolver_release(). */
	uint16_t rcode;
	int ede_code;     /* RFC 8914, or EDNS_NO_EDE */
	const char *text; /* the reason of a failure, for a person, or NULL */
	enum resolver_security security;
	bool is_known;      /* known here already: no server was asked */
	const uint8_t *msg; /* the answer, msg_bytes long; NULL: there is only the rcode */
	size_t msg_bytes;
	/*
	 * If not 0, msg is two messages. The first one, of so many octets, has the question's name
	 * and aliases that lead away from it; the second one answers the question for their target.
	 */
	size_t head_bytes;

	/* The resolver's own. */
	uint64_t hash;
	struct limits_place place;
	struct deadline deadline;
	struct cds_list_head waiting;
	struct resolver_group *group;
	struct resolver_answer *answer;
};

/* Gives the answer back. The question may be used again. Any thread. */
void resolver_release(struct resolver_question *q);

/* The oldest completed question, with the others linked behind it, or NULL. Inbox's owner only. */
static inline struct resolver_question *resolver_take(struct inbox *inbox)
{
	return (struct resolver_question *)inbox_take(inbox);
}

/* The next of the questions taken. Call it before q is submitted again. */
static inline struct resolver_question *resolver_next(const struct resolver_question *q)
{
	return (struct resolver_question *)q->link.next;
}

#endif
