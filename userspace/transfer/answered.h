/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replies of the transfer thread: each is counted as workers count theirs, and reported to the tap (tap/tap.h).
 *
 *      message ─► answered_begin() ─► the way to its reply, at once or later ─► answered_reply(): counted, told
 *
 * A transfer is one reply, whatever the number of its messages: the first one is told. A question that a worker answers
 * (questions.h) is counted and reported there. Replies are counted without their zone: the counters of zones belong to a cache, and this
 * thread has none.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_ANSWERED_H
#define VOLLEY_TRANSFER_ANSWERED_H

#include "dns/query.h"
#include "port/addr.h"
#include "tap/event.h"

struct transfer;

/* A query, from when it comes until its reply. Zeros: there is none. It may be moved, and not copied. */
struct answered {
	bool is_open; /* its reply is to come */
	bool is_told;
	enum tap_transport transport;
	struct port_addr peer, local;
	uint16_t qtype;
	uint8_t opcode;
	bool has_question;
	uint64_t asked_ns;
	uint8_t *query; /* a copy, where it is told; NULL: none */
	size_t n_query;
};

/* The two ends of a query, and its transport. */
struct answered_ends {
	const struct port_addr *peer, *local; /* where local->family is 0, it is not known */
	enum tap_transport transport;
};

/* *a was zeros. The message is whole, and q is read from it; neither is needed afterwards. */
void answered_begin(struct transfer *t, struct answered *a, const struct answered_ends *ends,
		    const struct query *q, const uint8_t *msg, size_t n);
/* The reply as it leaves, of n octets; 0: there is none. Later messages of the same answer are not counted. */
void answered_reply(struct transfer *t, struct answered *a, const uint8_t *reply, size_t n);
/* There is no reply, or it has been. Zeros are allowed. */
void answered_fini(struct answered *a);

#endif
