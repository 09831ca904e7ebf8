/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replies of the transfer thread: each is counted as workers count theirs, and reported to the tap
 * (tap/tap.h).
 *
 *      message ─► reply_report_begin() ─► its reply, at once or later ─► reply_report_end()
 *
 * A transfer is one reply, whatever the number of its messages; its first message is reported. The
 * worker that answers a question (primary_state.h) counts and reports it. Replies are not counted
 * by zone: the counters of zones belong to a cache, and this thread has none.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_REPLY_REPORT_H
#define VOLLEY_TRANSFER_REPLY_REPORT_H

#include "dns/query.h"
#include "port/addr.h"
#include "tap/event.h"

struct transfer;

/*
 * A query, from its arrival until its reply. Zeros: there is none. It may be moved but not copied.
 */
struct reply_report {
	bool is_open; /* the reply is still to come */
	bool is_reported;
	enum tap_transport transport;
	struct port_addr peer, local;
	uint16_t qtype;
	uint8_t opcode;
	bool has_question;
	uint64_t asked_ns;
	uint8_t *query; /* a copy, if it is reported; else NULL */
	size_t n_query;
};

/* The two ends of a query, and its transport. */
struct reply_report_ends {
	const struct port_addr *peer, *local; /* local->family 0: unknown */
	enum tap_transport transport;
};

/*
 * *a has to be zeros. @msg is the whole message, and @q was read from it; both may go afterwards.
 */
void reply_report_begin(struct transfer *t, struct reply_report *a,
			const struct reply_report_ends *ends, const struct query *q,
			const uint8_t *msg, size_t n);
/*
 * The reply as it is sent, of n octets; 0: there is none. Only the first call for an answer counts.
 */
void reply_report_end(struct transfer *t, struct reply_report *a, const uint8_t *reply, size_t n);
/* Frees it without a reply. Zeros are allowed. */
void reply_report_fini(struct reply_report *a);

#endif
