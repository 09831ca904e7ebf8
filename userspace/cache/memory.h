/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for a cache without BPF maps: sockets only, DPDK on a NIC bound to vfio, tests. It is
 * private to the process, so its content ends with the daemon.
 *
 *   │ store: segments, in huge pages │ store's rest │ index │ state │     │ zones │
 */
#ifndef VOLLEY_CACHE_MEMORY_H
#define VOLLEY_CACHE_MEMORY_H

#include "cache/cache.h"

/*
 * Maps zeroed pages for `sizes` (from cache_sizes_plan()). Reserved huge pages hold the part of the
 * store that fills them exactly, so the budget is kept to the page. If there are none, the kernel
 * is asked for transparent ones. 0 or -ENOMEM. cache_memory_release() unmaps the pages.
 */
int cache_memory_anonymous(struct cache_memory *memory, const struct cache_sizes *sizes);

/* The cache over it must have been freed. NULL members are allowed. */
void cache_memory_release(struct cache_memory *memory);

/*
 * For a cache that replaces another one (copy.h): it uses the zones of `shared`. The first of the
 * two to be released must be released by cache_memory_release_beside(), which keeps the zones.
 */
int cache_memory_anonymous_beside(struct cache_memory *memory, const struct cache_sizes *sizes,
				  const struct cache_memory *shared);
void cache_memory_release_beside(struct cache_memory *memory);

#endif
