/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an image of a version: adds its records, in order, to a builder. The zone was checked
 * before, so it can only fail for want of memory or by a cancel.
 */
#include <errno.h>

#include "base/wire.h"
#include "zone/builder.h"
#include "zone/building.h"
#include "zone/edit.h"
#include "zone/zone_walk.h"

static int add_compact_rrset(struct zone_builder *b, const struct zone *z,
			     const struct zone_rrset *rrset, struct zone_builder_record *r,
			     struct zone_error *err)
{
	const uint8_t *at = zone_rrset_first(z, rrset);
	int rc = 0;

	r->type = rrset->type;
	r->ttl = rrset->ttl;
	for (unsigned i = 0; !rc && i < rrset->n; i++) {
		struct zone_rdata rd;

		at = zone_rdata_next(at, &rd);
		r->rdata = rd.bytes;
		r->rdata_bytes = rd.len;
		rc = zone_builder_add(b, r, err);
	}
	return rc;
}

static int add_compact_node(struct zone_builder *b, const struct zone *z,
			    const struct zone_node *node, struct zone_error *err)
{
	unsigned n;
	const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n);
	uint8_t owner[ZONE_NAME_MAX];
	struct zone_builder_record r = { .owner = owner };
	int rc = 0;

	r.owner_bytes = zone_node_owner(z, node, owner);
	for (unsigned i = 0; !rc && i < n; i++)
		rc = add_compact_rrset(b, z, &rrsets[i], &r, err);
	return rc;
}

static bool is_compact_cancelled(const bool *cancel)
{
	return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED);
}

static int add_all_compact(struct zone_builder *b, const struct zone *z, const bool *cancel,
			   struct zone_error *err)
{
	const struct zone_node *node;
	struct zone_walk walk;
	int rc = 0;

	zone_walk_init(&walk, z);
	while (!rc && (node = zone_walk_next(&walk)))
		rc = is_compact_cancelled(cancel) ? -ECANCELED : add_compact_node(b, z, node, err);
	return rc;
}

int zone_compact(const struct zone *z, const bool *cancel, struct zone **out,
		 struct zone_error *err)
{
	struct zone_builder *b;
	unsigned apex_bytes;
	int rc = zone_builder_new(&b, zone_apex(z, &apex_bytes));

	*err = (struct zone_error){ 0 };
	*out = NULL;
	if (rc)
		return rc;
	b->is_known = true;
	zone_builder_watch(b, cancel);
	rc = add_all_compact(b, z, cancel, err);
	if (!rc)
		rc = zone_builder_finish(b, out, err);
	zone_builder_free(b);
	return rc;
}
