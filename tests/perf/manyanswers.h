/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cache with room for four answers about each name of one large zone, z.test, and an engine over
 * both. */
#ifndef VOLLEY_TESTS_PERF_MANYANSWERS_H
#define VOLLEY_TESTS_PERF_MANYANSWERS_H

#include "cache/memory.h"
#include "tests/unit/engine/world.h"

#define MANYANSWERS_BYTES 640ull /* of budget for each: with room to spare */

/* Owns the zone from then on. */
static inline void manyanswers_set_up(struct world *w, struct cache_memory *memory,
				      struct zone *zone, unsigned n_names)
{
	struct engine_config config = ENGINE_CONFIG_INIT;
	struct cache_sizes sizes;
	bool adopted;

	world_load_zone(w, "z.test", NULL);
	w->members[0].zone = zone;
	MUST(!cache_sizes_plan(&sizes, n_names * 4 * MANYANSWERS_BYTES, 1));
	MUST(!cache_memory_anonymous(memory, &sizes));
	MUST(!cache_new(&w->cache, memory, &adopted));
	w->members[0].cache_slot = 1;
	w->members[0].cache_gen = 1;
	cache_zone_commit(w->cache, 1, 1, (const uint64_t[2]){ 1, 1 });
	world_publish(w);
	MUST(!engine_new(&w->engine, &config, w->cache, &w->zones));
}

#endif
