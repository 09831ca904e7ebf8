/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the chain of a version from the chain of its base and the names that came and went. NSEC3
 * records are linked as NSEC records are, in the order of their owners, which is that of the
 * hashes. But the first NSEC3 may come or go, too, so the order here is circular.
 *
 *      base    a ──► c ──► f ──► m          links: b came, c went, f stays
 *      now     a ──► b ────────► f ──► m    a is no link: it is found in the base, before b and c
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "sign/resign.h"
#include "zone/builder.h"
#include "zone/denial.h"

struct chain {
	struct resign *r;
	const struct resign_link *links;
	size_t n;
	bool nsec3;
	uint8_t last_outside[NAME_FOLDED_BYTES]; /* the last one written; empty: none */
};

/* --- The base --------------------------------------------------------------------------------- */

static uint16_t type_of_resign_chain(const struct chain *c)
{
	return c->nsec3 ? DNS_TYPE_NSEC3 : DNS_TYPE_NSEC;
}

/* The rdata of the proof at a name of the base's chain; empty if there is none. */
static struct zone_rdata base_proof(const struct chain *c, const uint8_t *owner)
{
	const struct zone_node *node = zone_node_of(c->r->base, owner);
	const struct zone_rrset *rrset =
		node ? zone_node_rrset(c->r->base, node, type_of_resign_chain(c)) : NULL;
	struct zone_rdata rd = { 0 };

	if (rrset)
		zone_rdata_next(zone_rrset_first(c->r->base, rrset), &rd);
	return rd;
}

/* If the base's chain is broken here, returns ERR_LIMIT: all has to be signed again. */
static int base_next(const struct chain *c, const uint8_t *owner, uint8_t out[NAME_FOLDED_BYTES])
{
	const struct zone_node *node = zone_node_of(c->r->base, owner);
	struct zone_rdata rd = base_proof(c, owner);
	struct nsec3_label hash;

	if (!rd.len)
		return ERR_LIMIT;
	if (!c->nsec3) {
		name_fold(out, rd.bytes, name_bytes(rd.bytes));
		return 0;
	}
	if (!nsec3_next(c->r->base, node, &hash))
		return ERR_LIMIT;
	sign_nsec3_owner(&hash, c->r->signer.keys->apex, out);
	return 0;
}

/* The hash before this one; before all zeros is the last hash. */
static void step_back(struct nsec3_label *hash)
{
	for (unsigned int i = NSEC3_LABEL_CHARS; i; i--) {
		uint8_t *c = &hash->label[i];

		if (*c != '0') {
			*c = *c == 'a' ? '9' : (uint8_t)(*c - 1);
			return;
		}
		*c = 'v';
	}
}

static const struct zone_node *hash_before(const struct chain *c, const uint8_t *owner)
{
	const struct zone_node *node;
	struct nsec3_label hash;

	memcpy(hash.label, owner, sizeof(hash.label));
	step_back(&hash);
	node = nsec3_match(c->r->base, &hash);
	return node ? node : nsec3_cover(c->r->base, &hash);
}

static int base_before(const struct chain *c, const uint8_t *owner, uint8_t out[NAME_FOLDED_BYTES])
{
	const struct zone_node *node = c->nsec3 ? hash_before(c, owner) :
						  zone_nsec_before(c->r->base, owner);

	if (!node)
		return ERR_LIMIT;
	name_fold(out, out, zone_node_owner(c->r->base, node, out));
	return 0;
}

/* --- The circle ------------------------------------------------------------------------------- */

/* True if @x is after @a and at or before @b in circular order; if @a equals @b, for any @x. */
static bool is_within(const uint8_t *a, const uint8_t *x, const uint8_t *b)
{
	int ax = name_canonical_cmp(a, x), xb = name_canonical_cmp(x, b);

	if (name_canonical_cmp(a, b) < 0)
		return ax < 0 && xb <= 0;
	return ax < 0 || xb <= 0;
}

/* The number of the first link after a name; n: none. */
static size_t first_behind(const struct chain *c, const uint8_t *owner)
{
	size_t lo = 0, hi = c->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (name_canonical_cmp(c->links[mid].owner, owner) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The next name in the new chain. @was: @owner is in the old chain, too. */
static int next_of(const struct chain *c, const uint8_t *owner, bool was,
		   uint8_t out[NAME_FOLDED_BYTES])
{
	size_t at = first_behind(c, owner);
	int rc = was ? 0 : base_before(c, owner, out);

	if (!rc)
		rc = base_next(c, was ? owner : out, out);
	for (size_t i = 0; !rc && i < c->n; i++) {
		const struct resign_link *link = &c->links[(at + i) % c->n];

		if (!is_within(owner, link->owner, out))
			break;
		if (link->is) {
			memset(out, 0, NAME_FOLDED_BYTES);
			memcpy(out, link->owner, name_bytes(link->owner));
			break;
		}
		if (link->was)
			rc = base_next(c, link->owner, out);
	}
	return rc;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static int write_proof(struct chain *c, const uint8_t *owner, const uint8_t *next,
		       const uint8_t *bitmap, size_t n_bitmap)
{
	uint8_t rdata[SIGN_NSEC3_FIXED_MAX + SIGN_NSEC_MAX];
	struct nsec3_label hash;
	struct resign *r = c->r;
	size_t n;
	int rc;

	if (c->nsec3) {
		memcpy(hash.label, next, sizeof(hash.label));
		n = sign_put_nsec3(rdata, r->signer.options, &hash, bitmap, n_bitmap);
	} else {
		n = name_bytes(next);
		memcpy(rdata, next, n);
		memcpy(rdata + n, bitmap, n_bitmap);
		n += n_bitmap;
	}
	sign_list_clear(&r->want);
	rc = sign_list_add(&r->want, rdata, n);
	if (!rc)
		rc = resign_set_rrset(r, owner, type_of_resign_chain(c), zone_negative_ttl(r->base),
				      &r->want);
	return rc ? rc : resign_names_add(&r->sign, owner);
}

static int write_link(struct chain *c, const struct resign_link *link)
{
	uint8_t next[NAME_FOLDED_BYTES];
	int rc;

	if (!link->is) {
		rc = resign_remove_rrset(c->r, link->owner, type_of_resign_chain(c));
		return rc ? rc : resign_names_add(&c->r->sign, link->owner);
	}
	rc = next_of(c, link->owner, link->was, next);
	return rc ? rc : write_proof(c, link->owner, next, link->bitmap, link->n_bitmap);
}

/* A name that is no link keeps its types. */
static int write_outside(struct chain *c, const uint8_t *owner)
{
	uint8_t next[NAME_FOLDED_BYTES];
	struct zone_rdata rd = base_proof(c, owner);
	size_t fixed;
	int rc;

	if (name_equal(c->last_outside, owner))
		return 0;
	memcpy(c->last_outside, owner, name_bytes(owner));
	fixed = c->nsec3 ? 5u + c->r->params.salt_bytes + 1 + NSEC3_HASH_BYTES :
			   name_bytes(rd.bytes);
	rc = next_of(c, owner, true, next);
	return rc ? rc : write_proof(c, owner, next, rd.bytes + fixed, rd.len - fixed);
}

/* If a link came or went, the name before it gets another next name. If that name is no link, its
 * proof is written here. */
static int write_resign_chain_before(struct chain *c, size_t i)
{
	uint8_t before[NAME_FOLDED_BYTES];
	int rc = base_before(c, c->links[i].owner, before);

	for (size_t back = 1; !rc && back < c->n; back++) {
		size_t at = (i + c->n - back) % c->n;
		const struct resign_link *link = &c->links[at];

		if (!name_equal(before, link->owner) &&
		    !is_within(before, link->owner, c->links[i].owner))
			break;
		if (link->is)
			return 0;
		if (link->was)
			return 0; /* this link went, too: its own call writes the name before it */
	}
	return rc ? rc : write_outside(c, before);
}

int resign_chain(struct resign *r, const struct resign_link *links, size_t n)
{
	struct chain c = { .r = r, .links = links, .n = n, .nsec3 = r->signer.options->nsec3 };
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		if (links[i].was || links[i].is)
			rc = write_link(&c, &links[i]);
		if (!rc && links[i].was != links[i].is)
			rc = write_resign_chain_before(&c, i);
	}
	return rc;
}
