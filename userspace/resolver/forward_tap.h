/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports queries to upstreams and their replies to the tap (tap/tap.h). A query is reported when
 * it is given to its socket or connection, so a query without a reply is reported, too. A reply is
 * reported if its query was chosen.
 *
 * One thread, that of the forwarder or relay.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_TAP_H
#define VOLLEY_RESOLVER_FORWARD_TAP_H

#include "resolver/forward_queries.h"
#include "resolver/upstreams.h"
#include "tap/tap.h"

struct forward_tap {
	struct tap_producer *producer; /* the thread's; NULL: nothing is reported */
	const struct upstreams *upstreams;
	bool is_tls; /* true: all connections are over TLS */
};

/* Decides at random whether this sending of the query, n octets on its channel, is reported, and
 * keeps the decision in query->lot for the reply. */
void forward_tap_query(const struct forward_tap *tap, struct forward_query *query,
		       const uint8_t *msg, size_t n, uint64_t now_ns);

/* Reports an accepted reply, while the query is still on its channel. */
void forward_tap_reply(const struct forward_tap *tap, const struct forward_query *query,
		       const uint8_t *msg, size_t n);

#endif
