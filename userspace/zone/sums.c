/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/sums.h"

#include <errno.h>
#include <stdlib.h>

#include "base/siphash.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "dns/rdata.h"
#include "zone/nsec3_chain.h"

/* --- The digest --- */

/* Embedded names are in lower case: RFC 4034 section 6.2. */
static uint8_t *put_sums_rdata(uint8_t *to, uint16_t type, const struct zone_rdata *rd)
{
	struct rdata_span names = rdata_names(type, rd->bytes, rd->len);

	wire_store_be16(to, rd->len);
	to += 2;
	memcpy(to, rd->bytes, rd->len);
	for (unsigned i = names.start; i < names.end; i++)
		to[i] = fold(to[i]);
	return to + rd->len;
}

static const uint8_t keys[2][SIPHASH_KEY_BYTES] = { "zone digest one", "zone digest two" };

static void hash_octets(const uint8_t *from, const uint8_t *to, uint64_t hash[static 2])
{
	for (unsigned i = 0; i < 2; i++)
		hash[i] = siphash24(keys[i], from, (size_t)(to - from));
}

/*
 * Each part has its length, so that two contents never give the same octets. If @scratch is full,
 * the hash of its content replaces it, and the rest follows.
 */
static void hash_rrset(const struct zone *z, const struct zone_rrset *rrset, uint8_t *scratch,
		       unsigned owner_bytes, uint64_t hash[static 2])
{
	const uint8_t *at = zone_rrset_first(z, rrset);
	uint8_t *to = scratch + owner_bytes;
	struct zone_rdata rd;

	wire_store_be16(to, rrset->type);
	wire_store_be16(to + 2, rrset->n);
	wire_store_be32(to + 4, rrset->type == DNS_TYPE_RRSIG ? 0 : rrset->ttl);
	to += 8;
	for (unsigned i = 0; i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		if (to + 2 + rd.len > scratch + SUMS_SCRATCH_BYTES) {
			hash_octets(scratch, to, hash);
			to = scratch + owner_bytes;
			memcpy(to, hash, 2 * sizeof(*hash));
			to += 2 * sizeof(*hash);
		}
		to = put_sums_rdata(to, rrset->type, &rd);
	}
	hash_octets(scratch, to, hash);
}

/* --- The chain --- */

struct link {
	bool is_owner; /* the name has a record of the chain, or should have one */
	bool is_good;  /* it has exactly one, with one next owner */
	bool wraps;    /* the next owner is not greater */
	uint64_t difference;
};

static uint64_t hash_sums_name(const struct zone *z, const uint8_t *folded, size_t n)
{
	return hash_label(z->seed, 0, folded, (unsigned)n);
}

/* @owner is folded. An empty non-terminal has no NSEC: RFC 4035 section 2.3. */
static struct link nsec_link(const struct zone *z, const struct zone_node *node,
			     const uint8_t *owner, unsigned owner_bytes)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_NSEC);
	uint8_t next[NAME_FOLDED_BYTES];
	struct link link = { .is_owner = true };
	struct zone_rdata rd;
	size_t n;

	if (zone_node_is_occluded(z, node))
		return (struct link){ 0 };
	if (!rrset || rrset->n != 1)
		return link;
	zone_rdata_next(zone_rrset_first(z, rrset), &rd);
	n = name_bytes(rd.bytes);
	name_fold(next, rd.bytes, n);
	link.is_good = true;
	link.wraps = name_canonical_cmp(next, owner) <= 0;
	link.difference = hash_sums_name(z, next, n) - hash_sums_name(z, owner, owner_bytes);
	return link;
}

static struct link nsec3_link(const struct zone *z, const struct zone_node *node,
			      const uint8_t *owner)
{
	struct nsec3_label next;
	struct link link = { .is_owner = nsec3_in_chain(z, node) };

	if (!link.is_owner || !nsec3_next(z, node, &next))
		return link;
	link.is_good = true;
	link.wraps = memcmp(next.label, owner, sizeof(next.label)) <= 0;
	link.difference = hash_sums_name(z, next.label, sizeof(next.label)) -
			  hash_sums_name(z, owner, sizeof(next.label));
	return link;
}

static struct link link_of(const struct zone *z, const struct zone_node *node, const uint8_t *owner,
			   unsigned owner_bytes)
{
	switch (z->chain) {
	case ZONE_CHAIN_NSEC:
		return nsec_link(z, node, owner, owner_bytes);
	case ZONE_CHAIN_NSEC3:
		return nsec3_link(z, node, owner);
	case ZONE_CHAIN_NONE:
		break;
	}
	return (struct link){ 0 };
}

bool sums_chain_is_closed(const struct zone *z)
{
	if (z->chain == ZONE_CHAIN_NONE)
		return true;
	return !z->sums.links && !z->sums.n_broken && z->sums.n_wraps == 1;
}

/* --- Names --- */

static struct zone_sums of_node(const struct zone *z, const struct zone_node *node,
				uint8_t *scratch)
{
	struct zone_sums sums = { 0 };
	const struct zone_rrset *rrsets;
	struct link link;
	unsigned n, owner_bytes;

	rrsets = node ? zone_node_rrsets(z, node, &n) : NULL;
	if (!rrsets || !n)
		return sums;
	owner_bytes = zone_node_owner(z, node, scratch);
	name_fold(scratch, scratch, owner_bytes);
	for (unsigned i = 0; i < n; i++) {
		uint64_t hash[2];

		hash_rrset(z, &rrsets[i], scratch, owner_bytes, hash);
		sums.digest[0] += hash[0];
		sums.digest[1] += hash[1];
		sums.n_records += rrsets[i].n;
	}
	link = link_of(z, node, scratch, owner_bytes);
	sums.links = link.difference;
	sums.n_wraps = link.wraps;
	sums.n_broken = link.is_owner && !link.is_good;
	return sums;
}

void sums_add(struct zone_sums *sums, const struct zone *z, const struct zone_node *node,
	      uint8_t *scratch)
{
	struct zone_sums own = of_node(z, node, scratch);

	sums->digest[0] += own.digest[0];
	sums->digest[1] += own.digest[1];
	sums->links += own.links;
	sums->n_wraps += own.n_wraps;
	sums->n_broken += own.n_broken;
	sums->n_records += own.n_records;
}

void sums_subtract(struct zone_sums *sums, const struct zone *z, const struct zone_node *node,
		   uint8_t *scratch)
{
	struct zone_sums own = of_node(z, node, scratch);

	sums->digest[0] -= own.digest[0];
	sums->digest[1] -= own.digest[1];
	sums->links -= own.links;
	sums->n_wraps -= own.n_wraps;
	sums->n_broken -= own.n_broken;
	sums->n_records -= own.n_records;
}

void sums_of_image(struct zone *z)
{
	uint8_t scratch[SUMS_SCRATCH_BYTES]; /* of the heap it would be mapped for each zone */

	z->sums = (struct zone_sums){ 0 };
	for (uint32_t i = 0; i < z->n_nodes; i++)
		sums_add(&z->sums, z, &z->nodes[i], scratch);
	z->image_closed = sums_chain_is_closed(z);
}

void zone_digest(const struct zone *z, uint8_t out[static ZONE_DIGEST_LEN])
{
	for (unsigned i = 0; i < 2; i++) {
		wire_store_be32(out + 8 * i, (uint32_t)(z->sums.digest[i] >> 32));
		wire_store_be32(out + 8 * i + 4, (uint32_t)z->sums.digest[i]);
	}
}
