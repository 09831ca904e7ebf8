/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names are collected as zone_diff() reports them, and put into the table when their number is
 * known. The table uses open addressing. The hash of a name is built up from the apex, so one pass
 * over a name finds all of its ancestors.
 */
#include "invalidate/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "zone/denial.h"
#include "zone/diff.h"

enum {
	NAME_RRSETS = 0x01, /* its RRsets changed: see types */
	NAME_BELOW = 0x02,
	NAME_WILD = 0x04, /* the wildcard below it changed */
};

struct changed_name {
	uint32_t hash;
	uint32_t name; /* offset in names */
	uint32_t types;
	uint16_t n_types;
	uint8_t bytes;
	uint8_t flags;
};

struct array {
	void *items;
	size_t n, cap, item_bytes;
};

struct changes {
	const struct zone *old_zone, *new_zone;
	const uint8_t *apex;
	unsigned apex_bytes, apex_labels;
	struct array entries; /* struct changed_name */
	struct array names;   /* octets */
	struct array types;   /* uint16_t */
	uint32_t *slots;      /* index of an entry + 1; 0: empty */
	uint32_t mask;
	size_t n_names, n_names_max;
	bool servers, soa;
	bool keep_soa;
	bool cuts;
};

const char *changes_refusal_text(enum changes_refusal refusal)
{
	static const char *const words[] = { "",
#define CHANGES_WORDS(name, words) words,
					     CHANGES_REFUSALS(CHANGES_WORDS)
#undef CHANGES_WORDS
	};

	return words[refusal];
}

/* --- Collecting ------------------------------------------------------------------------------- */

/* Adds n items at the end. Returns the first, or NULL. */
static void *extend(struct array *a, size_t n)
{
	size_t cap = a->cap ? a->cap : 64;
	void *items;

	while (cap < a->n + n)
		cap *= 2;
	if (cap != a->cap) {
		items = reallocarray(a->items, cap, a->item_bytes);
		if (!items)
			return NULL;
		a->items = items;
		a->cap = cap;
	}
	a->n += n;
	return (uint8_t *)a->items + (a->n - n) * a->item_bytes;
}

static int add_changes_name(struct changes *c, const uint8_t *folded, uint8_t flags, uint32_t types,
			    uint16_t n_types)
{
	uint32_t at = (uint32_t)c->names.n;
	uint8_t bytes = (uint8_t)name_bytes(folded);
	struct changed_name *entry = extend(&c->entries, 1);
	uint8_t *octets = extend(&c->names, bytes);

	if (!entry || !octets)
		return -ENOMEM;
	memcpy(octets, folded, bytes);
	*entry = (struct changed_name){
		.name = at, .types = types, .n_types = n_types, .bytes = bytes, .flags = flags
	};
	return 0;
}

static int add_type(struct changes *c, uint16_t type)
{
	uint16_t *to = extend(&c->types, 1);

	if (!to)
		return -ENOMEM;
	*to = type;
	return 0;
}

/* True if the signatures over this type differ. They are compared one by one, because all RRSIGs of
 * a name are one RRset. */
static bool signatures_differ(const struct changes *c, const struct zone_change *change,
			      uint16_t type)
{
	struct zone_rrsigs a = zone_rrsigs(c->old_zone, change->old_node, type);
	struct zone_rrsigs b = zone_rrsigs(c->new_zone, change->new_node, type);
	struct zone_rdata ra, rb;

	for (;;) {
		bool has_a = zone_rrsigs_next(&a, &ra), has_b = zone_rrsigs_next(&b, &rb);

		if (has_a != has_b)
			return true;
		if (!has_a)
			return false;
		if (ra.len != rb.len || memcmp(ra.bytes, rb.bytes, ra.len) != 0)
			return true;
	}
}

static bool rrset_differs(const struct changes *c, const struct zone_change *change, uint16_t type)
{
	const struct zone_rrset *a = zone_node_rrset(c->old_zone, change->old_node, type);
	const struct zone_rrset *b = zone_node_rrset(c->new_zone, change->new_node, type);

	return !zone_rrset_equal(c->old_zone, a, c->new_zone, b) ||
	       (type != DNS_TYPE_RRSIG && signatures_differ(c, change, type));
}

/* Adds the types of one version that differ; of the new version only those that the old one does
 * not have. */
static int add_types_of(struct changes *c, const struct zone_change *change, bool new_side)
{
	unsigned n;
	const struct zone_rrset *rrsets =
		new_side ? zone_node_rrsets(c->new_zone, change->new_node, &n) :
			   zone_node_rrsets(c->old_zone, change->old_node, &n);
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++) {
		uint16_t type = rrsets[i].type;

		if (new_side && zone_node_rrset(c->old_zone, change->old_node, type))
			continue;
		if (rrset_differs(c, change, type))
			err = add_type(c, type);
	}
	return err;
}

/* Adds a name that is in both versions. */
static int add_rrsets(struct changes *c, const struct zone_change *change, uint8_t flags)
{
	uint32_t first = (uint32_t)c->types.n;
	int err = add_types_of(c, change, false);

	if (!err)
		err = add_types_of(c, change, true);
	return err ? err :
		     add_changes_name(c, change->owner, flags | NAME_RRSETS, first,
				      (uint16_t)(c->types.n - first));
}

/* RFC 1035 section 3.3.13: the serial number is the first of five numbers at the end. */
#define SOA_NUMBERS 20u

static bool soa_is_kept(const struct changes *c)
{
	const struct zone_rrset *a = zone_soa(c->old_zone), *b = zone_soa(c->new_zone);
	struct zone_rdata ra, rb;
	unsigned serial_at;

	zone_rdata_next(zone_rrset_first(c->old_zone, a), &ra);
	zone_rdata_next(zone_rrset_first(c->new_zone, b), &rb);
	if (a->ttl != b->ttl || ra.len != rb.len)
		return false;
	serial_at = ra.len - SOA_NUMBERS;
	return !memcmp(ra.bytes, rb.bytes, serial_at) &&
	       !memcmp(ra.bytes + serial_at + 4, rb.bytes + serial_at + 4, SOA_NUMBERS - 4);
}

static bool has_cut(const struct zone *zone, const struct zone_node *node)
{
	return node && node != zone_apex_node(zone) &&
	       (zone_node_rrset(zone, node, DNS_TYPE_NS) ||
		zone_node_rrset(zone, node, DNS_TYPE_DNAME));
}

static int visit_changes(void *context, const struct zone_change *change)
{
	struct changes *c = context;
	uint8_t flags = change->subtree ? NAME_BELOW : 0;
	int err = 0;

	if (++c->n_names > c->n_names_max)
		return -E2BIG;
	c->cuts |= has_cut(c->old_zone, change->old_node) || has_cut(c->new_zone, change->new_node);
	if (change->subtree && change->below != change->owner)
		err = add_changes_name(c, change->below, NAME_WILD, 0, 0);
	if (err)
		return err;
	if (change->kind != ZONE_CHANGE_RRSETS)
		return add_changes_name(c, change->owner, NAME_BELOW, 0, 0);
	return add_rrsets(c, change, flags);
}

/* --- The table -------------------------------------------------------------------------------- */

/* The hash of a name, from that of its parent and the label with its length octet. */
static uint32_t hash_changes_label(uint32_t above, const uint8_t *label)
{
	uint32_t hash = above;

	for (unsigned i = 0; i <= *label; i++)
		hash = (hash ^ label[i]) * 16777619u; /* FNV-1a */
	return hash;
}

static const uint8_t *octets_of_changes(const struct changes *c, const struct changed_name *entry)
{
	return (const uint8_t *)c->names.items + entry->name;
}

static struct changed_name *find_changes(const struct changes *c, uint32_t hash,
					 const uint8_t *name, size_t bytes)
{
	struct changed_name *entries = c->entries.items;

	for (uint32_t at = hash & c->mask; c->slots[at]; at = (at + 1) & c->mask) {
		struct changed_name *entry = &entries[c->slots[at] - 1];

		if (entry->hash == hash && entry->bytes == bytes &&
		    !memcmp(octets_of_changes(c, entry), name, bytes))
			return entry;
	}
	return NULL;
}

static uint32_t hash_changes_name(const struct changes *c, const uint8_t *name)
{
	unsigned n = name_n_labels(name) - c->apex_labels;
	uint32_t hash = 0;

	while (n--)
		hash = hash_changes_label(hash, name_skip_labels(name, n));
	return hash;
}

static void merge_changes(struct changed_name *to, const struct changed_name *from)
{
	to->flags |= from->flags;
	if (!from->n_types)
		return;
	to->types = from->types;
	to->n_types = from->n_types;
}

/* zone_diff() reports a name once, but it may also have entries as the parent of a wildcard. */
static int make_table(struct changes *c)
{
	struct changed_name *entries = c->entries.items;
	uint32_t cap = 4;

	while (cap < 2 * c->entries.n)
		cap *= 2;
	c->mask = cap - 1;
	c->slots = calloc(cap, sizeof(*c->slots));
	if (!c->slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->entries.n; i++) {
		const uint8_t *name = octets_of_changes(c, &entries[i]);
		uint32_t hash = hash_changes_name(c, name), at = hash & c->mask;
		struct changed_name *same = find_changes(c, hash, name, entries[i].bytes);

		if (same) {
			merge_changes(same, &entries[i]);
			continue;
		}
		while (c->slots[at])
			at = (at + 1) & c->mask;
		entries[i].hash = hash;
		c->slots[at] = i + 1;
	}
	return 0;
}

static size_t limit_of(const struct zone *z)
{
	size_t share = zone_n_names(z) / CHANGES_SHARE;

	if (share > CHANGES_MANY_MAX)
		return CHANGES_MANY_MAX;
	return share > CHANGES_MANY_MIN ? share : CHANGES_MANY_MIN;
}

/* Errors: -E2BIG, -ENOMEM; -EINVAL: the chains do not allow a comparison. */
static int build_changes(struct changes *c)
{
	const struct changed_name *apex;
	int err = zone_diff(c->old_zone, c->new_zone, visit_changes, c);

	if (!err && !zone_chains_agree(c->old_zone, c->new_zone))
		err = -EINVAL;
	if (!err)
		err = make_table(c);
	if (err)
		return err;
	apex = find_changes(c, 0, c->apex, c->apex_bytes);
	c->servers = apex && changed_has(apex, c, DNS_TYPE_NS);
	c->soa = apex && changed_has(apex, c, DNS_TYPE_SOA);
	c->keep_soa = soa_is_kept(c);
	return 0;
}

struct changes *changes_new(const struct zone *old_zone, const struct zone *new_zone,
			    enum changes_refusal *why)
{
	struct changes *c = calloc(1, sizeof(*c));
	int err;

	*why = CHANGES_MEMORY;
	if (!c)
		return NULL;
	*c = (struct changes){
		.old_zone = old_zone,
		.new_zone = new_zone,
		.entries.item_bytes = sizeof(struct changed_name),
		.names.item_bytes = 1,
		.types.item_bytes = sizeof(uint16_t),
		.n_names_max = limit_of(new_zone),
	};
	c->apex = zone_apex(new_zone, &c->apex_bytes);
	c->apex_labels = name_n_labels(c->apex);
	err = build_changes(c);
	if (!err) {
		*why = CHANGES_NO_REFUSAL;
		return c;
	}
	if (err != -ENOMEM)
		*why = err == -E2BIG ? CHANGES_MANY : CHANGES_CHAIN;
	changes_free(c);
	return NULL;
}

void changes_free(struct changes *changes)
{
	if (!changes)
		return;
	free(changes->entries.items);
	free(changes->names.items);
	free(changes->types.items);
	free(changes->slots);
	free(changes);
}

/* --- Asking ----------------------------------------------------------------------------------- */

size_t changes_n_names(const struct changes *changes)
{
	return changes->n_names;
}

bool changes_have_servers(const struct changes *changes)
{
	return changes->servers;
}

bool changes_have_soa(const struct changes *changes)
{
	return changes->soa;
}

bool changes_have_cuts(const struct changes *changes)
{
	return changes->cuts;
}

bool changes_keep_soa(const struct changes *changes)
{
	return changes->keep_soa;
}

bool changes_next(const struct changes *changes, size_t *at, struct changed_entry *entry)
{
	const struct changed_name *names = changes->entries.items, *name;

	if (*at == changes->entries.n)
		return false;
	name = &names[(*at)++];
	*entry = (struct changed_entry){
		.name = octets_of_changes(changes, name),
		.has_rrsets = name->flags & NAME_RRSETS,
		.is_below = name->flags & NAME_BELOW,
		.is_wild = name->flags & NAME_WILD,
		.types = (const uint16_t *)changes->types.items + name->types,
		.n_types = name->n_types,
	};
	return true;
}

bool changed_has(const struct changed_name *name, const struct changes *changes, uint16_t type)
{
	const uint16_t *types = (const uint16_t *)changes->types.items + name->types;

	for (unsigned i = 0; i < name->n_types; i++)
		if (types[i] == type)
			return true;
	return false;
}

/*
 * True if the wildcard below `above` stands for the name in the new zone. If the closest encloser
 * was another in the old zone, a name came or went, and the table has that name.
 */
static bool is_wild_for(const struct changes *c, const uint8_t *folded, const uint8_t *above)
{
	uint8_t encloser[ZONE_NAME_MAX];
	struct zone_result r;

	zone_find(c->new_zone, folded, (unsigned)name_bytes(folded), DNS_TYPE_A, &r);
	return zone_node_owner(c->new_zone, r.encloser, encloser) == name_bytes(above);
}

enum changes_verdict changes_look(const struct changes *changes, const uint8_t *folded,
				  const struct changed_name **name)
{
	uint8_t label[DNS_LABELS_MAX + 1];
	const struct changed_name *self = NULL;
	unsigned n = 0, at = 0;
	uint32_t hash = 0;

	*name = NULL;
	for (; folded[at]; at += 1u + folded[at])
		label[n++] = (uint8_t)at;
	label[n] = (uint8_t)at;
	if (n < changes->apex_labels || at + 1 < changes->apex_bytes)
		return CHANGES_NONE;
	n -= changes->apex_labels;
	if (at + 1u - label[n] != changes->apex_bytes ||
	    memcmp(folded + label[n], changes->apex, changes->apex_bytes) != 0)
		return CHANGES_NONE;
	for (unsigned i = n;; i--) {
		self = find_changes(changes, hash, folded + label[i], at + 1u - label[i]);
		if (self &&
		    (self->flags & NAME_BELOW || (i && self->flags & NAME_WILD &&
						  is_wild_for(changes, folded, folded + label[i]))))
			return CHANGES_BELOW;
		if (!i)
			break;
		hash = hash_changes_label(hash, folded + label[i - 1]);
	}
	if (!self || !(self->flags & NAME_RRSETS))
		return CHANGES_NONE;
	*name = self;
	return CHANGES_SELF;
}
