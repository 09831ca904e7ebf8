/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sweeps first the cache that is copied from, then the cache that is copied to. A copy of an entry
 * that was made before its withdrawal is published by the end of the grace period between the two
 * walks. After the withdrawal the entry is not found any more.
 */
#include "cache/entry_walk.h"

#include "cache/cache_state.h"

static struct cache *get_sweep(struct cache *cache, struct cache *const *field)
{
	struct cache *value;

	pthread_mutex_lock(&cache->lock);
	value = *field;
	pthread_mutex_unlock(&cache->lock);
	return value;
}

int cache_sweep(struct cache *cache, const bool *cancel, walk_visit *visit, void *user,
		cache_grace_fn *grace, void *grace_user, uint64_t *n_withdrawn)
{
	struct cache *first = get_sweep(cache, &cache->from), *second;
	int err;

	if (!first)
		first = cache;
	*n_withdrawn = cache_walk_offline(first, cancel, visit, user);
	err = grace(grace_user);
	second = get_sweep(first, &first->into); /* after the walk: see set_copied() in copy.c */
	if (err || !second)
		return err;
	*n_withdrawn += cache_walk_offline(second, cancel, visit, user);
	return grace(grace_user);
}
