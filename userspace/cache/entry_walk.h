/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk over all entries of the cache, for commands (cache lookup, cache flush). It reads the
 * whole index, so the path of a query never calls it.
 */
#ifndef VOLLEY_CACHE_ENTRY_WALK_H
#define VOLLEY_CACHE_ENTRY_WALK_H

#include "cache/cache.h"
#include "cache/keeper.h"

enum walk_step { WALK_ON, WALK_WITHDRAW, WALK_STOP };

typedef enum walk_step walk_visit(void *user, const struct volley_entry *entry);

/*
 * A part of a walk: calls `visit` for every entry at the `n` words of the index from *at on, and
 * withdraws the entry if visit() says so. Returns the number withdrawn, and moves *at past the
 * words. The walk begins with *at = 0 and ends when *at is cache_walk_end(). WALK_STOP sets *at to
 * the end. In a QSBR read section. An entry that is published meanwhile may be missed. An earlier
 * entry that is moved or replaced meanwhile is not missed, but may be shown twice.
 */
uint64_t cache_walk_part(struct cache *cache, size_t *at, size_t n, walk_visit *visit, void *user);
size_t cache_walk_end(const struct cache *cache);

/*
 * The whole walk, for a QSBR thread that is offline. It goes in parts of some 2 ms (with a full
 * cache), each in a read section of its own, so no grace period waits longer than that. Between the
 * parts it yields the CPU to a worker. Ends early if another thread sets *cancel (may be NULL).
 */
uint64_t cache_walk_offline(struct cache *cache, const bool *cancel, walk_visit *visit, void *user);

/* CACHE_HIT for an entry that is valid at now_s, else CACHE_STALE or CACHE_EXPIRED. */
enum cache_verdict cache_entry_verdict(const struct cache *cache, const struct volley_entry *entry,
				       uint32_t now_s);

/* True if an entry that visit() got lies in the main queue. */
bool cache_entry_is_main(const struct cache *cache, const struct volley_entry *entry);

/* The queue of an entry that visit() got: "main" or "probation" (denials too). A static string. */
const char *cache_entry_queue(const struct cache *cache, const struct volley_entry *entry);

/*
 * An entry whose key has this hash, in any view, dead or alive, or NULL. Call it in a QSBR read
 * section; the entry may be read until the end of that section.
 */
const struct volley_entry *cache_entry_by_hash(const struct cache *cache, uint64_t hash);

/*
 * A walk that withdraws entries in parts, then waits until no reader holds any of them. It also
 * works while another cache replaces this one (copy.h), when some readers read the old one and some
 * the new one.
 */

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
