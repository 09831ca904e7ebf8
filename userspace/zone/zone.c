/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snapshot seen from outside: its properties, its nodes, its digest.
 */
#include "zone/zone.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/image.h"
#include "zone/rdata.h"

void zone_free(struct zone *z)
{
	if (!z)
		return;
	free(z->nodes);
	free(z->rrsets);
	free(z->buckets);
	free(z->labels);
	free(z->rdata);
	free(z->rrsigs);
	free(z->nsec3);
	free(z);
}

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
	return z->n_records;
}

size_t zone_n_names(const struct zone *z)
{
	return z->n_nodes;
}

size_t zone_memory_bytes(const struct zone *z)
{
	return sizeof(*z) + (z->n_nodes + (size_t)1) * sizeof(*z->nodes) +
	       z->n_rrsets * sizeof(*z->rrsets) + z->n_buckets * sizeof(*z->buckets) +
	       z->n_nsec3 * sizeof(*z->nsec3) + z->n_label_bytes + z->n_rdata_bytes +
	       z->n_rrsig_bytes;
}

bool zone_is_signed(const struct zone *z)
{
	return z->is_signed;
}

void zone_digest(const struct zone *z, uint8_t out[static ZONE_DIGEST_LEN])
{
	memcpy(out, z->digest, ZONE_DIGEST_LEN);
}

const struct zone_rrset *zone_soa(const struct zone *z)
{
	return zone_node_rrset(z, z->nodes, DNS_TYPE_SOA);
}

uint32_t zone_negative_ttl(const struct zone *z)
{
	return z->negative_ttl;
}

const struct zone_rrset *zone_node_rrsets(const struct zone *z, const struct zone_node *node,
					  unsigned *n)
{
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

	for (; node != z->nodes; node = &z->nodes[node->parent]) {
		const uint8_t *label = z->labels + node->label;

		memcpy(out + n, label, *label + 1u);
		n += *label + 1u;
	}
	memcpy(out + n, z->apex, z->apex_bytes);
	return n + z->apex_bytes;
}

const struct zone_node *zone_node_at(const struct zone *z, size_t i)
{
	return &z->nodes[i];
}

bool zone_node_is_occluded(const struct zone *z, const struct zone_node *node)
{
	(void)z;
	return node->flags & NODE_OCCLUDED;
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

const uint8_t *zone_rrset_first(const struct zone *z, const struct zone_rrset *rrset)
{
	return (rrset->type == DNS_TYPE_RRSIG ? z->rrsigs : z->rdata) + rrset->rdata;
}

/* --- The digest: SHA-256 over the canonical form, cut to 16 octets --- */

static int digest_rdata(EVP_MD_CTX *md, uint16_t type, const struct zone_rdata *rd)
{
	struct rdata_span names = rdata_names(type, rd->bytes, rd->len);
	uint8_t folded[2 * 256], len[2];
	unsigned n = names.end - names.start;

	wire_store_be16(len, rd->len);
	name_fold(folded, rd->bytes + names.start, n);
	return EVP_DigestUpdate(md, len, sizeof(len)) &&
	       EVP_DigestUpdate(md, rd->bytes, names.start) && EVP_DigestUpdate(md, folded, n) &&
	       EVP_DigestUpdate(md, rd->bytes + names.end, rd->len - names.end);
}

static int digest_rrset(EVP_MD_CTX *md, const struct zone *z, const struct zone_rrset *rrset)
{
	const uint8_t *at = zone_rrset_first(z, rrset);
	uint8_t head[8];
	struct zone_rdata rd;
	int ok;

	wire_store_be16(head, rrset->type);
	wire_store_be16(head + 2, rrset->n);
	wire_store_be32(head + 4, rrset->ttl);
	ok = EVP_DigestUpdate(md, head, sizeof(head));
	for (unsigned i = 0; i < rrset->n && ok; i++) {
		at = zone_rdata_next(at, &rd);
		ok = digest_rdata(md, rrset->type, &rd);
	}
	return ok;
}

/* Every part says its length, so that no two contents give the same stream. */
static int digest_node(EVP_MD_CTX *md, const struct zone *z, const struct zone_node *node)
{
	uint8_t owner[256], head[2];
	unsigned n = zone_node_owner(z, node, owner), n_rrsets;
	const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n_rrsets);
	int ok;

	name_fold(owner, owner, n);
	wire_store_be16(head, (uint16_t)n_rrsets);
	ok = EVP_DigestUpdate(md, owner, n) && EVP_DigestUpdate(md, head, sizeof(head));
	for (unsigned i = 0; i < n_rrsets && ok; i++)
		ok = digest_rrset(md, z, &rrsets[i]);
	return ok;
}

int zone_compute_digest(struct zone *z)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	uint8_t digest[EVP_MAX_MD_SIZE];
	int ok = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL);

	for (uint32_t i = 0; i < z->n_nodes && ok; i++)
		ok = digest_node(md, z, &z->nodes[i]);
	if (ok)
		ok = EVP_DigestFinal_ex(md, digest, NULL);
	if (ok)
		memcpy(z->digest, digest, ZONE_DIGEST_LEN);
	EVP_MD_CTX_free(md);
	return ok ? 0 : -ENOMEM;
}
