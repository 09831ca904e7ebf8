/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings that zones share. A million zones have a few templates, so most of them have the same
 * settings: all of struct config_zone but the name and the file.
 *
 *	config_zone of a.test. ──┐                 ┌──► zones_entry of a.test.
 *	config_zone of b.test. ──┼─► pool: one ────┼──► zones_entry of b.test.
 *	config_zone of c.test. ──┘   config_zone   └──► the transfer thread's zones
 *
 * A shared config_zone never changes; its name and its file are NULL. Its references are counted by
 * atomics: any thread may have some. One thread alone, control's, uses the pool.
 */
#ifndef VOLLEY_CONFIG_ZONE_POOL_H
#define VOLLEY_CONFIG_ZONE_POOL_H

#include <stddef.h>

#include "config/config.h"

struct zone_pool;

/* NULL: no memory. */
struct zone_pool *zone_pool_new(void);
/* Shared settings stay as long as others have references to them. NULL is allowed. */
void zone_pool_free(struct zone_pool *pool);

/*
 * A reference to shared settings that are equal to those of *ZONE; the caller gives it back. All
 * members of *ZONE but its name and its file are then zeros. NULL: no memory, and *ZONE is
 * unchanged.
 */
const struct config_zone *zone_pool_share(struct zone_pool *pool, struct config_zone *zone)
	__attribute__((warn_unused_result));

/* Frees the settings to which nothing but the pool has a reference. O(different settings). */
void zone_pool_trim(struct zone_pool *pool);

/* The number of different settings in the pool. */
size_t zone_pool_n(const struct zone_pool *pool);

/*
 * One more reference; the settings are returned. Settings that are in no pool, with n_refs 0, are
 * not counted: their owner keeps them as long as they are used.
 */
const struct config_zone *config_zone_ref(const struct config_zone *settings);
/* Gives a reference back. The last one frees the settings. NULL is allowed. */
void config_zone_unref(const struct config_zone *settings);

#endif
