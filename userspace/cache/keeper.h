/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: the one thread that makes room.
 *
 * It keeps a reserve of free segments, so that publishing never waits. When fewer are free, it
 * takes the oldest segments, copies the entries that are worth keeping, withdraws the others, waits
 * once for the readers of all these segments, and frees them. At least a quarter of each segment is
 * withdrawn, so the work of copying is bounded by what is published.
 */
#ifndef VOLLEY_CACHE_KEEPER_H
#define VOLLEY_CACHE_KEEPER_H

#include "cache/cache.h"

/*
 * Waits until no reader, in userspace or BPF, holds an entry that was withdrawn before the call. 0:
 * done. Another value: not known; the memory of these entries is not reused until a later call
 * succeeds.
 */
typedef int cache_grace_fn(void *user);

/* One round: fills the reserve if it can. Returns the segments freed. Keeper thread only. */
uint32_t cache_keep(struct cache *cache, uint32_t now_s, cache_grace_fn *grace, void *user);

/*
 * The keeper's other work: adds published entries to the filter (dependency_filter.h). It takes its
 * time, unless an invalidation waits for the filter, as after a start. Returns the ms from now_ns
 * until there is more to do. *next_ns, 0 at first, is when the next unhurried step is due. Keeper
 * thread only.
 */
int cache_keep_filter(struct cache *cache, uint64_t now_ns, uint64_t *next_ns);

/* Sleeps until the cache needs room, or for timeout_ms. For a keeper thread. */
void cache_keeper_wait(struct cache *cache, int timeout_ms);

/* Starts the keeper as a thread. It calls `grace` as a QSBR thread that is offline. */
struct cache_keeper;
int cache_keeper_start(struct cache_keeper **out, struct cache *cache, cache_grace_fn *grace,
		       void *user);
void cache_keeper_stop(struct cache_keeper *keeper);

#endif
