/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the zones that have a counter of their own (struct volley_answers.by_zone) if there are
 * more zones than places: the busiest, by the estimates of report/top_names.h.
 *
 *	every ZONE_PLACES_EVERY_S: zones without a place that are far busier than some with one?
 *	     │ yes: the quiet zones count as "other" from now on
 *	     ▼
 *	grace period, in the background: no thread counts in their places any more
 *	     │ all counters are read: the counts in the places belong to the earlier zones
 *	     ▼
 *	the busy zones get the places, and begin at 0
 *
 * So no answer is counted for another zone, or twice. During the grace period the busy zones still
 * count as "other".
 */
#ifndef VOLLEY_DAEMON_ZONE_PLACES_H
#define VOLLEY_DAEMON_ZONE_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/background.h"
#include "daemon/answer_cache.h"
#include "report/report_view.h"

#define ZONE_PLACES_EVERY_S 30u
#define ZONE_PLACES_SWAPS   64u /* in one exchange: each searches the table of zones */
/* A zone must be busier by this factor to get a place, so that places do not alternate. */
#define ZONE_PLACES_FACTOR 2.0
#define ZONE_PLACES_LEAST  16.0 /* and by so many answers: a few questions change nothing */

struct zone_places;

/*
 * A zone's slot in the cache, and its recent answers: an upper bound for a zone with a place, a
 * lower bound for a zone without.
 */
struct zone_load {
	uint32_t slot;
	double answers;
};

/* NULL: no memory. All arguments outlive it. It waits for a grace period in `background`. */
struct zone_places *zone_places_new(const struct report_source *reports, struct answer_cache *cache,
				    struct background *background);
void zone_places_free(struct zone_places *places); /* NULL is allowed; after background_free() */

/* Once a second, after top_names_gather(), while there are workers and zones. Control's thread. */
void zone_places_tick(struct zone_places *places, uint64_t now_s);

/*
 * The number of places to exchange, at most ZONE_PLACES_SWAPS. Sorts `with`, the quietest zone
 * first: the first zones lose their places. Sorts `without`, the busiest zone first.
 */
size_t zone_places_plan(struct zone_load *with, size_t n_with, struct zone_load *without,
			size_t n_without);

#endif
