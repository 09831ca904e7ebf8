/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an earlier daemon left is taken over: segments say themselves in which queue and order they
 * are. Readers in the driver go on meanwhile. It may have died between any two stores, so all that
 * could contradict itself is checked: an entry that was not yet counted in its segment's length
 * has no word; a retired segment is simply retired once more.
 */
#include <stdlib.h>

#include "cache/internal.h"

/* How far a segment's entries follow each other whole. */
static uint32_t whole_bytes(const struct volley_segment *segment)
{
	uint32_t at = sizeof(*segment);
	uint32_t used = segment->used_bytes;

	if (used > VOLLEY_SEGMENT_BYTES)
		return sizeof(*segment);
	while (at < used) {
		const struct volley_entry *e = (const void *)((const uint8_t *)segment + at);

		if (at > VOLLEY_START_MAX || e->bytes < sizeof(*e) ||
		    e->bytes % VOLLEY_UNIT_BYTES || e->bytes > used - at ||
		    e->body_offset < sizeof(*e) || e->body_offset + e->full_bytes > e->bytes)
			break;
		at += e->bytes;
	}
	return at;
}

/* A word leads to an entry of its tag within a segment in use. */
static bool is_word_sound(const struct cache *cache, uint64_t word)
{
	uint32_t number = (uint32_t)word / VOLLEY_SEGMENT_UNITS;
	uint32_t offset = (uint32_t)word % VOLLEY_SEGMENT_UNITS * VOLLEY_UNIT_BYTES;
	const struct volley_segment *segment;
	const struct volley_entry *e;

	if (number >= cache->memory.sizes.n_segments || offset < sizeof(*segment))
		return false;
	segment = segment_at(cache, number);
	if (segment->state == VOLLEY_SEGMENT_FREE || offset >= segment->used_bytes)
		return false;
	e = word_entry(cache, word);
	return entry_word(cache, e) == word && e->zone_slot < cache->memory.sizes.n_zones;
}

static int compare_seq(const void *a, const void *b)
{
	const struct volley_segment *const *x = a, *const *y = b;

	return ((*x)->seq > (*y)->seq) - ((*x)->seq < (*y)->seq);
}

static void adopt_segment(struct cache *cache, struct volley_segment *segment)
{
	uint32_t queue = segment->queue == QUEUE_MAIN ? QUEUE_MAIN : QUEUE_PROBATION;
	uint32_t number = segment_number(cache, segment);

	if (segment->state == VOLLEY_SEGMENT_FREE) {
		fifo_push(&cache->free, number);
		return;
	}
	segment->used_bytes = whole_bytes(segment);
	segment->state = VOLLEY_SEGMENT_SEALED;
	if (segment->seq >= cache->memory.state->next_seq)
		cache->memory.state->next_seq = segment->seq + 1;
	fifo_push(&cache->queues[queue], number);
}

int cache_adopt(struct cache *cache)
{
	size_t n_words = (size_t)cache->memory.sizes.n_buckets * VOLLEY_BUCKET_SLOTS, i;
	uint32_t n = cache->memory.sizes.n_segments;
	struct volley_segment **order = calloc(n, sizeof(struct volley_segment *));

	if (!order)
		return -1;
	for (i = 0; i < n; i++)
		order[i] = segment_at(cache, (uint32_t)i);
	qsort(order, n, sizeof(*order), compare_seq);
	for (i = 0; i < n; i++)
		adopt_segment(cache, order[i]);
	free(order);
	for (i = 0; i < n_words; i++) {
		uint64_t word = load_word(&cache->memory.index[i]);

		if (word && !is_word_sound(cache, word))
			__atomic_store_n(&cache->memory.index[i], 0, __ATOMIC_RELEASE);
	}
	return 0;
}
