/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaces a cache by one of another size, while readers and writers go on.
 *
 *      cache_new_beside   the same zones, secrets and services; empty
 *      cache_copy         the answers, the most used first; writers still publish to the old one
 *      (writers move)     from now on they publish to the new one
 *      cache_copy_late    the answers published since the copy began
 *      (readers move)
 *      cache_copy_end     the old one has no reader or writer any more: it may be freed
 *
 * Before the writers move, cache_copy_give_up() can end it all.
 *
 * Both caches share one table of zones (volley_zones): a new generation makes a zone's answers dead
 * in both at once. cache_sweep() (entry_walk.h) withdraws single answers from both. An entry is
 * found in the old index and copied within one read section. So when a grace period has passed
 * after its withdrawal from the old cache, no copy of it appears any more. See
 * docs/decisions/0015-resizing-the-cache.md.
 */
#ifndef VOLLEY_CACHE_COPY_H
#define VOLLEY_CACHE_COPY_H

#include "cache/cache.h"

/*
 * The order of the copy, since there may not be room for all: an entry's rank grows with its hits
 * since it was written, and is one higher in the main queue. Rank 0: expired entries, which still
 * serve clients if no fresh answer can be had.
 */
#define COPY_RANKS (VOLLEY_FREQ_MAX + 3u)

/* The progress of a copy; other threads may read it. */
struct cache_copied {
	uint64_t n_words, words_done; /* of the index, over all rounds */
	uint64_t n_entries;           /* entries that may be copied, counted before the copy */
	uint64_t n_copied;
	uint64_t n_left_out; /* of n_entries: for lack of room */
};

/*
 * Makes a cache over `memory`. Its `zones` are the zones of `from` (perhaps at another address),
 * its sizes come from cache_sizes_plan_beside(). The other parts need not be zeroed. Services and
 * settings are copied into its state; from now on a change must be made in both states. 0 or
 * -ENOMEM.
 */
int cache_new_beside(struct cache **out, const struct cache_memory *memory, struct cache *from)
	__attribute__((warn_unused_result));

/*
 * Copies all valid and expired answers from the cache that `to` was made beside. No other thread
 * writes to `to`. Answers keep queue, hits, age and expiry. Answers that are published meanwhile
 * may be missed. Any QSBR thread that is offline; no read section is long. 0, or -ECANCELED soon
 * after *cancel became true.
 */
int cache_copy(struct cache *to, uint32_t now_s, const bool *cancel, struct cache_copied *told)
	__attribute__((warn_unused_result));

/*
 * Copies the answers published at since_s or later. Call it when all writers have moved to `to` and
 * a grace period has passed. Of two answers for one key the younger stays. Thread and errors as
 * above.
 */
int cache_copy_late(struct cache *to, uint32_t since_s, uint32_t now_s, const bool *cancel,
		    struct cache_copied *told) __attribute__((warn_unused_result));

/* Gives `to` the counters of the old cache. No thread may write to the old cache any more. */
void cache_copy_counters(struct cache *to);

/* `to`, without reader or writer, will not be used. Free it when all sweeps under way are over. */
void cache_copy_give_up(struct cache *to);

/* From now on `to` stands alone. The old cache has no reader, but a sweep there may still run. */
void cache_copy_end(struct cache *to);

#endif
