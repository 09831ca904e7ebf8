/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A query as an engine gets it, and what is kept of it while a question is asked upstream. */
#ifndef VOLLEY_ENGINE_ENGINE_REQUEST_H
#define VOLLEY_ENGINE_ENGINE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/proto.h"
#include "dns/query.h"
#include "engine/engine_config.h"
#include "engine/policy_servers.h"
#include "resolver/resolver.h"

#define ENGINE_AHEAD 16 /* queries that are read ahead at most */

/* One instant on three clocks. */
struct engine_times {
	uint64_t now_ns; /* clock_ns(): for deadlines */
	uint32_t now_s;  /* clock_coarse_s() */
	uint32_t wall_s; /* clock_wall_s() modulo 2^32 */
};

/* A query that waits for its question: what its reply depends on. */
struct engine_asked {
	/* Header and question as they came. */
	uint8_t query[DNS_HEADER_BYTES + DNS_NAME_MAX + DNS_QUESTION_FIXED_BYTES];
	uint16_t question_end;
	bool stream;
	uint8_t way;
	uint16_t idle_100ms;
	bool has_client; /* somebody waits; else only the cache is to have the answer */
	/* the question upstream is for the name where an alias of the query's ends:
	 * engine/follow.h */
	bool is_followed;
	bool no_lists; /* a list made one of the aliases, and so none is asked about the answer */
	bool is_alias; /* a rule made this alias of an answer: it holds as it was then */
	uint32_t alias_ttl_s;
	int alias_ede_code; /* that the rule gives with it */
	struct query_edns edns;
};

#define ENGINE_SERVERS_BYTES 512 /* names of the servers of a zone whose addresses are asked for */

/* The completion of a question, while its client waits for other questions. */
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
	struct resolver_answer *answer; /* a reference of ours */
};

/* How far the name servers of the names in an answer are known: engine/servers.h. Only that reads
 * and writes it. */
struct engine_search {
	uint8_t stage;
	unsigned int at; /* which name of the chain */
	uint64_t policy; /* its number */
	uint64_t deadline_ns;
	size_t n_lists; /* of it, whose rules count */
	struct policy_server_hit hit;
	uint8_t zone[NAME_FOLDED_BYTES]; /* whose NS records are looked for */
	uint16_t names_bytes, name_at;
	uint8_t names[ENGINE_SERVERS_BYTES]; /* of servers, one behind the other */
	struct engine_held held;
};

struct engine_servers {
	/* The caller's memory, set once, and apart: it is not touched where no policy looks at
	 * servers. NULL: these rules never hold. */
	struct engine_search *search;
	bool is_begun;
	/* the question upstream is one of these; held has the answer that they are for */
	bool is_asking;
	bool is_unsure; /* something was asked for in vain */
	uint8_t n_asked;
};

/*
 * A question upstream, from ENGINE_DEFERRED or engine_refresh() to engine_finish(). The caller's
 * memory; of it the caller sets question.inbox, question.user and servers.search, and the engine
 * the rest.
 */
struct engine_pending {
	struct resolver_question question; /* first: what resolver_take() returns */
	struct engine_asked asked;
	struct engine_recursion
		rules;   /* of when it was asked: what has been flushed since stays so */
	bool is_hurried; /* its deadline is that for a stale answer */
	/* Set by each of the calls that get it: the question is to be submitted, once more
	 * perhaps. */
	bool submit;
	struct engine_servers
		servers; /* of it the first members only, where no policy looks at servers */
};

struct engine_request {
	const uint8_t *msg; /* DNS message without a length in front */
	size_t len;
	bool stream;         /* TCP: no limit but 65535 */
	bool is_tls;         /* TCP, and TLS over it */
	uint16_t idle_100ms; /* TCP: how long the connection may be idle, for who asks: RFC 7828 */
	uint8_t family;      /* AF_INET or AF_INET6 */
	const uint8_t *client; /* its address in network order: 4 or 16 octets */
	uint64_t now_ns;       /* as in struct engine_times, all three */
	uint32_t now_s;
	uint32_t wall_s;
	bool hands_over;   /* ENGINE_HANDOVER is understood */
	bool has_expire;   /* a secondary asks for the SOA: EXPIRE is to be told it, */
	uint32_t expire_s; /* if it asks for that: RFC 7314 */
	/* ours, whatever the list of clients says: more is known of it than its address */
	bool sees_zones;
	struct engine_pending *pending; /* free, to be filled; NULL: the reply cannot come later */
	/* by which it came, below ENGINE_WAYS: the caller's number, for the counters */
	uint8_t way;
	unsigned int ahead; /* 1 + its place in the last engine_read_ahead(); 0: it was not read */
};

/* A DNS message without a length in front. */
struct engine_message {
	const uint8_t *bytes;
	size_t len;
};

#endif
