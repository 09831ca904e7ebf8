/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells `cache lookup` how the driver answers a query for a name without an entry in the cache.
 *
 *	denial_query_begin() ─► walk over the cache: denial_query_is_denial() ─► denial_query_text()
 */
#ifndef VOLLEY_CENSUS_DENIAL_QUERY_H
#define VOLLEY_CENSUS_DENIAL_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "census/cache_match.h"
#include "shield/name_filter.h"

struct denial_query {
	const struct cache_match *match; /* by name */
	enum names_verdict verdict;
	struct names_walk walk;
	uint32_t id;     /* of the filter; 0: no filter */
	bool has_denial; /* the cache has a denial of the zone */
};

/* names: NULL if there is no filter. *match must live as long as *q. */
void denial_query_begin(struct denial_query *q, const struct names *names,
			const struct cache_match *match);

/*
 * True if the entry is a denial of the zone, or an answer of the wildcard. If the entry is valid,
 * the caller sets q->has_denial. Any thread that may read it.
 */
bool denial_query_is_denial(const struct denial_query *q, const struct volley_entry *e);

/* The folded apex of the zone that denies the name, inside *q->match. NULL: it is not denied. */
const uint8_t *denial_query_apex(const struct denial_query *q, unsigned int *bytes);

/* Writes the sentence, cut to cap. zone_is_denied: the driver may deny names of that zone. */
void denial_query_text(const struct denial_query *q, bool zone_is_denied, char *text, size_t cap);

#endif
