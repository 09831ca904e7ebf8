/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges by number: each node of the overlay has the number of the node of the image that it
 * follows or replaces.
 */
#include "zone/zone_walk.h"

#include "dns/name.h"
#include "zone/image.h"
#include "zone/overlay.h"

#define FETCH_AHEAD 4 /* names; 2 to 8 are as fast, 16 are slower */

static const struct zone_node *behind(const struct zone *z, const struct overlay_key *key)
{
	const struct overlay_node *o = overlay_behind(z, key);

	return o ? &o->node : NULL;
}

void zone_walk_init(struct zone_walk *walk, const struct zone *z)
{
	const struct overlay_tree *first = z->tree;

	while (first && first->left)
		first = first->left;
	*walk = (struct zone_walk){ .z = z, .overlay = first ? &first->node->node : NULL };
}

void zone_walk_behind(struct zone_walk *walk, const struct zone *z, const struct zone_node *node)
{
	struct overlay_key key = overlay_key_of(z, node);

	*walk = (struct zone_walk){ .z = z, .overlay = behind(z, &key), .base = key.at + 1 };
}

/* Labels and data are in the order in which they were added, so most are not in the cache. */
static void fetch_zone_walk(const struct zone *z, uint32_t at)
{
	const struct zone_node *node = &z->nodes[at + FETCH_AHEAD];

	if (at + FETCH_AHEAD >= z->n_nodes)
		return;
	__builtin_prefetch(z->labels + node->label);
	if (node->rrsets == node[1].rrsets)
		return;
	__builtin_prefetch(zone_rrset_first(z, &z->rrsets[node->rrsets]));
}

const struct zone_node *zone_walk_next(struct zone_walk *walk)
{
	const struct zone *z = walk->z;

	while (walk->overlay) {
		const struct overlay_node *o = overlay_of(walk->overlay);
		struct overlay_key key = overlay_key_of(z, &o->node);

		if (walk->base < o->at || (walk->base == o->at && o->kind == OVERLAY_NEW))
			break;
		walk->overlay = behind(z, &key);
		walk->base = o->at + 1;
		if (o->kind != OVERLAY_GONE)
			return &o->node;
	}
	if (walk->base >= z->n_nodes)
		return NULL;
	fetch_zone_walk(z, walk->base);
	return &z->nodes[walk->base++];
}

int zone_walk_below(const struct zone *z, const uint8_t *name, zone_walk_fn *visit, void *user)
{
	const struct zone_node *node = zone_node_of(z, name);
	uint8_t owner[NAME_FOLDED_BYTES];
	struct zone_walk walk;
	int rc = 0;

	if (!node)
		return 0;
	zone_walk_behind(&walk, z, node);
	while (!rc && (node = zone_walk_next(&walk))) {
		unsigned n = zone_node_owner(z, node, owner);

		name_fold(owner, owner, n);
		if (!name_is_under(owner, name))
			break;
		rc = visit(user, owner, n);
	}
	return rc;
}
