/* SPDX-License-Identifier: GPL-2.0-only */
#include "cache/walk.h"

#include "cache/internal.h"

uint64_t cache_walk(struct cache *cache, walk_visit *visit, void *user)
{
	size_t n_words = (size_t)cache->memory.sizes.n_buckets * VOLLEY_BUCKET_SLOTS, i;
	enum walk_step step = WALK_ON;
	uint64_t n = 0;

	for (i = 0; i < n_words && step != WALK_STOP; i++) {
		uint64_t word = load_word(&cache->memory.index[i]);

		if (!word)
			continue;
		step = visit(user, word_entry(cache, word));
		if (step != WALK_WITHDRAW)
			continue;
		if (__atomic_compare_exchange_n(&cache->memory.index[i], &word, 0, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			n++;
		else
			i--; /* the keeper has moved it, or a writer replaced it: look again */
	}
	return n;
}
