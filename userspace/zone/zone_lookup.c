/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lookup: down from the apex, label by label, to the end of the name, a missing child, a cut or
 * a DNAME (RFC 1034 section 4.3.2 with RFC 4592 section 3.3 and RFC 6672 section 3.2).
 */
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/overlay.h"

struct descent {
	uint8_t label[DNS_LABELS_MAX + 1]; /* offsets of the labels in the name, first to last */
	unsigned left;                     /* labels not matched yet; the next: label[left - 1] */
	bool below_cut;                    /* @node is at or below a cut */
	const struct zone_node *node;      /* the deepest node so far */
};

static void descent_init(struct descent *d, const struct zone *z, const uint8_t *name)
{
	unsigned n = 0;

	for (unsigned at = 0; name[at] && n < DNS_LABELS_MAX; at += name[at] + 1u)
		d->label[n++] = (uint8_t)at;
	d->left = n - z->apex_labels;
	d->below_cut = false;
	d->node = z->apex_node;
}

/* Finds the child in one bucket, by tag; the compiler vectorizes the scan of all twelve tags. */
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

static const struct zone_node *image_child(const struct zone *z, uint64_t hash, uint32_t parent,
					   const uint8_t *label)
{
	uint32_t at = hash_bucket(hash, z->n_buckets);

	/* Ends at a bucket with room at the latest: a quarter of all room is free. */
	for (;;) {
		const struct zone_bucket *bucket = &z->buckets[at];
		const struct zone_node *node = bucket_find(z, bucket, (uint8_t)hash, parent, label);

		if (node || bucket->n < BUCKET_NODES)
			return node;
		at = at + 1 == z->n_buckets ? 0 : at + 1;
	}
}

const struct zone_node *zone_child(const struct zone *z, const struct zone_node *parent,
				   const uint8_t *label)
{
	uint32_t id = node_id(z, parent);
	uint64_t hash = hash_label(z->seed, id, label + 1, *label);

	if (z->trie) {
		const struct overlay_node *o = overlay_find(z, hash, id, label);

		if (o)
			return o->kind == OVERLAY_GONE ? NULL : &o->node;
		if (id >= z->n_nodes)
			return NULL;
	}
	return image_child(z, hash, id, label);
}

/* Goes one label down; false if the name ends here or there is no such child. */
static bool descend(struct descent *d, const struct zone *z, const uint8_t *name)
{
	const struct zone_node *child;

	if (!d->left)
		return false;
	child = zone_child(z, d->node, name + d->label[d->left - 1]);
	/* For queries the owner of an NSEC3 does not exist: RFC 5155 section 7.2.8. */
	if (!child || child->flags & NODE_NSEC3)
		return false;
	d->node = child;
	d->below_cut |= child->flags & NODE_CUT;
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

/* Answers with the RRset of @qtype of r->node, which is qname or the wildcard that matches it. */
static void answer_node(const struct zone *z, uint16_t qtype, struct zone_result *r)
{
	const struct zone_node *node = r->node;

	if (node->flags & NODE_CUT && qtype != DNS_TYPE_DS) {
		delegate(z, node, r);
		return;
	}
	if (qtype == DNS_TYPE_ANY) {
		unsigned n;

		zone_node_rrsets(z, node, &n);
		r->status = n ? ZONE_ANSWER : ZONE_NODATA;
		return;
	}
	r->status = ZONE_ANSWER;
	r->rrset = zone_node_rrset(z, node, qtype);
	if (r->rrset)
		return;
	r->status = ZONE_NODATA;
	/*
	 * RRSIG and NSEC records are beside the CNAME, so the alias is not followed for RRSIG. It
	 * is followed for NSEC if this name has none (NSEC3, or not signed): a denial would not be
	 * valid, since its proof says that there is a CNAME.
	 */
	if (node->flags & NODE_CNAME && qtype != DNS_TYPE_RRSIG) {
		r->status = ZONE_CNAME;
		r->rrset = zone_node_rrset(z, node, DNS_TYPE_CNAME);
	}
}

/* True if labels of qname are left and @node is a cut or has a DNAME, which ends the lookup. */
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

const struct zone_node *zone_node_of(const struct zone *z, const uint8_t *name)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	struct descent d;

	if (!name_is_under(name, z->apex))
		return NULL;
	name_fold(folded, name, name_bytes(name));
	descent_init(&d, z, folded);
	while (d.left) {
		d.node = zone_child(z, d.node, folded + d.label[--d.left]);
		if (!d.node)
			return NULL;
	}
	return d.node;
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
	*place = d.below_cut ? ZONE_PLACE_GLUE : ZONE_PLACE_INSIDE;
	below_dname = d.left && node->flags & NODE_DNAME;
	if (d.left && *place == ZONE_PLACE_INSIDE && !below_dname)
		node = wildcard_child(z, node);
	else if (d.left)
		node = NULL;
	if (node && node->flags & NODE_CUT && d.left)
		return NULL;
	return node ? zone_node_rrset(z, node, type) : NULL;
}

/* --- Places in the image --- */

const struct zone_node *zone_cut_above(const struct zone *z, const struct zone_node *node)
{
	uint8_t owner[NAME_FOLDED_BYTES];
	struct descent d;

	name_fold(owner, owner, zone_node_owner(z, node, owner));
	descent_init(&d, z, owner);
	while (d.left > 1) {
		d.node = zone_child(z, d.node, owner + d.label[--d.left]);
		if (!d.node || d.node->flags & NODE_CUT)
			return d.node;
	}
	return NULL;
}

/* True if the node of the image is before the absent child @label of @encloser. */
static bool is_zone_lookup_before(const struct zone *z, uint32_t index,
				  const struct zone_node *encloser, const uint8_t *label)
{
	const struct zone_node *node = &z->nodes[index];
	const uint8_t *own;
	unsigned n;

	if (node <= encloser)
		return true;
	while (node->depth > encloser->depth + 1)
		node = &z->nodes[node->parent];
	if (&z->nodes[node->parent] != encloser)
		return false; /* after all names below the encloser */
	own = z->labels + node->label;
	n = *own < *label ? *own : *label;
	for (unsigned i = 1; i <= n; i++)
		if (fold(own[i]) != label[i])
			return fold(own[i]) < label[i];
	return *own < *label;
}

uint32_t zone_image_floor(const struct zone *z, const uint8_t *name)
{
	const struct zone_node *node, *next;
	uint32_t lo, hi = z->n_nodes;
	struct descent d;

	descent_init(&d, z, name);
	for (node = z->nodes; d.left; node = next, d.left--) {
		const uint8_t *label = name + d.label[d.left - 1];
		uint32_t index = (uint32_t)(node - z->nodes);

		next = image_child(z, hash_label(z->seed, index, label + 1, *label), index, label);
		if (!next)
			break;
	}
	lo = (uint32_t)(node - z->nodes);
	while (d.left && hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (is_zone_lookup_before(z, mid, node, name + d.label[d.left - 1]))
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static bool is_zone_lookup_below(const struct zone *z, uint32_t index, uint32_t above)
{
	while (z->nodes[index].depth > z->nodes[above].depth)
		index = z->nodes[index].parent;
	return index == above;
}

/* Most nodes have no name below, so the steps double first, then halve. */
uint32_t zone_image_last_below(const struct zone *z, uint32_t index)
{
	uint32_t lo = index, step = 1, hi;

	while (step < z->n_nodes - lo && is_zone_lookup_below(z, lo + step, index)) {
		lo += step;
		step *= 2;
	}
	hi = step < z->n_nodes - lo ? lo + step : z->n_nodes;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (is_zone_lookup_below(z, mid, index))
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}
