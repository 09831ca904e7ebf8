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
	RESOLVER_INSECURE, /* or nobody asked for validation */
	RESOLVER_BOGUS,
	RESOLVER_SECURE,
};

struct resolver_answer;
struct resolver_group;

struct resolver_question {
	struct inbox_link link; /* first: what inbox_take() returns is the question */

	/* Set by the caller; none of it is changed but name's case and memory. */
	struct inbox *inbox; /* where it comes back; open until resolver_stop() has returned */
	void *user;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; at most 50 ms late, where the thread keeps up */
	uint8_t name[NAME_FOLDED_BYTES]; /* wire form, checked */
	uint16_t qtype;
	uint16_t qclass;
	bool checking_disabled; /* CD of the query */
	bool is_refresh;        /* the answer is known, and one is wanted that is fetched anew */
	uint8_t family;         /* the client, for its limit: AF_INET, AF_INET6, 0: nobody */
	uint8_t client[16];
	/*
	 * Which memory is to be asked, 0 or 1; 0 where there is no reason for either. The forwarder
	 * has none.
	 */
	uint8_t memory;

	/* The completion: valid from inbox_take() to resolver_release(). */
	uint16_t rcode;
	int ede_code;     /* RFC 8914, or EDNS_NO_EDE */
	const char *text; /* why not, for a person; NULL: nothing to be said */
	enum resolver_security security;
	bool is_known;      /* the memory had it, and nobody was asked */
	const uint8_t *msg; /* the answer, msg_bytes long; NULL: there is none, rcode is all */
	size_t msg_bytes;

	/* The resolver's own. */
	uint64_t hash;
	struct limits_place place;
	struct deadline deadline;
	struct cds_list_head waiting;
	struct resolver_group *group;
	struct resolver_answer *answer;
};

/* The oldest question that was completed, with the others behind it; NULL: none. Owner of the
 * inbox. */
static inline struct resolver_question *resolver_take(struct inbox *inbox)
{
	return (struct resolver_question *)inbox_take(inbox);
}

/* The next one of those that were taken; before the question is submitted again. */
static inline struct resolver_question *resolver_next(const struct resolver_question *q)
{
	return (struct resolver_question *)q->link.next;
}

#endif
