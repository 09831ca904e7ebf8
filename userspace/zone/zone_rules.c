/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks the rules for a zone as a whole on the finished arrays. A rule is here if answers would be
 * wrong or impossible without it. Other faults, such as a name server without an address, are not
 * refused.
 */
#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/builder.h"
#include "zone/building.h"
#include "zone/image.h"
#include "zone/zone_walk.h"

struct check {
	const struct zone_builder *b; /* NULL: an edit, whose records have no line */
	const struct zone *z;
	struct zone_error *err;
};

static int refuse_zone_rule(const struct check *c, const struct zone_node *node,
			    const struct build_origin *at, const char *why)
{
	char text[NAME_TEXT_MAX];
	uint8_t owner[ZONE_NAME_MAX];

	zone_node_owner(c->z, node, owner);
	name_to_text(text, sizeof(text), owner);
	return zone_error_set(c->err, c->b ? builder_file_name(c->b, at->file) : "",
			      c->b ? at->line : 0, "%s: '%.160s'", why, text);
}

static const struct build_origin *origin_of(const struct check *c, const struct zone_rrset *rrset)
{
	static const struct build_origin nowhere;

	return c->b ? &c->b->origins[rrset - c->z->rrsets] : &nowhere;
}

/* Types that may stand beside a CNAME: RFC 4034 section 3 and 4, RFC 2181 section 10.1. */
static bool beside_cname(uint16_t type)
{
	return type == DNS_TYPE_CNAME || type == DNS_TYPE_RRSIG || type == DNS_TYPE_NSEC ||
	       type == DNS_TYPE_KEY;
}

static int check_cname(const struct check *c, const struct zone_node *node)
{
	const struct zone_rrset *cname = zone_node_rrset(c->z, node, DNS_TYPE_CNAME), *rrsets;
	unsigned n;

	if (cname->n > 1)
		return refuse_zone_rule(c, node, origin_of(c, cname),
					"there is more than one CNAME");
	rrsets = zone_node_rrsets(c->z, node, &n);
	for (unsigned i = 0; i < n; i++) {
		const struct build_origin *other = origin_of(c, &rrsets[i]);
		const struct build_origin *own = origin_of(c, cname);

		if (!beside_cname(rrsets[i].type))
			return refuse_zone_rule(c, node, other->number > own->number ? other : own,
						"a CNAME stands beside other data");
	}
	return 0;
}

/* The first name below @node with other records than those of an NSEC3 chain, or NULL. */
static const struct zone_node *name_below(const struct zone *z, const struct zone_node *node)
{
	uint8_t above[ZONE_NAME_MAX], owner[ZONE_NAME_MAX];
	const struct zone_node *at;
	struct zone_walk walk;
	unsigned n;

	zone_node_owner(z, node, above);
	zone_walk_behind(&walk, z, node);
	while ((at = zone_walk_next(&walk)) && at->depth > node->depth) {
		zone_node_rrsets(z, at, &n);
		zone_node_owner(z, at, owner);
		if (!name_is_under(owner, above))
			break;
		if (n && !zone_node_rrset(z, at, DNS_TYPE_NSEC3))
			return at;
	}
	return NULL;
}

/* RFC 6672 sections 2.3 and 2.4. An NSEC3 chain may be below a DNAME at the apex. */
static int check_dname(const struct check *c, const struct zone_node *node, bool is_new)
{
	const struct zone_rrset *dname = zone_node_rrset(c->z, node, DNS_TYPE_DNAME);
	const struct zone_node *below;
	unsigned n;

	if (dname->n > 1)
		return refuse_zone_rule(c, node, origin_of(c, dname),
					"there is more than one DNAME");
	if (node->flags & NODE_CUT)
		return refuse_zone_rule(c, node, origin_of(c, dname),
					"a DNAME stands beside NS below the apex");
	below = is_new ? name_below(c->z, node) : NULL;
	return below ? refuse_zone_rule(c, below, origin_of(c, zone_node_rrsets(c->z, below, &n)),
					"this name is below a DNAME") :
		       0;
}

/* A message cannot count more (RFC 1035 section 4.1.1). Too many octets are only truncated. */
static int check_count(const struct check *c, const struct zone_node *node,
		       const struct zone_rrset *rrset)
{
	const struct build_origin *at = origin_of(c, rrset);

	return at->too_many ?
		       refuse_zone_rule(c, node, at, "the RRset has more than 65535 records") :
		       0;
}

/* @dname_is_new: the names below the DNAME are not checked yet. */
static int check_zone_rule_node(const struct check *c, const struct zone_node *node,
				bool dname_is_new)
{
	unsigned n;
	const struct zone_rrset *rrsets = zone_node_rrsets(c->z, node, &n);
	int rc = 0;

	if (node->flags & NODE_CNAME)
		rc = check_cname(c, node);
	if (!rc && node->flags & NODE_DNAME)
		rc = check_dname(c, node, dname_is_new);
	for (unsigned i = 0; i < n && !rc; i++)
		rc = check_count(c, node, &rrsets[i]);
	return rc;
}

static int check_apex(const struct check *c)
{
	const struct zone_node *apex = c->z->apex_node;
	const char *file = c->b ? builder_file_name(c->b, 0) : "";
	const struct zone_rrset *soa;

	/* A zone without records has no array of RRsets, either. */
	soa = c->z->rrsets ? zone_node_rrset(c->z, apex, DNS_TYPE_SOA) : NULL;
	if (!soa)
		return zone_error_set(c->err, file, 0, "the zone has no SOA record at its apex");
	if (soa->n > 1)
		return refuse_zone_rule(c, apex, origin_of(c, soa),
					"there is a second SOA that differs");
	if (!zone_node_rrset(c->z, apex, DNS_TYPE_NS))
		return zone_error_set(c->err, file, 0, "the zone has no NS record at its apex");
	return 0;
}

int zone_check(const struct zone_builder *b, const struct zone *z, struct zone_error *err)
{
	struct check c = { b, z, err };
	int rc = check_apex(&c);

	for (uint32_t i = 0; i < z->n_nodes && !rc; i++)
		rc = check_zone_rule_node(&c, &z->nodes[i], true);
	return rc;
}

/* Refuses a name with records below a DNAME. */
static int check_above(const struct check *c, const struct zone_node *node)
{
	uint8_t owner[ZONE_NAME_MAX];
	const struct zone_node *above;
	unsigned n;

	zone_node_rrsets(c->z, node, &n);
	if (!n || zone_node_rrset(c->z, node, DNS_TYPE_NSEC3))
		return 0;
	zone_node_owner(c->z, node, owner);
	for (const uint8_t *name = owner; node->depth; node = above) {
		name = name_parent(name);
		above = zone_node_of(c->z, name);
		if (above->flags & NODE_DNAME)
			return refuse_zone_rule(c, zone_node_of(c->z, owner), NULL,
						"this name is below a DNAME");
	}
	return 0;
}

int zone_check_apex(const struct zone *z, struct zone_error *err)
{
	struct check c = { NULL, z, err };

	return check_apex(&c);
}

int zone_check_name(const struct zone *z, const struct zone_node *node, bool dname_is_new,
		    struct zone_error *err)
{
	struct check c = { NULL, z, err };
	int rc = check_zone_rule_node(&c, node, dname_is_new);

	return rc ? rc : check_above(&c, node);
}
