/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk that withdraws entries in parts, then waits until no reader holds any of them. It also
 * works while another cache replaces this one (copy.h), when some readers read the old one and some
 * the new one.
 */
#ifndef VOLLEY_CACHE_SWEEP_H
#define VOLLEY_CACHE_SWEEP_H

#include "cache/keeper.h"
#include "cache/entry_walk.h"

/*
 * Calls `visit` for every entry of the cache, as cache_walk_offline() does, and for every entry of
 * the cache that replaces it, or that it replaces. Then waits for all readers. 0, or the error of
 * `grace`: then readers may still hold withdrawn entries. Both caches must live until this returns.
 * `cancel` may be NULL.
 */
int cache_sweep(struct cache *cache, const bool *cancel, walk_visit *visit, void *user,
		cache_grace_fn *grace, void *grace_user, uint64_t *n_withdrawn)
	__attribute__((warn_unused_result));

#endif
