/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries under way: finds the query of a reply. A channel is a UDP socket that is connected to one
 * upstream, or a TCP connection. Each query on a channel has a random ID that no other query there
 * has. So the channel, which stands for both addresses and ports, and the ID identify the query.
 * The caller compares the question besides.
 *
 * One thread. Only the table is allocated, at the start.
 */
#ifndef VOLLEY_RESOLVER_FORWARD_QUERIES_H
#define VOLLEY_RESOLVER_FORWARD_QUERIES_H

#include <stdbool.h>
#include <stdint.h>
#include <urcu/list.h>

#include "resolver/random.h"
#include "resolver/upstreams.h"
#include "tap/tap.h"

struct forward_question;

struct forward_channel {
	struct cds_list_head queries; /* forward_query.on_channel, the oldest first */
	uint32_t n_queries;
	uint8_t upstream;
	bool is_tcp;
};

/* The query of one question to one upstream. */
/* The OPT record of a query. A cookie (RFC 7873) needs EDNS. */
enum forward_form { FORWARD_PLAIN, FORWARD_EDNS, FORWARD_COOKIE };

struct forward_query {
	struct cds_list_head chain; /* of the table */
	struct cds_list_head on_channel;
	struct cds_list_head on_share;   /* while in flight, for a client */
	struct forward_channel *channel; /* NULL: not under way */
	struct forward_question *question;
	uint64_t first_sent_ns;
	uint64_t sent_ns; /* the last time */
	uint64_t upper;   /* struct forward_text */
	uint32_t lot;     /* of the latest sending: forward_tap_query() */
	uint16_t id;
	uint8_t upstream;
	uint8_t n_silent; /* how often no reply came in time */
	bool is_used;     /* upstream and n_silent are valid */
	bool is_resent;   /* with the same ID: no round trip can be measured */
	bool in_flight;   /* counted in its upstream's n_in_flight */
	bool has_case;    /* letters of random case, which the reply must repeat */
	enum forward_form form;
};

struct forward_queries {
	struct cds_list_head *table;
	uint32_t mask;
};

/* For about max queries at a time; with more, searches take longer. 0 or -ENOMEM. */
int forward_queries_init(struct forward_queries *queries, uint32_t max)
	__attribute__((warn_unused_result));
void forward_queries_fini(struct forward_queries *queries);

/* Puts a query on a channel with fewer than 32768 queries, and gives it its ID. */
void forward_queries_add(struct forward_queries *queries, struct forward_query *query,
			 struct forward_channel *channel, struct random *random);

/* Takes the query off its channel. */
void forward_queries_remove(struct forward_query *query);

/* The query with this ID on the channel, or NULL. */
struct forward_query *forward_queries_find(const struct forward_queries *queries,
					   const struct forward_channel *channel, uint16_t id);

static inline void forward_channel_init(struct forward_channel *channel, uint8_t upstream,
					bool is_tcp)
{
	*channel = (struct forward_channel){ .upstream = upstream, .is_tcp = is_tcp };
	CDS_INIT_LIST_HEAD(&channel->queries);
}

/*
 * Reports queries to upstreams and their replies to the tap (tap/tap.h). A query is reported when
 * it is given to its socket or connection, so a query without a reply is reported, too. A reply is
 * reported if its query was chosen.
 *
 * One thread, that of the forwarder or relay.
 */

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
