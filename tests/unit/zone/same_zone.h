/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two zones of the same content must answer alike, however each came to be: by all names, types,
 * proofs and properties. For unit tests and a fuzzer: says what differs.
 */
#ifndef VOLLEY_TESTS_ZONE_SAME_ZONE_H
#define VOLLEY_TESTS_ZONE_SAME_ZONE_H

#include <stdio.h>
#include <string.h>

#include "dns/name.h"
#include "dns/proto.h"
#include "zone/denial.h"
#include "zone/diff.h"
#include "zone/zone_walk.h"
#include "zone/zone.h"

struct same {
	const struct zone *a, *b;
	/* of what is not there below a name, one is asked for, unless a chain orders them */
	bool is_brief;
	bool proofs; /* the chain is closed, or there is none */
	char why[2 * NAME_TEXT_MAX];
};

static inline bool same_fail(struct same *s, const char *what, const uint8_t *name, unsigned type)
{
	char text[NAME_TEXT_MAX] = "";

	if (name)
		name_to_text(text, sizeof(text), name);
	snprintf(s->why, sizeof(s->why), "%s: %s %u", what, text, type);
	return false;
}

static inline bool same_owner(const struct same *s, const struct zone_node *a,
			      const struct zone_node *b)
{
	uint8_t owner_a[256], owner_b[256];
	unsigned n;

	if (!a || !b)
		return a == b;
	n = zone_node_owner(s->a, a, owner_a);
	if (zone_node_owner(s->b, b, owner_b) != n)
		return false;
	return !memcmp(owner_a, owner_b, n) || name_equal(owner_a, owner_b);
}

static inline bool same_result(const struct same *s, const struct zone_result *a,
			       const struct zone_result *b)
{
	return a->status == b->status && a->wildcard == b->wildcard &&
	       same_owner(s, a->node, b->node) && same_owner(s, a->cut, b->cut) &&
	       same_owner(s, a->encloser, b->encloser) &&
	       zone_rrset_equal(s->a, a->rrset, s->b, b->rrset);
}

static inline bool same_denial(const struct same *s, const struct zone_denial *a,
			       const struct zone_denial *b)
{
	if (a->n != b->n)
		return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!same_owner(s, a->proof[i].node, b->proof[i].node) ||
		    !zone_rrset_equal(s->a, a->proof[i].rrset, s->b, b->proof[i].rrset))
			return false;
	return true;
}

static inline bool same_address(const struct same *s, const uint8_t *name, unsigned n)
{
	enum zone_place place_a, place_b;
	const struct zone_rrset *a = zone_find_address(s->a, name, n, DNS_TYPE_A, &place_a);
	const struct zone_rrset *b = zone_find_address(s->b, name, n, DNS_TYPE_A, &place_b);

	return place_a == place_b && zone_rrset_equal(s->a, a, s->b, b);
}

#define SAME_TYPES        6u
#define SAME_TYPES_ABSENT 2u /* the first of these, for a name that is not there */

/* @name is folded. */
static inline bool same_answers(struct same *s, const uint8_t *name, unsigned n_types)
{
	static const uint16_t types[SAME_TYPES] = { DNS_TYPE_A,   DNS_TYPE_DS,  DNS_TYPE_NS,
						    DNS_TYPE_TXT, DNS_TYPE_ANY, DNS_TYPE_NSEC };
	unsigned n = (unsigned)name_bytes(name);
	struct zone_denial da, db;
	struct zone_result a, b;

	if (!same_address(s, name, n))
		return same_fail(s, "address", name, 0);
	for (unsigned i = 0; i < n_types; i++) {
		zone_find(s->a, name, n, types[i], &a);
		zone_find(s->b, name, n, types[i], &b);
		if (!same_result(s, &a, &b))
			return same_fail(s, "find", name, types[i]);
		if (!s->proofs)
			continue;
		zone_denial(s->a, name, n, &a, &da);
		zone_denial(s->b, name, n, &b, &db);
		if (!same_denial(s, &da, &db))
			return same_fail(s, "denial", name, types[i]);
	}
	return true;
}

/* Of a name of the zone, and of some below it. */
static inline bool same_around(struct same *s, const uint8_t *owner)
{
	static const char *const labels[] = { "\1!", "\1*", "\1a", "\2aa", "\1c", "\2zz", "\3b\0b" };
	bool is_brief = s->is_brief && !(s->proofs && zone_chain(s->a) != ZONE_CHAIN_NONE);
	size_t n_labels = is_brief ? 1 : sizeof(labels) / sizeof(labels[0]), n = name_bytes(owner);
	uint8_t name[NAME_FOLDED_BYTES];

	name_fold(name, owner, n);
	if (!same_answers(s, name, SAME_TYPES))
		return false;
	for (unsigned i = 0; i < n_labels; i++) {
		size_t label = 1u + (size_t)labels[i][0];

		if (label + n > DNS_NAME_MAX)
			continue;
		memset(name, 0, sizeof(name));
		memcpy(name, labels[i], label);
		memcpy(name + label, owner, n);
		name_fold(name, name, label + n);
		if (!same_answers(s, name, is_brief ? SAME_TYPES_ABSENT : SAME_TYPES))
			return false;
	}
	return true;
}

static inline bool same_node(struct same *s, const struct zone_node *a, const struct zone_node *b)
{
	const struct zone_rrset *rrsets_a, *rrsets_b;
	uint8_t owner[256];
	unsigned n_a, n_b;

	if (!same_owner(s, a, b))
		return same_fail(s, "walk", NULL, 0);
	zone_node_owner(s->a, a, owner);
	if (zone_node_of(s->a, owner) != a)
		return same_fail(s, "not found by its name", owner, 0);
	rrsets_a = zone_node_rrsets(s->a, a, &n_a);
	rrsets_b = zone_node_rrsets(s->b, b, &n_b);
	if (n_a != n_b || zone_node_is_occluded(s->a, a) != zone_node_is_occluded(s->b, b))
		return same_fail(s, "node", owner, 0);
	for (unsigned i = 0; i < n_a; i++)
		if (!zone_rrset_equal(s->a, &rrsets_a[i], s->b, &rrsets_b[i]))
			return same_fail(s, "RRset", owner, rrsets_a[i].type);
	return same_around(s, owner);
}

static inline bool same_properties(struct same *s)
{
	uint8_t digest_a[ZONE_DIGEST_LEN], digest_b[ZONE_DIGEST_LEN];

	zone_digest(s->a, digest_a);
	zone_digest(s->b, digest_b);
	if (memcmp(digest_a, digest_b, sizeof(digest_a)) != 0)
		return same_fail(s, "digest", NULL, 0);
	if (zone_n_names(s->a) != zone_n_names(s->b))
		return same_fail(s, "number of names", NULL, 0);
	if (zone_n_records(s->a) != zone_n_records(s->b))
		return same_fail(s, "number of records", NULL, 0);
	if (zone_serial(s->a) != zone_serial(s->b) ||
	    zone_negative_ttl(s->a) != zone_negative_ttl(s->b) ||
	    zone_is_signed(s->a) != zone_is_signed(s->b) || zone_chain(s->a) != zone_chain(s->b) ||
	    zone_chains_agree(s->a, s->a) != zone_chains_agree(s->b, s->b))
		return same_fail(s, "property", NULL, 0);
	return true;
}

static inline bool same_zones(struct same *s)
{
	const struct zone_node *a, *b;
	struct zone_walk walk_a, walk_b;
	size_t n = 0;

	if (!same_properties(s))
		return false;
	s->proofs = zone_chains_agree(s->a, s->b);
	zone_walk_init(&walk_a, s->a);
	zone_walk_init(&walk_b, s->b);
	do {
		a = zone_walk_next(&walk_a);
		b = zone_walk_next(&walk_b);
		n += a != NULL;
		if (!a != !b || (a && !same_node(s, a, b)))
			return *s->why ? false : same_fail(s, "walk ends", NULL, 0);
	} while (a);
	return n == zone_n_names(s->a) || same_fail(s, "walk is short", NULL, 0);
}

#endif
