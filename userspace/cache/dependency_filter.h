/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the answers in the cache that may depend on a change.
 *
 * The dependencies of an answer are hashes of what it depends on, above all of names. Bloom filters
 * keep them: one for each segment, and one for each of a segment's 64 stripes of 4 KiB. The bits of
 * 64 filters lie side by side, so one read of a row tests 64 filters at once:
 *
 *      group of 64 segments                        segment of 64 stripes
 *      row 0       | 0 1 0 0 1 ... |               row 0     | 0 0 1 0 ... |
 *      row 1       | 0 1 1 0 0 ... |  ◄─ AND ─►    row 1     | 1 0 1 0 ... | ─► entries of stripe 2
 *      ...           ▲ segment 1                   ...             ▲ stripe 2
 *      row 32767                                   row 511
 *
 * The filters take a 32nd of the store, and only for segments in use. They lie in this process's
 * memory, not in the budget of the cache. A query never waits for them: opening a segment only
 * marks it, the keeper adds its entries when it has time, and cache_invalidate() adds the entries
 * that are still missing. If these are many, as after the adoption of a cache,
 * cache_filter_is_ready() returns false and the keeper hurries. Entries are only appended to a
 * segment, so its filter grows with it and is dropped with it.
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

/* Hashes, added one by one. A hash that was added recently, for any entry, is left out. */
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

/* False: there is no room; it is not added. 0 is no dependency. */
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

/* Adds the dependencies of an entry: evenly spread hashes. `seed` is this cache's secret. Pure. */
typedef void dependencies_fn(uint64_t seed, const struct volley_entry *entry,
			     struct dependencies *dependencies);

/*
 * Gives the cache a filter; the keeper adds the present entries in a hurry. Does nothing if the
 * cache has a filter. Any thread, at any time. -ENOMEM: there is no filter, and cache_invalidate()
 * returns -EOPNOTSUPP.
 */
int cache_filter_new(struct cache *cache, dependencies_fn *dependencies)
	__attribute__((warn_unused_result));

/* The seed for this cache's dependencies. */
uint64_t cache_filter_seed(const struct cache *cache);

/*
 * Adds the entries published since the last call, and those of at most n_max sealed segments, each
 * of some 0.4 ms. True: more sealed segments wait. Any thread.
 */
bool cache_filter_tend(struct cache *cache, uint32_t n_max);

/*
 * True if an invalidation would have little to add itself: some 4 ms of work. If false, the keeper
 * adds all missing entries at once, interrupted only by its other work: a second for 4 million
 * answers. True if there is no filter. Any thread; takes some us and no turn.
 */
bool cache_filter_is_ready(struct cache *cache);

/* Which entries an invalidation withdraws. */
struct cache_invalidation {
	const uint64_t *dependencies; /* each affected entry has at least one of these */
	size_t n_dependencies;
	bool (*is_affected)(void *user, const struct volley_entry *entry);
	void (*withdrawn)(void *user, const struct volley_entry *entry); /* called for each */
	void *user;
};

/*
 * Withdraws all affected entries that were published before the call, as a whole walk
 * (entry_walk.h) would, but reads only the parts of the cache that the dependencies lead to. The
 * keeper waits meanwhile, at most some 50 ms at a time. *must_wait: a reader may still hold an
 * affected entry until a grace period has passed.
 *
 * -EOPNOTSUPP: only a walk can do this. There is no filter, a copy to or from this cache is not
 * over (copy.h), or the dependencies lead to too many places. Some entries may have been withdrawn.
 * Only the thread that ends copies (cache_copy_end()) may call this.
 */
int cache_invalidate(struct cache *cache, const struct cache_invalidation *invalidation,
		     bool *must_wait) __attribute__((warn_unused_result));

#endif
