/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A walk that withdraws, in parts, until nobody reads any of it: also where the cache is just being
 * replaced by another one (copy.h), and some read the one and some the other.
 */
#ifndef VOLLEY_CACHE_SWEEP_H
#define VOLLEY_CACHE_SWEEP_H

#include "cache/keeper.h"
#include "cache/walk.h"

/*
 * Words of the index that are looked at in one read section, some 2 ms with a full cache: so long
 * another grace period may have to wait, and then a worker on this processor goes first.
 */
#define SWEEP_WORDS 32768u

/*
 * Shows every entry of the cache to `visit`, in parts, and withdraws those that it says. The number
 * withdrawn. In a QSBR thread that is offline; ends early, soon after *cancel became true.
 */
uint64_t cache_walk_parts(struct cache *cache, walk_visit *visit, void *user, const bool *cancel);

/*
 * The same with the cache that takes this one's place, or whose place it takes, and waits for all
 * readers. 0, or what `grace` said: then somebody may still read what was withdrawn. Both caches live
 * as long.
 */
int cache_sweep(struct cache *cache, walk_visit *visit, void *user, const bool *cancel,
		cache_grace_fn *grace, void *grace_user, uint64_t *n_withdrawn)
	__attribute__((warn_unused_result));

#endif
