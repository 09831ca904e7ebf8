/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks all names of any version of a zone in canonical order (RFC 4034 section 6.1): the names of
 * the image, merged with those of the overlay.
 *
 *	zone_walk_init(&walk, z);
 *	while ((node = zone_walk_next(&walk)))
 *		...
 */
#ifndef VOLLEY_ZONE_ZONE_WALK_H
#define VOLLEY_ZONE_ZONE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "zone/zone.h"

struct zone_walk {
	const struct zone *z;
	const struct zone_node *overlay; /* the next node of the overlay, or NULL */
	uint32_t base;                   /* index of the next node of the image */
};

/* Begins at the apex. The version must live as long as the walk. Pure; any thread. */
void zone_walk_init(struct zone_walk *walk, const struct zone *z);

/* As above, but begins at the first name after @node in canonical order. O(log changed names). */
void zone_walk_behind(struct zone_walk *walk, const struct zone *z, const struct zone_node *node);

/*
 * The next name, empty non-terminals included; NULL at the end. O(1) for a name of the image,
 * O(log changed names) for one of the overlay.
 */
const struct zone_node *zone_walk_next(struct zone_walk *walk);

/*
 * Calls @visit with each name below @name, folded, in order, until it returns another value than 0.
 * Returns that value, or 0, also if @name (folded wire) is no name of the zone.
 */
typedef int zone_walk_fn(void *user, const uint8_t *owner, unsigned n);
int zone_walk_below(const struct zone *z, const uint8_t *name, zone_walk_fn *visit, void *user);

#endif
