/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/generations.h"

#include <errno.h>
#include <stdlib.h>

#include "base/siphash.h"
#include "cache/cache_state.h"

static void apex_id(const uint8_t *apex, uint32_t n, uint64_t id[2])
{
	/* Need not be secret: the hash only tells an operator's own zones apart, over restarts. */
	static const uint8_t keys[2][SIPHASH_KEY_BYTES + 1] = { "volley zone id 0",
								"volley zone id 1" };

	id[0] = siphash24(keys[0], apex, n) | 1; /* 0, 0 is a free slot */
	id[1] = siphash24(keys[1], apex, n);
}

static bool is_free(const struct volley_zone *zone)
{
	return !zone->name_id[0];
}

uint32_t zone_find_slot(const struct volley_zone *zones, uint32_t n, const uint64_t id[2])
{
	uint32_t first = 1 + (uint32_t)(id[0] % (n - 1));
	uint32_t vacant = 0;
	uint32_t i, slot;

	for (i = 0; i < n - 1; i++) {
		const struct volley_zone *zone;

		slot = 1 + (first - 1 + i) % (n - 1);
		zone = &zones[slot];
		if (zone->name_id[0] == id[0] && zone->name_id[1] == id[1])
			return slot;
		if (is_free(zone) && !vacant)
			vacant = slot;
		if (is_free(zone) && !zone->last_gen)
			break; /* never used: no probe went past it */
	}
	return vacant;
}

static uint32_t next_gen(uint32_t gen)
{
	return gen + 1 ? gen + 1 : 1;
}

/* A generation that this slot has never had, for any zone. */
static uint32_t new_gen(struct volley_zone *zone)
{
	zone->last_gen = next_gen(zone->last_gen);
	return zone->last_gen;
}

static bool stands_for(const struct volley_zone *zone, const uint64_t digest[2])
{
	return zone->gen && zone->digest[0] == digest[0] && zone->digest[1] == digest[1];
}

static void set_counter_place(struct cache *cache, uint32_t place, bool is_taken)
{
	uint64_t *word = &cache->places_taken[place % VOLLEY_COUNT_ZONES / 64];
	const uint64_t bit = 1ull << place % 64;

	*word = is_taken ? *word | bit : *word & ~bit;
}

/* Looks at all slots, once: zones that come and go by the thousand find places without. */
static void know_places(struct cache *cache)
{
	if (cache->are_places_known)
		return;
	for (uint32_t i = 1; i < cache->memory.sizes.n_zones; i++)
		set_counter_place(cache, cache->memory.zones[i].counter, true);
	cache->are_places_known = true;
}

/* A place in volley_answers.by_zone that no zone has any more. */
static uint32_t find_given_back(struct cache *cache)
{
	uint32_t place = VOLLEY_COUNT_FIRST_ZONE;

	know_places(cache);
	while (place < VOLLEY_COUNT_ZONES && cache->places_taken[place / 64] >> place % 64 & 1)
		place++;
	return place < VOLLEY_COUNT_ZONES ? place : VOLLEY_COUNT_OTHER_ZONE;
}

/* Of all caches: a cache that replaces another one has its zones and their places. */
static uint32_t n_counter_changes;

/* Takes unused places first: the counters of others include an earlier zone's answers. */
static uint32_t take_counter(struct cache *cache)
{
	struct volley_zone *head = &cache->memory.zones[0];
	uint32_t place = VOLLEY_COUNT_OTHER_ZONE;

	if (head->counter < VOLLEY_COUNT_ZONES - VOLLEY_COUNT_FIRST_ZONE) {
		place = VOLLEY_COUNT_FIRST_ZONE + head->counter++;
	} else if (head->n_given_back) {
		head->n_given_back--;
		place = find_given_back(cache);
	}
	set_counter_place(cache, place, true);
	return place;
}

/* From now on the zone counts in `then`: VOLLEY_COUNT_OTHER_ZONE or VOLLEY_COUNT_NO_ZONE. */
static void give_counter_back(struct cache *cache, struct volley_zone *zone, uint32_t then)
{
	n_counter_changes++;
	if (zone->counter >= VOLLEY_COUNT_FIRST_ZONE) {
		cache->memory.zones[0].n_given_back++;
		set_counter_place(cache, zone->counter, false);
	}
	__atomic_store_n(&zone->counter, then, __ATOMIC_RELAXED);
}

void cache_zone_counter_release(struct cache *cache, uint32_t slot)
{
	if (cache_zone_counter(cache, slot) >= VOLLEY_COUNT_FIRST_ZONE)
		give_counter_back(cache, &cache->memory.zones[slot], VOLLEY_COUNT_OTHER_ZONE);
}

bool cache_zone_counter_give(struct cache *cache, uint32_t slot)
{
	uint32_t place;

	if (cache_zone_counter(cache, slot) != VOLLEY_COUNT_OTHER_ZONE)
		return false;
	place = take_counter(cache);
	n_counter_changes++;
	__atomic_store_n(&cache->memory.zones[slot].counter, place, __ATOMIC_RELAXED);
	return place != VOLLEY_COUNT_OTHER_ZONE;
}

uint32_t cache_zone_counter_changes(void)
{
	return n_counter_changes;
}

uint32_t cache_zone_counter(const struct cache *cache, uint32_t slot)
{
	if (!slot || slot >= cache->memory.sizes.n_zones)
		return VOLLEY_COUNT_NO_ZONE;
	return __atomic_load_n(&cache->memory.zones[slot].counter, __ATOMIC_RELAXED);
}

bool cache_zone_prepare(struct cache *cache, const uint8_t *apex, uint32_t apex_bytes,
			const uint64_t digest[2], uint32_t *slot, uint32_t *gen)
{
	struct volley_zone *zone;
	uint64_t id[2];

	apex_id(apex, apex_bytes, id);
	*slot = zone_find_slot(cache->memory.zones, cache->memory.sizes.n_zones, id);
	*gen = 0;
	if (!*slot)
		return false;
	zone = &cache->memory.zones[*slot];
	n_counter_changes++;
	if (is_free(zone)) {
		__atomic_store_n(&zone->counter, take_counter(cache), __ATOMIC_RELAXED);
		zone->name_id[1] = id[1];
		__atomic_store_n(&zone->name_id[0], id[0], __ATOMIC_RELEASE);
	}
	if (stands_for(zone, digest)) {
		*gen = zone->gen;
		return true;
	}
	*gen = new_gen(zone);
	return false;
}

/* Called before the change, so that a thread that sees the change also sees the mark. */
static void tell_watch(struct cache *cache, uint32_t slot)
{
	if (cache->changed_zones)
		__atomic_store_n(&cache->changed_zones[slot], 1, __ATOMIC_RELEASE);
}

static void store_digest(struct volley_zone *zone, uint64_t first, uint64_t second)
{
	__atomic_store_n(&zone->digest[1], second, __ATOMIC_RELEASE);
	__atomic_store_n(&zone->digest[0], first, __ATOMIC_RELEASE);
}

void cache_zone_commit(struct cache *cache, uint32_t slot, uint32_t gen, const uint64_t digest[2])
{
	struct volley_zone *zone = &cache->memory.zones[slot];

	if (!slot || zone->gen == gen)
		return;
	tell_watch(cache, slot);
	/* If the daemon dies here, no generation has the digest of another content. */
	__atomic_store_n(&zone->gen, 0, __ATOMIC_RELEASE);
	store_digest(zone, digest[0], digest[1]);
	__atomic_store_n(&zone->gen, gen, __ATOMIC_RELEASE);
}

uint32_t cache_zone_begin_change(struct cache *cache, uint32_t slot, const uint64_t from[2])
{
	struct volley_zone *zone = &cache->memory.zones[slot];

	if (!slot || !stands_for(zone, from))
		return 0;
	tell_watch(cache, slot);
	store_digest(zone, 0, 0);
	return zone->gen;
}

void cache_zone_end_change(struct cache *cache, uint32_t slot, const uint64_t to[2])
{
	struct volley_zone *zone = &cache->memory.zones[slot];

	tell_watch(cache, slot);
	store_digest(zone, to[0], to[1]);
}

void cache_zone_drop(struct cache *cache, uint32_t slot)
{
	struct volley_zone *zone = &cache->memory.zones[slot];

	if (!slot)
		return;
	tell_watch(cache, slot);
	__atomic_store_n(&zone->gen, 0, __ATOMIC_RELEASE);
	store_digest(zone, 0, 0);
	give_counter_back(cache, zone, VOLLEY_COUNT_NO_ZONE);
	zone->name_id[1] = 0;
	__atomic_store_n(&zone->name_id[0], 0, __ATOMIC_RELEASE);
}

uint32_t cache_zone_flush(struct cache *cache, uint32_t slot)
{
	struct volley_zone *zone = &cache->memory.zones[slot];
	uint32_t gen;

	if (!slot)
		return 0;
	tell_watch(cache, slot);
	gen = new_gen(zone);
	__atomic_store_n(&zone->gen, gen, __ATOMIC_RELEASE);
	return gen;
}

int cache_zone_drop_others(struct cache *cache, const uint32_t *keep, uint32_t n)
{
	uint32_t n_slots = cache->memory.sizes.n_zones;
	bool *is_kept = calloc(n_slots, sizeof(*is_kept));
	uint32_t i;

	if (!is_kept)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (keep[i] < n_slots)
			is_kept[keep[i]] = true;
	for (i = 1; i < n_slots; i++)
		if (!is_kept[i] && !is_free(&cache->memory.zones[i]))
			cache_zone_drop(cache, i);
	free(is_kept);
	return 0;
}

int cache_zone_watch(struct cache *cache)
{
	if (cache->changed_zones)
		return -EBUSY;
	cache->changed_zones = calloc(cache->memory.sizes.n_zones, 1);
	return cache->changed_zones ? 0 : -ENOMEM;
}

void cache_zone_watch_end(struct cache *cache)
{
	free(cache->changed_zones);
	cache->changed_zones = NULL;
}

bool cache_zone_has_changed(const struct cache *cache, uint32_t slot)
{
	return __atomic_load_n(&cache->changed_zones[slot], __ATOMIC_ACQUIRE);
}
