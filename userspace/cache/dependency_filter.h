/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which answers in the cache may depend on something that changes?
 *
 * What an answer depends on, names above all, is given as hashes: its dependencies. Bloom filters
 * keep them, one for each segment and one for each of a segment's 64 stripes of 4 KiB. Their bits
 * lie side by side, so that one read of a row asks 64 filters at once:
 *
 *      group of 64 segments                        segment of 64 stripes
 *      row 0       | 0 1 0 0 1 ... |               row 0     | 0 0 1 0 ... |
 *      row 1       | 0 1 1 0 0 ... |  ◄─ AND ─►    row 1     | 1 0 1 0 ... |   ──► entries of stripe 2
 *      ...           ▲ segment 1                   ...             ▲ stripe 2
 *      row 32767                                   row 511
 *
 * The filters take a 32nd of the store, in this process's memory, beside the budget of the cache,
 * and only for segments that are in use. A query never waits for them: segments say when they are
 * opened, the keeper adds their entries when it has time, and cache_invalidate() adds those that
 * are still missing. Where these are many, as behind the adoption of a cache,
 * cache_filter_is_ready() says so, and the keeper hurries. Entries of a segment are only ever
 * appended, so its filter grows with it, and is dropped with it.
 * docs/decisions/0023-withdraw-by-name.md
 */
#ifndef VOLLEY_CACHE_DEPENDENCY_FILTER_H
#define VOLLEY_CACHE_DEPENDENCY_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cache/cache.h"

#define DEPENDENCIES_MAX    256u
#define DEPENDENCIES_RECENT 64u /* a power of two */

/* Hashes that are added one by one. What has been added lately, to this or an earlier entry, is
 * left out. */
struct dependencies {
	uint64_t items[DEPENDENCIES_MAX];
	unsigned n;
	uint64_t recent[DEPENDENCIES_RECENT];
};

static inline void dependencies_clear(struct dependencies *dependencies)
{
	dependencies->n = 0;
	memset(dependencies->recent, 0, sizeof(dependencies->recent));
}

/* False: there is no room, and it is not added. 0 is no dependency. */
static inline bool dependencies_add(struct dependencies *dependencies, uint64_t dependency)
{
	uint64_t *recent = &dependencies->recent[dependency % DEPENDENCIES_RECENT];

	if (*recent == dependency)
		return true;
	if (dependencies->n == DEPENDENCIES_MAX)
		return false;
	*recent = dependency;
	dependencies->items[dependencies->n++] = dependency;
	return true;
}

/* Adds the dependencies of an entry, evenly spread; `seed` is this cache's, and secret. Pure. */
typedef void dependencies_fn(uint64_t seed, const struct volley_entry *entry,
			     struct dependencies *dependencies);

/*
 * Gives the cache a filter; what is in the cache is brought in by the keeper, in a hurry. Nothing
 * if it has one. Any thread, at any time. -ENOMEM: it has none, and cache_invalidate() says so.
 */
int cache_filter_new(struct cache *cache, dependencies_fn *dependencies)
	__attribute__((warn_unused_result));

/* The seed for this cache's dependencies. */
uint64_t cache_filter_seed(const struct cache *cache);

/*
 * Brings in what has been published since, and at most n_max segments that nobody appends to any
 * more, of some 0.4 ms each. True: there are more of these. Any thread.
 */
bool cache_filter_tend(struct cache *cache, uint32_t n_max);

/*
 * Whether an invalidation would have to bring in next to nothing itself: some 4 ms. If not, the
 * keeper brings in all that there is, with nothing but its other work between; a second for 4
 * million answers. True where there is no filter. Any thread; takes some us, no turn.
 */
bool cache_filter_is_ready(struct cache *cache);

/* What is to be withdrawn. */
struct cache_invalidation {
	const uint64_t *dependencies; /* each entry that is affected has one of these */
	size_t n_dependencies;
	bool (*is_affected)(void *user, const struct volley_entry *entry);
	void (*withdrawn)(void *user, const struct volley_entry *entry); /* told of each */
	void *user;
};

/*
 * Withdraws all entries that are affected and were published before the call, as a whole walk
 * (sweep.h) would, at the cost of those parts of the cache that the dependencies lead to. The
 * keeper waits meanwhile, some 50 ms at a time at most. *must_wait: somebody may still read one
 * that is affected, until all readers have passed a grace period.
 *
 * -EOPNOTSUPP: that takes a walk: there is no filter, another cache is taking this one's place or
 * was before it (copy.h), or the dependencies lead to too many places. Some may have been
 * withdrawn. In the thread that ends copies (cache_copy_end()).
 */
int cache_invalidate(struct cache *cache, const struct cache_invalidation *invalidation,
		     bool *must_wait) __attribute__((warn_unused_result));

#endif
