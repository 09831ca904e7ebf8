/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signatures of one RRset: present ones that are still good, and new ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "sign/signer.h"
#include "zone/builder.h"

#define SOA_SERIAL_BACK 20u /* octets from its end: RFC 1035 section 3.3.13 */

/* --- Lists ------------------------------------------------------------------------------------ */

static int make_rrset_room(struct sign_list *list, size_t at, size_t n)
{
	size_t need = list->n_bytes + 2 + n;
	uint8_t *bytes;

	if (need > list->cap) {
		bytes = realloc(list->bytes, 2 * need);
		if (!bytes)
			return -ENOMEM;
		list->bytes = bytes;
		list->cap = 2 * need;
	}
	memmove(list->bytes + at + 2 + n, list->bytes + at, list->n_bytes - at);
	list->n_bytes = need;
	list->n++;
	return 0;
}

static int put_at(struct sign_list *list, size_t at, const uint8_t *rdata, size_t n)
{
	int rc = make_rrset_room(list, at, n);

	if (rc)
		return rc;
	wire_store_be16(list->bytes + at, (uint16_t)n);
	memcpy(list->bytes + at + 2, rdata, n);
	return 0;
}

int sign_list_add(struct sign_list *list, const uint8_t *rdata, size_t n)
{
	return put_at(list, list->n_bytes, rdata, n);
}

/* RFC 4034 section 6.3, for rdata without names. */
static int cmp_rrset_rdata(const struct zone_rdata *a, const uint8_t *b, size_t n)
{
	int order = memcmp(a->bytes, b, a->len < n ? a->len : n);

	return order ? order : (int)a->len - (int)n;
}

int sign_list_insert(struct sign_list *list, const uint8_t *rdata, size_t n)
{
	const uint8_t *at = list->bytes;

	for (unsigned int i = 0; i < list->n; i++) {
		struct zone_rdata rd;
		const uint8_t *next = zone_rdata_next(at, &rd);
		int order = cmp_rrset_rdata(&rd, rdata, n);

		if (!order)
			return 0;
		if (order > 0)
			break;
		at = next;
	}
	return put_at(list, (size_t)(at - list->bytes), rdata, n);
}

bool sign_list_has(const struct sign_list *list, const struct zone_rdata *rd)
{
	const uint8_t *at = list->bytes;

	for (unsigned int i = 0; i < list->n; i++) {
		struct zone_rdata own;

		at = zone_rdata_next(at, &own);
		if (own.len == rd->len && !memcmp(own.bytes, rd->bytes, rd->len))
			return true;
	}
	return false;
}

int sign_list_soa(struct sign_list *list, const struct zone *z, uint32_t serial)
{
	struct zone_rdata rd;
	int rc;

	zone_rdata_next(zone_rrset_first(z, zone_soa(z)), &rd);
	sign_list_clear(list);
	rc = sign_list_add(list, rd.bytes, rd.len);
	if (!rc)
		wire_store_be32(list->bytes + list->n_bytes - SOA_SERIAL_BACK, serial);
	return rc;
}

void sign_list_clear(struct sign_list *list)
{
	list->n_bytes = 0;
	list->n = 0;
}

void sign_list_free(struct sign_list *list)
{
	free(list->bytes);
	*list = (struct sign_list){ 0 };
}

/* True if the key is in the RRset of this type. */
static bool is_rrset_listed(const struct signer *s, const struct sign_key *key, uint16_t type)
{
	if (type == DNS_TYPE_DNSKEY)
		return sign_key_is_published(key, s->now_s);
	return s->options->cds && sign_key_is_in_cds(key, s->now_s);
}

int sign_list_keys(struct sign_list *list, const struct signer *s, uint16_t type)
{
	const struct sign_keys *keys = s->keys;
	int rc = 0;

	for (size_t i = 0; !rc && i < keys->n; i++) {
		const struct sign_key *key = &keys->keys[i];
		uint8_t ds[SIGN_DS_BYTES];

		if (!is_rrset_listed(s, key, type))
			continue;
		if (type != DNS_TYPE_CDS) {
			rc = sign_list_insert(list, key->dnskey, key->dnskey_bytes);
			continue;
		}
		rc = sign_key_ds(keys, key, ds);
		if (!rc)
			rc = sign_list_insert(list, ds, sizeof(ds));
	}
	return rc;
}

/* --- Signatures ------------------------------------------------------------------------------- */

struct sign_old sign_old_of(const struct zone *z, const uint8_t *owner)
{
	return (struct sign_old){ .z = z, .node = z ? zone_node_of(z, owner) : NULL };
}

size_t sign_records_bytes(const uint8_t *records, unsigned int n)
{
	const uint8_t *at = records;
	struct zone_rdata rd;

	while (n--)
		at = zone_rdata_next(at, &rd);
	return (size_t)(at - records);
}

bool sign_is_as_before(const struct sign_old *old, const struct sign_rrset *rrset)
{
	const struct zone_rrset *was = old->node ? zone_node_rrset(old->z, old->node, rrset->type) :
						   NULL;
	const uint8_t *records;
	size_t n;

	if (!was || was->n != rrset->n || was->ttl != rrset->ttl)
		return false;
	records = zone_rrset_first(old->z, was);
	n = sign_records_bytes(records, was->n);
	return n == sign_records_bytes(rrset->records, rrset->n) &&
	       !memcmp(records, rrset->records, n);
}

/* Finds the old signature by a key, if it is still good. */
static bool find_kept(const struct signer *s, const struct sign_key *key,
		      const struct sign_old *old, uint16_t type, struct zone_rdata *rd)
{
	struct zone_rrsigs it = zone_rrsigs(old->z, old->node, type);

	while (zone_rrsigs_next(&it, rd))
		if (signer_keeps(s, key, rd))
			return true;
	return false;
}

int signer_sign_rrset(struct signer *s, const struct sign_rrset *rrset, const struct sign_old *old,
		      struct sign_list *list, size_t *n_new)
{
	bool is_as_before = sign_is_as_before(old, rrset);
	uint8_t rrsig[SIGN_RRSIG_MAX];
	struct zone_rdata kept;
	int rc = 0, n;

	for (size_t i = 0; !rc && i < s->keys->n; i++) {
		const struct sign_key *key = &s->keys->keys[i];

		if (!sign_key_signs(key, rrset->type, s->now_s))
			continue;
		if (is_as_before && find_kept(s, key, old, rrset->type, &kept)) {
			rc = sign_list_add(list, kept.bytes, kept.len);
			continue;
		}
		n = signer_sign(s, key, rrset, rrsig);
		rc = n < 0 ? n : sign_list_add(list, rrsig, (size_t)n);
		++*n_new;
	}
	return rc;
}

int signer_check(const struct signer *s, struct zone_error *err)
{
	bool keys = false, data = false;

	for (size_t i = 0; i < s->keys->n; i++) {
		keys |= sign_key_is_published(&s->keys->keys[i], s->now_s) &&
			sign_key_signs(&s->keys->keys[i], DNS_TYPE_DNSKEY, s->now_s);
		data |= sign_key_signs(&s->keys->keys[i], DNS_TYPE_SOA, s->now_s);
	}
	if (keys && data)
		return 0;
	return zone_error_set(err, "", 0, "none of its keys signs %s now",
			      keys ? "its records" : "its DNSKEY records");
}
