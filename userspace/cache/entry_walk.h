/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk over all that is in the cache, for what people ask (cache lookup, cache flush). Its cost
 * is that of the whole index, so nothing on the way of a query calls it.
 */
#ifndef VOLLEY_CACHE_ENTRY_WALK_H
#define VOLLEY_CACHE_ENTRY_WALK_H

#include "cache/cache.h"

enum walk_step { WALK_ON, WALK_WITHDRAW, WALK_STOP };

typedef enum walk_step walk_visit(void *user, const struct volley_entry *entry);

/*
 * Shows every entry in the index to `visit` and withdraws those that it says. The number withdrawn.
 * In a QSBR read section. What others publish meanwhile may be missed; what was there before and is
 * moved or replaced meanwhile is not, and is shown once more.
 */
uint64_t cache_walk(struct cache *cache, walk_visit *visit, void *user);

/*
 * A part of such a walk, for who must not stay in one read section for long: shows what is at the
 * `n` words of the index from *at on, and moves *at behind them. 0 is the beginning; at
 * cache_walk_end(), where WALK_STOP leads too, there is no more.
 */
uint64_t cache_walk_part(struct cache *cache, size_t *at, size_t n, walk_visit *visit, void *user);
size_t cache_walk_end(const struct cache *cache);

/*
 * The whole walk from a QSBR thread that is offline: in parts of some 2 ms with a full cache, each
 * in a read section of its own, so no grace period waits longer than that, and a worker on this
 * processor goes first in between. Ends early when others set *cancel (NULL: nobody does).
 */
uint64_t cache_walk_offline(struct cache *cache, const bool *cancel, walk_visit *visit, void *user);

/* CACHE_HIT for an entry that would be an answer now, else CACHE_STALE or CACHE_EXPIRED. */
enum cache_verdict cache_entry_verdict(const struct cache *cache, const struct volley_entry *entry,
				       uint32_t now_s);

/* Whether it lies in the main queue. An entry that was shown. */
bool cache_entry_is_main(const struct cache *cache, const struct volley_entry *entry);

/*
 * The queue in which it lies: "main", or "probation", which is what a denial's segment says as
 * well. Static. An entry that was shown.
 */
const char *cache_entry_queue(const struct cache *cache, const struct volley_entry *entry);

/*
 * An entry whose key has this hash, in whichever view, dead or alive, or NULL. In a QSBR read
 * section, until whose end it may be read.
 */
const struct volley_entry *cache_entry_by_hash(const struct cache *cache, uint64_t hash);

#endif
