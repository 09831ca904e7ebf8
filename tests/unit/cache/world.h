/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache in memory and entries that describe themselves: name and body follow from a number, so
 * whoever holds an entry can tell if it is whole and whose it is.
 *
 * Everything that fails here ends the program: also in threads and children, where cmocka cannot.
 */
#ifndef VOLLEY_TESTS_CACHE_WORLD_H
#define VOLLEY_TESTS_CACHE_WORLD_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cache/cache_state.h"
#include "cache/keeper.h"
#include "cache/memory.h"
#include "cache/generations.h"
#include "tests/lib/must.h"

#define WORLD_NOW_S 1000u

/* ---- Numbers --------------------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline uint64_t next_random(uint64_t *seed)
{
	return mix((*seed)++);
}

/* ---- Keys and answers ------------------------------------------------------------------------ */

/* n0123456789abcdef.example. in wire form; the number in hexadecimal. */
static inline uint32_t name_of(uint64_t number, uint8_t out[64])
{
	char label[24];
	int n = snprintf(label, sizeof(label), "n%llx", (unsigned long long)number);

	out[0] = (uint8_t)n;
	memcpy(out + 1, label, (size_t)n);
	memcpy(out + 1 + n, "\7example", 9);
	return (uint32_t)n + 10;
}

static inline struct cache_key key_of(const struct cache *cache, uint64_t number)
{
	struct cache_key key;
	uint8_t name[64];
	uint32_t n = name_of(number, name);

	cache_key_init(&key, cache, name, n, 1, 1, 0, 0);
	return key;
}

#define BODY_MAX 65535u

/* Octets of the body of `number`: 24 to 87, now and then up to 2 KiB, seldom up to 64 KiB. */
static inline uint16_t body_bytes(uint64_t number)
{
	uint64_t r = mix(number);

	if (r % 1024 == 0)
		return (uint16_t)(BODY_MAX - (r >> 32) % 60000);
	if (r % 32 == 0)
		return (uint16_t)(500 + (r >> 32) % 1500);
	return (uint16_t)(24 + (r >> 32) % 64);
}

/* The first 8 octets are the version, the others follow from number and version. */
static inline void fill_body(uint8_t *body, uint64_t number, uint64_t version, uint32_t n)
{
	uint64_t word = version;
	uint32_t i;

	for (i = 0; i < n; i += 8) {
		memcpy(body + i, &word, n - i < 8 ? n - i : 8);
		word = mix(number ^ version << 40 ^ i);
	}
}

static inline bool is_whole(const struct volley_entry *e, uint64_t number)
{
	static __thread uint8_t want[BODY_MAX + 8];
	uint16_t n = body_bytes(number);
	uint8_t name[64];
	uint32_t name_bytes = name_of(number, name);
	uint64_t version;

	if (e->full_bytes != n || e->short_bytes != n / 2 || e->key.name_bytes != name_bytes ||
	    memcmp(e->name, name, name_bytes) || e->ancount != htons((uint16_t)number))
		return false;
	memcpy(&version, cache_entry_body(e), sizeof(version));
	fill_body(want, number, version, n);
	return !memcmp(want, cache_entry_body(e), n);
}

/* ---- The cache ------------------------------------------------------------------------------- */

struct world {
	struct cache_memory memory;
	struct cache *cache;
	struct cache_writer *writer;
	uint32_t slot; /* of a zone whose generation is valid */
	uint32_t gen;
	bool adopted;
};

static inline void world_start(struct world *w)
{
	const uint64_t digest[2] = { 1, 2 };

	MUST(!cache_new(&w->cache, &w->memory, &w->adopted));
	MUST(!cache_writer_new(&w->writer, w->cache));
	cache_zone_prepare(w->cache, (const uint8_t *)"\7example", 9, digest, &w->slot, &w->gen);
	MUST(w->slot);
	cache_zone_commit(w->cache, w->slot, w->gen, digest);
}

static inline void world_open(struct world *w, uint64_t bytes)
{
	struct cache_sizes sizes;

	*w = (struct world){ 0 };
	MUST(!cache_sizes_plan(&sizes, bytes, 0));
	MUST(!cache_memory_anonymous(&w->memory, &sizes));
	world_start(w);
}

/*
 * Hash keys that are the same each time, before anything is in the cache. With random ones it
 * happens, if seldom, that an entry finds both its buckets full and takes another's place: for
 * tests that count all of many.
 */
static inline void world_set_keys(const struct world *w)
{
	__u64 *keys = cache_state(w->cache)->hash_keys;
	uint64_t seed = 7;

	for (size_t i = 0; i < sizeof(cache_state(w->cache)->hash_keys) / sizeof(*keys); i++)
		keys[i] = next_random(&seed);
}

/* The daemon's end; the memory stays. */
static inline void world_stop(struct world *w)
{
	cache_writer_free(w->writer);
	cache_free(w->cache);
	w->writer = NULL;
	w->cache = NULL;
}

static inline void world_close(struct world *w)
{
	world_stop(w);
	cache_memory_release(&w->memory);
}

static inline int no_readers(void *user)
{
	(void)user;
	return 0;
}

static inline struct cache_answer answer_of(const struct world *w, uint64_t number,
					    const uint8_t *body)
{
	uint16_t n = body_bytes(number);

	return (struct cache_answer){
		.body = body,
		.full_bytes = n,
		.short_bytes = n / 2,
		.ancount = (uint16_t)number,
		.flags = 0x8400,
		.zone_slot = w->slot,
		.zone_gen = w->gen,
		.expires_s = VOLLEY_NEVER,
	};
}

static inline int put_by(const struct world *w, struct cache_writer *writer, uint64_t number,
			 uint64_t version)
{
	static __thread uint8_t body[BODY_MAX + 8];
	struct cache_key key = key_of(w->cache, number);
	struct cache_answer a = answer_of(w, number, body);

	fill_body(body, number, version, a.full_bytes);
	return cache_publish(writer, &key, &a, WORLD_NOW_S);
}

/* With rounds of the keeper when there is no room; one may give just what it takes for copies. */
static inline void put(const struct world *w, uint64_t number)
{
	int rounds = 0;
	int err;

	while ((err = put_by(w, w->writer, number, 1)) == -ENOSPC) {
		MUST(cache_keep(w->cache, WORLD_NOW_S, no_readers, NULL));
		MUST(rounds++ < 8);
	}
	MUST(!err);
}

/* NULL: there is no valid one. Is not counted as a hit. */
static inline const struct volley_entry *find(const struct world *w, uint64_t number)
{
	struct cache_key key = key_of(w->cache, number);
	const struct volley_entry *e;

	return cache_lookup(w->cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT ? e : NULL;
}

/* What fill_body() was given. */
static inline uint64_t version_of(const struct volley_entry *e)
{
	uint64_t version;

	memcpy(&version, cache_entry_body(e), sizeof(version));
	return version;
}

/* True on a hit, which must be whole. */
static inline bool get(const struct world *w, uint64_t number)
{
	struct cache_key key = key_of(w->cache, number);
	const struct volley_entry *e;

	if (cache_lookup(w->cache, &key, WORLD_NOW_S, true, &e) != CACHE_HIT)
		return false;
	MUST(is_whole(e, number));
	return true;
}

static inline uint64_t count_words(const struct cache_memory *memory)
{
	size_t n_words = (size_t)memory->sizes.n_buckets * VOLLEY_BUCKET_SLOTS, i;
	uint64_t n = 0;

	for (i = 0; i < n_words; i++)
		n += memory->index[i] != 0;
	return n;
}

/*
 * Makes the cache use one page of buckets, and finds `n` numbers whose keys have buckets 0 and 1,
 * in either order.
 */
static inline void share_two_buckets(struct world *w, uint64_t *numbers, unsigned int n)
{
	uint64_t number = 0;

	w->memory.sizes.n_buckets = VOLLEY_PAGE_BUCKETS;
	w->cache->memory.sizes.n_buckets = VOLLEY_PAGE_BUCKETS;
	while (n) {
		uint64_t hash = key_of(w->cache, ++number).hash;
		uint32_t first = volley_bucket(hash, VOLLEY_PAGE_BUCKETS);
		uint32_t second = volley_bucket2(hash, VOLLEY_PAGE_BUCKETS);

		if (first + second == 1)
			numbers[--n] = number;
	}
}

#endif
