/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replies of the transfer thread: each is counted as workers count theirs, and reported to the tap
 * (tap/tap.h).
 *
 *      message ─► reply_report_begin() ─► its reply, at once or later ─► reply_report_end()
 *
 * A transfer is one reply, whatever the number of its messages: the first one is reported. A
 * question that a worker answers (questions.h) is counted and reported there. Replies are counted
 * without their zone: the counters of zones belong to a cache, and this thread has none.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_REPLY_REPORT_H
#define VOLLEY_TRANSFER_REPLY_REPORT_H

#include "dns/query.h"
#include "port/addr.h"
#include "tap/event.h"

struct transfer;

/* A query, from when it comes until its reply. Zeros: there is none. It may be moved, and not
 * copied. */
struct reply_report {
	bool is_open; /* its reply is to come */
	bool is_reported;
	enum tap_transport transport;
	struct port_addr peer, local;
	uint16_t qtype;
	uint8_t opcode;
	bool has_question;
	uint64_t asked_ns;
	uint8_t *query; /* a copy, where it is reported; NULL: none */
	size_t n_query;
};

/* The two ends of a query, and its transport. */
struct reply_report_ends {
	const struct port_addr *peer, *local; /* where local->family is 0, it is not known */
	enum tap_transport transport;
};

/* *a was zeros. The message is whole, and q is read from it; neither is needed afterwards. */
void reply_report_begin(struct transfer *t, struct reply_report *a,
			const struct reply_report_ends *ends, const struct query *q,
			const uint8_t *msg, size_t n);
/* The reply as it leaves, of n octets; 0: there is none. Later messages of the same answer are not
 * counted. */
void reply_report_end(struct transfer *t, struct reply_report *a, const uint8_t *reply, size_t n);
/* There is no reply, or it has been. Zeros are allowed. */
void reply_report_fini(struct reply_report *a);

#endif
