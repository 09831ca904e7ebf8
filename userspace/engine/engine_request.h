/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A query as an engine gets it, and the state that is kept while its question is asked upstream. */
#ifndef VOLLEY_ENGINE_ENGINE_REQUEST_H
#define VOLLEY_ENGINE_ENGINE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"
#include "dns/query.h"
#include "engine/engine_config.h"
#include "rpz/rpz_servers.h"
#include "resolver/resolver_question.h"

#define ENGINE_AHEAD 16 /* queries that are read ahead at most */

/* One instant on three clocks. */
struct engine_times {
	uint64_t now_ns; /* clock_ns(): for deadlines */
	uint32_t now_s;  /* clock_coarse_s() */
	uint32_t wall_s; /* clock_wall_s() modulo 2^32 */
};

/* The question upstream is for the last name of a chain of aliases (engine/follow.h), or is not. */
enum engine_chain {
	ENGINE_CHAIN_NONE,
	ENGINE_CHAIN_FOLLOWED,
	ENGINE_CHAIN_OF_RULE, /* a rule made the last alias of an answer; no later list changes it */
};

/* A query that waits for an answer from upstream: everything that its reply depends on. */
struct engine_asked {
	/* Header and question as received. */
	uint8_t query[DNS_HEADER_BYTES + DNS_NAME_MAX + DNS_QUESTION_FIXED_BYTES];
	uint16_t question_end;
	bool stream;
	uint8_t way;
	uint16_t idle_100ms;
	bool has_client; /* a client waits; otherwise the answer is for the cache alone */
	enum engine_chain chain;
	bool no_lists; /* a list made one of the aliases, so no list is applied to the answer */
	uint32_t alias_ttl_s;
	int alias_ede_code; /* of that rule */
	struct query_edns edns;
};

#define ENGINE_SERVERS_BYTES 512 /* names of a zone's servers whose addresses are asked for */

/* The completion of the client's question, held while name servers are asked for. */
struct engine_held {
	uint8_t name[NAME_FOLDED_BYTES];
	uint16_t qtype;
	uint16_t rcode;
	int ede_code;
	enum resolver_security security;
	bool is_known;
	bool is_refresh;
	uint8_t memory;
	const uint8_t *msg;
	size_t msg_bytes;
	size_t head_bytes;
	struct resolver_answer *answer; /* one reference */
};

/* The state of the search for the name servers of the names in an answer. Only engine/servers.c
 * uses it. */
struct engine_search {
	uint8_t stage;
	unsigned int at; /* index of the name in the chain */
	uint64_t rpz;    /* number of the rule set */
	uint64_t deadline_ns;
	size_t n_lists; /* how many of its first lists count */
	struct rpz_server_hit hit;
	uint8_t zone[NAME_FOLDED_BYTES]; /* the zone whose NS records are looked for */
	uint16_t names_bytes, name_at;
	uint8_t names[ENGINE_SERVERS_BYTES]; /* of servers, one after the other */
	struct engine_held held;
};

struct engine_servers {
	/* The caller's memory, set once. Untouched if no RPZ rule is for name servers. NULL: such
	 * rules never match. */
	struct engine_search *search;
	bool is_begun;
	/* the question upstream is one for name servers; the client's is in search->held */
	bool is_asking;
	bool is_unsure; /* a question for name servers failed */
	uint8_t n_asked;
};

/*
 * A question upstream, from ENGINE_DEFERRED or engine_refresh() to engine_finish(). In the caller's
 * memory. The caller sets question.inbox, question.user and servers.search; the engine sets the
 * rest.
 */
struct engine_pending {
	struct resolver_question question; /* first: resolver_take() returns it */
	struct engine_asked asked;
	/* as of the time of the question, so that a later flush holds for its answer, too */
	struct engine_recursion rules;
	bool is_hurried; /* its deadline is stale_wait_ms: a stale answer can be given */
	/* Set by each call that gets it: submit the question, perhaps once more. */
	bool submit;
	struct engine_servers servers;
};

/* Its booleans are independent: what the port, the client and the caller allow. */
struct engine_request {
	const uint8_t *msg; /* DNS message without a length in front */
	size_t len;
	bool stream; /* TCP: the only limit of a reply is 65535 octets */
	bool is_tls; /* TCP, and TLS over it */
	/* TCP: idle timeout of the connection, for the keepalive option: RFC 7828 */
	uint16_t idle_100ms;
	uint8_t family;        /* AF_INET or AF_INET6 */
	const uint8_t *client; /* the client's address in network order: 4 or 16 octets */
	uint64_t now_ns;       /* as in struct engine_times, all three */
	uint32_t now_s;
	uint32_t wall_s;
	bool hands_over;   /* the caller understands ENGINE_HANDOVER */
	bool has_expire;   /* a secondary asks for the SOA: expire_s is set */
	uint32_t expire_s; /* for the EXPIRE option, if the query has it: RFC 7314 */
	/* may ask for our zones, whatever the list of clients says: the caller knows more than an
	 * address */
	bool sees_zones;
	/* free, for the engine to fill; NULL: the reply cannot come later */
	struct engine_pending *pending;
	/* how it came, for the counters: a number of the caller's, below ENGINE_WAYS */
	uint8_t way;
	unsigned int ahead; /* 1 + its index in the last engine_read_ahead(); 0: it was not read */
};

/* A DNS message without a length in front. */
struct engine_message {
	const uint8_t *bytes;
	size_t len;
};

#endif
