/* SPDX-License-Identifier: GPL-2.0-only */
#include "zone/chain.h"

#include "dns/name.h"
#include "dns/proto.h"
#include "zone/nsec3.h"

/* The next owner that the NSEC of a node names; NULL when there is none, or more than one. */
static const uint8_t *next_owner(const struct zone *z, const struct zone_node *node)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_NSEC);
	struct zone_rdata rd;

	if (!rrset || rrset->n != 1)
		return NULL;
	zone_rdata_next(zone_rrset_first(z, rrset), &rd);
	return rd.bytes;
}

/* The apex has an NSEC: zone_find_chain() went by it. */
static bool nsec_is_closed(const struct zone *z)
{
	const uint8_t *next = NULL;
	uint8_t owner[ZONE_NAME_MAX];
	unsigned n_rrsets;

	for (uint32_t i = 0; i < z->n_nodes; i++) {
		const struct zone_node *node = &z->nodes[i];

		if (node->flags & NODE_OCCLUDED)
			continue;
		zone_node_rrsets(z, node, &n_rrsets);
		if (!n_rrsets)
			continue; /* an empty non-terminal has none: RFC 4035 section 2.3 */
		zone_node_owner(z, node, owner);
		if (i && !name_equal(next, owner))
			return false;
		next = next_owner(z, node);
		if (!next)
			return false;
	}
	return next && name_equal(next, z->apex);
}

static bool is_closed(const struct zone *z)
{
	switch (z->chain) {
	case ZONE_CHAIN_NSEC:
		return nsec_is_closed(z);
	case ZONE_CHAIN_NSEC3:
		return nsec3_is_closed(z);
	case ZONE_CHAIN_NONE:
		break;
	}
	return true;
}

static bool is_one_kind(const struct zone *a, const struct zone *b)
{
	if (a->chain != b->chain)
		return false;
	return a->chain != ZONE_CHAIN_NSEC3 ||
	       (a->nsec3_iterations == b->nsec3_iterations &&
		a->nsec3_salt_bytes == b->nsec3_salt_bytes &&
		!memcmp(a->nsec3_salt, b->nsec3_salt, a->nsec3_salt_bytes));
}

bool zone_chains_agree(const struct zone *a, const struct zone *b)
{
	return is_one_kind(a, b) && is_closed(a) && is_closed(b);
}
