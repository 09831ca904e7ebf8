/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generations: which answers of each zone are valid.
 *
 * Each zone has a slot in volley_zones, found by a hash of its apex and kept over restarts. An
 * entry carries its zone's slot and generation; one store of a new generation withdraws all of a
 * zone's answers at once. The digest stands for the content and settings of a generation: a new
 * daemon that reads the same zone with the same settings keeps its answers.
 *
 * One thread at a time (control) calls these; readers need no lock.
 */
#ifndef VOLLEY_CACHE_GENERATIONS_H
#define VOLLEY_CACHE_GENERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"

/*
 * Finds or makes the slot of the zone `apex` (folded wire form). *gen is the generation for answers
 * of this content: the present one if `digest` is its digest, else the next one, which becomes
 * valid with cache_zone_commit(). *slot 0: the table is full, the zone's answers are not cached.
 * Returns true if *gen is the present generation.
 */
bool cache_zone_prepare(struct cache *cache, const uint8_t *apex, uint32_t apex_bytes,
			const uint64_t digest[2], uint32_t *slot, uint32_t *gen);

/*
 * The place of the slot's zone in struct volley_answers.by_zone. A zone has a place from
 * cache_zone_prepare() to cache_zone_drop(): the first zones have one of their own each, the others
 * share VOLLEY_COUNT_OTHER_ZONE; cache_zone_counter_release() and _give() exchange them.
 * VOLLEY_COUNT_NO_ZONE for slot 0 and a slot without a zone. Another zone may get the place later;
 * its counters go on. Any thread.
 */
uint32_t cache_zone_counter(const struct cache *cache, uint32_t slot);

/*
 * How often a zone of any cache has been given a slot, or has got or lost a place, modulo 2^32.
 * While this stays the same, the owners of all places stay the same, so a list of them need not be
 * made anew, which takes a look at each zone.
 */
uint32_t cache_zone_counter_changes(void);

/*
 * Takes away the zone's own place: from now on the zone counts in VOLLEY_COUNT_OTHER_ZONE. Until a
 * grace period is over, answers that were begun before may still count in the old place. One thread
 * at a time calls this, cache_zone_counter_give() and cache_zone_prepare().
 */
void cache_zone_counter_release(struct cache *cache, uint32_t slot);

/* Gives the zone a free place of its own. False: no place is free, or the zone has one. */
bool cache_zone_counter_give(struct cache *cache, uint32_t slot);

/* Makes `gen` the zone's generation. Readers see at once that answers of others are dead. */
void cache_zone_commit(struct cache *cache, uint32_t slot, uint32_t gen, const uint64_t digest[2]);

/*
 * A change of content within a generation: all answers that may be affected are withdrawn one by
 * one, the others stay valid. Between begin and end the generation has no digest, so if the daemon
 * dies in between, no answer of the zone is adopted.
 *
 *      begin ─► the new zone serves ─► grace ─► withdraw (entry_walk.h) ─► grace ─► end
 *
 * The first grace period waits for threads that have rendered an answer from the old zone and not
 * published it yet.
 *
 * begin returns the generation, or 0 if the digest of the slot's generation is not `from`: then
 * nothing has begun, and the content must change by cache_zone_prepare() and _commit().
 */
uint32_t cache_zone_begin_change(struct cache *cache, uint32_t slot, const uint64_t from[2]);
void cache_zone_end_change(struct cache *cache, uint32_t slot, const uint64_t to[2]);

/* The zone is gone: its answers are dead and its slot is free for another. */
void cache_zone_drop(struct cache *cache, uint32_t slot);

/* Makes all answers of the slot dead and keeps content and digest; returns the new generation. */
uint32_t cache_zone_flush(struct cache *cache, uint32_t slot);

/*
 * Drops the slots that are not among the n in `keep` (any order): zones that a restart no longer
 * has. 0, or -ENOMEM with nothing dropped.
 */
int cache_zone_drop_others(struct cache *cache, const uint32_t *keep, uint32_t n);

/*
 * From now on every slot that changes in any way is marked, for another thread that works with the
 * present zones. -EBUSY: a watch is under way; -ENOMEM. The mark is set before the change can be
 * seen. During the watch any thread may call has_changed.
 */
int cache_zone_watch(struct cache *cache) __attribute__((warn_unused_result));
void cache_zone_watch_end(struct cache *cache);
bool cache_zone_has_changed(const struct cache *cache, uint32_t slot);

#endif
