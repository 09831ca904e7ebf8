/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an engine, shared by the sources of engine/. */
#ifndef VOLLEY_ENGINE_ENGINE_STATE_H
#define VOLLEY_ENGINE_ENGINE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <urcu-qsbr.h>

#include "base/wire.h"
#include "cache/cache.h"
#include "cache/convert.h"
#include "dns/edns.h"
#include "dns/name.h"
#include "dns/query.h"
#include "dns/tsig_record.h"
#include "engine/engine_counters.h"
#include "engine/engine_data.h"
#include "engine/engine_request.h"
#include "engine/failure_recheck.h"
#include "engine/render.h"
#include "engine/sample.h"
#include "xdp/key.h"

/* A shared answer in the making (engine/shared_answer.h). */

/* A larger answer is not shared: no query over UDP would get it. */
#define SHARED_ROOM (VOLLEY_UDP_MAX + sizeof(struct volley_shared))

/* The label before the closest encloser in a wildcard's name: wire form without a root label. */
#define SHARED_WILDCARD       "\001*"
#define SHARED_WILDCARD_BYTES (sizeof(SHARED_WILDCARD) - 1)

struct shared {
	uint32_t kind;           /* VOLLEY_KEY_* */
	bool is_expanded;        /* a wildcard stands for the name */
	uint32_t base_at;        /* where the base begins in the question's name */
	struct volley_key first; /* of the key; then its name, folded */
	uint8_t name[NAME_FOLDED_BYTES];
	struct cache_answer answer; /* its body: below */
	uint8_t body[SHARED_ROOM];
};

#define RECURSION_SERVFAIL_S 5u /* how long a failure of upstream is cached: RFC 2308 section 7 */

/* The part of an answer that was found so far, while aliases are followed: engine/follow.h. */
struct engine_follow {
	struct cache_answer head;
	uint8_t target[NAME_FOLDED_BYTES]; /* where the head ends, folded; zeros behind it */
	bool is_rewritten;                 /* a rule of a list made one of the aliases */
	int ede_code;                      /* of that rule */
	uint8_t head_body[DNS_MESSAGE_MAX];
	/* Upstream's answer, in engine_finish(). */
	uint8_t done_body[DNS_MESSAGE_MAX];
};

struct engine_cache {
	struct cache *cache;
	struct cache_writer *writer;
};

/* A query that was read (prepare_read()). */
struct engine_prepared {
	enum query_verdict verdict;
	bool has_key; /* its answer may be in the cache, or be put there; public view */
	struct query query;
	struct cache_key key;
};

/*
 * What happens to a query. engine_no_reply() is the one way out of ENGINE_REPLIES.
 *
 *	ENGINE_REPLIES ─┬─► ENGINE_DEFERS       its question, or one for it, goes upstream
 *	                ├─► ENGINE_HANDS_OVER   the transfer thread answers
 *	                ├─► ENGINE_DROPS        the action of a policy zone
 *	                └─► ENGINE_BLOCKS       the action of a block
 */
enum engine_outcome {
	ENGINE_REPLIES,
	ENGINE_DEFERS,
	ENGINE_DROPS,
	ENGINE_BLOCKS,
	ENGINE_HANDS_OVER,
};

/*
 * What RPZ rules by client say of this one (engine/rpz_apply.h). APART: one names
 * it, so answers that are cached for all are not for it. PASSED: and its action is to pass.
 */
enum answering_standing { ANSWERING_PLAIN, ANSWERING_APART, ANSWERING_PASSED };

/* The state of one query while it is answered: begin_engine() sets all of it. */
struct answering {
	struct cache_key *key;                  /* of the question, */
	const struct engine_identity *identity; /* as of this call; may be NULL */
	/* the question's entry, which may be given stale; NULL: none */
	const struct volley_entry *expired;
	size_t tsig_bytes; /* of engine.tsig; 0: the reply has none */
	int ede_code;
	uint32_t zone_slot; /* of the zone that the reply comes from; 0: none */
	enum engine_outcome outcome;
	enum answering_standing standing;
	bool has_key;    /* if it has one */
	bool is_hurried; /* there is one that may be given if upstream is silent */
	/* a block made the reply: no larger than the query, so not rate limited */
	bool is_blocked;
	/* the query has a cookie of ours, so its address is not spoofed: reply_write() */
	bool cookie_good;
	uint8_t memory; /* the resolver's memory that the question is asked of */
};

struct engine {
	struct engine_config config;
	struct engine_cache *place; /* RCU; NULL: none */
	struct cache *cache;        /* as of this call; may be NULL */
	struct cache_writer *writer;
	struct engine_data *data;
	struct engine_counters counters;
	struct engine_answers answers;
	/* a query that was not read ahead uses the first */
	struct engine_prepared prepared[ENGINE_AHEAD];
	struct answering now;
	uint8_t cookie[COOKIE_BYTES];
	uint8_t tsig[TSIG_ERROR_MAX];
	struct volley_near near; /* first stage of the rate limit */
	struct sampler sampler;
	struct failures failures;
	struct render render;
	struct shared shared; /* being built or compared */
	/* the second in which n_checks comparisons with the driver's answers began */
	uint32_t checks_s;
	uint32_t n_checks;
	struct convert convert;
	struct engine_follow follow;
};

/* One call uses one cache: each exported function that uses the cache begins with this. */
static inline void engine_take_cache(struct engine *e)
{
	const struct engine_cache *place = rcu_dereference(e->place);

	e->cache = place ? place->cache : NULL;
	e->writer = place ? place->writer : NULL;
}

/* What the client may ask for. */
struct engine_client {
	bool zones;        /* it may ask for our zones */
	uint8_t zone_view; /* the view in which answers of our zones are cached */
	/* the view for those that lead out of our zones; not used if `recursion` is set */
	uint8_t leading_view;
	/* How its questions go upstream; NULL: it may not recurse. */
	const struct engine_recursion *recursion;
};

/* What the client may ask for, by the current list of clients. */
struct engine_client engine_client_of(const struct engine *e, const struct engine_request *rq);

/* There is one writer, so no locked instruction is needed; readers see whole values. */
static inline void engine_count(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* The query gets no reply now. Returns an rcode, which is not sent. */
static inline uint16_t engine_no_reply(struct engine *e, enum engine_outcome outcome)
{
	e->now.outcome = outcome;
	return DNS_RCODE_NOERROR;
}

/* Makes an answer without records. Returns the rcode, all 12 bits. */
static inline uint16_t engine_empty(struct cache_answer *a, uint16_t rcode)
{
	render_empty(a, rcode & DNS_RCODE_MASK);
	return rcode;
}

/* Makes an error with its reason for people: RFC 8914. *a does not have ede_code: a cached answer
 * gets its code from cache_ede(). */
static inline uint16_t engine_failure(struct engine *e, struct cache_answer *a, uint16_t rcode,
				      int ede_code)
{
	e->now.ede_code = ede_code;
	return engine_empty(a, rcode);
}

/* Changes the view of the key; its hash stays. */
static inline void engine_key_set_view(struct engine *e, uint8_t view)
{
	e->now.key->first.view = view;
}

static inline void engine_publish(struct engine *e, const struct cache_answer *a, uint32_t now_s)
{
	int err = cache_publish(e->writer, e->now.key, a, now_s);

	engine_count(err ? &e->counters.not_published : &e->counters.published);
}

/* True if the name belongs to a zone of ours, even one that cannot be served now. */
static inline bool engine_is_ours(const struct engine *e, const uint8_t *folded,
				  unsigned int n_bytes, uint16_t qtype)
{
	const struct zone_set *set = rcu_dereference(e->data->set);

	return set && zone_set_find(set, folded, n_bytes, qtype);
}

/* True if the name is below a cut of our zones: the child zone's servers answer for it. */
static inline bool engine_is_delegated(const struct engine *e, const uint8_t *folded,
				       unsigned int n_bytes, uint16_t qtype)
{
	const struct zone_set *set = rcu_dereference(e->data->set);

	return set && zone_set_delegates(set, folded, n_bytes, qtype);
}

/*
 * True for the DS of a zone of ours if we do not serve its parent, which has the DS. A server that
 * offers recursion asks for it upstream (RFC 4035 section 3.1.4.1). Clients that may not recurse
 * get our own answer: there is no DS.
 */
static inline bool engine_is_of_parent(const struct engine *e, const uint8_t *folded,
				       unsigned int n_bytes, uint16_t qtype)
{
	const struct zone_set *set = rcu_dereference(e->data->set);
	const struct zone_member *member;

	if (qtype != DNS_TYPE_DS || n_bytes == 1 || !set || !rcu_dereference(e->data->recursion))
		return false;
	member = zone_set_find(set, folded, n_bytes, qtype);
	return member && member->apex_len == n_bytes;
}

/*
 * Reads queries: the question of each, and the key of its answer in the cache. A burst is read
 * ahead in three passes, so that the waits for memory overlap:
 *
 *	each query: parse, hash, ask for its bucket ─► each key: ask for its entry ─► each answer
 */

/* Fills *prepared. The caller has set e->cache. msg is borrowed, as by query_parse(). */
void prepare_read(const struct engine *e, struct engine_prepared *prepared, const uint8_t *msg,
		  size_t len);

/* As engine_read_ahead(). */
void prepare_ahead(struct engine *e, const struct engine_message *msgs, unsigned int n);

#endif
