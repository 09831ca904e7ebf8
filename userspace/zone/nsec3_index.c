/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zone/nsec3_chain.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/overlay.h"
#include "zone/sums.h"

#define STEPS_MAX 256 /* back in a chain that is not closed */

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

/* The first eight digits as a number of 40 bits. */
static uint64_t leading_bits(const uint8_t *label)
{
	uint64_t bits = 0;

	for (unsigned i = 1; i <= 8; i++) {
		uint8_t c = fold(label[i]);

		bits = bits << 5 | ((c >= 'a' ? c - 'a' + 10u : c - (unsigned)'0') & 31);
	}
	return bits;
}

/* Guesses an index in [lo, hi) for a hash, from its leading bits and those at both ends. */
static uint32_t guess(uint32_t lo, uint32_t hi, uint64_t lo_bits, uint64_t hi_bits, uint64_t bits)
{
	uint32_t span = hi - lo;
	uint64_t off;

	if (hi_bits <= lo_bits || bits <= lo_bits || bits >= hi_bits)
		return lo + span / 2;
	off = (uint64_t)((unsigned __int128)(bits - lo_bits) * span / (hi_bits - lo_bits));
	return lo + (off < span ? (uint32_t)off : span - 1);
}

/* The number of hashes of the image's chain below this one. */
static uint32_t count_below(const struct zone *z, const struct nsec3_label *hash)
{
	uint64_t bits = leading_bits(hash->label), lo_bits = 0, hi_bits = UINT64_C(1) << 40;
	uint32_t lo = 0, hi = z->n_nsec3;

	/* Every other step halves, in case the hashes are not spread evenly. */
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
 * The last of the first @n nodes of the image's chain that is unchanged in this version. If a
 * record of a closed chain is removed, the record before it must change and is in the overlay. So
 * no node further back can be the right one.
 */
static const struct zone_node *image_last(const struct zone *z, uint32_t n)
{
	unsigned steps = sums_chains_are_closed(z) ? 1 : STEPS_MAX;

	for (; n && steps; steps--, n--)
		if (!overlay_find_index(z, z->nsec3[n - 1]))
			return &z->nodes[z->nsec3[n - 1]];
	return NULL;
}

/* The later one of the two, which may be NULL. */
static const struct zone_node *nsec3_index_later(const struct zone *z, const struct zone_node *node,
						 const struct overlay_node *o)
{
	struct overlay_key key;

	if (!o || !node)
		return o ? &o->node : node;
	key = overlay_key_of(z, node);
	return overlay_cmp(&key, o) > 0 ? node : &o->node;
}

static const struct zone_node *version_cover(const struct zone *z, const struct nsec3_label *hash,
					     uint32_t n_below)
{
	uint8_t name[NAME_FOLDED_BYTES];
	struct overlay_key key;
	const struct zone_node *node;

	memcpy(name, hash->label, sizeof(hash->label));
	memcpy(name + sizeof(hash->label), z->apex, z->apex_bytes);
	key = overlay_key_absent(z, name);
	node = nsec3_index_later(z, image_last(z, n_below), overlay_before(z, &key, OVERLAY_NSEC3));
	return node ? node :
		      nsec3_index_later(z, image_last(z, z->n_nsec3),
					overlay_before(z, NULL, OVERLAY_NSEC3));
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

/* --- Finding the chain --- */

static void mark_nsec3_index_node(const struct zone *z, struct zone_node *node)
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
	struct nsec3_params params, *own;

	for (uint32_t i = 1; i < z->n_nodes; i++)
		if (z->nodes[i].depth == 1)
			mark_nsec3_index_node(z, &z->nodes[i]);
	z->chain = zone_node_rrset(z, z->nodes, DNS_TYPE_NSEC) ? ZONE_CHAIN_NSEC : ZONE_CHAIN_NONE;
	if (!nsec3_find_params(z, &params))
		return 0;
	own = malloc(sizeof(*own));
	if (!own)
		return -ENOMEM;
	*own = params;
	z->nsec3_params = own;
	if (params.iterations > ZONE_NSEC3_ITERATIONS_MAX)
		return ERR_LIMIT;
	z->chain = ZONE_CHAIN_NSEC3;
	return make_index(z);
}
