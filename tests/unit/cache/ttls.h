/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An answer of four records whose TTLs age: two in its short form, at odd and at even offsets. */
#ifndef VOLLEY_TESTS_CACHE_TTLS_H
#define VOLLEY_TESTS_CACHE_TTLS_H

#include "base/wire.h"
#include "world.h"

#define TTLS_N       4u
#define TTLS_FULL    101u
#define TTLS_SHORT   50u
#define TTLS_SHORT_N 2u
#define TTLS_LEAST   60u /* the answer lives so long */

static const uint16_t ttls_at[TTLS_N] = { 7, 46, 50, 97 };
static const uint32_t ttls_first[TTLS_N] = { 300, TTLS_LEAST, 0x01020304, 86400 };

static inline const uint8_t *ttls_body(void)
{
	static uint8_t body[TTLS_FULL];

	fill_body(body, 7, 7, sizeof(body));
	for (uint32_t i = 0; i < TTLS_N; i++)
		wire_store_be32(body + ttls_at[i], ttls_first[i]);
	return body;
}

static inline struct cache_answer ttls_answer(const struct world *w)
{
	return (struct cache_answer){
		.body = ttls_body(),
		.full_bytes = TTLS_FULL,
		.short_bytes = TTLS_SHORT,
		.ancount = 4,
		.flags = 0x8180,
		.zone_slot = w->slot,
		.zone_gen = w->gen,
		.expires_s = WORLD_NOW_S + TTLS_LEAST,
		.ttls = ttls_at,
		.n_ttls = TTLS_N,
		.refresh_s = 6,
		.memory = 1,
	};
}

static inline struct cache_key key_in_view(const struct cache *cache, uint64_t number, uint8_t view)
{
	struct cache_key key;
	uint8_t name[64];
	uint32_t n = name_of(number, name);

	cache_key_init(&key, cache, name, n, 1, 1, 0, view);
	return key;
}

/* Published at WORLD_NOW_S for the number, among the answers from upstream. */
static inline const struct volley_entry *put_ttls(const struct world *w, uint64_t number)
{
	struct cache_key key = key_in_view(w->cache, number, VOLLEY_VIEW_RECURSIVE);
	struct cache_answer a = ttls_answer(w);
	const struct volley_entry *e;

	MUST(!cache_publish(w->writer, &key, &a, WORLD_NOW_S));
	MUST(cache_lookup(w->cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT);
	return e;
}

static inline const struct volley_entry *find_ttls(const struct world *w, uint64_t number,
						   uint32_t now_s)
{
	struct cache_key key = key_in_view(w->cache, number, VOLLEY_VIEW_RECURSIVE);
	const struct volley_entry *e;

	return cache_lookup(w->cache, &key, now_s, false, &e) == CACHE_HIT ? e : NULL;
}

/* What a reader at now_s makes of the first `n` octets: each TTL less age_s, all else as it was
 * given. */
static inline bool is_aged(const struct volley_entry *e, uint32_t now_s, uint32_t n, uint32_t age_s)
{
	uint8_t got[TTLS_FULL], want[TTLS_FULL];
	struct cache_answer a;

	cache_answer_of(&a, e, now_s);
	memcpy(got, a.body, sizeof(got));
	cache_answer_age(&a, got, n);
	memcpy(want, ttls_body(), sizeof(want));
	for (uint32_t i = 0; i < TTLS_N && ttls_at[i] < n; i++)
		wire_store_be32(want + ttls_at[i],
				ttls_first[i] > age_s ? ttls_first[i] - age_s : 0);
	return !memcmp(got, want, n);
}

#endif
