/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the driver answers a query for a name that has no entry in the cache, for `cache lookup`.
 *
 *	control: denial_ask_begin() ─► walk over the cache: denial_ask_is_denial() ─► control: denial_ask_text()
 */
#ifndef VOLLEY_CONTROL_DENIAL_ASK_H
#define VOLLEY_CONTROL_DENIAL_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "cache/cache.h"
#include "control/cache_match.h"
#include "engine/name_filter.h"
#include "zonemgr/zones.h"

struct denial_ask {
	const struct cache_match *match; /* of a name */
	enum names_verdict verdict;
	struct names_walk walk;
	uint32_t id;     /* of the filter; 0: there is none */
	bool has_denial; /* the cache has one of the zone */
};

/* names: NULL where there is no filter. *match lives as long as *ask. */
void denial_ask_begin(struct denial_ask *ask, const struct names *names,
		      const struct cache_match *match);

/* Whether this entry is a denial of the zone; if it is valid, the caller sets ask->has_denial. Any thread that may read it. */
bool denial_ask_is_denial(const struct denial_ask *ask, const struct volley_entry *e);

/* The sentence, cut to cap. */
void denial_ask_text(const struct denial_ask *ask, struct zones *zones, char *text, size_t cap);

#endif
