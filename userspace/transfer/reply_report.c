/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/reply_report.h"

#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"
#include "transfer/transfer_thread.h"
#include "xdp/count.h"

/* Only the loop's thread writes counters; other threads read whole values. */
static void add_one(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static void count_reply_report(struct transfer *t, const struct reply_report *a, uint16_t rcode)
{
	struct engine_answers *n = &t->answers;
	uint32_t type = a->has_question ? volley_count_type(a->qtype) : VOLLEY_COUNT_OTHER_TYPE;

	add_one((uint64_t *)&n->of.by_rcode[rcode % VOLLEY_COUNT_RCODES]);
	add_one((uint64_t *)&n->of.by_type[type][a->peer.family != AF_INET]);
	add_one((uint64_t *)&n->of.by_zone[VOLLEY_COUNT_NO_ZONE]);
	add_one(&n->by_way[a->transport]);
	add_one(&n->by_opcode[a->opcode % ENGINE_OPCODES]);
}

static void report_reply_report(struct transfer *t, const struct reply_report *a,
				const uint8_t *reply, size_t n)
{
	struct tap_event *e = tap_begin(t->tap, a->query, a->n_query, n);

	if (!e)
		return;
	e->way = TAP_TRANSFER;
	e->transport = (uint8_t)a->transport;
	e->family = a->peer.family;
	e->peer_port = a->peer.port;
	memcpy(e->peer, a->peer.bytes, sizeof(e->peer));
	if (a->local.family == a->peer.family) {
		e->local_port = a->local.port;
		memcpy(e->local, a->local.bytes, sizeof(e->local));
	}
	tap_date(e, a->asked_ns);
	tap_commit(t->tap, e, reply, n);
}

void reply_report_begin(struct transfer *t, struct reply_report *a,
			const struct reply_report_ends *ends, const struct query *q,
			const uint8_t *msg, size_t n)
{
	*a = (struct reply_report){
		.is_open = true,
		.is_reported = tap_draws(t->tap),
		.transport = ends->transport,
		.peer = *ends->peer,
		.local = *ends->local,
		.qtype = q->qtype,
		.opcode = q->opcode,
		.has_question = q->has_question,
		.asked_ns = t->now.ns,
	};
	if (!a->is_reported)
		return;
	a->query = malloc(n);
	if (!a->query) {
		tap_lose(t->tap);
		a->is_reported = false;
		return;
	}
	a->n_query = n;
	memcpy(a->query, msg, n);
}

void reply_report_end(struct transfer *t, struct reply_report *a, const uint8_t *reply, size_t n)
{
	struct tap_view view;

	if (a->is_open && tap_view_read(&view, reply, n)) {
		count_reply_report(t, a, view.rcode);
		if (a->is_reported)
			report_reply_report(t, a, reply, n);
	}
	reply_report_fini(a);
}

void reply_report_fini(struct reply_report *a)
{
	free(a->query);
	*a = (struct reply_report){ 0 };
}
