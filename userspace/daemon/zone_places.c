/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/zone_places.h"

#include <stdbool.h>
#include <stdlib.h>

#include "cache/generations.h"
#include "report/answers.h"
#include "report/top_names.h"

struct zone_places {
	struct background_job job; /* first; the background thread's while is_waiting */
	struct report_source reports;
	struct answer_cache *cache;
	struct background *background;
	uint64_t due_s; /* 0: not known yet */
	bool is_waiting;
	struct zone_load with[VOLLEY_COUNT_ZONES], without[TOP_NAMES_MAX];
	size_t n_with, n_without;
};

/* --- The plan --------------------------------------------------------------------------------- */

static int by_answers(const void *a, const void *b)
{
	double left = ((const struct zone_load *)a)->answers;
	double right = ((const struct zone_load *)b)->answers;

	return (left > right) - (left < right);
}

static int by_answers_down(const void *a, const void *b)
{
	return by_answers(b, a);
}

size_t zone_places_plan(struct zone_load *with, size_t n_with, struct zone_load *without,
			size_t n_without)
{
	size_t n = 0;

	qsort(with, n_with, sizeof(*with), by_answers);
	qsort(without, n_without, sizeof(*without), by_answers_down);
	while (n < n_with && n < n_without && n < ZONE_PLACES_SWAPS &&
	       without[n].answers > ZONE_PLACES_FACTOR * with[n].answers + ZONE_PLACES_LEAST)
		n++;
	return n;
}

/* --- Loads ------------------------------------------------------------------------------------ */

static bool has_zone_place_place(const struct zone_places *p, const struct zones_entry *entry)
{
	return cache_zone_counter(p->cache->cache, entry->published.slot) >=
	       VOLLEY_COUNT_FIRST_ZONE;
}

static void find_with(struct zone_places *p)
{
	const struct report_view *v = report_view_now(&p->reports);
	double least, most;

	p->n_with = 0;
	for (size_t i = 0; i < zones_n(v->zones) && p->n_with < VOLLEY_COUNT_ZONES; i++) {
		const struct zones_entry *entry = zones_at(v->zones, i);

		if (!has_zone_place_place(p, entry))
			continue;
		top_names_zone_answers(v->top_names, entry->apex, entry->apex_len, &least, &most);
		p->with[p->n_with++] = (struct zone_load){ entry->published.slot, most };
	}
}

/* For top_names_each_zone(). */
static void add_without(void *user, const uint8_t *apex, unsigned int apex_len, double least)
{
	struct zone_places *p = user;
	const struct zones_entry *entry =
		zones_get_apex(report_view_now(&p->reports)->zones, apex, apex_len);

	if (entry && entry->published.slot && !has_zone_place_place(p, entry) && least > 0 &&
	    p->n_without < TOP_NAMES_MAX)
		p->without[p->n_without++] = (struct zone_load){ entry->published.slot, least };
}

static void find_without(struct zone_places *p)
{
	p->n_without = 0;
	top_names_each_zone(report_view_now(&p->reports)->top_names, add_without, p);
}

/* --- The exchange ----------------------------------------------------------------------------- */

/* Also gives places of removed zones: no thread counts there, and no report reads them. */
static void give_zone_place(struct zone_places *p)
{
	answers_read(report_view_now(&p->reports));
	find_without(p);
	qsort(p->without, p->n_without, sizeof(*p->without), by_answers_down);
	for (size_t i = 0; i < p->n_without && i < ZONE_PLACES_SWAPS; i++)
		if (!cache_zone_counter_give(p->cache->cache, p->without[i].slot))
			return;
}

static void run_grace(struct background_job *job)
{
	const struct zone_places *p = (const struct zone_places *)job;

	/* after an error the places stay free until a later round, when no thread counts in them */
	if (!background_is_cancelled(job))
		(void)answer_cache_grace(p->cache);
}

static void ended_grace(struct background_job *job)
{
	struct zone_places *p = (struct zone_places *)job;

	p->is_waiting = false;
	if (!background_is_cancelled(job))
		give_zone_place(p);
}

static void exchange_zone_place(struct zone_places *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cache_zone_counter_release(p->cache->cache, p->with[i].slot);
	p->is_waiting = true;
	p->job = (struct background_job){ .run = run_grace, .ended = ended_grace };
	background_start(p->background, &p->job);
}

void zone_places_tick(struct zone_places *p, uint64_t now_s)
{
	size_t n;

	if (p->is_waiting || (p->due_s && now_s < p->due_s))
		return;
	p->due_s = now_s + ZONE_PLACES_EVERY_S;
	find_without(p);
	if (!p->n_without)
		return;
	find_with(p);
	n = zone_places_plan(p->with, p->n_with, p->without, p->n_without);
	if (n)
		exchange_zone_place(p, n);
	else
		give_zone_place(p);
}

struct zone_places *zone_places_new(const struct report_source *reports, struct answer_cache *cache,
				    struct background *background)
{
	struct zone_places *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->reports = *reports;
	p->cache = cache;
	p->background = background;
	return p;
}

void zone_places_free(struct zone_places *p)
{
	free(p);
}
