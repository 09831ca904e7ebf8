/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes a draft, record by record: the node of the owner is made anew with the changed RRset.
 * Names above it are made as empty non-terminals, and removed with the last name below them.
 */
#include "zone/edit.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "dns/rdata.h"
#include "zone/builder.h"
#include "zone/editing.h"
#include "zone/nsec3_chain.h"

/* The parent of the apex, and of no other node. */
#define NO_PARENT UINT32_MAX

/* The new content of an RRset; n == 0: none. */
struct patch {
	const uint8_t *records; /* each with its length, in canonical order */
	size_t n_bytes;
	uint32_t ttl;
	uint16_t type;
	uint16_t n;
};

/* The new content of a node: the RRsets of @rrsets_of (NULL: none), with one of them patched. */
struct sketch {
	const struct zone_node *rrsets_of;
	const struct patch *patch; /* or NULL */
	uint64_t hash;
	uint32_t id, parent, at;
	uint8_t kind, depth, flags;
	uint8_t owner_bytes;
	uint8_t owner[ZONE_NAME_MAX + 1];
};

/* --- Making nodes --- */

static size_t rrset_bytes(const struct zone *z, const struct zone_rrset *rrset)
{
	const uint8_t *first = zone_rrset_first(z, rrset), *at = first;
	struct zone_rdata rd;

	for (unsigned i = 0; i < rrset->n; i++)
		at = zone_rdata_next(at, &rd);
	return (size_t)(at - first);
}

static const struct zone_rrset *old_rrsets(const struct zone *z, const struct sketch *s,
					   unsigned *n)
{
	*n = 0;
	return s->rrsets_of ? zone_node_rrsets(z, s->rrsets_of, n) : NULL;
}

static size_t measure_edit(const struct zone *z, const struct sketch *s, unsigned *n)
{
	size_t bytes = 0;
	unsigned n_old;
	const struct zone_rrset *old = old_rrsets(z, s, &n_old);

	*n = 0;
	for (unsigned i = 0; i < n_old; i++) {
		if (s->patch && old[i].type == s->patch->type)
			continue;
		bytes += rrset_bytes(z, &old[i]);
		++*n;
	}
	if (s->patch && s->patch->n) {
		bytes += s->patch->n_bytes;
		++*n;
	}
	return bytes;
}

static uint8_t *put_edit_rrset(struct overlay_node *o, unsigned i, const struct zone_rrset *head,
			       const uint8_t *records, size_t n_bytes, uint8_t *to)
{
	o->rrsets[i] = *head;
	o->rrsets[i].rdata = (uint32_t)(to - (uint8_t *)&o->rrsets[i]);
	memcpy(to, records, n_bytes);
	o->node.flags |= zone_type_flag(head->type, o->id == 0);
	if (head->type == DNS_TYPE_NSEC)
		o->has |= OVERLAY_NSEC;
	return to + n_bytes;
}

static void fill_edit(const struct zone *z, const struct sketch *s, struct overlay_node *o)
{
	uint8_t *to = (uint8_t *)(o->rrsets + o->n_rrsets) + s->owner_bytes;
	const struct patch *patch = s->patch && s->patch->n ? s->patch : NULL;
	unsigned n_old, n = 0;
	const struct zone_rrset *old = old_rrsets(z, s, &n_old);

	memcpy(o->rrsets + o->n_rrsets, s->owner, s->owner_bytes);
	for (unsigned i = 0; i <= n_old; i++) {
		if (patch && (i == n_old || old[i].type >= patch->type)) {
			struct zone_rrset head = { 0, patch->ttl, patch->type, patch->n };

			to = put_edit_rrset(o, n++, &head, patch->records, patch->n_bytes, to);
			patch = NULL;
		}
		if (i < n_old && !(s->patch && old[i].type == s->patch->type))
			to = put_edit_rrset(o, n++, &old[i], zone_rrset_first(z, &old[i]),
					    rrset_bytes(z, &old[i]), to);
	}
}

/* True if the node has only NSEC3 and is no name of the zone: see NODE_NSEC3. */
static bool is_edit_hidden(const struct zone *z, const struct overlay_node *o)
{
	bool nsec3 = false;

	for (unsigned i = 0; i < o->n_rrsets; i++) {
		if (o->rrsets[i].type != DNS_TYPE_NSEC3 && o->rrsets[i].type != DNS_TYPE_RRSIG)
			return false;
		nsec3 |= o->rrsets[i].type == DNS_TYPE_NSEC3;
	}
	return nsec3 && o->node.depth == 1 && !overlay_has_below(z, &o->node);
}

static int note_edit(struct zone_edit *e, const uint8_t *owner, unsigned n)
{
	uint8_t folded[NAME_FOLDED_BYTES];

	name_fold(folded, owner, n);
	return version_note(e->overlay.z, folded, n);
}

/* Counts octets that are copied. ERR_LIMIT: these are more than the edit may copy. */
static int charge(struct zone_edit *e, size_t n_bytes)
{
	e->n_copied += n_bytes;
	return e->n_copied > e->copied_max ? ERR_LIMIT : 0;
}

/* Puts the node into the draft. The old node may be freed: its pointers are no longer valid. */
static int put_edit(struct zone_edit *e, const struct sketch *s)
{
	struct zone *z = e->overlay.z;
	unsigned n;
	size_t bytes = measure_edit(z, s, &n);
	struct overlay_node *o;
	int rc = charge(e, bytes);

	if (!rc)
		rc = note_edit(e, s->owner, s->owner_bytes);
	if (rc)
		return rc;
	o = overlay_alloc(&e->overlay,
			  sizeof(*o) + n * sizeof(o->rrsets[0]) + s->owner_bytes + bytes);
	if (!o)
		return -ENOMEM;
	o->hash = s->hash;
	o->id = s->id;
	o->at = s->at;
	o->kind = s->kind;
	o->owner_bytes = s->owner_bytes;
	o->n_rrsets = (uint16_t)n;
	o->node.parent = s->parent;
	o->node.depth = s->depth;
	o->node.flags = NODE_OVERLAY | (s->flags & (NODE_WILD | NODE_UPPERCASE));
	fill_edit(z, s, o);
	if (z->chain == ZONE_CHAIN_NSEC3 && nsec3_in_chain(z, &o->node))
		o->has |= OVERLAY_NSEC3;
	if (is_edit_hidden(z, o))
		o->node.flags |= NODE_NSEC3;
	rc = overlay_put(&e->overlay, o);
	if (rc)
		overlay_release(&e->overlay, o);
	else if (!o->id)
		z->apex_node = &o->node;
	return rc;
}

/* --- Sketches --- */

static uint64_t hash_of_edit(const struct zone *z, uint32_t parent, const uint8_t *label)
{
	uint8_t folded[DNS_LABEL_MAX + 9];

	name_fold(folded, label, 1u + *label);
	return hash_label(z->seed, parent, folded + 1, *folded);
}

static void sketch_over(struct sketch *s, const struct overlay_node *o)
{
	s->hash = o->hash;
	s->id = o->id;
	s->at = o->at;
	s->kind = o->kind == OVERLAY_NEW ? OVERLAY_NEW : OVERLAY_REPLACED;
	s->parent = o->node.parent;
	s->depth = o->node.depth;
	s->flags = o->node.flags;
	s->owner_bytes = o->owner_bytes;
	memcpy(s->owner, overlay_owner(o), o->owner_bytes);
}

/* Makes a sketch of the node as it is. */
static void sketch_node(const struct zone *z, const struct zone_node *node, struct sketch *s)
{
	*s = (struct sketch){ .rrsets_of = node };
	if (node->flags & NODE_OVERLAY) {
		sketch_over(s, overlay_of(node));
		return;
	}
	s->id = node_id(z, node);
	s->at = s->id;
	s->kind = OVERLAY_REPLACED;
	s->parent = s->id ? node->parent : NO_PARENT;
	s->depth = node->depth;
	s->flags = node->flags;
	s->owner_bytes = (uint8_t)zone_node_owner(z, node, s->owner);
	s->hash = s->id ? hash_of_edit(z, s->parent, s->owner) : z->seed;
}

/* Makes a sketch of a child that never existed or is gone. */
static void sketch_child(struct zone *z, const struct zone_node *parent, const uint8_t *label,
			 struct sketch *s)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	const struct overlay_node *gone;
	unsigned n = 1u + *label;

	*s = (struct sketch){ .kind = OVERLAY_NEW, .parent = node_id(z, parent) };
	s->depth = (uint8_t)(parent->depth + 1);
	memcpy(s->owner, label, n);
	s->owner_bytes = (uint8_t)(n + zone_node_owner(z, parent, s->owner + n));
	name_fold(folded, s->owner, s->owner_bytes);
	s->flags = memcmp(folded, s->owner, n) ? NODE_UPPERCASE : 0;
	s->hash = hash_label(z->seed, s->parent, folded + 1, *folded);
	gone = overlay_find(z, s->hash, s->parent, folded);
	if (gone) {
		sketch_over(s, gone);
		return;
	}
	s->id = z->next_id++;
	s->at = zone_image_floor(z, folded);
}

/* --- Names that come and go --- */

static int touch(struct zone_edit *e, const struct zone_node *node, uint8_t flags)
{
	struct sketch s;

	sketch_node(e->overlay.z, node, &s);
	s.flags |= flags;
	return put_edit(e, &s);
}

static int make_child(struct zone_edit *e, const struct zone_node *parent, const uint8_t *label)
{
	bool is_wild = label[0] == 1 && label[1] == '*';
	struct sketch s;
	int rc;

	if (e->overlay.z->next_id >= NO_PARENT - 1)
		return ERR_LIMIT;
	sketch_child(e->overlay.z, parent, label, &s);
	rc = put_edit(e, &s);
	if (!rc && ((is_wild && !(parent->flags & NODE_WILD)) || parent->flags & NODE_NSEC3))
		rc = touch(e, parent, is_wild ? NODE_WILD : 0);
	return rc;
}

/* Finds the node of @owner, or makes it and all nodes above it. */
static int get_node(struct zone_edit *e, const uint8_t *owner, const struct zone_node **out)
{
	const struct zone *z = e->overlay.z;
	unsigned below = name_n_labels(owner) - z->apex_labels;

	*out = z->apex_node;
	while (below--) {
		const uint8_t *label = name_skip_labels(owner, below);
		uint8_t folded[DNS_LABEL_MAX + 9];
		const struct zone_node *child;
		int rc = 0;

		name_fold(folded, label, 1u + *label);
		child = zone_child(z, *out, folded);
		if (!child)
			rc = make_child(e, *out, label);
		if (rc)
			return rc;
		*out = child ? child : zone_node_of(z, label);
	}
	return 0;
}

static bool is_edit_empty(const struct zone *z, const struct zone_node *node)
{
	unsigned n;

	zone_node_rrsets(z, node, &n);
	return !n && node != z->apex_node && !overlay_has_below(z, node);
}

static int take_out_edit(struct zone_edit *e, const struct zone_node *node, const uint8_t *owner)
{
	struct sketch s;
	int rc;

	if (node_id(e->overlay.z, node) < e->overlay.z->n_nodes) {
		sketch_node(e->overlay.z, node, &s);
		s.rrsets_of = NULL;
		s.kind = OVERLAY_GONE;
		return put_edit(e, &s);
	}
	rc = note_edit(e, owner, (unsigned)name_bytes(owner));
	return rc ? rc : overlay_remove(&e->overlay, overlay_of(node));
}

/* Removes the name if it has no records and no name below it, then likewise the names above it. */
static int tidy(struct zone_edit *e, const uint8_t *name)
{
	const struct zone *z = e->overlay.z;
	const struct zone_node *node = zone_node_of(z, name);
	bool went = false;
	int rc = 0;

	for (; !rc && is_edit_empty(z, node); node = zone_node_of(z, name)) {
		rc = take_out_edit(e, node, name);
		name = name_parent(name);
		went = true;
	}
	/* The last name below an owner of an NSEC3 is removed: the owner may be hidden again. */
	if (!rc && went && zone_node_rrset(z, node, DNS_TYPE_NSEC3))
		rc = touch(e, node, 0);
	return rc;
}

/* --- RRsets --- */

static int records_reserve(struct zone_edit *e, size_t n)
{
	uint8_t *records;

	if (n <= e->records_cap)
		return 0;
	records = realloc(e->records, n * 2);
	if (!records)
		return -ENOMEM;
	e->records = records;
	e->records_cap = n * 2;
	return 0;
}

static int compare_edit(uint16_t type, const struct zone_rdata *a, const struct zone_rdata *b)
{
	return rdata_cmp(type, a->bytes, a->len, b->bytes, b->len);
}

/* The octets of the records, each with its length. */
static size_t sum_edit_bytes(const struct zone_rdata *rds, unsigned n)
{
	size_t bytes = 0;

	while (n--)
		bytes += 2u + rds[n].len;
	return bytes;
}

static uint8_t *put_edit_record(uint8_t *to, const struct zone_rdata *rd)
{
	wire_store_be16(to, rd->len);
	if (rd->len)
		memcpy(to + 2, rd->bytes, rd->len);
	return to + 2 + rd->len;
}

/*
 * Writes the records of @rrset (NULL: none) to @e->records and *@patch, with @add merged with the
 * @n of @rds, otherwise without these. @rds is in canonical order. *@n_found of them were in
 * @rrset; with @add, these stay as they were. Returns the number of records, or -ENOMEM.
 */
static int merge_edit(struct zone_edit *e, const struct zone_rrset *rrset,
		      const struct zone_rdata *rds, unsigned n, bool add, struct patch *patch,
		      unsigned *n_found)
{
	const struct zone *z = e->overlay.z;
	const uint8_t *at = rrset ? zone_rrset_first(z, rrset) : NULL;
	unsigned n_old = rrset ? rrset->n : 0, k = 0;
	uint8_t *to;

	*n_found = 0;
	if (records_reserve(e, (rrset ? rrset_bytes(z, rrset) : 0) +
				       (add ? sum_edit_bytes(rds, n) : 0)))
		return -ENOMEM;
	to = e->records;
	for (unsigned i = 0; i < n_old; i++) {
		struct zone_rdata own;
		int order = 1;

		at = zone_rdata_next(at, &own);
		for (; k < n && (order = compare_edit(patch->type, &rds[k], &own)) < 0; k++)
			to = add ? put_edit_record(to, &rds[k]) : to;
		if (add || order)
			to = put_edit_record(to, &own);
		k += !order;
		*n_found += !order;
	}
	for (; add && k < n; k++)
		to = put_edit_record(to, &rds[k]);
	patch->records = e->records;
	patch->n_bytes = (size_t)(to - e->records);
	return (int)(add ? n_old + n - *n_found : n_old - *n_found);
}

/* The lowest original TTL (RFC 4034 section 3.1.4) of a set of signatures. */
static uint32_t original_ttl(const struct patch *patch)
{
	const uint8_t *at = patch->records;
	uint32_t lowest = patch->ttl;

	for (unsigned i = 0; i < patch->n; i++) {
		struct zone_rdata rd;
		uint32_t ttl;

		at = zone_rdata_next(at, &rd);
		ttl = rd.len >= 8 ? wire_load_be32(rd.bytes + 4) : lowest;
		if (!i || ttl < lowest)
			lowest = ttl;
	}
	return lowest;
}

static int put_patch(struct zone_edit *e, const struct zone_node *node, const struct patch *patch)
{
	struct sketch s;

	sketch_node(e->overlay.z, node, &s);
	s.patch = patch;
	return put_edit(e, &s);
}

/* After these errors the edit can only be cancelled: the draft may be half changed. */
static int edit_ended(struct zone_edit *e, int rc)
{
	if (rc == -ENOMEM || rc == ERR_LIMIT)
		e->failed = rc;
	return rc;
}

static int add_edit(struct zone_edit *e, const uint8_t *owner, struct patch *patch,
		    const struct zone_rdata *rds, unsigned n)
{
	const struct zone_rrset *rrset;
	const struct zone_node *node;
	unsigned n_found;
	int rc = get_node(e, owner, &node), n_records;

	if (rc)
		return rc;
	rrset = zone_node_rrset(e->overlay.z, node, patch->type);
	n_records = merge_edit(e, rrset, rds, n, true, patch, &n_found);
	if (n_records < 0)
		return n_records;
	if (n_records > UINT16_MAX)
		return ERR_LIMIT;
	patch->n = (uint16_t)n_records;
	/* They are sent with the TTL of the RRset that they cover, not with the caller's. */
	if (patch->type == DNS_TYPE_RRSIG)
		patch->ttl = original_ttl(patch);
	if (n_found && (n > 1 || rrset->ttl == patch->ttl || patch->type == DNS_TYPE_RRSIG))
		return 1;
	return put_patch(e, node, patch);
}

int edit_add_all(struct zone_edit *e, const uint8_t *owner, uint16_t type, uint32_t ttl,
		 const struct zone_rdata *rds, unsigned n)
{
	struct zone_builder_record record = {
		.owner = owner, .owner_bytes = (unsigned)name_bytes(owner), .type = type, .ttl = ttl
	};
	struct patch patch = { .type = type, .ttl = ttl };

	if (e->failed)
		return e->failed;
	for (unsigned i = 0; i < n; i++) {
		record.rdata = rds[i].bytes;
		record.rdata_bytes = rds[i].len;
		if (zone_record_refusal(e->overlay.z->apex, &record))
			return ERR_ZONE;
		if (i && !compare_edit(type, &rds[i - 1], &rds[i]))
			return 1;
	}
	return edit_ended(e, add_edit(e, owner, &patch, rds, n));
}

int zone_edit_add(struct zone_edit *e, const uint8_t *owner, uint16_t type, uint32_t ttl,
		  const uint8_t *rdata, uint16_t rdata_bytes)
{
	const struct zone_rdata rd = { rdata, rdata_bytes };

	return edit_add_all(e, owner, type, ttl, &rd, 1);
}

/* Puts the new RRset; if it is empty, removes names that are now empty. */
static int replace_edit(struct zone_edit *e, const struct zone_node *node, const uint8_t *owner,
			const struct patch *patch)
{
	int rc = put_patch(e, node, patch);

	return edit_ended(e, rc || patch->n ? rc : tidy(e, owner));
}

int edit_remove_all(struct zone_edit *e, const uint8_t *owner, uint16_t type,
		    const struct zone_rdata *rds, unsigned n)
{
	const struct zone_node *node = zone_node_of(e->overlay.z, owner);
	const struct zone_rrset *rrset = node ? zone_node_rrset(e->overlay.z, node, type) : NULL;
	struct patch patch = { .type = type };
	unsigned n_found;
	int n_records;

	if (e->failed)
		return e->failed;
	for (unsigned i = 0; i < n; i++)
		if (!rrset || rdata_check_foreign(type, rds[i].bytes, rds[i].len))
			return ERR_NOT_FOUND;
	patch.ttl = rrset->ttl;
	n_records = merge_edit(e, rrset, rds, n, false, &patch, &n_found);
	if (n_records < 0)
		return edit_ended(e, n_records);
	if (n_found < n)
		return ERR_NOT_FOUND;
	patch.n = (uint16_t)n_records;
	if (type == DNS_TYPE_RRSIG)
		patch.ttl = original_ttl(&patch);
	return replace_edit(e, node, owner, &patch);
}

int zone_edit_remove(struct zone_edit *e, const uint8_t *owner, uint16_t type, const uint8_t *rdata,
		     uint16_t rdata_bytes)
{
	const struct zone_rdata rd = { rdata, rdata_bytes };

	return edit_remove_all(e, owner, type, &rd, 1);
}

int zone_edit_remove_rrset(struct zone_edit *e, const uint8_t *owner, uint16_t type)
{
	const struct zone_node *node = zone_node_of(e->overlay.z, owner);
	const struct patch patch = { .type = type };

	if (e->failed)
		return e->failed;
	if (!node || !zone_node_rrset(e->overlay.z, node, type))
		return ERR_NOT_FOUND;
	return replace_edit(e, node, owner, &patch);
}

int zone_edit_remove_name(struct zone_edit *e, const uint8_t *owner)
{
	const struct zone_node *node = zone_node_of(e->overlay.z, owner);
	struct sketch s;
	unsigned n = 0;
	int rc;

	if (e->failed)
		return e->failed;
	if (node)
		zone_node_rrsets(e->overlay.z, node, &n);
	if (!n)
		return ERR_NOT_FOUND;
	sketch_node(e->overlay.z, node, &s);
	s.rrsets_of = NULL;
	rc = put_edit(e, &s);
	return edit_ended(e, rc ? rc : tidy(e, owner));
}

/* --- Beginning and ending --- */

int zone_edit_begin(struct zone_edit **out, struct zone *base)
{
	struct zone_edit *e = calloc(1, sizeof(*e));

	*out = NULL;
	if (!e)
		return -ENOMEM;
	e->overlay.z = version_draft(base);
	if (!e->overlay.z) {
		free(e);
		return -ENOMEM;
	}
	e->base = zone_ref(base);
	e->copied_max = UINT64_MAX;
	*out = e;
	return 0;
}

void zone_edit_limit(struct zone_edit *e, uint64_t n_bytes)
{
	e->n_copied = 0;
	e->copied_max = n_bytes;
}

const struct zone *zone_edit_view(struct zone_edit *e)
{
	zone_read_apex(e->overlay.z);
	return e->overlay.z;
}

void edit_free(struct zone_edit *e)
{
	zone_unref(e->base);
	free(e->overlay.garbage);
	free(e->records);
	free(e->rds);
	free(e);
}

void zone_edit_cancel(struct zone_edit *e)
{
	if (!e)
		return;
	version_give_up(e->overlay.z);
	edit_free(e);
}
