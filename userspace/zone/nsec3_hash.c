/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/nsec3_chain.h"

/* The old calls need neither a lock nor an allocation per hash; EVP needs both. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <string.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/overlay.h"

#define ALGORITHM_SHA1 1 /* RFC 5155 section 11: there is no other */

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
	return *(node->flags & NODE_OVERLAY ? overlay_owner(overlay_of(node)) :
					      z->labels + node->label);
}

/* True if @node has a record of the chain with these parameters. */
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
	return in_chain(z, z->nsec3_params, node);
}

bool nsec3_next(const struct zone *z, const struct zone_node *node, struct nsec3_label *out)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_NSEC3);
	unsigned fixed = 5u + z->nsec3_params->salt_bytes; /* nsec3_in_chain() has checked these */
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(z, rrset), &rd);
	if (rrset->n != 1 || rd.len < fixed + 1 + NSEC3_HASH_BYTES ||
	    rd.bytes[fixed] != NSEC3_HASH_BYTES)
		return false;
	nsec3_label_of(rd.bytes + fixed + 1, out);
	return true;
}

/* Reads the parameters of one NSEC3PARAM; true if the apex has an NSEC3 in that chain. */
static bool try_params(const struct zone *z, const struct zone_rdata *rd,
		       struct nsec3_params *params)
{
	const struct zone_node *node;
	struct nsec3_label hash;

	/* RFC 5155 section 4.1.2: ignored if the flags are not zero. */
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
