/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries to upstreams and their replies, as the tap (tap/tap.h) is told of them. A query is told
 * when it is given to its socket or connection, so one that gets no reply is told as well; its
 * reply is told where the query was.
 *
 * One thread, that of the forwarder or relay.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_TAP_H
#define VOLLEY_RESOLVER_FORWARD_TAP_H

#include "resolver/forward_queries.h"
#include "resolver/upstreams.h"
#include "tap/tap.h"

struct forward_tap {
	struct tap_producer *producer; /* the thread's; NULL: nobody is told */
	const struct upstreams *upstreams;
	bool is_tls; /* all connections */
};

/* Draws whether this sending of the query, n octets on its channel, is told; query->lot says so
 * from then on. */
void forward_tap_query(const struct forward_tap *tap, struct forward_query *query,
		       const uint8_t *msg, size_t n, uint64_t now_ns);

/* A reply that is taken, while the query is on its channel. */
void forward_tap_reply(const struct forward_tap *tap, const struct forward_query *query,
		       const uint8_t *msg, size_t n);

#endif
