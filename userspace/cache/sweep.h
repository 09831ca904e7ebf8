/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk that withdraws, in parts, until nobody reads any of it: also where the cache is just being
 * replaced by another one (copy.h), and some read the one and some the other.
 */
#ifndef VOLLEY_CACHE_SWEEP_H
#define VOLLEY_CACHE_SWEEP_H

#include "cache/keeper.h"
#include "cache/entry_walk.h"

/*
 * Shows every entry of the cache to `visit`, as cache_walk_offline() does, and those of the cache
 * that takes its place, or whose place it takes; then waits for all readers. 0, or what `grace`
 * said: then somebody may still read what was withdrawn. Both caches live as long. `cancel` may be
 * NULL.
 */
int cache_sweep(struct cache *cache, const bool *cancel, walk_visit *visit, void *user,
		cache_grace_fn *grace, void *grace_user, uint64_t *n_withdrawn)
	__attribute__((warn_unused_result));

#endif
