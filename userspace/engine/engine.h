/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: query bytes in, answer bytes out.
 *
 *	query ─► query_parse ─► key ─► cache ── hit ──────────────┐
 *	             │                   │ miss                   ▼
 *	             │                   └─► zones ─► render ─► emit ─► reply
 *	             │                         │ not ours               ▲
 *	             │                         └─► pending ─► resolver ─► engine_finish()
 *	             └─ malformed, other opcode, class, ... ──────▲
 *	                                render, finish ─► publish (the next one is a hit, in the driver)
 *
 * A name of no zone of ours is asked upstream, for clients that may recurse (engine/clients.h), and so is what an answer of our zones
 * leads to (engine/follow.h): then the caller has a question to submit, and the reply comes out of engine_finish() later. The way of
 * such a miss is engine/recursion.h.
 *
 * Emit is one function for hits and fresh answers, and the XDP program does the same with the same
 * entry: two answerers, one truth. What an answer is, beside its question, is a struct cache_answer.
 *
 * One engine for each worker thread; it allocates nothing after engine_new(). The thread is a
 * liburcu QSBR thread: what is read under RCU is read within one call only, so a quiescent state between
 * two calls is always right.
 */
#ifndef VOLLEY_ENGINE_ENGINE_H
#define VOLLEY_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/cookie.h"
#include "dns/proto.h"
#include "dns/query.h"
#include "engine/policy_servers.h"
#include "resolver/resolver.h"
#include "zone/set.h"

#define ENGINE_MAX_UDP_BYTES 1232 /* fits every path; DNS flag day 2020 */

#define ENGINE_NSID_MAX 128
#define ENGINE_TEXT_MAX 255 /* of one string in a TXT record */

#define ENGINE_AHEAD 16 /* queries that are read ahead at most */

/* What ANY gets: RFC 8482 section 4.1. The choices stand in the order of their words. */
enum engine_any {
	ENGINE_ANY_MINIMAL, /* one RRset of the name */
	ENGINE_ANY_FULL,    /* all of them */
};

struct engine_config {
	uint16_t max_udp_bytes; /* largest UDP reply, 512 to VOLLEY_UDP_MAX; said in OPT */
	bool minimal_responses; /* no records that a client can do without */
	enum engine_any any;
};

/* clang-format off */
#define ENGINE_CONFIG_INIT { .max_udp_bytes = ENGINE_MAX_UDP_BYTES }
/* clang-format on */

/*
 * What the server says of itself to a client that asks. Never changed once published. No answer in the cache has any of it: it is
 * put into each reply when that is written.
 */
struct engine_identity {
	char version[ENGINE_TEXT_MAX + 1]; /* CH TXT version.bind, version.server; "": REFUSED */
	char name[ENGINE_TEXT_MAX + 1]; /* CH TXT id.server, hostname.bind (RFC 4892); likewise */
	uint8_t nsid[ENGINE_NSID_MAX];  /* RFC 5001 */
	uint16_t nsid_bytes;            /* 0: the option is ignored */
};

struct special;

/* How questions are asked upstream, and what becomes of the answers. Never changed once published. */
struct engine_recursion {
	/* Answers are cached under this zone's slot and generation; slot 0: not cached. */
	uint32_t zone_slot;
	uint32_t zone_gen;
	uint32_t max_ttl_s;          /* no TTL is more; 0: nothing is cached */
	uint32_t min_ttl_s;          /* no TTL is less, but of errors */
	uint32_t max_negative_ttl_s; /* of NXDOMAIN and NODATA: RFC 2308 section 5 */
	uint32_t timeout_ms;         /* then SERVFAIL */
	/* RFC 8767: answers are given so long after they expired, where upstream fails; 0: never. */
	uint32_t stale_s;
	uint32_t stale_wait_ms; /* so long upstream has to answer before that: section 5 says 1800 */
	uint32_t stale_ttl_s;   /* of the answer that is given then */
	bool cuts; /* a name that is proved not to exist denies those below it: RFC 8020 */
	bool dns64; /* PTR records may be made below a name that does not exist: RFC 6147 section 5.3.1 */
	bool prefetch; /* what is asked for shortly before it expires is fetched anew */
	const struct special *
		special; /* names that are answered here; NULL: none. Lives as long as this is published */
};

/* clang-format off */
#define ENGINE_RECURSION_INIT {                                                              \
	.max_ttl_s = 86400, .max_negative_ttl_s = 3600, .timeout_ms = 5000,                  \
	.stale_wait_ms = 1800, .stale_ttl_s = 30, .cuts = true, .prefetch = true }
/* clang-format on */

struct blocks;
struct clients;
struct handover_rules;
struct limiter;
struct policy;
struct shield;

/* What is served, to whom: control swaps each pointer (rcu_xchg_pointer) and waits for all workers. */
struct engine_data {
	struct zone_set *set;    /* RCU, as the others; NULL: no zone */
	struct clients *clients; /* NULL: nobody recurses, everyone may ask for our zones */
	struct policy *policy;   /* NULL: none */
	struct engine_recursion *recursion; /* NULL: nothing is asked upstream */
	struct handover_rules *handover;    /* engine/handover.h; NULL: nothing is handed over */
	const struct limiter
		*limiter; /* engine/limiter.h; set before there are engines; NULL: no limits */
	struct cookie_secrets *cookies;   /* NULL: COOKIE options are as any unknown option */
	struct engine_identity *identity; /* NULL: the server says nothing of itself */
	struct blocks *blocks;            /* engine/blocks.h; NULL: nothing is blocked */
	struct shield *shield; /* engine/shield.h; set before there are engines; NULL: no filter */
	/*
	 * What the resolver's own authority answers, and no client: its set has the zone of recursion.root-copy, or there is none.
	 * Set before there are engines; NULL: there is no such authority.
	 */
	struct engine_data *root_copy;
};

/*
 * A digest of what, beside the zone, decides the bytes of a cached answer: the settings, and the
 * version of the rules in engine/. To be mixed into the digest of cache_zone_prepare(), so that a
 * daemon with other settings does not adopt answers of the old ones. Pure; any thread.
 */
uint64_t engine_config_digest(const struct engine_config *config);

/*
 * The EDNS options that change an answer, a bit for each code below 64: what has one of them comes to
 * the engine, but for those that engine_options() tells the driver of (volley_state.option_up_mask). NULL is allowed. Pure; any
 * thread.
 */
uint64_t engine_option_mask(const struct engine_identity *identity);

/*
 * What the driver needs to answer NSID and COOKIE as an engine does that has these two published; either may be NULL.
 * Pure; any thread.
 */
void engine_options(const struct engine_identity *identity, const struct cookie_secrets *cookies,
		    struct volley_options *out);

struct engine;

/*
 * A new engine for one thread. config is copied; cache (NULL: none) and data must outlive the engine.
 * Errors: -ENOMEM, -EINVAL for max_udp_bytes out of range.
 */
int engine_new(struct engine **out, const struct engine_config *config, struct cache *cache,
	       struct engine_data *data) __attribute__((warn_unused_result));

/* Gives its place in the cache back. The thread that owned it has ended. NULL is allowed. */
void engine_free(struct engine *e);

/*
 * Another cache for an engine that goes on: cache/copy.h. The place made by engine_cache_new() is the
 * engine's from its next call on; what it had before is given back, for engine_cache_free() after a
 * grace period. The caches have the same zones and secrets: a key's hash, and a pending question's slot
 * and generation, are right in both. Any thread but the engine's. -ENOMEM; NULL may be freed.
 */
struct engine_cache;
int engine_cache_new(struct engine_cache **out, struct cache *cache)
	__attribute__((warn_unused_result));
void engine_cache_free(struct engine_cache *place);
struct engine_cache *engine_exchange_cache(struct engine *e, struct engine_cache *place)
	__attribute__((warn_unused_result));

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
	bool is_followed; /* the question upstream is for the name where an alias of the query's ends: engine/follow.h */
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

/* How far the name servers of the names in an answer are known: engine/servers.h. Only that reads and writes it. */
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
	/* The caller's memory, set once, and apart: it is not touched where no policy looks at servers. NULL: these rules never hold. */
	struct engine_search *search;
	bool is_begun;
	bool is_asking; /* the question upstream is one of these; held has the answer that they are for */
	bool is_unsure; /* something was asked for in vain */
	uint8_t n_asked;
};

/*
 * A question upstream, from ENGINE_DEFERRED or engine_refresh() to engine_finish(). The caller's
 * memory; of it the caller sets question.inbox, question.user and servers.search, and the engine the rest.
 */
struct engine_pending {
	struct resolver_question question; /* first: what resolver_take() returns */
	struct engine_asked asked;
	struct engine_recursion
		rules;   /* of when it was asked: what has been flushed since stays so */
	bool is_hurried; /* its deadline is that for a stale answer */
	/* Set by each of the calls that get it: the question is to be submitted, once more perhaps. */
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
	bool sees_zones; /* ours, whatever the list of clients says: more is known of it than its address */
	struct engine_pending *pending; /* free, to be filled; NULL: the reply cannot come later */
	uint8_t way; /* by which it came, below ENGINE_WAYS: the caller's number, for the counters */
	unsigned int ahead; /* 1 + its place in the last engine_read_ahead(); 0: it was not read */
};

/* A DNS message without a length in front. */
struct engine_message {
	const uint8_t *bytes;
	size_t len;
};

/*
 * Reads n queries (at most ENGINE_AHEAD) and has the memory loaded that their answers will need, so that
 * it is there when engine_answer() is called with each of them, in any order; no other call of the engine
 * may come between. It changes no answer, only how long one takes. The messages stay as they are until
 * they are answered. As engine_answer().
 */
void engine_read_ahead(struct engine *e, const struct engine_message *msgs, unsigned int n);

#define ENGINE_DEFERRED SIZE_MAX
#define ENGINE_HANDOVER (SIZE_MAX - 1)
#define ENGINE_CLOSE    (SIZE_MAX - 2)

/*
 * The reply to rq, written to out, which has room for cap octets and may be rq->msg itself (the
 * ports answer in place) but must not overlap it otherwise. Returns its length, never more than the
 * client takes; 0: there is nothing to be sent; ENGINE_DEFERRED: engine_finish() makes the reply when
 * rq->pending is completed. That may be to be submitted beside a reply, too: what was in the cache is
 * fetched anew then. ENGINE_HANDOVER: the message is for the transfer thread (worker/handover_queue.h). ENGINE_CLOSE, of a
 * stream: a block drops the message, and nothing more is said on its connection. Owner thread only, in a QSBR read section.
 */
size_t engine_answer(struct engine *e, const struct engine_request *rq, uint8_t *out, size_t cap);

/*
 * Whether the reply to rq, given to engine_answer() just now, is to be padded: the query came over TLS and has the option (RFC 7830
 * section 4). It also holds for a reply that comes later. The query may be overwritten by now. As engine_answer().
 */
bool engine_pads(const struct engine *e, const struct engine_request *rq);

/*
 * The reply to a question that was completed, and its answer into the cache. Returns the reply's
 * length, at most cap; 0: nobody waits for one. The question can be released then, and where p->submit
 * says so it goes upstream again, for the cache alone: no second reply comes of it. ENGINE_DEFERRED: a policy says that
 * the name stands for another one, or has to know name servers first; p->submit is set, and the reply comes with a later
 * completion. As engine_answer().
 */
size_t engine_finish(struct engine *e, struct engine_pending *p, const struct engine_times *times,
		     uint8_t *out, size_t cap);

/*
 * The reply to a question that engine_finish() has deferred once more, where no resolver is left to submit it to: SERVFAIL, with the
 * extended error "not ready" (RFC 8914 section 4.15). Returns its length, at most cap; 0: nobody waits for one. The question can be
 * released then. As engine_answer().
 */
size_t engine_fail(struct engine *e, struct engine_pending *p, const struct engine_times *times,
		   uint8_t *out, size_t cap);

/* Releases what the completion of p holds of the resolver's: p is done with, or it is given up. Any thread. */
void engine_abandon(struct engine_pending *p);

/*
 * Fills p to fetch anew what the driver says is about to expire. False, as p->submit: it is not in the
 * cache any more, or there is no recursion. As engine_answer().
 */
bool engine_refresh(struct engine *e, const struct volley_refresh *refresh,
		    const struct engine_times *times, struct engine_pending *p)
	__attribute__((warn_unused_result));

/*
 * Each message counts in queries, and in ignored, no_room, dropped, blocked, limited, deferred, handed_over or exactly
 * one rcode; what was deferred counts in no_room, limited or an rcode when it is finished. E(name, words).
 */
#define ENGINE_COUNTERS(E)                                                                       \
	E(queries, "messages looked at")                                                         \
	E(ignored, "not answered: no DNS header, or a response")                                 \
	E(no_room, "not answered: the port's buffer is too small for a header and the question") \
	E(noerror, "answered NOERROR")                                                           \
	E(formerr, "answered FORMERR")                                                           \
	E(servfail, "answered SERVFAIL")                                                         \
	E(nxdomain, "answered NXDOMAIN")                                                         \
	E(notimp, "answered NOTIMP")                                                             \
	E(refused, "answered REFUSED")                                                           \
	E(badvers, "answered BADVERS")                                                           \
	E(other_rcode, "answered with another rcode")                                            \
	E(shortened, "answered without the optional additional records")                         \
	E(truncated, "answered with TC=1")                                                       \
	E(slipped, "of these, since the client is over the rate limit")                          \
	E(badcookie, "answered BADCOOKIE: over the rate limit")                                  \
	E(rrl_exempt, "not limited: clients with a good cookie, or in rrl.exempt")               \
	E(rrl_dry, "answered, though over the rate limit: rrl.dry-run")                          \
	E(too_large, "the answer fits no DNS message: TC=1 over UDP, SERVFAIL over TCP")         \
	E(cache_hit, "answered from the cache")                                                  \
	E(cache_miss, "not in the cache")                                                        \
	E(cache_stale, "in the cache, but its zone has changed")                                 \
	E(cache_expired, "in the cache, but expired")                                            \
	E(published, "answers put into the cache")                                               \
	E(denials, "denials of zones put into the cache, for the driver")                        \
	E(wildcards, "answers of wildcards put into the cache, for the driver")                  \
	E(denials_wrong, "names that exist, and that the driver's filter does not know")         \
	E(shared_compared, "shared answers of the driver that were compared with the zone's")    \
	E(shared_undecided, "the same, while nobody could tell: a zone was changing")            \
	E(shared_wrong, "of the compared, those that differ from the zone's answer")             \
	E(not_published, "answers that found no place in the cache")                             \
	E(not_asked,                                                                             \
	  "SERVFAIL: too many questions upstream, of all or the client, or no resolver")         \
	E(dropped, "not answered: a policy says so")                                             \
	E(limited, "not answered: over the rate limit")                                          \
	E(blocked, "not answered: blocked")                                                      \
	E(block_refused, "REFUSED: blocked")                                                     \
	E(block_truncated, "TC=1 over UDP: blocked")                                             \
	E(deferred, "asked upstream, to be answered later")                                      \
	E(finished, "of the deferred, those that were completed")                                \
	E(handed_over, "transfers, NOTIFY, UPDATE and signed messages, left to their thread")    \
	E(refreshed,                                                                             \
	  "asked upstream for the cache alone: before expiry, or behind a stale answer")         \
	E(prohibited, "REFUSED: clients that may not ask this")                                  \
	E(stale, "answered with what had expired, since upstream failed")                        \
	E(cut, "NXDOMAIN since a name above does not exist")                                     \
	E(unusable, "answers from upstream that are malformed")                                  \
	E(cookies_new, "COOKIE options with a client part only")                                 \
	E(cookies_good, "COOKIE options with a server part of ours")                             \
	E(cookies_bad, "COOKIE options with a server part that is not ours, or too old")

struct engine_counters {
#define ENGINE_COUNTER_FIELD(name, words) uint64_t name;
	ENGINE_COUNTERS(ENGINE_COUNTER_FIELD)
#undef ENGINE_COUNTER_FIELD
};

/* Copies the counters. Each value is whole; the set is not of one instant. Any thread. */
void engine_counters_read(const struct engine *e, struct engine_counters *out);

#define ENGINE_WAYS    8
#define ENGINE_OPCODES 16

/* Replies by what they answered: the sum of each array is the number of replies. by_zone: cache_zone_counter(). */
struct engine_answers {
	struct volley_answers of;
	uint64_t by_way[ENGINE_WAYS]; /* struct engine_request */
	uint64_t by_opcode[ENGINE_OPCODES];
};

/* Adds what the engine has counted to *sum. Each value is whole; the set is not of one instant. Any thread. */
void engine_answers_add(const struct engine *e, struct engine_answers *sum);

/* What it answers most; for sampler_take() in another thread. Lives as long as the engine. */
struct sampler;
struct sampler *engine_sampler(struct engine *e);

#endif
