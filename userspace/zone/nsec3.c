/* SPDX-License-Identifier: GPL-2.0-only */
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

#define ALGORITHM_SHA1 1 /* RFC 5155 section 11: there is no other */

/* --- Hashes --- */

static void encode(const uint8_t hash[NSEC3_HASH_BYTES], struct nsec3_label *out)
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

void nsec3_hash(const struct zone *z, const uint8_t *name, struct nsec3_label *out)
{
	uint8_t hash[NSEC3_HASH_BYTES];
	size_t n = name_bytes(name);
	const uint8_t *text = name;

	for (unsigned i = 0; i <= z->nsec3_iterations; i++) {
		SHA_CTX sha;

		SHA1_Init(&sha);
		SHA1_Update(&sha, text, n);
		SHA1_Update(&sha, z->nsec3_salt, z->nsec3_salt_bytes);
		SHA1_Final(hash, &sha);
		text = hash;
		n = sizeof(hash);
	}
	encode(hash, out);
}

/* --- The parameters --- */

/* Algorithm, flags, iterations, salt: the head of NSEC3 and the whole of NSEC3PARAM. */
static bool params_read(const struct zone_rdata *rd, struct zone_rdata *salt, uint16_t *iterations)
{
	if (rd->len < 5 || rd->len < 5u + rd->bytes[4] || rd->bytes[0] != ALGORITHM_SHA1)
		return false;
	*iterations = wire_load_be16(rd->bytes + 2);
	*salt = (struct zone_rdata){ rd->bytes + 5, rd->bytes[4] };
	return true;
}

static bool params_match(const struct zone *z, const struct zone_rdata *rd)
{
	struct zone_rdata salt;
	uint16_t iterations;

	return params_read(rd, &salt, &iterations) && iterations == z->nsec3_iterations &&
	       salt.len == z->nsec3_salt_bytes && !memcmp(salt.bytes, z->nsec3_salt, salt.len);
}

/* Is there a record of the chain at @node? */
static bool in_chain(const struct zone *z, const struct zone_node *node)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_NSEC3);
	struct zone_rdata rd;

	if (!rrset || node->depth != 1 || z->labels[node->label] != NSEC3_LABEL_CHARS)
		return false;
	zone_rdata_next(zone_rrset_first(z, rrset), &rd);
	return params_match(z, &rd);
}

/* --- The index --- */

const struct zone_node *nsec3_match(const struct zone *z, const struct nsec3_label *hash)
{
	const struct zone_node *node = zone_child(z, z->nodes, hash->label);

	return node && in_chain(z, node) ? node : NULL;
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

const struct zone_node *nsec3_cover(const struct zone *z, const struct nsec3_label *hash)
{
	uint64_t bits = leading_bits(hash->label), lo_bits = 0, hi_bits = UINT64_C(1) << 40;
	uint32_t lo = 0, hi = z->n_nsec3;

	/* Ends with the number of hashes below. Every other step halves, whatever the spread. */
	for (bool halve = false; lo < hi; halve = !halve) {
		uint32_t mid = halve ? lo + (hi - lo) / 2 : guess(lo, hi, lo_bits, hi_bits, bits);
		const uint8_t *label = z->labels + z->nodes[z->nsec3[mid]].label;
		int diff = cmp_hash(label, hash->label);

		if (!diff)
			return NULL;
		if (diff < 0) {
			lo = mid + 1;
			lo_bits = leading_bits(label);
		} else {
			hi = mid;
			hi_bits = leading_bits(label);
		}
	}
	if (!z->n_nsec3)
		return NULL;
	return &z->nodes[z->nsec3[lo ? lo - 1 : z->n_nsec3 - 1]];
}

/* The label of the next owner, from the only NSEC3 of a node; false when it has another form. */
static bool next_label(const struct zone *z, const struct zone_node *node, struct nsec3_label *out)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_NSEC3);
	const uint8_t *next;
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(z, rrset), &rd);
	next = rd.bytes + 5 + z->nsec3_salt_bytes; /* in_chain() has seen that so much is there */
	if (rrset->n != 1 || rd.len < 5u + z->nsec3_salt_bytes + 1 + NSEC3_HASH_BYTES ||
	    *next != NSEC3_HASH_BYTES)
		return false;
	encode(next + 1, out);
	return true;
}

bool nsec3_is_closed(const struct zone *z)
{
	struct nsec3_label next;

	for (uint32_t i = 0; i < z->n_nsec3; i++) {
		const struct zone_node *behind = &z->nodes[z->nsec3[(i + 1) % z->n_nsec3]];

		if (!next_label(z, &z->nodes[z->nsec3[i]], &next) ||
		    cmp_hash(z->labels + behind->label, next.label))
			return false;
	}
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
static bool try_params(struct zone *z, const struct zone_rdata *param)
{
	struct zone_rdata salt;
	struct nsec3_label hash;

	/* Flags: RFC 5155 section 4.1.2, other than zero is ignored. */
	if (!params_read(param, &salt, &z->nsec3_iterations) || param->bytes[1])
		return false;
	memcpy(z->nsec3_salt, salt.bytes, salt.len);
	z->nsec3_salt_bytes = (uint8_t)salt.len;
	if (z->nsec3_iterations > ZONE_NSEC3_ITERATIONS_MAX)
		return true;
	nsec3_hash(z, z->apex, &hash);
	return nsec3_match(z, &hash) != NULL;
}

static bool find_params(struct zone *z)
{
	const struct zone_rrset *params = zone_node_rrset(z, z->nodes, DNS_TYPE_NSEC3PARAM);
	const uint8_t *at = params ? zone_rrset_first(z, params) : NULL;
	struct zone_rdata rd;

	for (unsigned i = 0; params && i < params->n; i++) {
		at = zone_rdata_next(at, &rd);
		if (try_params(z, &rd))
			return true;
	}
	return false;
}

static int make_index(struct zone *z)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < z->n_nodes; i++)
		n += in_chain(z, &z->nodes[i]);
	z->nsec3 = calloc(n, sizeof(*z->nsec3));
	if (!z->nsec3)
		return -ENOMEM;
	for (uint32_t i = 1; i < z->n_nodes; i++)
		if (in_chain(z, &z->nodes[i]))
			z->nsec3[z->n_nsec3++] = i;
	return 0;
}

int zone_find_chain(struct zone *z)
{
	for (uint32_t i = 1; i < z->n_nodes; i++)
		if (z->nodes[i].depth == 1)
			mark_node(z, &z->nodes[i]);
	z->chain = zone_node_rrset(z, z->nodes, DNS_TYPE_NSEC) ? ZONE_CHAIN_NSEC : ZONE_CHAIN_NONE;
	if (!find_params(z))
		return 0;
	if (z->nsec3_iterations > ZONE_NSEC3_ITERATIONS_MAX)
		return ERR_LIMIT;
	z->chain = ZONE_CHAIN_NSEC3;
	return make_index(z);
}
