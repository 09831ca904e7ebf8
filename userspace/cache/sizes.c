/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides a budget of bytes into segments, buckets, zone slots and ghosts. */
#include <errno.h>

#include "base/page.h"
#include "cache/cache_state.h"

/*
 * The index has one slot for so many bytes of entries: the smallest entries, an A record for a
 * short name, take 96 to 112. Since a key has two buckets, the index may become almost full.
 */
#define STORE_BYTES_PER_SLOT 96u
#define SEGMENTS_MIN         8u

static uint64_t ghost_bytes(uint64_t n_buckets)
{
	return n_buckets * GHOST_WAYS * sizeof(uint16_t);
}

/* The kernel puts a header before an array that can be mapped, in a page of its own. */
static uint64_t map_bytes(uint64_t n, uint64_t bytes)
{
	return page_bytes() + page_round(n * bytes);
}

/* The daemon's memory beside the maps: struct cache and its lists of segments. */
static uint64_t size_own_bytes(uint64_t n_segments)
{
	return page_round(sizeof(struct cache) + EMPTIED_MAX * sizeof(uint32_t)) +
	       N_FIFOS * page_round(n_segments * sizeof(uint32_t));
}

static uint64_t total(const struct cache_sizes *s)
{
	return map_bytes(1, sizeof(struct volley_state)) +
	       map_bytes(s->n_buckets, VOLLEY_BUCKET_SLOTS * 8) +
	       map_bytes(s->n_segments, VOLLEY_SEGMENT_BYTES) +
	       map_bytes(s->n_zones, sizeof(struct volley_zone)) +
	       page_round(ghost_bytes(s->n_buckets)) + size_own_bytes(s->n_segments);
}

/* Twice the number needed, so that zones can be added without new maps. Slot 0 has no zone. */
static uint32_t zone_slots(uint32_t n_zones)
{
	uint32_t slots = VOLLEY_DEFAULT_ZONES;

	while (slots / 2 <= n_zones && slots < 1u << 30)
		slots *= 2;
	return slots;
}

#define BUCKET_COST (VOLLEY_BUCKET_SLOTS * 8 + GHOST_WAYS * sizeof(uint16_t))

/* The bytes left after whole segments go to the index: more buckets are less full. */
static uint32_t fit_buckets(struct cache_sizes *sizes)
{
	uint64_t left;

	sizes->n_buckets = 0;
	left = sizes->bytes - total(sizes) - 2 * page_bytes(); /* to round up index and ghosts */
	left /= BUCKET_COST;
	return (uint32_t)(left - left % VOLLEY_PAGE_BUCKETS);
}

int cache_sizes_plan(struct cache_sizes *sizes, uint64_t bytes, uint32_t n_zones)
{
	return cache_sizes_plan_beside(sizes, bytes, zone_slots(n_zones));
}

int cache_sizes_plan_beside(struct cache_sizes *sizes, uint64_t bytes, uint32_t n_slots)
{
	const uint64_t per_segment = VOLLEY_SEGMENT_BYTES / STORE_BYTES_PER_SLOT /
				     VOLLEY_BUCKET_SLOTS; /* buckets of a segment */
	const uint64_t cost =
		VOLLEY_SEGMENT_BYTES + per_segment * BUCKET_COST + N_FIFOS * sizeof(uint32_t);
	uint64_t fixed, n;

	*sizes = (struct cache_sizes){ .bytes = bytes, .n_zones = n_slots };
	fixed = total(sizes) + (2 + N_FIFOS) * page_bytes();
	n = bytes < fixed ? 0 : (bytes - fixed) / cost;
	if (n < SEGMENTS_MIN)
		return -ERANGE;
	if (n * VOLLEY_SEGMENT_UNITS > UINT32_MAX)
		return -E2BIG;
	sizes->n_segments = (uint32_t)n;
	sizes->n_buckets = fit_buckets(sizes);
	sizes->total_bytes = total(sizes);
	return 0;
}

void cache_sizes_measure(struct cache_sizes *sizes)
{
	sizes->total_bytes = total(sizes);
}
