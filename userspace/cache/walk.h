/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A walk over all that is in the cache, for what people ask (cache lookup, cache flush). Its cost is
 * that of the whole index, so nothing on the way of a query calls it.
 */
#ifndef VOLLEY_CACHE_WALK_H
#define VOLLEY_CACHE_WALK_H

#include "cache/cache.h"

enum walk_step { WALK_ON, WALK_WITHDRAW, WALK_STOP };

typedef enum walk_step walk_visit(void *user, const struct volley_entry *entry);

/*
 * Shows every entry in the index to `visit` and withdraws those that it says. The number withdrawn.
 * In a QSBR read section. What others publish meanwhile may be missed; what was there before and is
 * moved or replaced meanwhile is not, and is shown once more.
 */
uint64_t cache_walk(struct cache *cache, walk_visit *visit, void *user);

#endif
