/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache/entry_walk.h"

#include <sched.h>
#include <urcu-qsbr.h>

#include "cache/cache_state.h"

#define WORDS_AHEAD 16u /* the entries of so many words ahead are prefetched */

/* The header, and the lines where key and body most often end. */
static void fetch_walked(const struct cache *cache, uint64_t word)
{
	const uint8_t *entry = (const uint8_t *)word_entry(cache, word);

	__builtin_prefetch(entry);
	__builtin_prefetch(entry + 64);
	__builtin_prefetch(entry + 128);
}

size_t cache_walk_end(const struct cache *cache)
{
	return (size_t)cache->memory.sizes.n_buckets * VOLLEY_BUCKET_SLOTS;
}

uint64_t cache_walk_part(struct cache *cache, size_t *at, size_t n, walk_visit *visit, void *user)
{
	uint64_t *words = cache->memory.index, n_withdrawn = 0;
	size_t n_words = cache_walk_end(cache), i = *at;
	size_t end = n < n_words - i ? i + n : n_words;
	enum walk_step step = WALK_ON;

	for (; i < end && step != WALK_STOP; i++) {
		uint64_t word = load_word(&words[i]);

		if (i + WORDS_AHEAD < n_words)
			fetch_walked(cache, load_word(&words[i + WORDS_AHEAD]));
		if (!word)
			continue;
		step = visit(user, word_entry(cache, word));
		if (step != WALK_WITHDRAW)
			continue;
		if (__atomic_compare_exchange_n(&words[i], &word, 0, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			n_withdrawn++;
		else
			/* the keeper moved it, or a writer replaced it: visit the slot again */
			i--;
	}
	*at = step == WALK_STOP ? n_words : i;
	return n_withdrawn;
}

enum cache_verdict cache_entry_verdict(const struct cache *cache, const struct volley_entry *entry,
				       uint32_t now_s)
{
	return entry_verdict(cache, entry, now_s);
}

#define PART_WORDS 32768u

uint64_t cache_walk_offline(struct cache *cache, const bool *cancel, walk_visit *visit, void *user)
{
	size_t at = 0, end = cache_walk_end(cache);
	uint64_t n_withdrawn = 0;

	while (at < end && !(cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))) {
		rcu_thread_online();
		n_withdrawn += cache_walk_part(cache, &at, PART_WORDS, visit, user);
		rcu_thread_offline();
		sched_yield();
	}
	return n_withdrawn;
}

bool cache_entry_is_main(const struct cache *cache, const struct volley_entry *entry)
{
	size_t offset = (size_t)((const uint8_t *)entry - cache->memory.store);

	return segment_at(cache, (uint32_t)(offset / VOLLEY_SEGMENT_BYTES))->queue == QUEUE_MAIN;
}

const char *cache_entry_queue(const struct cache *cache, const struct volley_entry *entry)
{
	return cache_entry_is_main(cache, entry) ? "main" : "probation";
}

const struct volley_entry *cache_entry_by_hash(const struct cache *cache, uint64_t hash)
{
	uint32_t n = cache->memory.sizes.n_buckets;
	const uint64_t *buckets[2] = { bucket_words(cache, volley_bucket(hash, n)),
				       bucket_words(cache, volley_bucket2(hash, n)) };

	for (unsigned int i = 0; i < 2 * VOLLEY_BUCKET_SLOTS; i++) {
		uint64_t word =
			load_word(&buckets[i / VOLLEY_BUCKET_SLOTS][i % VOLLEY_BUCKET_SLOTS]);

		if (word >> 32 == volley_tag(hash) && (uint32_t)word &&
		    word_entry(cache, word)->hash == hash)
			return word_entry(cache, word);
	}
	return NULL;
}
