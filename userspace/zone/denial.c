/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each name in a proof is qname, an ancestor of it, or the wildcard below an ancestor. So names are
 * suffixes of qname, found by the depth of a node, and only the wildcard is built.
 */
#include "zone/denial.h"

#include "dns/name.h"
#include "dns/proto.h"
#include "zone/nsec3_chain.h"
#include "zone/overlay.h"
#include "zone/sums.h"

/* The most nodes in a row without an NSEC: empty non-terminals, so at most one for each label. */
#define HOLE_MAX 256

struct proving {
	const struct zone *z;
	const uint8_t *qname;
	unsigned below; /* labels of qname below the apex */
	const struct zone_result *r;
	struct zone_denial *d;
};

static void add_denial(struct proving *p, const struct zone_node *node, uint16_t type)
{
	const struct zone_rrset *rrset = node ? zone_node_rrset(p->z, node, type) : NULL;

	if (!rrset)
		return;
	for (unsigned i = 0; i < p->d->n; i++)
		if (p->d->proof[i].rrset == rrset && p->d->proof[i].node == node)
			return;
	if (p->d->n < ZONE_PROOFS_MAX)
		p->d->proof[p->d->n++] = (struct zone_proof){ node, rrset };
}

/* The suffix of qname that is @depth labels below the apex. */
static const uint8_t *ancestor(const struct proving *p, unsigned depth)
{
	return name_skip_labels(p->qname, p->below - depth);
}

/* Writes the wildcard below the ancestor of qname at @depth to @out; false if it is too long. */
static bool wildcard_name(const struct proving *p, unsigned depth, uint8_t out[static 256])
{
	const uint8_t *above = ancestor(p, depth);
	size_t n = name_bytes(above);

	if (n + 2 > DNS_NAME_MAX)
		return false;
	out[0] = 1;
	out[1] = '*';
	memcpy(out + 2, above, n);
	return true;
}

/* --- NSEC --- */

/*
 * The last node of the image at or before @index that has an NSEC and is unchanged in this version.
 * If a record of a closed chain is removed, the record before it must change and is in the overlay.
 * So no node further back can be the right one.
 */
static const struct zone_node *image_nsec(const struct zone *z, uint32_t index)
{
	for (unsigned i = 0; i < HOLE_MAX; i++) {
		const struct zone_node *node = &z->nodes[index];
		bool has = !(node->flags & NODE_OCCLUDED) &&
			   zone_node_rrset(z, node, DNS_TYPE_NSEC);

		if (has && !overlay_find_index(z, index)) {
			if (!z->tree || !zone_cut_above(z, node))
				return node;
		} else if (has && sums_chains_are_closed(z)) {
			break;
		}
		if (!index)
			break;
		/* Names below a cut have no NSEC: go up to the cut at once. */
		index = node->flags & NODE_OCCLUDED ? node->parent : index - 1;
	}
	return NULL;
}

/* The same for the nodes of the overlay. */
static const struct overlay_node *overlay_nsec(const struct zone *z, const struct overlay_key *from)
{
	const struct overlay_node *o = overlay_before(z, from, OVERLAY_NSEC);

	for (unsigned i = 0; o && i < HOLE_MAX; i++) {
		const struct zone_node *cut = zone_cut_above(z, &o->node);
		struct overlay_key key;

		if (!cut)
			return o;
		key = overlay_key_of(z, cut);
		o = overlay_before(z, &key, OVERLAY_NSEC);
	}
	return NULL;
}

/* The last name with an NSEC at or before a place: RFC 4035 section 3.1.3.2. */
static const struct zone_node *nsec_from(const struct zone *z, const struct overlay_key *from)
{
	const struct zone_node *node = image_nsec(z, from->at - (from->before && !from->is_new));
	const struct overlay_node *o = overlay_nsec(z, from);
	struct overlay_key key;

	if (!node || !o)
		return o ? &o->node : node;
	key = overlay_key_of(z, node);
	return overlay_cmp(&key, o) > 0 ? node : &o->node;
}

const struct zone_node *zone_nsec_before(const struct zone *z, const uint8_t *name)
{
	const struct zone_node *node = zone_node_of(z, name);
	struct overlay_key key = node ? overlay_key_of(z, node) : overlay_key_absent(z, name);

	key.before = true;
	return node == z->apex_node ? NULL : nsec_from(z, &key);
}

static void nsec_match(struct proving *p, const struct zone_node *node)
{
	struct overlay_key key = overlay_key_of(p->z, node);

	add_denial(p, nsec_from(p->z, &key), DNS_TYPE_NSEC);
}

/* Covers a name that does not exist: RFC 4035 section 3.1.3.2. */
static void nsec_cover(struct proving *p, const uint8_t *name)
{
	struct overlay_key key = overlay_key_absent(p->z, name);

	add_denial(p, nsec_from(p->z, &key), DNS_TYPE_NSEC);
}

static void nsec_cover_qname(struct proving *p)
{
	nsec_cover(p, ancestor(p, p->r->encloser->depth + 1u));
}

static void prove_nsec(struct proving *p)
{
	uint8_t wildcard[256];

	switch (p->r->status) {
	case ZONE_NODATA:
		nsec_match(p, p->r->node);
		break;
	case ZONE_NXDOMAIN:
		nsec_cover_qname(p);
		if (wildcard_name(p, p->r->encloser->depth, wildcard))
			nsec_cover(p, wildcard);
		break;
	case ZONE_DELEGATION:
		if (!p->d->n) /* no DS */
			add_denial(p, p->r->cut, DNS_TYPE_NSEC);
		break;
	case ZONE_ANSWER:
	case ZONE_CNAME:
	case ZONE_DNAME:
		break;
	}
	if (p->r->wildcard)
		nsec_cover_qname(p);
}

/* --- NSEC3 --- */

static const struct zone_node *hash_match(const struct proving *p, const uint8_t *name)
{
	struct nsec3_label hash;

	nsec3_hash(p->z->nsec3_params, name, &hash);
	return nsec3_match(p->z, &hash);
}

static void hash_cover(struct proving *p, const uint8_t *name)
{
	struct nsec3_label hash;

	nsec3_hash(p->z->nsec3_params, name, &hash);
	add_denial(p, nsec3_cover(p->z, &hash), DNS_TYPE_NSEC3);
}

/*
 * RFC 5155 section 7.2.1: adds the NSEC3 of the deepest ancestor with one, from @depth up, and the
 * one that covers the name below it. With opt-out, empty non-terminals may have none. Returns the
 * depth of the ancestor.
 */
static unsigned prove_encloser(struct proving *p, unsigned depth)
{
	const struct zone_node *node;

	while (!(node = hash_match(p, ancestor(p, depth))) && depth)
		depth--;
	add_denial(p, node, DNS_TYPE_NSEC3);
	if (depth < p->below)
		hash_cover(p, ancestor(p, depth + 1));
	return depth;
}

/* RFC 5155 sections 7.2.3, 7.2.4 and 7.2.7: the name is the ancestor of qname at @depth. */
static void prove_absent_type(struct proving *p, unsigned depth)
{
	const struct zone_node *node = hash_match(p, ancestor(p, depth));

	if (node)
		add_denial(p, node, DNS_TYPE_NSEC3);
	else if (depth)
		prove_encloser(p, depth - 1);
}

static void prove_absent_name(struct proving *p)
{
	unsigned depth = prove_encloser(p, p->r->encloser->depth);
	uint8_t name[256];

	if (wildcard_name(p, depth, name))
		hash_cover(p, name);
}

/* RFC 5155 section 7.2.5. With opt-out, a wildcard that is an unsigned delegation has no NSEC3. */
static void prove_wildcard_absent_type(struct proving *p)
{
	const struct zone_node *node;
	uint8_t name[256];

	prove_encloser(p, p->r->encloser->depth);
	if (!wildcard_name(p, p->r->encloser->depth, name))
		return;
	node = hash_match(p, name);
	if (node)
		add_denial(p, node, DNS_TYPE_NSEC3);
	else
		hash_cover(p, name);
}

static void prove_nsec3(struct proving *p)
{
	switch (p->r->status) {
	case ZONE_NODATA:
		if (p->r->wildcard)
			prove_wildcard_absent_type(p);
		else
			prove_absent_type(p, p->r->node->depth);
		return;
	case ZONE_NXDOMAIN:
		prove_absent_name(p);
		return;
	case ZONE_DELEGATION:
		if (!p->d->n && !p->r->wildcard) /* no DS */
			prove_absent_type(p, p->r->cut->depth);
		else if (!p->d->n)
			prove_wildcard_absent_type(p);
		break;
	case ZONE_ANSWER:
	case ZONE_CNAME:
	case ZONE_DNAME:
		break;
	}
	if (p->r->wildcard) /* section 7.2.6 */
		hash_cover(p, ancestor(p, p->r->encloser->depth + 1u));
}

void zone_denial(const struct zone *z, const uint8_t *qname, unsigned qname_len,
		 const struct zone_result *r, struct zone_denial *d)
{
	struct proving p = { .z = z, .qname = qname, .r = r, .d = d };

	(void)qname_len;
	d->n = 0;
	if (z->chain == ZONE_CHAIN_NONE)
		return;
	p.below = name_n_labels(qname) - z->apex_labels;
	if (r->status == ZONE_DELEGATION)
		add_denial(&p, r->cut, DNS_TYPE_DS);
	if (z->chain == ZONE_CHAIN_NSEC)
		prove_nsec(&p);
	else
		prove_nsec3(&p);
}
