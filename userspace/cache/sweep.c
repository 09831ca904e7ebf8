/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * First where copies come from, then where they go to. Who copied an entry before it was withdrawn
 * has published the copy when the grace period between the two walks is over; who looks later does not
 * see the entry any more.
 */
#include "cache/sweep.h"

#include <sched.h>
#include <urcu-qsbr.h>

#include "cache/internal.h"

uint64_t cache_walk_parts(struct cache *cache, walk_visit *visit, void *user, const bool *cancel)
{
	size_t at = 0, end = cache_walk_end(cache);
	uint64_t n_withdrawn = 0;

	while (at < end && !__atomic_load_n(cancel, __ATOMIC_RELAXED)) {
		rcu_thread_online();
		n_withdrawn += cache_walk_part(cache, &at, SWEEP_WORDS, visit, user);
		rcu_thread_offline();
		sched_yield();
	}
	return n_withdrawn;
}

int cache_sweep(struct cache *cache, walk_visit *visit, void *user, const bool *cancel,
		cache_grace_fn *grace, void *grace_user, uint64_t *n_withdrawn)
{
	struct cache *first = __atomic_load_n(&cache->from, __ATOMIC_ACQUIRE), *second;
	int err;

	if (!first)
		first = cache;
	*n_withdrawn = cache_walk_parts(first, visit, user, cancel);
	err = grace(grace_user);
	/* Behind the withdrawals: a copy that begins later than this load does not see them any more. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	second = __atomic_load_n(&first->into, __ATOMIC_SEQ_CST);
	if (err || !second)
		return err;
	*n_withdrawn += cache_walk_parts(second, visit, user, cancel);
	return grace(grace_user);
}
