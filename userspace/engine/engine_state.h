/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sources of engine/ share of an engine among themselves. */
#ifndef VOLLEY_ENGINE_ENGINE_STATE_H
#define VOLLEY_ENGINE_ENGINE_STATE_H

#include <urcu-qsbr.h>

#include "base/wire.h"
#include "dns/edns.h"
#include "dns/name.h"
#include "dns/query.h"
#include "dns/tsig_record.h"
#include "engine/convert.h"
#include "engine/engine_counters.h"
#include "engine/engine_data.h"
#include "engine/engine_request.h"
#include "engine/failure_recheck.h"
#include "engine/render.h"
#include "engine/sample.h"
#include "engine/shared_draft.h"
#include "xdp/key.h"

#define RECURSION_SERVFAIL_S 5u /* so long a failure of upstream is cached: RFC 2308 section 7 */

/* What was found so far of an answer that is followed: engine/follow.h. */
struct engine_follow {
	struct cache_answer head;
	uint8_t target[NAME_FOLDED_BYTES]; /* where it ends, folded; zeros behind it */
	bool is_rewritten;                 /* a rule of a list made one of the aliases, */
	int ede_code;                      /* and this is said with it */
	uint8_t head_body[DNS_MESSAGE_MAX];
	/* What upstream said, in engine_finish(). */
	uint8_t done_body[DNS_MESSAGE_MAX];
};

/* What becomes of a query. */
enum engine_outcome {
	ENGINE_REPLIES,
	ENGINE_DEFERS, /* it is asked upstream */
	ENGINE_DROPS,  /* no reply */
	ENGINE_BLOCKS, /* the same, for a block says so */
	ENGINE_HANDS_OVER,
};

struct engine_cache {
	struct cache *cache;
	struct cache_writer *writer;
};

/* A query that was read (engine/prepare.h). */
struct engine_prepared {
	enum query_verdict verdict;
	bool has_key; /* its answer may be in the cache, or come there; of the public view */
	struct query query;
	struct cache_key key;
};

struct engine {
	struct engine_config config;
	struct engine_cache *place; /* RCU; NULL: none */
	struct cache *cache;        /* as of this call; may be NULL */
	struct cache_writer *writer;
	struct engine_data *data;
	const struct engine_identity *identity; /* as of this call, likewise */
	struct engine_counters counters;
	struct engine_answers answers;
	uint32_t zone_slot; /* of the zone that the present reply is of, 0: none */
	struct engine_prepared
		prepared[ENGINE_AHEAD]; /* the first is also that of a query not read ahead */
	struct cache_key *key;          /* of the query in hand, */
	bool has_key;                   /* where it has one */
	/* What the present reply carries beside the answer. */
	enum engine_outcome outcome;
	/* the reply is what a block says, and no larger than the query: it is not limited */
	bool is_blocked;
	const struct volley_entry *expired; /* of the question: may be given stale; NULL: none */
	bool is_apart;  /* a rule of a policy names the client: engine/policy_apply.h */
	bool is_passed; /* and says to pass */
	uint8_t memory; /* of the resolver: where the question is to be asked */
	int ede_code;
	size_t tsig_bytes;
	uint8_t cookie[COOKIE_BYTES];
	/* the query has a cookie of ours, so its address is its own: reply_write() */
	bool cookie_good;
	uint8_t tsig[TSIG_ERROR_MAX];
	struct volley_near near; /* first stage of the rate limit */
	struct sampler sampler;
	struct failures failures;
	struct render render;
	struct shared shared; /* in the making, or compared */
	/* the second in which n_checks comparisons with the driver's were begun */
	uint32_t checks_s;
	uint32_t n_checks;
	struct convert convert;
	struct engine_follow follow;
};

/* One cache for all that a call does: each exported function that looks at it begins with this. */
static inline void engine_take_cache(struct engine *e)
{
	const struct engine_cache *place = rcu_dereference(e->place);

	e->cache = place ? place->cache : NULL;
	e->writer = place ? place->writer : NULL;
}

/* Who asks, and what that allows. */
struct engine_client {
	bool zones;           /* it may ask for our zones */
	uint8_t zone_view;    /* where their answers are cached, */
	uint8_t leading_view; /* and those that lead out of them: never where `recursion` is set */
	/* How its questions go upstream; NULL: it may not recurse. */
	const struct engine_recursion *recursion;
};

/* Who asks, and what it may, by the list of clients as it is now. */
struct engine_client engine_client_of(const struct engine *e, const struct engine_request *rq);

/* One writer, so no locked instruction; readers see whole values. */
static inline void engine_count(uint64_t *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

/* An answer without records. The rcode, all 12 bits. */
static inline uint16_t engine_empty(struct cache_answer *a, uint16_t rcode)
{
	render_empty(a, rcode & DNS_RCODE_MASK);
	return rcode;
}

/* An error, and why, for people: RFC 8914. Not noted in *a: what is cached has it by
 * cache_ede(). */
static inline uint16_t engine_failure(struct engine *e, struct cache_answer *a, uint16_t rcode,
				      int ede_code)
{
	e->ede_code = ede_code;
	return engine_empty(a, rcode);
}

/* The same question in another view: its hash stays. */
static inline void engine_key_set_view(struct engine *e, uint8_t view)
{
	((struct volley_key *)e->key->words)->view = view;
}

static inline void engine_publish(struct engine *e, const struct cache_answer *a, uint32_t now_s)
{
	int err = cache_publish(e->writer, e->key, a, now_s);

	engine_count(err ? &e->counters.not_published : &e->counters.published);
}

/* Is there a zone of ours that answers, or is to answer, for this name? */
static inline bool engine_is_ours(const struct engine *e, const uint8_t *folded,
				  unsigned int n_bytes, uint16_t qtype)
{
	const struct zone_set *set = rcu_dereference(e->data->set);

	return set && zone_set_find(set, folded, n_bytes, qtype);
}

/* Is this name of our zones below a cut, so that what is there is for the zone's servers below to
 * say? */
static inline bool engine_is_delegated(const struct engine *e, const uint8_t *folded,
				       unsigned int n_bytes, uint16_t qtype)
{
	const struct zone_set *set = rcu_dereference(e->data->set);

	return set && zone_set_delegates(set, folded, n_bytes, qtype);
}

/*
 * Is it the DS of a zone of ours whose parent is not? It stands there: who offers recursion asks
 * for it upstream (RFC 4035 section 3.1.4.1), and our own answer, that there is none, is for the
 * others.
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

#endif
