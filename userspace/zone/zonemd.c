/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SIMPLE scheme: one hash over all records in canonical form and order, which is the order of
 * the arrays, without ZONEMD at the apex and its signatures.
 */
#include "zone/sums.h"

#include <errno.h>
#include <openssl/evp.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"
#include "zone/builder.h"
#include "zone/image.h"
#include "dns/rdata.h"
#include "zone/zone_walk.h"

#define SCHEME_SIMPLE 1
#define HASH_SHA384   1
#define HASH_SHA512   2
#define FIXED_BYTES   6 /* serial, scheme, hash */
#define DIGEST_MIN    12

struct digest {
	const struct zone *z;
	EVP_MD_CTX *md;
	uint8_t owner[256 + 8];
	unsigned owner_bytes;
	int ok;
};

static void update_zonemd(struct digest *d, const void *octets, size_t n)
{
	d->ok = d->ok && EVP_DigestUpdate(d->md, octets, n);
}

/* RFC 4034 section 6.2. */
static void add_zonemd_record(struct digest *d, uint16_t type, uint32_t ttl,
			      const struct zone_rdata *rd)
{
	struct rdata_span names = rdata_names(type, rd->bytes, rd->len);
	uint8_t fixed[DNS_RR_FIXED_BYTES], folded[2 * 256 + 8];
	unsigned n = names.end - names.start;

	wire_store_be16(fixed, type);
	wire_store_be16(fixed + 2, DNS_CLASS_IN);
	wire_store_be32(fixed + 4, ttl);
	wire_store_be16(fixed + 8, rd->len);
	name_fold(folded, rd->bytes + names.start, n);
	update_zonemd(d, d->owner, d->owner_bytes);
	update_zonemd(d, fixed, sizeof(fixed));
	update_zonemd(d, rd->bytes, names.start);
	update_zonemd(d, folded, n);
	update_zonemd(d, rd->bytes + names.end, rd->len - names.end);
}

/* RRSIGs have the TTL of the RRset that they cover: RFC 4034 section 3. */
static uint32_t ttl_of_zonemd(const struct digest *d, const struct zone_node *node,
			      const struct zone_rrset *rrset, const struct zone_rdata *rd)
{
	const struct zone_rrset *covered = NULL;

	if (rrset->type == DNS_TYPE_RRSIG)
		covered = zone_node_rrset(d->z, node, zone_rrsig_covered(rd));
	return covered ? covered->ttl : rrset->ttl;
}

static void add_zonemd_rrset(struct digest *d, const struct zone_node *node,
			     const struct zone_rrset *rrset)
{
	bool apex = node == d->z->apex_node;
	const uint8_t *at = zone_rrset_first(d->z, rrset);
	struct zone_rdata rd;

	if (apex && rrset->type == DNS_TYPE_ZONEMD)
		return;
	for (unsigned i = 0; i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		if (apex && rrset->type == DNS_TYPE_RRSIG &&
		    zone_rrsig_covered(&rd) == DNS_TYPE_ZONEMD)
			continue;
		add_zonemd_record(d, rrset->type, ttl_of_zonemd(d, node, rrset, &rd), &rd);
	}
}

static void add_zonemd_node(struct digest *d, const struct zone_node *node)
{
	unsigned n;
	const struct zone_rrset *rrsets = zone_node_rrsets(d->z, node, &n);

	if (!n)
		return;
	d->owner_bytes = zone_node_owner(d->z, node, d->owner);
	name_fold(d->owner, d->owner, d->owner_bytes);
	for (unsigned i = 0; i < n; i++)
		add_zonemd_rrset(d, node, &rrsets[i]);
}

static int compute(const struct zone *z, const EVP_MD *hash, uint8_t out[EVP_MAX_MD_SIZE])
{
	struct digest d = { .z = z, .md = EVP_MD_CTX_new() };
	const struct zone_node *node;
	struct zone_walk walk;

	d.ok = d.md && EVP_DigestInit_ex(d.md, hash, NULL);
	zone_walk_init(&walk, z);
	while (d.ok && (node = zone_walk_next(&walk)))
		add_zonemd_node(&d, node);
	if (d.ok)
		d.ok = EVP_DigestFinal_ex(d.md, out, NULL);
	EVP_MD_CTX_free(d.md);
	return d.ok ? 0 : -ENOMEM;
}

/* The hash of a supported record, or NULL. */
static const EVP_MD *hash_of_zonemd(const struct zone_rdata *rd)
{
	if (rd->len < FIXED_BYTES + DIGEST_MIN || rd->bytes[4] != SCHEME_SIMPLE)
		return NULL;
	return rd->bytes[5] == HASH_SHA384 ? EVP_sha384() :
	       rd->bytes[5] == HASH_SHA512 ? EVP_sha512() :
					     NULL;
}

/* Returns 0 if the record has the right digest, or ERR_ZONE with @why. */
static int check_zonemd_record(const struct zone *z, const struct zone_rdata *rd, const char **why)
{
	const EVP_MD *hash = hash_of_zonemd(rd);
	uint8_t digest[EVP_MAX_MD_SIZE];
	int rc;

	*why = "its serial is not that of the SOA";
	if (wire_load_be32(rd->bytes) != z->serial)
		return ERR_ZONE;
	*why = "its digest has the wrong length";
	if (rd->len != FIXED_BYTES + EVP_MD_get_size(hash))
		return ERR_ZONE;
	rc = compute(z, hash, digest);
	*why = "the content of the zone has another digest";
	if (!rc && memcmp(digest, rd->bytes + FIXED_BYTES, rd->len - FIXED_BYTES))
		rc = ERR_ZONE;
	return rc;
}

/* Section 4: if two records have the same scheme and hash, none of them is used. */
static bool is_double(const struct zone *z, const struct zone_rrset *rrset,
		      const struct zone_rdata *rd)
{
	const uint8_t *at = zone_rrset_first(z, rrset);
	unsigned n = 0;

	for (unsigned i = 0; i < rrset->n; i++) {
		struct zone_rdata other;

		at = zone_rdata_next(at, &other);
		n += other.len >= FIXED_BYTES && !memcmp(other.bytes + 4, rd->bytes + 4, 2);
	}
	return n > 1;
}

bool zonemd_is_stated(const struct zone *z)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, z->apex_node, DNS_TYPE_ZONEMD);
	const uint8_t *at = rrset ? zone_rrset_first(z, rrset) : NULL;

	for (unsigned i = 0; rrset && i < rrset->n; i++) {
		struct zone_rdata rd;

		at = zone_rdata_next(at, &rd);
		if (hash_of_zonemd(&rd))
			return true;
	}
	return false;
}

int zonemd_check(const struct zone *z, const char *file, struct zone_error *err)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, z->apex_node, DNS_TYPE_ZONEMD);
	const char *why = NULL;
	const uint8_t *at;

	if (!rrset)
		return 0;
	at = zone_rrset_first(z, rrset);
	for (unsigned i = 0; i < rrset->n; i++) {
		struct zone_rdata rd;
		int rc;

		at = zone_rdata_next(at, &rd);
		if (!hash_of_zonemd(&rd))
			continue;
		why = "two records have the same scheme and hash";
		rc = is_double(z, rrset, &rd) ? ERR_ZONE : check_zonemd_record(z, &rd, &why);
		if (rc != ERR_ZONE)
			return rc;
	}
	if (why)
		return zone_error_set(err, file, 0, "ZONEMD does not hold: %s", why);
	zone_error_warn(err, file, 0,
			"ZONEMD is not checked: no record has the scheme 1 and the hash 1 or 2");
	return 0;
}
