/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges the names of two versions in canonical order, or compares the names that the edits between
 * them touched. It also works out what the RRsets do not show: which other names' answers depend on
 * a changed name.
 */
#include "zone/diff.h"

#include <errno.h>
#include <stdlib.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "zone/image.h"
#include "dns/rdata.h"
#include "zone/version.h"
#include "zone/zone_walk.h"

struct side {
	const struct zone *z;
	struct zone_walk walk;
	const struct zone_node *node; /* the next node; NULL at the end */
};

struct walk {
	struct side old, new;
	zone_diff_visit *visit;
	void *context;
};

/* --- Equal or not --- */

static bool records_equal(const struct zone *za, const struct zone_rrset *a, const struct zone *zb,
			  const struct zone_rrset *b)
{
	const uint8_t *at = zone_rrset_first(za, a), *bt = zone_rrset_first(zb, b);
	struct zone_rdata ra, rb;

	for (unsigned i = 0; i < a->n; i++) {
		at = zone_rdata_next(at, &ra);
		bt = zone_rdata_next(bt, &rb);
		if (ra.len != rb.len || (memcmp(ra.bytes, rb.bytes, ra.len) &&
					 rdata_cmp(a->type, ra.bytes, ra.len, rb.bytes, rb.len)))
			return false;
	}
	return true;
}

bool zone_rrset_equal(const struct zone *za, const struct zone_rrset *a, const struct zone *zb,
		      const struct zone_rrset *b)
{
	if (!a || !b)
		return a == b;
	return a->type == b->type && a->n == b->n && a->ttl == b->ttl &&
	       records_equal(za, a, zb, b);
}

/* For queries the name does not exist: RFC 5155 section 7.2.8. */
static bool is_diff_hidden(const struct zone_node *node)
{
	return node->flags & NODE_NSEC3;
}

static bool nodes_equal(const struct walk *w, const struct zone_node *a, const struct zone_node *b)
{
	unsigned n_a, n_b;
	const struct zone_rrset *sets_a = zone_node_rrsets(w->old.z, a, &n_a);
	const struct zone_rrset *sets_b = zone_node_rrsets(w->new.z, b, &n_b);

	if (n_a != n_b || is_diff_hidden(a) != is_diff_hidden(b))
		return false;
	for (unsigned i = 0; i < n_a; i++)
		if (!zone_rrset_equal(w->old.z, &sets_a[i], w->new.z, &sets_b[i]))
			return false;
	return true;
}

/* True if the RRset of @type differs; a new or removed name has it on one side at most. */
static bool differs_diff(const struct walk *w, const struct zone_change *c, uint16_t type)
{
	const struct zone_rrset *a = c->old_node ? zone_node_rrset(w->old.z, c->old_node, type) :
						   NULL;
	const struct zone_rrset *b = c->new_node ? zone_node_rrset(w->new.z, c->new_node, type) :
						   NULL;

	return !zone_rrset_equal(w->old.z, a, w->new.z, b);
}

/* --- Effects on other answers --- */

static void set_below(struct zone_change *c, const uint8_t *from)
{
	c->subtree = true;
	c->below = from;
	c->below_bytes = (unsigned)name_bytes(from);
}

static void classify(const struct walk *w, struct zone_change *c)
{
	bool apex = (c->old_node ? c->old_node->depth : c->new_node->depth) == 0;
	bool came_or_went = c->kind != ZONE_CHANGE_RRSETS ||
			    is_diff_hidden(c->old_node) != is_diff_hidden(c->new_node);
	bool ns = differs_diff(w, c, DNS_TYPE_NS);

	c->negatives = came_or_went || differs_diff(w, c, DNS_TYPE_NSEC) ||
		       differs_diff(w, c, DNS_TYPE_NSEC3) ||
		       (apex && differs_diff(w, c, DNS_TYPE_NSEC3PARAM));
	c->soa = apex && differs_diff(w, c, DNS_TYPE_SOA);
	c->ns = apex && ns;
	if (!apex && c->owner[0] == 1 && c->owner[1] == '*')
		set_below(c, name_parent(c->owner));
	else if (came_or_went || (ns && !apex) || differs_diff(w, c, DNS_TYPE_DS) ||
		 differs_diff(w, c, DNS_TYPE_DNAME))
		set_below(c, c->owner);
}

static int report_diff(struct walk *w, const struct zone_node *old, const struct zone_node *new)
{
	uint8_t owner[256];
	struct zone_change c = {
		.kind = !old ? ZONE_CHANGE_ADDED :
			!new ? ZONE_CHANGE_REMOVED :
			       ZONE_CHANGE_RRSETS,
		.owner = owner,
		.old_node = old,
		.new_node = new,
	};

	c.owner_bytes = old ? zone_node_owner(w->old.z, old, owner) :
			      zone_node_owner(w->new.z, new, owner);
	name_fold(owner, owner, c.owner_bytes);
	classify(w, &c);
	return w->visit(w->context, &c);
}

/* --- The merge --- */

static int cmp_owners(const struct walk *w, const struct zone_node *a, const struct zone_node *b)
{
	uint8_t owner_a[256], owner_b[256];

	zone_node_owner(w->old.z, a, owner_a);
	zone_node_owner(w->new.z, b, owner_b);
	return name_canonical_cmp(owner_a, owner_b);
}

static void step_diff(struct side *s)
{
	s->node = zone_walk_next(&s->walk);
}

/* The next name is only in the old zone (< 0), only in the new one (> 0), or in both (0). */
static int next_diff(const struct walk *w)
{
	if (!w->old.node)
		return 1;
	if (!w->new.node)
		return -1;
	return cmp_owners(w, w->old.node, w->new.node);
}

static int look_diff(struct walk *w, const struct zone_node *a, const struct zone_node *b)
{
	if (a == b || (a && b && nodes_equal(w, a, b)))
		return 0;
	return report_diff(w, a, b);
}

static int look_at_all_diff(struct walk *w)
{
	int rc = 0;

	zone_walk_init(&w->old.walk, w->old.z);
	zone_walk_init(&w->new.walk, w->new.z);
	step_diff(&w->old);
	step_diff(&w->new);
	while (!rc && (w->old.node || w->new.node)) {
		const struct zone_node *a = w->old.node, *b = w->new.node;
		int order = next_diff(w);

		if (order <= 0)
			step_diff(&w->old);
		if (order >= 0)
			step_diff(&w->new);
		rc = look_diff(w, order <= 0 ? a : NULL, order >= 0 ? b : NULL);
	}
	return rc;
}

/* For two versions of one image whose differing names are known. */
static int look_at_changed(struct walk *w, const struct name_list *list)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < list->n; i++)
		rc = look_diff(w, zone_node_of(w->old.z, list->names[i]),
			       zone_node_of(w->new.z, list->names[i]));
	return rc;
}

int zone_diff(const struct zone *old_zone, const struct zone *new_zone, zone_diff_visit *visit,
	      void *context)
{
	struct walk w = { .old.z = old_zone, .new.z = new_zone, .visit = visit, .context = context };
	struct name_list list;
	uint8_t *names;
	size_t n_bytes;
	int rc;

	if (!name_equal(old_zone->apex, new_zone->apex))
		return -EINVAL;
	if (!version_changed(old_zone, new_zone, &names, &n_bytes))
		return look_at_all_diff(&w);
	if (name_list_make(&list, names, n_bytes))
		rc = look_at_all_diff(&w);
	else
		rc = look_at_changed(&w, &list);
	name_list_free(&list);
	free(names);
	return rc;
}
