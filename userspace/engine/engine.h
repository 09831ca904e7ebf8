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
 * A name of no zone of ours is asked upstream, for clients that may recurse (engine/clients.h), and
 * so is what an answer of our zones leads to (engine/follow.h): then the caller has a question to
 * submit, and the reply comes out of engine_finish() later. The way of such a miss is
 * engine/recursive_query.h.
 *
 * Emit is one function for hits and fresh answers, and the XDP program does the same with the same
 * entry: two answerers, one truth. What an answer is, beside its question, is a struct
 * cache_answer.
 *
 * One engine for each worker thread; it allocates nothing after engine_new(). The thread is a
 * liburcu QSBR thread: what is read under RCU is read within one call only, so a quiescent state
 * between two calls is always right.
 */
#ifndef VOLLEY_ENGINE_ENGINE_H
#define VOLLEY_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/cookie.h"
#include "engine/engine_config.h"
#include "engine/engine_counters.h"
#include "engine/engine_data.h"
#include "engine/engine_request.h"

/*
 * A digest of what, beside the zone, decides the bytes of a cached answer: the settings, and the
 * version of the rules in engine/. To be mixed into the digest of cache_zone_prepare(), so that a
 * daemon with other settings does not adopt answers of the old ones. Pure; any thread.
 */
uint64_t engine_config_digest(const struct engine_config *config);

/*
 * The EDNS options that change an answer, a bit for each code below 64: what has one of them comes
 * to the engine, but for those that engine_options() tells the driver of
 * (volley_state.option_up_mask). NULL is allowed. Pure; any thread.
 */
uint64_t engine_option_mask(const struct engine_identity *identity);

/*
 * What the driver needs to answer NSID and COOKIE as an engine does that has these two published;
 * either may be NULL. Pure; any thread.
 */
void engine_options(const struct engine_identity *identity, const struct cookie_secrets *cookies,
		    struct volley_options *out);

struct engine;

/*
 * A new engine for one thread. config is copied; cache (NULL: none) and data must outlive the
 * engine.
 * Errors: -ENOMEM, -EINVAL for max_udp_bytes out of range.
 */
int engine_new(struct engine **out, const struct engine_config *config, struct cache *cache,
	       struct engine_data *data) __attribute__((warn_unused_result));

/* Gives its place in the cache back. The thread that owned it has ended. NULL is allowed. */
void engine_free(struct engine *e);

/*
 * Another cache for an engine that goes on: cache/copy.h. The place made by engine_cache_new() is
 * the engine's from its next call on; what it had before is given back, for engine_cache_free()
 * after a grace period. The caches have the same zones and secrets: a key's hash, and a pending
 * question's slot and generation, are right in both. Any thread but the engine's. -ENOMEM; NULL may
 * be freed.
 */
struct engine_cache;
int engine_cache_new(struct engine_cache **out, struct cache *cache)
	__attribute__((warn_unused_result));
void engine_cache_free(struct engine_cache *place);
struct engine_cache *engine_exchange_cache(struct engine *e, struct engine_cache *place)
	__attribute__((warn_unused_result));

/*
 * Reads n queries (at most ENGINE_AHEAD) and has the memory loaded that their answers will need, so
 * that it is there when engine_answer() is called with each of them, in any order; no other call of
 * the engine may come between. It changes no answer, only how long one takes. The messages stay as
 * they are until they are answered. As engine_answer().
 */
void engine_read_ahead(struct engine *e, const struct engine_message *msgs, unsigned int n);

#define ENGINE_DEFERRED SIZE_MAX
#define ENGINE_HANDOVER (SIZE_MAX - 1)
#define ENGINE_CLOSE    (SIZE_MAX - 2)

/*
 * The reply to rq, written to out, which has room for cap octets and may be rq->msg itself (the
 * ports answer in place) but must not overlap it otherwise. Returns its length, never more than the
 * client takes; 0: there is nothing to be sent; ENGINE_DEFERRED: engine_finish() makes the reply
 * when rq->pending is completed. That may be to be submitted beside a reply, too: what was in the
 * cache is fetched anew then. ENGINE_HANDOVER: the message is for the transfer thread
 * (worker/handover_queue.h). ENGINE_CLOSE, of a
 * stream: a block drops the message, and nothing more is said on its connection. Owner thread only,
 * in a QSBR read section.
 */
size_t engine_answer(struct engine *e, const struct engine_request *rq, uint8_t *out, size_t cap);

/*
 * Whether the reply to rq, given to engine_answer() just now, is to be padded: the query came over
 * TLS and has the option (RFC 7830 section 4). It also holds for a reply that comes later. The
 * query may be overwritten by now. As engine_answer().
 */
bool engine_pads(const struct engine *e, const struct engine_request *rq);

/*
 * The reply to a question that was completed, and its answer into the cache. Returns the reply's
 * length, at most cap; 0: nobody waits for one. The question can be released then, and where
 * p->submit says so it goes upstream again, for the cache alone: no second reply comes of it.
 * ENGINE_DEFERRED: a policy says that the name stands for another one, or has to know name servers
 * first; p->submit is set, and the reply comes with a later completion. As engine_answer().
 */
size_t engine_finish(struct engine *e, struct engine_pending *p, const struct engine_times *times,
		     uint8_t *out, size_t cap);

/*
 * The reply to a question that engine_finish() has deferred once more, where no resolver is left to
 * submit it to: SERVFAIL, with the extended error "not ready" (RFC 8914 section 4.15). Returns its
 * length, at most cap; 0: nobody waits for one. The question can be released then. As
 * engine_answer().
 */
size_t engine_fail(struct engine *e, struct engine_pending *p, const struct engine_times *times,
		   uint8_t *out, size_t cap);

/* Releases what the completion of p holds of the resolver's: p is done with, or it is given up. Any
 * thread. */
void engine_abandon(struct engine_pending *p);

/*
 * Fills p to fetch anew what the driver says is about to expire. False, as p->submit: it is not in
 * the cache any more, or there is no recursion. As engine_answer().
 */
bool engine_refresh(struct engine *e, const struct volley_refresh *refresh,
		    const struct engine_times *times, struct engine_pending *p)
	__attribute__((warn_unused_result));

/* Copies the counters. Each value is whole; the set is not of one instant. Any thread. */
void engine_counters_read(const struct engine *e, struct engine_counters *out);

/* Adds what the engine has counted to *sum. Each value is whole; the set is not of one instant. Any
 * thread. */
void engine_answers_add(const struct engine *e, struct engine_answers *sum);

/* What it answers most; for sampler_take() in another thread. Lives as long as the engine. */
struct sampler;
struct sampler *engine_sampler(struct engine *e);

#endif
