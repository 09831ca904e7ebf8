/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All names of a zone in canonical order (RFC 4034 section 6.1), whatever version it is: those of
 * the frozen image, with those of the overlay merged in.
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
	const struct zone_node *overlay; /* the next one of the overlay, or NULL */
	uint32_t base;                   /* index of the next one of the image */
};

/* Begins at the apex. The version must live as long as the walk. Pure; any thread. */
void zone_walk_init(struct zone_walk *walk, const struct zone *z);

/* As above, but begins at the first name behind @node in canonical order. O(log changed names). */
void zone_walk_behind(struct zone_walk *walk, const struct zone *z, const struct zone_node *node);

/*
 * The next name, empty non-terminals included; NULL at the end. O(1) for a name of the image,
 * O(log changed names) for one of the overlay.
 */
const struct zone_node *zone_walk_next(struct zone_walk *walk);

/*
 * Shows the owner of each name below @name, folded, to @visit, in order, until that returns other
 * than 0: what it said. @name is folded wire form; where it is no name of the zone nothing is
 * shown, and 0 returned.
 */
typedef int zone_walk_fn(void *user, const uint8_t *owner, unsigned n);
int zone_walk_below(const struct zone *z, const uint8_t *name, zone_walk_fn *visit, void *user);

#endif
