/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generations: which zone's answers are valid.
 *
 * Each zone has a slot in volley_zones, found by a hash of its apex and kept over restarts. An
 * entry carries its zone's slot and generation; one store of a new generation withdraws all of a
 * zone's answers at once. The digest says what a generation stands for, so that a new daemon that
 * reads the same zone with the same settings keeps its answers.
 *
 * One thread at a time calls these (control); readers need no lock.
 */
#ifndef VOLLEY_CACHE_GENERATIONS_H
#define VOLLEY_CACHE_GENERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"

/*
 * The slot of the zone `apex` (folded wire form), made if it has none. *gen: the generation with
 * which answers of this content may be published: the present one if `digest` is what it stands
 * for, else the next, which becomes valid with cache_zone_commit. *slot 0: the table is full, the
 * zone's answers are not cached. True: it is the present one.
 */
bool cache_zone_prepare(struct cache *cache, const uint8_t *apex, uint32_t apex_bytes,
			const uint64_t digest[2], uint32_t *slot, uint32_t *gen);

/*
 * The place of the slot's zone in struct volley_answers.by_zone, which it has from
 * cache_zone_prepare() to
 * cache_zone_drop(): the first zones have one each, the others share VOLLEY_COUNT_OTHER_ZONE;
 * cache_zone_counter_release() and _give() exchange them. VOLLEY_COUNT_NO_ZONE
 * for slot 0 and a slot without a zone. A place may come to another zone later; its counters go on.
 * Any thread.
 */
uint32_t cache_zone_counter(const struct cache *cache, uint32_t slot);

/*
 * Takes the place of a zone that has one of its own: from now on it counts in
 * VOLLEY_COUNT_OTHER_ZONE. Until a grace period is over, answers that were begun before may be
 * counted in the place. One thread at a time calls these and cache_zone_prepare().
 */
void cache_zone_counter_release(struct cache *cache, uint32_t slot);

/* Gives a zone without a place of its own one that is free. False: there is none, or it has one. */
bool cache_zone_counter_give(struct cache *cache, uint32_t slot);

/* From now on `gen` is the zone's; answers of another are dead. Visible to all at their next
 * read. */
void cache_zone_commit(struct cache *cache, uint32_t slot, uint32_t gen, const uint64_t digest[2]);

/*
 * A change of content within a generation: all answers that could be others are withdrawn one by
 * one, the rest stays valid. Between begin and end the generation stands for no content, so of a
 * daemon that dies in between none of the zone's answers is adopted.
 *
 *      begin ─► the new zone serves ─► grace ─► withdraw (entry_walk.h) ─► grace ─► end
 *
 * The first grace period is for those who have rendered from the old zone and not published yet.
 *
 * begin returns the generation, or 0 where the slot has none that stands for the content `from`:
 * then nothing has begun, and the content changes by cache_zone_prepare() and _commit().
 */
uint32_t cache_zone_begin_change(struct cache *cache, uint32_t slot, const uint64_t from[2]);
void cache_zone_end_change(struct cache *cache, uint32_t slot, const uint64_t to[2]);

/* The zone is gone: its answers are dead and its slot is free for another. */
void cache_zone_drop(struct cache *cache, uint32_t slot);

/* Makes all answers of the slot dead and keeps content and digest; returns the new generation. */
uint32_t cache_zone_flush(struct cache *cache, uint32_t slot);

/*
 * Drops the slots that are not in `keep` (n, in any order): zones that a restart no longer has.
 * 0, or -ENOMEM with nothing dropped.
 */
int cache_zone_drop_others(struct cache *cache, const uint32_t *keep, uint32_t n);

/*
 * From now on it is remembered which slots change in any way: for who works on what the zones are
 * now in another thread. -EBUSY: somebody does already; -ENOMEM. A change is told before it can be
 * seen. has_changed may be asked by any thread, in between.
 */
int cache_zone_watch(struct cache *cache) __attribute__((warn_unused_result));
void cache_zone_watch_end(struct cache *cache);
bool cache_zone_has_changed(const struct cache *cache, uint32_t slot);

#endif
