/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of a walk over the cache, as JSON for the control socket. Units are in the names.
 * Each function that returns an object returns a new reference, or NULL: no memory. Control's
 * thread.
 */
#ifndef VOLLEY_REPORT_CACHE_REPORT_H
#define VOLLEY_REPORT_CACHE_REPORT_H

#include <jansson.h>

#include "census/cache_census.h"
#include "report/report_view.h"

/* Adds hit ratios, and the census with at most `n_zones` zones, to the result of report_cache(). */
void cache_report_census(json_t *o, const struct report_view *v, const struct census *census,
			 size_t n_zones);

/* A copy of a cached answer, with facts that only its place in the cache shows. */
struct cache_found {
	struct volley_entry *entry;
	enum cache_verdict verdict;
	const char *queue; /* static */
};

json_t *cache_report_entry(const struct report_view *v, const struct cache_found *found);

#endif
