/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sieve: where in the cache may an answer lie that rests on this?
 *
 * What an answer rests on, names above all, its owner says as hashes: its grounds. The sieve keeps
 * them as Bloom filters, one for each segment and one for each of a segment's 64 stripes of 4 KiB, bit
 * by bit side by side, so that one look at a row asks 64 filters at once:
 *
 *      group of 64 segments                        segment of 64 stripes
 *      row 0       | 0 1 0 0 1 ... |               row 0     | 0 0 1 0 ... |
 *      row 1       | 0 1 1 0 0 ... |  ◄─ AND ─►    row 1     | 1 0 1 0 ... |   ──► entries of stripe 2
 *      ...           ▲ segment 1                   ...             ▲ stripe 2
 *      row 32767                                   row 511
 *
 * It costs a 32nd of the store, in this process's memory, beside the budget of the cache, and only for
 * segments that are in use. Nobody on a query's way sees it: segments say when they are opened, the
 * keeper brings in their entries at leisure, and cache_sift() those that are still missing. Where these
 * are many, as behind the adoption of a cache, cache_sieve_is_ready() says so, and the keeper hurries. Entries of a
 * segment are only ever appended, so a filter grows with it, and it is thrown away with it.
 * docs/decisions/0023-withdraw-by-name.md
 */
#ifndef VOLLEY_CACHE_SIEVE_H
#define VOLLEY_CACHE_SIEVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cache/cache.h"

#define GROUNDS_MAX    256u
#define GROUNDS_RECENT 64u /* a power of two */

/* Hashes that are added one by one. What has been added lately, to this or an earlier entry, is left out. */
struct grounds {
	uint64_t items[GROUNDS_MAX];
	unsigned n;
	uint64_t recent[GROUNDS_RECENT];
};

static inline void grounds_clear(struct grounds *grounds)
{
	grounds->n = 0;
	memset(grounds->recent, 0, sizeof(grounds->recent));
}

/* False: there is no room, and it is not added. 0 is no ground. */
static inline bool grounds_add(struct grounds *grounds, uint64_t ground)
{
	uint64_t *recent = &grounds->recent[ground % GROUNDS_RECENT];

	if (*recent == ground)
		return true;
	if (grounds->n == GROUNDS_MAX)
		return false;
	*recent = ground;
	grounds->items[grounds->n++] = ground;
	return true;
}

/* Adds the grounds of an entry, evenly spread; `seed` is this cache's, and secret. Pure. */
typedef void sieve_grounds_fn(uint64_t seed, const struct volley_entry *entry,
			      struct grounds *grounds);

/*
 * Gives the cache a sieve; what is in the cache is brought in by the keeper, in a hurry. Nothing if it has
 * one. Any thread, at any time. -ENOMEM: it has none, and cache_sift() says so.
 */
int cache_sieve_new(struct cache *cache, sieve_grounds_fn *grounds)
	__attribute__((warn_unused_result));

/* The seed for this cache's grounds. */
uint64_t cache_sieve_seed(const struct cache *cache);

/*
 * Brings in what has been published since, and at most n_max segments that nobody appends to any more,
 * of some 0.4 ms each. True: there are more of these. Any thread.
 */
bool cache_sieve_tend(struct cache *cache, uint32_t n_max);

/*
 * Whether a sift would have to bring in next to nothing itself: some 4 ms. If not, the keeper brings in all
 * that there is, with nothing but its other work between; a second for 4 million answers. True where there
 * is no sieve. Any thread; takes some us, no turn.
 */
bool cache_sieve_is_ready(struct cache *cache);

/* What is to be withdrawn. */
struct cache_sift {
	const uint64_t *grounds; /* each entry that is affected has one of these */
	size_t n_grounds;
	bool (*is_affected)(void *user, const struct volley_entry *entry);
	void (*withdrawn)(void *user, const struct volley_entry *entry); /* told of each */
	void *user;
};

/*
 * Withdraws all entries that are affected and were published before the call, as a whole walk
 * (sweep.h) would, at the cost of those parts of the cache that the grounds lead to. The keeper waits
 * meanwhile, some 50 ms at a time at most. *must_wait: somebody may still read one that is affected,
 * until all readers have passed a grace period.
 *
 * -EOPNOTSUPP: that takes a walk: there is no sieve, another cache is taking this one's place or was
 * before it (copy.h), or the grounds lead to too many places. Some may have been withdrawn. In the
 * thread that ends copies (cache_copy_end()).
 */
int cache_sift(struct cache *cache, const struct cache_sift *sift, bool *must_wait)
	__attribute__((warn_unused_result));

#endif
