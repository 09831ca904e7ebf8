/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lookup: down from the apex, label by label, until the name ends, a child is missing, or a cut
 * or a DNAME stops the way (RFC 1034 section 4.3.2 with RFC 4592 section 3.3 and RFC 6672 section
 * 3.2).
 */
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/image.h"

struct descent {
	uint8_t label[DNS_LABELS_MAX + 1]; /* offsets in the name of its labels, first to last */
	unsigned left;                     /* labels not matched yet: label[left - 1] is next */
	const struct zone_node *node;      /* the deepest reached */
};

static void descent_init(struct descent *d, const struct zone *z, const uint8_t *name)
{
	unsigned n = 0;

	for (unsigned at = 0; name[at] && n < DNS_LABELS_MAX; at += name[at] + 1u)
		d->label[n++] = (uint8_t)at;
	d->left = n - z->apex_labels;
	d->node = z->nodes;
}

/*
 * The candidates of one bucket, by tag; the scan of all twelve tags is one the compiler makes wide.
 */
static const struct zone_node *bucket_find(const struct zone *z, const struct zone_bucket *bucket,
					   uint8_t tag, uint32_t parent, const uint8_t *label)
{
	for (uint32_t i = 0; i < bucket->n; i++) {
		const struct zone_node *node;

		if (bucket->tag[i] != tag)
			continue;
		node = &z->nodes[bucket->node[i]];
		if (node->parent == parent &&
		    label_equal(z->labels + node->label, node->flags & NODE_UPPERCASE, label))
			return node;
	}
	return NULL;
}

const struct zone_node *zone_child(const struct zone *z, const struct zone_node *parent,
				   const uint8_t *label)
{
	uint32_t index = (uint32_t)(parent - z->nodes);
	uint64_t hash = hash_label(z->seed, index, label + 1, *label);
	uint32_t at = hash_bucket(hash, z->n_buckets);

	/* Ends at the latest at a bucket with room: a quarter of all room is free. */
	for (;;) {
		const struct zone_bucket *bucket = &z->buckets[at];
		const struct zone_node *node = bucket_find(z, bucket, (uint8_t)hash, index, label);

		if (node || bucket->n < BUCKET_NODES)
			return node;
		at = at + 1 == z->n_buckets ? 0 : at + 1;
	}
}

/* One label down; false when the name ends here or there is no such child. */
static bool descend(struct descent *d, const struct zone *z, const uint8_t *name)
{
	const struct zone_node *child;

	if (!d->left)
		return false;
	child = zone_child(z, d->node, name + d->label[d->left - 1]);
	/* The owner of an NSEC3 is not there for queries: RFC 5155 section 7.2.8. */
	if (!child || child->flags & NODE_NSEC3)
		return false;
	d->node = child;
	d->left--;
	return true;
}

static const struct zone_node *wildcard_child(const struct zone *z, const struct zone_node *node)
{
	static const uint8_t star[] = { 1, '*' };

	return node->flags & NODE_WILD ? zone_child(z, node, star) : NULL;
}

static void delegate(const struct zone *z, const struct zone_node *cut, struct zone_result *r)
{
	r->status = ZONE_DELEGATION;
	r->node = cut;
	r->cut = cut;
	r->rrset = zone_node_rrset(z, cut, DNS_TYPE_NS);
}

/* The name, or the wildcard that stands for it, is r->node: what has it of @qtype? */
static void answer_node(const struct zone *z, uint16_t qtype, struct zone_result *r)
{
	const struct zone_node *node = r->node;

	if (node->flags & NODE_CUT && qtype != DNS_TYPE_DS) {
		delegate(z, node, r);
		return;
	}
	if (qtype == DNS_TYPE_ANY) {
		r->status = node[0].rrsets == node[1].rrsets ? ZONE_NODATA : ZONE_ANSWER;
		return;
	}
	r->status = ZONE_ANSWER;
	r->rrset = zone_node_rrset(z, node, qtype);
	if (r->rrset)
		return;
	r->status = ZONE_NODATA;
	/* What may stand beside a CNAME is not looked for behind it. */
	if (node->flags & NODE_CNAME && qtype != DNS_TYPE_RRSIG && qtype != DNS_TYPE_NSEC) {
		r->status = ZONE_CNAME;
		r->rrset = zone_node_rrset(z, node, DNS_TYPE_CNAME);
	}
}

/* Is the node that was reached, with labels still to go, the end of this zone's say? */
static bool stops(const struct zone *z, const struct zone_node *node, struct zone_result *r)
{
	if (node->flags & NODE_CUT) {
		delegate(z, node, r);
		return true;
	}
	if (node->flags & NODE_DNAME) {
		r->status = ZONE_DNAME;
		r->node = node;
		r->rrset = zone_node_rrset(z, node, DNS_TYPE_DNAME);
		return true;
	}
	return false;
}

void zone_find(const struct zone *z, const uint8_t *qname, unsigned qname_len, uint16_t qtype,
	       struct zone_result *r)
{
	struct descent d;
	bool stopped;

	(void)qname_len;
	*r = (struct zone_result){ .status = ZONE_NXDOMAIN };
	descent_init(&d, z, qname);
	do {
		stopped = d.left && stops(z, d.node, r);
	} while (!stopped && descend(&d, z, qname));
	r->encloser = d.node;
	if (stopped)
		return;
	r->wildcard = d.left != 0;
	r->node = d.left ? wildcard_child(z, d.node) : d.node;
	if (r->node)
		answer_node(z, qtype, r);
	else
		r->wildcard = false;
}

const struct zone_rrset *zone_find_address(const struct zone *z, const uint8_t *name,
					   unsigned name_len, uint16_t type, enum zone_place *place)
{
	enum zone_place ignored;
	const struct zone_node *node;
	struct descent d;
	bool below_dname;

	(void)name_len;
	place = place ? place : &ignored;
	*place = ZONE_PLACE_OUTSIDE;
	if (!name_is_under(name, z->apex))
		return NULL;
	descent_init(&d, z, name);
	while (descend(&d, z, name))
		;
	node = d.node;
	*place = node->flags & (NODE_CUT | NODE_OCCLUDED) ? ZONE_PLACE_GLUE : ZONE_PLACE_INSIDE;
	below_dname = d.left && node->flags & NODE_DNAME;
	if (d.left && *place == ZONE_PLACE_INSIDE && !below_dname)
		node = wildcard_child(z, node);
	else if (d.left)
		node = NULL;
	if (node && node->flags & NODE_CUT && d.left)
		return NULL;
	return node ? zone_node_rrset(z, node, type) : NULL;
}
