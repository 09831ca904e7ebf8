/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: the one thread that makes room.
 *
 * It keeps a reserve of free segments, so that publishing never waits: when there are fewer, it
 * takes the oldest segments, copies what is worth keeping, withdraws the rest, waits once for all
 * readers of all these, and frees them. The work for an entry is bounded: of each segment at least
 * a quarter is given up, so what is copied was paid for by what was published.
 */
#ifndef VOLLEY_CACHE_KEEPER_H
#define VOLLEY_CACHE_KEEPER_H

#include "cache/cache.h"

/*
 * 0 when no reader can hold any more what was withdrawn before the call: in userspace and in BPF.
 * Another value: not known; what was withdrawn then stays unused until a later call succeeds.
 */
typedef int cache_grace_fn(void *user);

/* One round: makes the reserve whole if it can. Number of segments freed. Keeper thread only. */
uint32_t cache_keep(struct cache *cache, uint32_t now_s, cache_grace_fn *grace, void *user);

/*
 * Its other work: brings into the filter (dependency_filter.h) what has been published, at leisure,
 * or where somebody waits for that, as after a start, as fast as it can. Returns in how many ms
 * there is more to do, now being now_ns; *next_ns, 0 at first, is when that is at leisure. Keeper
 * thread only.
 */
int cache_keep_filter(struct cache *cache, uint64_t now_ns, uint64_t *next_ns);

/* Waits on the cache's need for room (or timeout_ms), so that a keeper thread can sleep. */
void cache_keeper_wait(struct cache *cache, int timeout_ms);

/* The keeper as a thread of its own. `grace` is called in it, as a QSBR thread that is offline. */
struct cache_keeper;
int cache_keeper_start(struct cache_keeper **out, struct cache *cache, cache_grace_fn *grace,
		       void *user);
void cache_keeper_stop(struct cache_keeper *keeper);

#endif
