/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A zone signed for tests: chains that are right, signatures that no validator would take. A
 * signature depends on what it covers and on the key, so what did not change keeps it, as with a
 * signer that works by increments.
 */
#ifndef VOLLEY_TESTS_ENGINE_SIGNING_H
#define VOLLEY_TESTS_ENGINE_SIGNING_H

#include <ldns/ldns.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "tests/lib/zonenode.h"
#include "zone/zone.h"

#ifndef SIGNING_ITERATIONS
#define SIGNING_ITERATIONS 1 /* of NSEC3 */
#endif

struct signing {
	enum zone_chain chain; /* NONE: nothing is signed */
	bool opt_out;
	unsigned key; /* its tag */
	FILE *f;
	const struct zone *z;
};

struct signing_link {
	char owner[NAME_TEXT_MAX]; /* of the NSEC or NSEC3 */
	char types[256];
};

static inline void signing_write_signature(const struct signing *s, const char *owner,
					   uint16_t type, uint32_t ttl, uint64_t hash)
{
	char name[PROTO_TEXT_MAX];

	proto_type_to_text(name, type);
	hash ^= s->key * 0x9e3779b97f4a7c15u;
	fprintf(s->f, "%s %u RRSIG %s 13 1 %u 2038%02u%02u000000 20260101000000 %u z. %08x\n",
		owner, ttl, name, ttl, (unsigned)(1 + hash % 12), (unsigned)(1 + hash / 12 % 28),
		s->key, (unsigned)(hash >> 32));
}

static inline uint64_t signing_hash(const struct zone *z, const struct zone_rrset *rrset)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "signing";
	const uint8_t *at = zone_rrset_first(z, rrset), *end = at;
	struct zone_rdata rd;

	for (unsigned i = 0; i < rrset->n; i++)
		end = zone_rdata_next(end, &rd);
	return siphash24(key, at, (size_t)(end - at)) ^ rrset->type ^ (uint64_t)rrset->ttl << 16;
}

static inline bool signing_is_cut(const struct zone *z, size_t i)
{
	return i && zone_node_rrset(z, zone_node_at(z, i), DNS_TYPE_NS);
}

/* Signs the RRsets of a node, and gives the types of its NSEC or NSEC3. */
static inline void signing_sign_node(const struct signing *s, size_t i, const char *owner,
				     char types[256])
{
	const struct zone_node *node = zone_node_at(s->z, i);
	char name[PROTO_TEXT_MAX];
	unsigned n;
	const struct zone_rrset *rrsets = zone_node_rrsets(s->z, node, &n);
	bool is_signed = false;

	types[0] = '\0';
	for (unsigned k = 0; k < n; k++) {
		uint16_t type = rrsets[k].type;

		if (signing_is_cut(s->z, i) && type != DNS_TYPE_NS && type != DNS_TYPE_DS)
			continue;
		proto_type_to_text(name, type);
		strcat(strcat(types, name), " ");
		if (signing_is_cut(s->z, i) && type != DNS_TYPE_DS)
			continue;
		signing_write_signature(s, owner, type, rrsets[k].ttl,
					signing_hash(s->z, &rrsets[k]));
		is_signed = true;
	}
	if (is_signed)
		strcat(types, "RRSIG ");
}

static inline void signing_write_link(const struct signing *s, const struct signing_link *link,
				      const char *rdata, uint16_t type)
{
	static const uint8_t key[SIPHASH_KEY_BYTES] = "signing";
	char name[PROTO_TEXT_MAX], text[2048];

	proto_type_to_text(name, type);
	snprintf(text, sizeof(text), "%s %s", rdata, link->types);
	fprintf(s->f, "%s 60 %s %s\n", link->owner, name, text);
	signing_write_signature(s, link->owner, type, 60, siphash24(key, text, strlen(text)));
}

/* Opt-out leaves out cuts without DS, and what leads to nothing else: RFC 5155 section 7.1. */
static inline bool signing_is_in_chain(const struct signing *s, size_t i)
{
	unsigned n, depth, below;
	uint8_t name[256];

	if (zone_node_is_occluded(s->z, zone_node_at(s->z, i)))
		return false;
	zone_node_rrsets(s->z, zone_node_at(s->z, i), &n);
	if (s->chain == ZONE_CHAIN_NSEC)
		return n;
	if (!s->opt_out || !i)
		return true;
	if (n)
		return !signing_is_cut(s->z, i) ||
		       zone_node_rrset(s->z, zone_node_at(s->z, i), DNS_TYPE_DS);
	zone_node_owner(s->z, zone_node_at(s->z, i), name);
	depth = name_n_labels(name);
	while (++i < zone_n_names(s->z)) {
		zone_node_owner(s->z, zone_node_at(s->z, i), name);
		below = name_n_labels(name);
		if (below <= depth)
			break;
		zone_node_rrsets(s->z, zone_node_at(s->z, i), &n);
		if (n && signing_is_in_chain(s, i))
			return true;
	}
	return false;
}

/* The hashed owner, as a label of text. */
static inline void signing_hash_name(const uint8_t *owner, char out[NAME_TEXT_MAX])
{
	static uint8_t salt[] = { 0xab };
	ldns_rdf *name = ldns_dname_new_frm_data((uint16_t)name_bytes(owner), owner), *hashed;

	ldns_dname2canonical(name);
	hashed = ldns_nsec3_hash_name(name, 1, SIGNING_ITERATIONS, sizeof(salt), salt);
	memcpy(out, ldns_rdf_data(hashed) + 1, 32);
	strcpy(out + 32, ".z.");
	ldns_rdf_deep_free(hashed);
	ldns_rdf_deep_free(name);
}

static inline int signing_compare(const void *a, const void *b)
{
	return strcmp(((const struct signing_link *)a)->owner,
		      ((const struct signing_link *)b)->owner);
}

static inline void signing_write_chain(const struct signing *s, struct signing_link *links,
				       size_t n)
{
	bool nsec3 = s->chain == ZONE_CHAIN_NSEC3;
	char rdata[NAME_TEXT_MAX + 32];

	if (nsec3)
		qsort(links, n, sizeof(*links), signing_compare);
	for (size_t i = 0; i < n; i++) {
		const char *next = links[(i + 1) % n].owner;

		if (nsec3)
			snprintf(rdata, sizeof(rdata), "1 %d %d ab %.32s", s->opt_out,
				 SIGNING_ITERATIONS, next);
		else
			snprintf(rdata, sizeof(rdata), "%s NSEC", next);
		signing_write_link(s, &links[i], rdata, nsec3 ? DNS_TYPE_NSEC3 : DNS_TYPE_NSEC);
	}
}

/* Writes to s->f what signing adds to s->z, the zone "z.". */
static inline void signing_write(const struct signing *s)
{
	struct signing_link *links = calloc(zone_n_names(s->z), sizeof(*links));
	char owner[NAME_TEXT_MAX];
	uint8_t wire[256];
	size_t n = 0;

	if (s->chain == ZONE_CHAIN_NSEC3)
		fprintf(s->f, "z. 60 NSEC3PARAM 1 0 %d ab\n", SIGNING_ITERATIONS);
	for (size_t i = 0; s->chain != ZONE_CHAIN_NONE && i < zone_n_names(s->z); i++) {
		const struct zone_node *node = zone_node_at(s->z, i);

		if (zone_node_is_occluded(s->z, node))
			continue;
		zone_node_owner(s->z, node, wire);
		name_to_text(owner, sizeof(owner), wire);
		signing_sign_node(s, i, owner, links[n].types);
		if (s->chain == ZONE_CHAIN_NSEC3)
			signing_hash_name(wire, owner);
		strcpy(links[n].owner, owner);
		n += signing_is_in_chain(s, i);
	}
	signing_write_chain(s, links, n);
	free(links);
}

#endif
