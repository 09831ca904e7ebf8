/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine: query bytes in, answer bytes out.
 *
 *	query ─► query_parse ─► key ─► cache ── hit ──────────────┐
 *	             │                   │ miss                   ▼
 *	             │                   └─► zones ─► render ─► emit ─► reply
 *	             └─ malformed, other opcode, class, ... ──────▲
 *	                                        render ─► publish (the next one is a hit, in the driver)
 *
 * Emit is one function for hits and fresh answers, and the XDP program does the same with the same
 * entry: two answerers, one truth. What an answer is, beside its question, is a struct cache_answer.
 *
 * One engine for each worker thread; it allocates nothing after engine_new(). The thread is a
 * liburcu QSBR thread: zones and cache entries are read within engine_answer() only, so a quiescent
 * state between two calls is always right.
 */
#ifndef VOLLEY_ENGINE_ENGINE_H
#define VOLLEY_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "dns/cookie.h"
#include "zone/set.h"

#define ENGINE_MAX_UDP_BYTES 1232 /* fits every path; DNS flag day 2020 */

#define ENGINE_NSID_MAX 128

/* What ANY gets: RFC 8482 section 4.1. The choices stand in the order of their words. */
enum engine_any {
	ENGINE_ANY_MINIMAL, /* one RRset of the name */
	ENGINE_ANY_FULL,    /* all of them */
};

struct engine_config {
	uint16_t max_udp_bytes; /* largest UDP reply, 512 to VOLLEY_UDP_MAX; said in OPT */
	bool minimal_responses; /* no records that a client can do without */
	enum engine_any any;
	bool cookies; /* answer COOKIE options; false: as any unknown option */
	struct cookie_secrets cookie_secrets;
	/* What the server says of itself to who asks; NULL: nothing. Borrowed. */
	const char *version;  /* CH TXT version.bind, version.server; at most 255 octets */
	const char *identity; /* CH TXT id.server, hostname.bind; likewise */
	const uint8_t *nsid;  /* RFC 5001 */
	uint16_t nsid_bytes;  /* at most ENGINE_NSID_MAX */
};

/* clang-format off */
#define ENGINE_CONFIG_INIT { .max_udp_bytes = ENGINE_MAX_UDP_BYTES }
/* clang-format on */

/* The zones that are served: control swaps the set (rcu_xchg_pointer) and waits for all workers. */
struct engine_zones {
	struct zone_set *set; /* RCU; NULL: no zone */
};

/*
 * A digest of what, beside the zone, decides the bytes of a cached answer: the settings, and the
 * version of the rules in engine/. To be mixed into the digest of cache_zone_prepare(), so that a
 * daemon with other settings does not adopt answers of the old ones. Pure; any thread.
 */
uint64_t engine_config_digest(const struct engine_config *config);

/*
 * The EDNS options that change an answer, a bit for each code below 64: what has one of them must
 * come to the engine (volley_state.option_up_mask). Pure; any thread.
 */
uint64_t engine_option_mask(const struct engine_config *config);

struct engine;

/*
 * A new engine for one thread. config is copied, but for what it borrows; cache (NULL: none) and
 * zones must outlive the engine. Errors: -ENOMEM, -EINVAL for max_udp_bytes or nsid_bytes out of range.
 */
int engine_new(struct engine **out, const struct engine_config *config, struct cache *cache,
	       struct engine_zones *zones) __attribute__((warn_unused_result));

/* Gives its place in the cache back. The thread that owned it has ended. NULL is allowed. */
void engine_free(struct engine *e);

struct engine_request {
	const uint8_t *msg; /* DNS message without a length in front */
	size_t len;
	bool stream;           /* TCP: no limit but 65535 */
	uint8_t family;        /* AF_INET or AF_INET6 */
	const uint8_t *client; /* its address in network order: 4 or 16 octets */
	uint32_t now_s;        /* clock_coarse_s() */
	uint32_t wall_s;       /* clock_wall_s() modulo 2^32 */
};

/*
 * The reply to rq, written to out, which has room for cap octets and may be rq->msg itself (the
 * ports answer in place) but must not overlap it otherwise. Returns its length, never more than the
 * client takes; 0: there is nothing to be sent. Owner thread only, in a QSBR read section.
 */
size_t engine_answer(struct engine *e, const struct engine_request *rq, uint8_t *out, size_t cap);

/*
 * Each message counts in queries, and in ignored, no_room or exactly one rcode. E(name, words).
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
	E(too_large, "SERVFAIL: the answer fits no DNS message")                                 \
	E(cache_hit, "answered from the cache")                                                  \
	E(cache_miss, "not in the cache")                                                        \
	E(cache_stale, "in the cache, but its zone has changed")                                 \
	E(cache_expired, "in the cache, but expired")                                            \
	E(published, "answers put into the cache")                                               \
	E(not_published, "answers that found no place in the cache")                             \
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

/* What it answers most; for sampler_take() in another thread. Lives as long as the engine. */
struct sampler;
struct sampler *engine_sampler(struct engine *e);

#endif
