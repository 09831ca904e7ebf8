/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of a TLS relay: what is in it, and the configuration that it makes for libunbound. */
#ifndef VOLLEY_RESOLVER_TLS_RELAY_STATE_H
#define VOLLEY_RESOLVER_TLS_RELAY_STATE_H

#include <netinet/in.h>

#include "dns/nameset.h"
#include "resolver/deadlines.h"
#include "resolver/forward_board.h"
#include "resolver/forward_tap.h"
#include "resolver/forward_tcp.h"
#include "resolver/resolver_config.h"
#include "resolver/resolver_counters.h"
#include "resolver/tls_relay_client.h"

#define RELAY_REASONS 256 /* failures that are remembered; a power of two */

/* One query of libunbound. */
struct relayed {
	struct forward_query query;   /* its way to the upstream; question is not used */
	struct cds_list_head on_list; /* relay_client.queries, or the free ones */
	struct relay_client *client;
	struct deadline timer; /* always set while it is taken */
	uint64_t end_ns;       /* CLOCK_MONOTONIC: then SERVFAIL */
	bool is_waiting;       /* to be sent when the timer is over */
	bool was_in_line;      /* its end was put off, as replies came to queries before it */
	bool was_lost;         /* its connection was closed once */
	uint16_t id;           /* libunbound's, host order */
	uint16_t n_bytes;
	uint16_t question_bytes;
	uint8_t bytes[FORWARD_QUERY_MAX];
};

/* An upstream's extended error for a question. The hash of a name and type finds it. */
struct relay_reason {
	uint64_t hash;
	uint64_t at_ns;
	int ede_code;
};

/* What libunbound gets in place of the configuration. All of it is as long as the relay. */
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
	uint64_t refused_since_ns[UPSTREAMS_MAX]; /* 0: the last connection was of use */
	uint16_t peers[UPSTREAMS_MAX];            /* sets: those that a zone has besides */
	struct nameset zones;                     /* with upstreams of their own, over TLS or not */
	uint16_t *sets; /* sets of upstreams: [0] of all other names, then of zones.members */
	struct forward_queries queries;
	struct deadlines timers;
	struct cds_list_head free;
	struct relayed *all;
	uint32_t n_used;
	struct relay_clients clients;
	struct forward_tcp tcp;
	struct forward_tap tap;
	struct forward_board board; /* written by the thread, read by others */
	struct relay_reason reasons[RELAY_REASONS];
	struct relay_config libunbound;
	const char *addresses[UPSTREAMS_MAX + 1]; /* while it is made */
};

/* Upstreams over TLS into r->addresses, each once. 0, or ERR_CONFIG with a sentence in err of cap
 * octets. */
int relay_config_collect(struct tls_relay *r, const struct resolver_config *config, char *err,
			 size_t cap) __attribute__((warn_unused_result));

/* r->zones, r->sets and r->peers. 0, -ENOMEM, or an error of name_from_text(). */
int relay_config_zones(struct tls_relay *r, const struct resolver_config *config)
	__attribute__((warn_unused_result));

/* r->libunbound, when the ports are open. 0 or -ENOMEM. */
int relay_config_make(struct tls_relay *r, const struct resolver_config *config)
	__attribute__((warn_unused_result));
void relay_config_fini(struct tls_relay *r);

#endif
