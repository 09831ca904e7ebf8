/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a catalog in one walk over its zone. The order is canonical, so a member's node comes
 * before its properties.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "xfr/catalog.h"
#include "zone/zone_walk.h"

struct reading {
	struct catalog *catalog;
	const struct zone *z;
	const struct zone_node *node;
	unsigned n_apex_labels;
	bool has_version, has_member;
	/* the member that is being read; points into the arrays below */
	struct catalog_member member;
	uint8_t owner[NAME_FOLDED_BYTES], name[NAME_FOLDED_BYTES], unique[64];
	uint8_t coo[NAME_FOLDED_BYTES], group[UINT8_MAX];
	char *why;
	size_t why_cap;
};

__attribute__((format(printf, 2, 3))) static int broken(struct reading *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->why, r->why_cap, format, args);
	va_end(args);
	return ERR_FORMAT;
}

static int broken_at(struct reading *r, const char *what)
{
	char text[NAME_TEXT_MAX];

	name_to_text(text, sizeof(text), r->owner);
	return broken(r, "%s %s", text, what);
}

/* Gives the first record of a set; false if the set has more than one. */
static bool only_one(const struct reading *r, const struct zone_rrset *set, struct zone_rdata *rd)
{
	zone_rdata_next(zone_rrset_first(r->z, set), rd);
	return set->n == 1;
}

static bool is_label(const uint8_t *name, const char *label)
{
	size_t n = strlen(label);

	return *name == n && !memcmp(name + 1, label, n);
}

/* --- Nodes ------------------------------------------------------------------------------------ */

/* Section 4.2.1. */
static int take_version(struct reading *r)
{
	const struct zone_rrset *set = zone_node_rrset(r->z, r->node, DNS_TYPE_TXT);
	struct zone_rdata rd;

	if (!set)
		return 0;
	if (!only_one(r, set, &rd))
		return broken_at(r, "has more than one record");
	if (rd.len != 2 || memcmp(rd.bytes, "\0012", 2))
		return broken_at(r, "is not \"2\", the only version that Volley knows");
	r->has_version = true;
	return 0;
}

static int end_member(struct reading *r)
{
	bool has_member = r->has_member;

	r->has_member = false;
	return has_member ? catalog_add(r->catalog, &r->member) : 0;
}

/* Section 4.1. The properties of a node without a PTR are ignored. */
static int take_catalog_zone_member(struct reading *r)
{
	const struct zone_rrset *set = zone_node_rrset(r->z, r->node, DNS_TYPE_PTR);
	struct zone_rdata rd;
	int err = end_member(r);

	if (err || !set)
		return err;
	if (!only_one(r, set, &rd))
		return broken_at(r, "has more than one PTR");
	name_fold(r->name, rd.bytes, rd.len);
	memcpy(r->unique, r->owner, 1u + r->owner[0]);
	r->member = (struct catalog_member){ .name = r->name, .unique = r->unique };
	r->has_member = true;
	return 0;
}

/* Section 4.3.1. */
static int take_coo(struct reading *r)
{
	const struct zone_rrset *set = zone_node_rrset(r->z, r->node, DNS_TYPE_PTR);
	struct zone_rdata rd;

	if (!set)
		return 0;
	if (!only_one(r, set, &rd))
		return broken_at(r, "has more than one PTR");
	name_fold(r->coo, rd.bytes, rd.len);
	r->member.coo = r->coo;
	return 0;
}

/* Section 4.3.2. Strings are joined; a value longer than UINT8_MAX octets is ignored. */
static int take_catalog_zone_group(struct reading *r)
{
	const struct zone_rrset *set = zone_node_rrset(r->z, r->node, DNS_TYPE_TXT);
	struct zone_rdata rd;
	size_t n = 0;

	if (!set)
		return 0;
	zone_rdata_next(zone_rrset_first(r->z, set), &rd); /* of several records, the first */
	for (size_t at = 0; at < rd.len; at += 1u + rd.bytes[at]) {
		size_t length = rd.bytes[at];

		if (n + length > sizeof(r->group))
			return 0;
		memcpy(r->group + n, rd.bytes + at + 1, length);
		n += length;
	}
	r->member.group = r->group;
	r->member.group_bytes = (uint8_t)n;
	return 0;
}

static int take_node(struct reading *r)
{
	unsigned n_labels, depth;
	const uint8_t *zones;

	name_fold(r->owner, r->owner, zone_node_owner(r->z, r->node, r->owner));
	n_labels = name_n_labels(r->owner);
	depth = n_labels - r->n_apex_labels;
	if (!depth)
		return 0;
	zones = name_skip_labels(r->owner, depth - 1);
	if (depth == 1 && is_label(zones, "version"))
		return take_version(r);
	if (!is_label(zones, "zones"))
		return 0;
	if (depth == 2)
		return take_catalog_zone_member(r);
	if (depth != 3 || !r->has_member)
		return 0;
	if (is_label(r->owner, "coo"))
		return take_coo(r);
	return is_label(r->owner, "group") ? take_catalog_zone_group(r) : 0;
}

/* --- The whole zone --------------------------------------------------------------------------- */

/* Names the zone that is listed twice. */
static int broken_twice(struct reading *r)
{
	const struct catalog *c = r->catalog;

	for (size_t i = 1; i < c->n; i++)
		if (name_equal(c->members[i - 1].name, c->members[i].name)) {
			memcpy(r->owner, c->members[i].name, name_bytes(c->members[i].name));
			break;
		}
	return broken_at(r, "is listed twice");
}

static int read_all_catalog_zone(struct reading *r)
{
	struct zone_walk walk;
	int err = 0;

	zone_walk_init(&walk, r->z);
	while (!err && (r->node = zone_walk_next(&walk)))
		err = take_node(r);
	if (!err)
		err = end_member(r);
	if (!err && !r->has_version)
		return broken(r, "it has no version");
	if (!err && catalog_sort(r->catalog))
		return broken_twice(r);
	return err;
}

int catalog_read(struct catalog *c, const struct zone *z, char *why, size_t why_cap)
{
	struct reading r = { .catalog = c, .z = z, .why = why, .why_cap = why_cap };
	unsigned apex_bytes;
	int err;

	why[0] = '\0';
	catalog_fini(c);
	r.n_apex_labels = name_n_labels(zone_apex(z, &apex_bytes));
	err = read_all_catalog_zone(&r);
	if (err)
		catalog_fini(c);
	return err;
}
