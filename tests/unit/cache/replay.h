/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries for names by Zipf's law, among them a flood of names that are never asked again, replayed
 * to a cache of a set budget and to an exact LRU that hears no flood.
 *
 * One thread, no clock: the keeper's rounds run where its thread would be woken, so a replay gives
 * the same hits each time. But for the hash keys: with others, other names share a bucket; they are
 * set.
 */
#ifndef VOLLEY_TESTS_CACHE_REPLAY_H
#define VOLLEY_TESTS_CACHE_REPLAY_H

#include "dns/proto.h"
#include "trace.h"

/*
 * Octets of the entry for a name, header and name with it: addresses and negative answers, RRsets
 * of some records, and signed ones.
 *
 *   60 %  128 to 176      25 %  176 to 288      15 %  288 to 512
 */
static inline uint32_t replay_entry_bytes(uint64_t name)
{
	static const struct {
		uint32_t percent, from, to;
	} kinds[] = { { 60, 128, 176 }, { 25, 176, 288 }, { 15, 288, 512 } };
	uint64_t r = mix(name), percent = r % 100;
	uint32_t kind = 0;

	while (percent >= kinds[kind].percent)
		percent -= kinds[kind++].percent;
	r = (r >> 32) % ((kinds[kind].to - kinds[kind].from) / VOLLEY_UNIT_BYTES + 1);
	return kinds[kind].from + (uint32_t)r * VOLLEY_UNIT_BYTES;
}

/* What a flood's answers are: their names are numbers from this << 40 on. */
enum replay_flood { REPLAY_DENIALS = 1, REPLAY_POSITIVE };

/* Of the names of the trace, one in ten does not exist either. */
static inline bool replay_is_denial(uint64_t name)
{
	return name >> 40 ? name >> 40 == REPLAY_DENIALS : mix(~name) % 10 == 0;
}

struct replay {
	struct world w;
	struct zipf z;
	struct lru l;
	uint64_t seed, flood; /* the next flood name */
	uint64_t n_asked, hits, lru_hits;
};

/* The bytes of the entries of all names. */
static inline uint64_t replay_all_bytes(uint32_t n_names)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n_names; i++)
		bytes += replay_entry_bytes(i);
	return bytes;
}

/* Both of `bytes`: the cache with index, ghosts and lists, the LRU for entries alone. */
static inline void replay_open(struct replay *r, uint64_t bytes, uint32_t n_names, double exponent)
{
	*r = (struct replay){ .seed = 42 };
	world_open(&r->w, bytes);
	world_set_keys(&r->w);
	zipf_open(&r->z, n_names, exponent);
	lru_open(&r->l, n_names, bytes, replay_entry_bytes);
}

static inline void replay_close(struct replay *r)
{
	lru_close(&r->l);
	zipf_close(&r->z);
	world_close(&r->w);
}

#define REPLAY_NAME_BYTES 18u /* 8 hexadecimal digits, example */
#define REPLAY_NAME_WORDS 3u

static inline struct cache_key replay_key(const struct cache *cache, uint64_t name)
{
	uint8_t wire[REPLAY_NAME_BYTES] = "\x08"
					  "--------\7example";
	uint64_t number = name >> 40 ? mix(name) : name;
	struct cache_key key;

	for (int i = 8; i > 0; i--, number >>= 4)
		wire[i] = (uint8_t) "0123456789abcdef"[number & 15];
	/* A flood has more names than 8 digits tell apart from those of the trace: a type of its
	 * own. */
	cache_key_init(&key, cache, wire, sizeof(wire), name >> 40 ? 28 : 1, 1, 0, 0);
	return key;
}

static inline void replay_publish(const struct world *w, const struct cache_key *key, uint64_t name)
{
	static const uint8_t body[512];
	uint32_t body_bytes_ = replay_entry_bytes(name) - (uint32_t)sizeof(struct volley_entry) -
			       REPLAY_NAME_WORDS * 8;
	struct cache_answer a = {
		.body = body,
		.full_bytes = (uint16_t)body_bytes_,
		.flags = replay_is_denial(name) ? DNS_RCODE_NXDOMAIN : 0,
		.zone_slot = w->slot,
		.zone_gen = w->gen,
		.expires_s = VOLLEY_NEVER,
	};

	MUST(!cache_publish(w->writer, key, &a, WORLD_NOW_S));
	while (w->cache->wanted) { /* the keeper's thread would wake */
		w->cache->wanted = false;
		while (cache_keep(w->cache, WORLD_NOW_S, no_readers, NULL))
			;
	}
}

static inline bool replay_ask(const struct world *w, uint64_t name)
{
	struct cache_key key = replay_key(w->cache, name);
	const struct volley_entry *e;

	if (cache_lookup(w->cache, &key, WORLD_NOW_S, true, &e) == CACHE_HIT)
		return true;
	replay_publish(w, &key, name);
	return false;
}

/* n queries of the trace, `floods` others after each of them. What is counted begins anew. */
static inline void replay_run(struct replay *r, uint64_t n, uint32_t floods)
{
	r->n_asked = n;
	r->hits = r->lru_hits = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint32_t name = zipf_draw(&r->z, &r->seed);

		r->hits += replay_ask(&r->w, name);
		r->lru_hits += lru_ask(&r->l, name);
		for (uint32_t f = 0; f < floods; f++)
			replay_ask(&r->w, r->flood++);
	}
}

struct replay_plan {
	uint64_t bytes; /* both budgets */
	uint32_t n_names;
	double exponent;
	uint64_t n_before; /* queries before those that count, without a flood */
	uint64_t n_counted;
	enum replay_flood kind;
	uint32_t floods; /* for each of the queries that count */
};

struct replay_ratios {
	double ours, lru;
};

/* Hit ratios of the trace's own queries. */
static inline struct replay_ratios replay(const struct replay_plan *plan)
{
	struct replay_ratios ratios;
	struct replay r;

	replay_open(&r, plan->bytes, plan->n_names, plan->exponent);
	r.flood = (uint64_t)plan->kind << 40;
	replay_run(&r, plan->n_before, 0);
	replay_run(&r, plan->n_counted, plan->floods);
	ratios.ours = (double)r.hits / (double)r.n_asked;
	ratios.lru = (double)r.lru_hits / (double)r.n_asked;
	replay_close(&r);
	return ratios;
}

#endif
