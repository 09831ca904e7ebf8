/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a TLS relay, and the configuration that it makes for libunbound. For the relay's
 * files only. */
#ifndef VOLLEY_RESOLVER_TLS_RELAY_STATE_H
#define VOLLEY_RESOLVER_TLS_RELAY_STATE_H

#include <netinet/in.h>

#include "dns/nameset.h"
#include "resolver/deadlines.h"
#include "resolver/forward_board.h"
#include "resolver/forward_queries.h"
#include "resolver/forward_tcp.h"
#include "resolver/resolver_config.h"
#include "resolver/resolver_counters.h"
#include "resolver/tls_relay_client.h"

#define RELAY_REASONS 256 /* failures that are remembered; a power of two */

/* One query of libunbound. */
struct relayed {
	struct forward_query query;   /* as sent to the upstream; .question is not used */
	struct cds_list_head on_list; /* relay_client.queries, or tls_relay.free */
	struct relay_client *client;
	struct deadline timer; /* always set while the struct is in use */
	uint64_t end_ns;       /* CLOCK_MONOTONIC; SERVFAIL then */
	bool is_waiting;       /* to be sent when the timer fires */
	bool was_in_line;      /* end_ns was put off once, as other replies came */
	bool was_lost;         /* its connection was closed once already */
	uint16_t id;           /* libunbound's, host order */
	uint16_t n_bytes;
	uint16_t question_bytes;
	uint8_t bytes[FORWARD_QUERY_MAX];
};

/* An upstream's extended error for a question, found by the hash of name and type. */
struct relay_reason {
	uint64_t hash;
	uint64_t at_ns;
	int ede_code;
};

/* The configuration for libunbound, and its memory. It lives as long as the relay. */
struct relay_config {
	struct resolver_config config;
	struct resolver_stub *stubs;
	struct resolver_option *options;
	char address[INET_ADDRSTRLEN];
	char timeout[16];
};

struct tls_relay {
	struct resolver_counters *counters;
	SSL_CTX *tls;
	uint64_t wait_ns;
	struct random random;
	struct upstreams upstreams;
	uint64_t refused_since_ns[UPSTREAMS_MAX]; /* 0: the last connection gave a reply */
	uint16_t peers[UPSTREAMS_MAX];            /* sets: the other upstreams of its zones */
	struct nameset zones;                     /* stub and forward zones, over TLS or not */
	uint16_t *sets; /* sets of upstreams: [0] for all other names, then for zones.members */
	struct forward_queries queries;
	struct deadlines timers;
	struct cds_list_head free;
	struct relayed *all;
	uint32_t n_used;
	struct relay_clients clients;
	struct forward_tcp tcp;
	struct forward_tap tap;
	struct forward_board *board; /* the thread writes, others read */
	struct relay_reason reasons[RELAY_REASONS];
	struct relay_config libunbound;
	const char *addresses[UPSTREAMS_MAX + 1]; /* only while the relay is being made */
};

/* Collects the upstreams over TLS in r->addresses, each once. 0, or ERR_CONFIG with a sentence in
 * err of cap octets. */
int relay_config_collect(struct tls_relay *r, const struct resolver_config *config, char *err,
			 size_t cap) __attribute__((warn_unused_result));

/* Makes r->zones, r->sets and r->peers. 0, -ENOMEM, or an error of name_from_text(). */
int relay_config_zones(struct tls_relay *r, const struct resolver_config *config)
	__attribute__((warn_unused_result));

/* Makes r->libunbound, after the ports were opened. 0 or -ENOMEM. */
int relay_config_make(struct tls_relay *r, const struct resolver_config *config)
	__attribute__((warn_unused_result));
void relay_config_fini(struct tls_relay *r);

#endif
