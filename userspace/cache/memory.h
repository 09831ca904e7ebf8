/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for a cache without BPF maps: sockets only, DPDK on a NIC bound to vfio, tests. Private to
 * the process, so what is in it ends with the daemon.
 *
 *   │ store: segments, in huge pages │ store's rest │ index │ state │     │ zones │
 */
#ifndef VOLLEY_CACHE_MEMORY_H
#define VOLLEY_CACHE_MEMORY_H

#include "cache/cache.h"

/*
 * Maps zeroed pages for `sizes` (from cache_sizes_plan). Reserved huge pages are taken for as much
 * of the store as they fill exactly, so the budget holds to the page; where there are none, the
 * kernel is asked for transparent ones. 0 or -ENOMEM. cache_memory_release gives them back.
 */
int cache_memory_anonymous(struct cache_memory *memory, const struct cache_sizes *sizes);

/* The cache over it is freed already. NULL members: nothing happens. */
void cache_memory_release(struct cache_memory *memory);

/*
 * For a cache that takes another's place (copy.h): the zones are those of `shared`. Of two that
 * share them the first that goes is given back by cache_memory_release_beside(), which leaves the
 * zones.
 */
int cache_memory_anonymous_beside(struct cache_memory *memory, const struct cache_sizes *sizes,
				  const struct cache_memory *shared);
void cache_memory_release_beside(struct cache_memory *memory);

#endif
