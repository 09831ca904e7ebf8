/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adopts the content of an earlier daemon: each segment records its queue and its place in the
 * order. Readers in the driver go on meanwhile. The daemon may have died between any two stores:
 *
 *   a segment that it opened        is free, or ends after its last whole entry
 *   an entry without its word       is never found, and goes with its segment
 *   a segment that it retired       returns to its queue if a word leads into it, else it is empty:
 *                                   free after a grace period, which the keeper waits for
 *
 * Everything is checked for contradictions, so that no octet of the memory can harm the daemon. A
 * word stays only if it leads to a whole entry, lies where that entry's key belongs, and is the
 * only such word. Otherwise the keeper could not withdraw it, and it would lead into reused memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "cache/cache_state.h"

#define WORDS_AHEAD 16u /* the entries of so many words ahead are prefetched */

/* The octets of the segment up to the first entry that is not whole. */
static uint32_t whole_bytes(const struct volley_segment *segment)
{
	uint32_t at = sizeof(*segment);
	uint32_t used = segment->used_bytes;

	if (used > VOLLEY_SEGMENT_BYTES)
		return sizeof(*segment);
	while (at < used) {
		const struct volley_entry *e = (const void *)((const uint8_t *)segment + at);

		if (at > VOLLEY_START_MAX || e->bytes < sizeof(*e) ||
		    e->bytes % VOLLEY_UNIT_BYTES || e->bytes > used - at)
			break;
		at += e->bytes;
	}
	return at;
}

static bool is_hash_right(const struct cache *cache, const struct volley_entry *e)
{
	uint32_t n_words = 1 + volley_name_padded(e->key.name_bytes) / 8;

	return key_hash(cache, (const uint64_t *)&e->key, n_words) == e->hash;
}

/* True if the word leads to a whole entry of its tag in a used segment, from the right slot. */
static bool is_word_sound(const struct cache *cache, const uint64_t *slot, uint64_t word)
{
	uint32_t number = (uint32_t)word / VOLLEY_SEGMENT_UNITS;
	uint32_t offset = (uint32_t)word % VOLLEY_SEGMENT_UNITS * VOLLEY_UNIT_BYTES;
	const struct volley_segment *segment;
	const struct volley_entry *e;

	if (number >= cache->memory.sizes.n_segments || offset < sizeof(*segment) ||
	    offset > VOLLEY_START_MAX)
		return false;
	segment = segment_at(cache, number);
	if (segment->state == VOLLEY_SEGMENT_FREE || offset >= segment->used_bytes)
		return false;
	e = word_entry(cache, word);
	return entry_word(cache, e) == word && entry_is_sound(e, segment->used_bytes - offset) &&
	       e->zone_slot && e->zone_slot < cache->memory.sizes.n_zones &&
	       is_hash_right(cache, e) && entry_word_slot(cache, e) == slot;
}

static void adopt_words(struct cache *cache)
{
	size_t n_words = (size_t)cache->memory.sizes.n_buckets * VOLLEY_BUCKET_SLOTS, i;
	size_t n_units = (size_t)cache->memory.sizes.n_segments * VOLLEY_SEGMENT_UNITS;
	uint64_t *words = cache->memory.index;

	for (i = 0; i < n_words; i++) {
		uint64_t word = load_word(&words[i]);
		uint64_t ahead = words[i + WORDS_AHEAD < n_words ? i + WORDS_AHEAD : i];

		if ((uint32_t)ahead < n_units)
			__builtin_prefetch(word_entry(cache, ahead));
		if (word && !is_word_sound(cache, &words[i], word))
			__atomic_store_n(&words[i], 0, __ATOMIC_RELEASE);
	}
}

/* Called before the words are checked: a word that leads beyond these bounds is dropped. */
static void bound_segment(struct volley_segment *segment)
{
	if (segment->state > VOLLEY_SEGMENT_RETIRED)
		segment->state = VOLLEY_SEGMENT_RETIRED;
	if (segment->state != VOLLEY_SEGMENT_FREE)
		segment->used_bytes = whole_bytes(segment);
}

/* True if no word leads into it. */
static bool is_adopted_empty(const struct cache *cache, struct volley_segment *segment)
{
	struct volley_entry *e = NULL;

	while ((e = segment_next(segment, e)))
		if (entry_word_slot(cache, e))
			return false;
	return true;
}

static void adopt_segment(struct cache *cache, struct volley_segment *segment)
{
	uint32_t number = segment_number(cache, segment);

	if (segment->state == VOLLEY_SEGMENT_FREE) {
		fifo_push(&cache->free, number);
		return;
	}
	if (segment->seq >= cache->memory.state->next_seq)
		cache->memory.state->next_seq = segment->seq + 1;
	if (segment->state == VOLLEY_SEGMENT_RETIRED && cache->emptied.n < EMPTIED_MAX &&
	    is_adopted_empty(cache, segment)) {
		fifo_push(&cache->emptied, number);
		return;
	}
	segment->queue = segment->queue == QUEUE_MAIN ? QUEUE_MAIN : QUEUE_PROBATION;
	segment->state = VOLLEY_SEGMENT_SEALED;
	fifo_push(&cache->queues[segment->queue], number);
}

static int compare_seq(const void *a, const void *b)
{
	const struct volley_segment *const *x = a, *const *y = b;

	return ((*x)->seq > (*y)->seq) - ((*x)->seq < (*y)->seq);
}

int cache_adopt(struct cache *cache)
{
	uint32_t n = cache->memory.sizes.n_segments, i;
	struct volley_segment **order = calloc(n, sizeof(struct volley_segment *));

	if (!order)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		order[i] = segment_at(cache, i);
		bound_segment(order[i]);
	}
	adopt_words(cache);
	qsort(order, n, sizeof(*order), compare_seq);
	for (i = 0; i < n; i++)
		adopt_segment(cache, order[i]);
	free(order);
	return 0;
}
