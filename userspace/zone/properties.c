/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The properties and nodes of a version. */
#include "zone/zone.h"

#include "dns/proto.h"
#include "zone/edit.h"
#include "zone/overlay.h"
#include "zone/version.h"

const uint8_t *zone_apex(const struct zone *z, unsigned *len)
{
	*len = z->apex_bytes;
	return z->apex;
}

uint32_t zone_serial(const struct zone *z)
{
	return z->serial;
}

size_t zone_n_records(const struct zone *z)
{
	return z->sums.n_records;
}

size_t zone_n_names(const struct zone *z)
{
	return z->tree ? z->n_nodes + (size_t)z->tree->n_new - z->tree->n_gone : z->n_nodes;
}

size_t zone_memory_bytes(const struct zone *z)
{
	return sizeof(*z) + version_image_bytes(z) + z->overlay_bytes;
}

size_t zone_overlay_bytes(const struct zone *z)
{
	return z->overlay_bytes;
}

bool zone_is_signed(const struct zone *z)
{
	return z->is_signed;
}

void zone_fetch(const struct zone *z)
{
	if (z)
		__builtin_prefetch(&z->is_signed);
}

const struct zone_rrset *zone_soa(const struct zone *z)
{
	return zone_node_rrset(z, z->apex_node, DNS_TYPE_SOA);
}

/* The negative TTL is the lower one of the SOA's TTL and its last field: RFC 2308 section 5. */
void zone_read_apex(struct zone *z)
{
	const struct zone_rrset *soa = zone_soa(z);
	struct zone_rdata rd;
	uint32_t minimum;

	z->is_signed = zone_node_rrset(z, z->apex_node, DNS_TYPE_DNSKEY) != NULL;
	if (!soa)
		return;
	zone_rdata_next(zone_rrset_first(z, soa), &rd);
	z->serial = wire_load_be32(rd.bytes + rd.len - 20);
	minimum = wire_load_be32(rd.bytes + rd.len - 4);
	z->negative_ttl = minimum < soa->ttl ? minimum : soa->ttl;
}

uint32_t zone_negative_ttl(const struct zone *z)
{
	return z->negative_ttl;
}

const struct zone_rrset *zone_node_rrsets(const struct zone *z, const struct zone_node *node,
					  unsigned *n)
{
	if (node->flags & NODE_OVERLAY) {
		*n = overlay_of(node)->n_rrsets;
		return overlay_of(node)->rrsets;
	}
	*n = node[1].rrsets - node[0].rrsets;
	return z->rrsets + node->rrsets;
}

const struct zone_rrset *zone_node_rrset(const struct zone *z, const struct zone_node *node,
					 uint16_t type)
{
	unsigned n;
	const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n);

	for (unsigned i = 0; i < n && rrsets[i].type <= type; i++)
		if (rrsets[i].type == type)
			return &rrsets[i];
	return NULL;
}

unsigned zone_node_owner(const struct zone *z, const struct zone_node *node,
			 uint8_t out[static ZONE_NAME_MAX])
{
	unsigned n = 0;

	if (node->flags & NODE_OVERLAY) {
		n = overlay_of(node)->owner_bytes;
		memcpy(out, overlay_owner(overlay_of(node)), n);
		return n;
	}
	for (; node != z->nodes; node = &z->nodes[node->parent]) {
		const uint8_t *label = z->labels + node->label;

		memcpy(out + n, label, *label + 1u);
		n += *label + 1u;
	}
	memcpy(out + n, z->apex, z->apex_bytes);
	return n + z->apex_bytes;
}

const struct zone_node *zone_apex_node(const struct zone *z)
{
	return z->apex_node;
}

size_t zone_overlay_names(const struct zone *z)
{
	return z->tree ? z->tree->n_names : 0;
}

bool zone_node_is_occluded(const struct zone *z, const struct zone_node *node)
{
	return z->tree ? zone_cut_above(z, node) != NULL : node->flags & NODE_OCCLUDED;
}

struct zone_rrsigs zone_rrsigs(const struct zone *z, const struct zone_node *node, uint16_t covered)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_RRSIG);

	if (!rrset)
		return (struct zone_rrsigs){ 0 };
	return (struct zone_rrsigs){ zone_rrset_first(z, rrset), rrset->n, covered };
}

enum zone_chain zone_chain(const struct zone *z)
{
	return z->chain;
}

/* RRsets of an overlay are outside the array, and their rdata is after them. */
const uint8_t *zone_rrset_first(const struct zone *z, const struct zone_rrset *rrset)
{
	if (z->tree && (uintptr_t)rrset - (uintptr_t)z->rrsets >= z->n_rrsets * sizeof(*rrset))
		return (const uint8_t *)rrset + rrset->rdata;
	return (rrset->type == DNS_TYPE_RRSIG ? z->rrsigs : z->rdata) + rrset->rdata;
}
