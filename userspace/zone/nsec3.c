/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/nsec3.h"

/* The calls that need neither a lock nor an allocation per hash: EVP's fetch takes both. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <errno.h>
#include <openssl/sha.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/denial.h"
#include "zone/over.h"
#include "zone/sums.h"

#define ALGORITHM_SHA1 1   /* RFC 5155 section 11: there is no other */
#define STEPS_MAX      256 /* back in a chain with holes */

/* --- Hashes --- */

void nsec3_label_of(const uint8_t hash[NSEC3_HASH_BYTES], struct nsec3_label *out)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	uint8_t *to = out->label;

	*to++ = NSEC3_LABEL_CHARS;
	for (unsigned i = 0; i < NSEC3_HASH_BYTES; i += 5) {
		uint64_t group = (uint64_t)hash[i] << 32 | wire_load_be32(hash + i + 1);

		for (int shift = 35; shift >= 0; shift -= 5)
			*to++ = (uint8_t)digits[group >> shift & 31];
	}
}

void nsec3_hash_octets(const struct nsec3_params *params, const uint8_t *name,
		       uint8_t out[NSEC3_HASH_BYTES])
{
	size_t n = name_bytes(name);
	const uint8_t *text = name;

	for (unsigned i = 0; i <= params->iterations; i++) {
		SHA_CTX sha;

		SHA1_Init(&sha);
		SHA1_Update(&sha, text, n);
		SHA1_Update(&sha, params->salt, params->salt_bytes);
		SHA1_Final(out, &sha);
		text = out;
		n = NSEC3_HASH_BYTES;
	}
}

void nsec3_hash(const struct nsec3_params *params, const uint8_t *name, struct nsec3_label *out)
{
	uint8_t hash[NSEC3_HASH_BYTES];

	nsec3_hash_octets(params, name, hash);
	nsec3_label_of(hash, out);
}

/* --- The parameters --- */

bool nsec3_params_equal(const struct nsec3_params *a, const struct nsec3_params *b)
{
	return a->iterations == b->iterations && a->salt_bytes == b->salt_bytes &&
	       !memcmp(a->salt, b->salt, a->salt_bytes);
}

/* Algorithm, flags, iterations, salt: the head of NSEC3 and the whole of NSEC3PARAM. */
static bool params_read(const struct zone_rdata *rd, struct nsec3_params *params)
{
	if (rd->len < 5 || rd->len < 5u + rd->bytes[4] || rd->bytes[0] != ALGORITHM_SHA1)
		return false;
	params->iterations = wire_load_be16(rd->bytes + 2);
	params->salt_bytes = rd->bytes[4];
	memcpy(params->salt, rd->bytes + 5, rd->bytes[4]);
	return true;
}

static bool params_match(const struct nsec3_params *params, const struct zone_rdata *rd)
{
	return rd->len >= 5 && rd->len >= 5u + rd->bytes[4] && rd->bytes[0] == ALGORITHM_SHA1 &&
	       wire_load_be16(rd->bytes + 2) == params->iterations &&
	       rd->bytes[4] == params->salt_bytes &&
	       !memcmp(rd->bytes + 5, params->salt, params->salt_bytes);
}

static uint8_t label_length(const struct zone *z, const struct zone_node *node)
{
	return *(node->flags & NODE_OVER ? over_owner(over_of(node)) : z->labels + node->label);
}

/* Is there a record of the chain with these parameters at @node? */
static bool in_chain(const struct zone *z, const struct nsec3_params *params,
		     const struct zone_node *node)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_NSEC3);
	struct zone_rdata rd;

	if (!rrset || node->depth != 1 || label_length(z, node) != NSEC3_LABEL_CHARS)
		return false;
	zone_rdata_next(zone_rrset_first(z, rrset), &rd);
	return params_match(params, &rd);
}

bool nsec3_in_chain(const struct zone *z, const struct zone_node *node)
{
	return in_chain(z, &z->nsec3_params, node);
}

/* --- The index --- */

const struct zone_node *nsec3_match(const struct zone *z, const struct nsec3_label *hash)
{
	const struct zone_node *node = zone_child(z, z->apex_node, hash->label);

	return node && nsec3_in_chain(z, node) ? node : NULL;
}

static int cmp_hash(const uint8_t *stored, const uint8_t *hash)
{
	for (unsigned i = 1; i <= NSEC3_LABEL_CHARS; i++)
		if (fold(stored[i]) != hash[i])
			return fold(stored[i]) - hash[i];
	return 0;
}

/* The first eight digits as a number of 40 bits, to reckon with. */
static uint64_t leading_bits(const uint8_t *label)
{
	uint64_t bits = 0;

	for (unsigned i = 1; i <= 8; i++) {
		uint8_t c = fold(label[i]);

		bits = bits << 5 | ((c >= 'a' ? c - 'a' + 10u : c - (unsigned)'0') & 31);
	}
	return bits;
}

/* A guess inside [lo, hi) for where the hash stands between those with these leading bits. */
static uint32_t guess(uint32_t lo, uint32_t hi, uint64_t lo_bits, uint64_t hi_bits, uint64_t bits)
{
	uint32_t span = hi - lo;
	uint64_t off;

	if (hi_bits <= lo_bits || bits <= lo_bits || bits >= hi_bits)
		return lo + span / 2;
	off = (uint64_t)((unsigned __int128)(bits - lo_bits) * span / (hi_bits - lo_bits));
	return lo + (off < span ? (uint32_t)off : span - 1);
}

/* How many hashes of the image's chain are below this one. */
static uint32_t count_below(const struct zone *z, const struct nsec3_label *hash)
{
	uint64_t bits = leading_bits(hash->label), lo_bits = 0, hi_bits = UINT64_C(1) << 40;
	uint32_t lo = 0, hi = z->n_nsec3;

	/* Every other step halves, whatever the spread. */
	for (bool halve = false; lo < hi; halve = !halve) {
		uint32_t mid = halve ? lo + (hi - lo) / 2 : guess(lo, hi, lo_bits, hi_bits, bits);
		const uint8_t *label = z->labels + z->nodes[z->nsec3[mid]].label;

		if (cmp_hash(label, hash->label) < 0) {
			lo = mid + 1;
			lo_bits = leading_bits(label);
		} else {
			hi = mid;
			hi_bits = leading_bits(label);
		}
	}
	return lo;
}

/*
 * The last node of the chain among the first @n of the image's that is as it was there. Where a record
 * of a closed chain went, the one before it had to change, and so is in the overlay: nothing further
 * back can be the one.
 */
static const struct zone_node *image_last(const struct zone *z, uint32_t n)
{
	unsigned steps = sums_chains_are_closed(z) ? 1 : STEPS_MAX;

	for (; n && steps; steps--, n--)
		if (!over_find_index(z, z->nsec3[n - 1]))
			return &z->nodes[z->nsec3[n - 1]];
	return NULL;
}

/* Of the two, which may be NULL, the later one. */
static const struct zone_node *later(const struct zone *z, const struct zone_node *node,
				     const struct over_node *o)
{
	struct over_key key;

	if (!o || !node)
		return o ? &o->node : node;
	key = over_key_of(z, node);
	return over_cmp(&key, o) > 0 ? node : &o->node;
}

static const struct zone_node *version_cover(const struct zone *z, const struct nsec3_label *hash,
					     uint32_t n_below)
{
	uint8_t name[NAME_FOLDED_BYTES];
	struct over_key key;
	const struct zone_node *node;

	memcpy(name, hash->label, sizeof(hash->label));
	memcpy(name + sizeof(hash->label), z->apex, z->apex_bytes);
	key = over_key_absent(z, name);
	node = later(z, image_last(z, n_below), over_before(z, &key, OVER_NSEC3));
	return node ? node : later(z, image_last(z, z->n_nsec3), over_before(z, NULL, OVER_NSEC3));
}

const struct zone_node *nsec3_cover(const struct zone *z, const struct nsec3_label *hash)
{
	uint32_t n = count_below(z, hash);

	if (z->tree)
		return nsec3_match(z, hash) ? NULL : version_cover(z, hash, n);
	if (!z->n_nsec3 ||
	    (n < z->n_nsec3 && !cmp_hash(z->labels + z->nodes[z->nsec3[n]].label, hash->label)))
		return NULL;
	return &z->nodes[z->nsec3[n ? n - 1 : z->n_nsec3 - 1]];
}

bool nsec3_next(const struct zone *z, const struct zone_node *node, struct nsec3_label *out)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_NSEC3);
	unsigned fixed = 5u + z->nsec3_params.salt_bytes; /* nsec3_in_chain() has seen these */
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(z, rrset), &rd);
	if (rrset->n != 1 || rd.len < fixed + 1 + NSEC3_HASH_BYTES ||
	    rd.bytes[fixed] != NSEC3_HASH_BYTES)
		return false;
	nsec3_label_of(rd.bytes + fixed + 1, out);
	return true;
}

/* --- Finding the chain --- */

static void mark_node(const struct zone *z, struct zone_node *node)
{
	unsigned n;
	const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n);
	bool leaf = node + 1 == z->nodes + z->n_nodes || node[1].depth <= node->depth,
	     nsec3 = false;

	for (unsigned i = 0; i < n; i++) {
		if (rrsets[i].type != DNS_TYPE_NSEC3 && rrsets[i].type != DNS_TYPE_RRSIG)
			return;
		nsec3 |= rrsets[i].type == DNS_TYPE_NSEC3;
	}
	if (nsec3 && leaf)
		node->flags |= NODE_NSEC3;
}

/* Takes the parameters of one NSEC3PARAM; true when the apex has its NSEC3 in that chain. */
static bool try_params(const struct zone *z, const struct zone_rdata *rd,
		       struct nsec3_params *params)
{
	const struct zone_node *node;
	struct nsec3_label hash;

	/* Flags: RFC 5155 section 4.1.2, other than zero is ignored. */
	if (!params_read(rd, params) || rd->bytes[1])
		return false;
	if (params->iterations > ZONE_NSEC3_ITERATIONS_MAX)
		return true;
	nsec3_hash(params, z->apex, &hash);
	node = zone_child(z, z->apex_node, hash.label);
	return node && in_chain(z, params, node);
}

bool nsec3_find_params(const struct zone *z, struct nsec3_params *params)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, z->apex_node, DNS_TYPE_NSEC3PARAM);
	const uint8_t *at = rrset ? zone_rrset_first(z, rrset) : NULL;
	struct zone_rdata rd;

	for (unsigned i = 0; rrset && i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		if (try_params(z, &rd, params))
			return true;
	}
	return false;
}

static int make_index(struct zone *z)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < z->n_nodes; i++)
		n += nsec3_in_chain(z, &z->nodes[i]);
	z->nsec3 = calloc(n, sizeof(*z->nsec3));
	if (!z->nsec3)
		return -ENOMEM;
	for (uint32_t i = 1; i < z->n_nodes; i++)
		if (nsec3_in_chain(z, &z->nodes[i]))
			z->nsec3[z->n_nsec3++] = i;
	return 0;
}

int zone_find_chain(struct zone *z)
{
	for (uint32_t i = 1; i < z->n_nodes; i++)
		if (z->nodes[i].depth == 1)
			mark_node(z, &z->nodes[i]);
	z->chain = zone_node_rrset(z, z->nodes, DNS_TYPE_NSEC) ? ZONE_CHAIN_NSEC : ZONE_CHAIN_NONE;
	if (!nsec3_find_params(z, &z->nsec3_params))
		return 0;
	if (z->nsec3_params.iterations > ZONE_NSEC3_ITERATIONS_MAX)
		return ERR_LIMIT;
	z->chain = ZONE_CHAIN_NSEC3;
	return make_index(z);
}
