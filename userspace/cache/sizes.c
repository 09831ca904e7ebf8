/* SPDX-License-Identifier: GPL-2.0-only */
/* How a budget of bytes becomes segments, buckets, zone slots and ghosts. */
#include <errno.h>

#include "cache/internal.h"

#define PAGE_BYTES 4096ull

/*
 * One slot of the index for so many bytes of entries: the smallest entries, an A record for a short
 * name, take 96 to 112. With two choices of a bucket the index may become almost full.
 */
#define STORE_BYTES_PER_SLOT 96u
#define SEGMENTS_MIN         8u

static uint64_t round_page(uint64_t bytes)
{
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static uint64_t ghost_bytes(uint64_t n_buckets)
{
	return n_buckets * GHOST_WAYS * sizeof(uint32_t);
}

static uint64_t total(const struct cache_sizes *s)
{
	return round_page(sizeof(struct volley_state)) + round_page(s->n_buckets * 64ull) +
	       (uint64_t)s->n_segments * VOLLEY_SEGMENT_BYTES +
	       round_page(s->n_zones * sizeof(struct volley_zone)) +
	       round_page(ghost_bytes(s->n_buckets));
}

/* Twice what is wanted, so that zones can come without new maps; slot 0 is nobody's. */
static uint32_t zone_slots(uint32_t n_zones)
{
	uint32_t slots = VOLLEY_DEFAULT_ZONES;

	while (slots / 2 <= n_zones && slots < 1u << 30)
		slots *= 2;
	return slots;
}

int cache_sizes_plan(struct cache_sizes *sizes, uint64_t bytes, uint32_t n_zones)
{
	const uint64_t per_segment = VOLLEY_SEGMENT_BYTES / STORE_BYTES_PER_SLOT /
				     VOLLEY_BUCKET_SLOTS; /* buckets for a segment */
	uint64_t fixed, n;

	*sizes = (struct cache_sizes){ .bytes = bytes, .n_zones = zone_slots(n_zones) };
	fixed = total(sizes) + 2 * PAGE_BYTES;
	if (bytes < fixed)
		return -ERANGE;
	n = (bytes - fixed) / (VOLLEY_SEGMENT_BYTES + per_segment * (64 + GHOST_WAYS * 4));
	if (n < SEGMENTS_MIN || n * VOLLEY_SEGMENT_UNITS > UINT32_MAX)
		return -ERANGE;
	sizes->n_segments = (uint32_t)n;
	sizes->n_buckets = (uint32_t)(n * per_segment);
	sizes->total_bytes = total(sizes);
	return 0;
}

void cache_sizes_measure(struct cache_sizes *sizes)
{
	sizes->total_bytes = total(sizes);
}
