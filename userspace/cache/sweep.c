/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * First where copies come from, then where they go to. Who copied an entry before it was withdrawn
 * has published the copy when the grace period between the two walks is over; who looks later does not
 * see the entry any more.
 */
#include "cache/sweep.h"

#include "cache/internal.h"

int cache_sweep(struct cache *cache, const bool *cancel, walk_visit *visit, void *user,
		cache_grace_fn *grace, void *grace_user, uint64_t *n_withdrawn)
{
	struct cache *first = __atomic_load_n(&cache->from, __ATOMIC_ACQUIRE), *second;
	int err;

	if (!first)
		first = cache;
	*n_withdrawn = cache_walk_offline(first, cancel, visit, user);
	err = grace(grace_user);
	/* Behind the withdrawals: a copy that begins later than this load does not see them any more. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	second = __atomic_load_n(&first->into, __ATOMIC_SEQ_CST);
	if (err || !second)
		return err;
	*n_withdrawn += cache_walk_offline(second, cancel, visit, user);
	return grace(grace_user);
}
