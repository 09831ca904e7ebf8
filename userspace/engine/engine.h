/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: makes the octets of an answer from the octets of a query.
 *
 *	query ─► query_parse ─► key ─► cache ── hit ──────────────┐
 *	             │                   │ miss                   ▼
 *	             │                   └─► zones ─► render ─► emit ─► reply
 *	             │                         │ not ours               ▲
 *	             │                         └─► pending ─► resolver ─► engine_finish()
 *	             └─ malformed, other opcode, class, ... ──────▲
 *	                                render, finish ─► publish (next time the driver has a hit)
 *
 * For clients that may recurse (limits/clients.h), a name that is in no zone of ours is asked
 * upstream, and so is the target of an alias or referral in our zones (engine/follow.h). The caller
 * then submits a question, and engine_finish() makes the reply later. engine/recursive_query.h
 * describes the steps of such a miss.
 *
 * Cached and fresh answers are written by the same function, emit_reply(). The XDP program makes
 * the same reply from the same entry. A struct cache_answer is an answer without its question.
 *
 * Each worker thread has one engine, which allocates nothing after engine_new(). The thread is a
 * liburcu QSBR thread: the engine keeps no RCU pointer from one call to the next, so the thread may
 * report a quiescent state between any two calls.
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
 * A digest of everything but the zone that decides the octets of a cached answer: the settings, and
 * the version of the rules in engine/. Mix it into the digest of cache_zone_prepare(), so that a
 * daemon with other settings does not adopt these answers. Pure; any thread.
 */
uint64_t engine_config_digest(const struct engine_config *config);

/*
 * The EDNS options that change an answer, a bit for each code below 64. The driver passes a query
 * with one of them to the engine, but for those that engine_options() describes
 * (volley_state.option_up_mask). NULL is allowed. Pure; any thread.
 */
uint64_t engine_option_mask(const struct engine_identity *identity);

/*
 * What the driver needs to answer NSID and COOKIE like an engine with this identity and these
 * secrets; either may be NULL. Pure; any thread.
 */
void engine_options(const struct engine_identity *identity, const struct cookie_secrets *cookies,
		    struct volley_options *out);

struct engine;

/*
 * A new engine for one thread. config is copied; cache (NULL: none) and data must outlive the
 * engine. Errors: -ENOMEM, -EINVAL for max_udp_bytes out of range.
 */
int engine_new(struct engine **out, const struct engine_config *config, struct cache *cache,
	       struct engine_data *data) __attribute__((warn_unused_result));

/* Gives its place in the cache back. The thread that owned it has ended. NULL is allowed. */
void engine_free(struct engine *e);

/*
 * Another cache for a running engine: cache/copy.h. The engine uses the place, made by
 * engine_cache_new(), from its next call on. The exchange returns the old place, which the caller
 * frees with engine_cache_free() after a grace period. The caches have the same zones and secrets:
 * the hash of a key, and the slot and generation of a pending question, are valid in both. Any
 * thread but the engine's. -ENOMEM; NULL may be freed.
 */
struct engine_cache;
int engine_cache_new(struct engine_cache **out, struct cache *cache)
	__attribute__((warn_unused_result));
void engine_cache_free(struct engine_cache *place);
struct engine_cache *engine_exchange_cache(struct engine *e, struct engine_cache *place)
	__attribute__((warn_unused_result));

/*
 * Reads n queries (at most ENGINE_AHEAD) and prefetches the memory that their answers need. Then
 * the caller gives each of them to engine_answer(), in any order, with no other call of the engine
 * between. The answers are the same without it, only slower. The messages must not change until
 * they are answered. As engine_answer().
 */
void engine_read_ahead(struct engine *e, const struct engine_message *msgs, unsigned int n);

#define ENGINE_DEFERRED SIZE_MAX
#define ENGINE_HANDOVER (SIZE_MAX - 1)
#define ENGINE_CLOSE    (SIZE_MAX - 2)

/*
 * Writes the reply to rq to out, which has room for cap octets. out may be rq->msg itself (the
 * ports answer in place) but must not overlap it otherwise. Returns
 *
 *   - the length of the reply, at most what the client accepts; or 0: there is no reply. If
 *     rq->pending->submit is set, submit that question: it fetches a cached answer anew;
 *   - ENGINE_DEFERRED: engine_finish() makes the reply when rq->pending is completed;
 *   - ENGINE_HANDOVER: the message is for the transfer thread (worker/handover_queue.h);
 *   - ENGINE_CLOSE, for a stream only: a block drops the message; the connection is to be closed.
 *
 * Owner thread only, in a QSBR read section.
 */
size_t engine_answer(struct engine *e, const struct engine_request *rq, uint8_t *out, size_t cap);

/*
 * True if the reply to rq, which engine_answer() got just now, needs padding: the query came over
 * TLS and has the option (RFC 7830 section 4). It also holds for a reply that comes later. The
 * query may be overwritten by now. As engine_answer().
 */
bool engine_pads(const struct engine *e, const struct engine_request *rq);

/*
 * Writes the reply to a completed question, and caches its answer. Returns the reply's length, at
 * most cap; 0: no client waits for one. The caller can release the question then, unless p->submit
 * is set: it submits the question again, for the cache alone, and no second reply comes of it.
 * ENGINE_DEFERRED: an RPZ rule makes the name an alias, or needs name servers first;
 * p->submit is set, and a later completion makes the reply. As engine_answer().
 */
size_t engine_finish(struct engine *e, struct engine_pending *p, const struct engine_times *times,
		     uint8_t *out, size_t cap);

/*
 * Writes the reply to a question that engine_finish() deferred again, when no resolver is left to
 * submit it to: SERVFAIL, with the extended error "not ready" (RFC 8914 section 4.15). Returns its
 * length, at most cap; 0: no client waits for one. The caller can release the question then. As
 * engine_answer().
 */
size_t engine_fail(struct engine *e, struct engine_pending *p, const struct engine_times *times,
		   uint8_t *out, size_t cap);

/* Releases the resolver's data of p, which is finished or given up. Any thread. */
void engine_abandon(struct engine_pending *p);

/*
 * Fills p to fetch anew an answer that the driver reports as about to expire. False, like
 * p->submit: it is not in the cache any more, or there is no recursion. As engine_answer().
 */
bool engine_refresh(struct engine *e, const struct volley_refresh *refresh,
		    const struct engine_times *times, struct engine_pending *p)
	__attribute__((warn_unused_result));

/* Copies the counters. Each value is whole; they are not of one instant. Any thread. */
void engine_counters_read(const struct engine *e, struct engine_counters *out);

/* Adds the counts to *sum. Each value is whole; they are not of one instant. Any thread. */
void engine_answers_add(const struct engine *e, struct engine_answers *sum);

/* The engine's most frequent questions; for sampler_take() in another thread. Lives as long as the
 * engine. */
struct sampler;
struct sampler *engine_sampler(struct engine *e);

#endif
