/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signs a zone from its content, in one walk in canonical order, the order of its NSEC chain: a
 * name's NSEC is made when the next name is known. NSEC3 records are sorted by hash after the walk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sign/signer.h"
#include "zone/builder.h"
#include "zone/zone_walk.h"

/* A name of the NSEC3 chain. */
struct hashed {
	struct nsec3_label hash;
	uint16_t n_bitmap;
	size_t bitmap; /* its offset in bitmaps */
};

struct all {
	const struct zone *from, *before;
	struct signer signer; /* for lists of keys; it signs nothing */
	struct sign_batch *batch;
	struct zone_builder *b;
	struct zone_error *err;
	uint32_t serial;
	/* The present name. */
	uint8_t owner[NAME_FOLDED_BYTES];
	struct sign_types types; /* of its data */
	struct sign_old old;
	struct sign_list list;
	/* The name before it in the chain; with NSEC3, the one before it with data. */
	bool has_last;
	uint8_t last[NAME_FOLDED_BYTES];
	struct sign_types last_types;
	/* NSEC3. */
	struct nsec3_params params;
	struct hashed *hashed;
	size_t n_hashed, hashed_cap;
	uint8_t *bitmaps;
	size_t n_bitmaps, bitmaps_cap;
};

/* --- Records ---------------------------------------------------------------------------------- */

static int add_sign_all_record(struct all *a, const uint8_t *owner, uint16_t type, uint32_t ttl,
			       const struct zone_rdata *rd)
{
	struct zone_builder_record record = { .owner = owner,
					      .owner_bytes = (unsigned int)name_bytes(owner),
					      .type = type,
					      .rdata_bytes = rd->len,
					      .ttl = ttl,
					      .rdata = rd->bytes };

	return zone_builder_add(a->b, &record, a->err);
}

static int add_records(struct all *a, const uint8_t *owner, uint16_t type, uint32_t ttl,
		       const uint8_t *records, unsigned int n)
{
	struct zone_rdata rd;
	int rc = 0;

	while (!rc && n--) {
		records = zone_rdata_next(records, &rd);
		rc = add_sign_all_record(a, owner, type, ttl, &rd);
	}
	return rc;
}

/* Gives the RRset and its signatures to the builder. */
static int emit(void *user, const struct sign_rrset *rrset, const struct sign_list *sigs)
{
	struct all *a = user;
	int rc = add_records(a, rrset->owner, rrset->type, rrset->ttl, rrset->records, rrset->n);

	if (rc || !sigs->n)
		return rc;
	return add_records(a, rrset->owner, DNS_TYPE_RRSIG, rrset->ttl, sigs->bytes, sigs->n);
}

static int put_sign_all_rrset(struct all *a, const struct sign_rrset *rrset, bool is_signed)
{
	return sign_batch_add(a->batch, rrset, is_signed ? &a->old : NULL);
}

static int put_sign_all_list(struct all *a, const uint8_t *owner, uint16_t type, uint32_t ttl)
{
	struct sign_rrset rrset = {
		.owner = owner, .type = type, .n = a->list.n, .ttl = ttl, .records = a->list.bytes
	};

	return put_sign_all_rrset(a, &rrset, true);
}

/* --- The apex --------------------------------------------------------------------------------- */

static int put_sign_all_keys(struct all *a, uint16_t type)
{
	int rc;

	sign_list_clear(&a->list);
	rc = sign_list_keys(&a->list, &a->signer, type);
	if (rc || !a->list.n)
		return rc;
	sign_types_add(&a->types, type);
	return put_sign_all_list(a, a->owner, type, a->signer.options->dnskey_ttl_s);
}

static int put_param(struct all *a)
{
	uint8_t rdata[5 + 255];
	size_t n = sign_put_nsec3param(rdata, a->signer.options);
	int rc;

	sign_list_clear(&a->list);
	rc = sign_list_add(&a->list, rdata, n);
	if (rc)
		return rc;
	sign_types_add(&a->types, DNS_TYPE_NSEC3PARAM);
	return put_sign_all_list(a, a->owner, DNS_TYPE_NSEC3PARAM, 0);
}

static int put_sign_all_soa(struct all *a, const struct zone_rrset *soa)
{
	int rc = sign_list_soa(&a->list, a->from, a->serial);

	return rc ? rc : put_sign_all_list(a, a->owner, DNS_TYPE_SOA, soa->ttl);
}

static int put_apex(struct all *a)
{
	static const uint16_t types[] = { DNS_TYPE_DNSKEY, DNS_TYPE_CDS, DNS_TYPE_CDNSKEY };
	int rc = 0;

	for (unsigned int i = 0; !rc && i < sizeof(types) / sizeof(types[0]); i++)
		rc = put_sign_all_keys(a, types[i]);
	if (!rc && a->signer.options->nsec3)
		rc = put_param(a);
	return rc;
}

/* --- Names ------------------------------------------------------------------------------------ */

static void read_types(struct all *a, const struct zone_node *node, bool is_apex)
{
	unsigned int n;
	const struct zone_rrset *rrsets = zone_node_rrsets(a->from, node, &n);

	a->types.n = 0;
	for (unsigned int i = 0; i < n; i++)
		if (!sign_is_left_out(rrsets[i].type, is_apex))
			sign_types_add(&a->types, rrsets[i].type);
}

static int put_data(struct all *a, const struct zone_node *node, bool is_apex, bool is_occluded)
{
	bool is_cut = node->flags & NODE_CUT;
	unsigned int n;
	const struct zone_rrset *rrsets = zone_node_rrsets(a->from, node, &n);
	int rc = 0;

	for (unsigned int i = 0; !rc && i < n; i++) {
		uint16_t type = rrsets[i].type;
		struct sign_rrset rrset = {
			.owner = a->owner, .type = type, .n = rrsets[i].n, .ttl = rrsets[i].ttl
		};

		if (sign_is_left_out(type, is_apex))
			continue;
		rrset.records = zone_rrset_first(a->from, &rrsets[i]);
		rc = type == DNS_TYPE_SOA ?
			     put_sign_all_soa(a, &rrsets[i]) :
			     put_sign_all_rrset(a, &rrset,
						!is_occluded && sign_is_signed(type, is_cut));
	}
	return rc;
}

/* --- NSEC ------------------------------------------------------------------------------------- */

/* The NSEC of the last name, whose next name is this one. */
static int put_nsec(struct all *a, const uint8_t *next)
{
	uint8_t rdata[SIGN_NSEC_MAX];
	struct sign_types types;
	struct sign_old here = a->old;
	int rc;

	sign_types_of_proof(&types, &a->last_types, name_equal(a->last, a->signer.keys->apex),
			    false);
	sign_list_clear(&a->list);
	rc = sign_list_add(&a->list, rdata, sign_put_nsec(rdata, next, &types));
	if (rc)
		return rc;
	a->old = sign_old_of(a->before, a->last);
	rc = put_sign_all_list(a, a->last, DNS_TYPE_NSEC, zone_negative_ttl(a->from));
	a->old = here;
	return rc;
}

/* --- NSEC3 ------------------------------------------------------------------------------------ */

static int hash_sign_all_name(struct all *a, const uint8_t *name, const struct sign_types *data)
{
	uint8_t bitmap[SIGN_NSEC_MAX], folded[NAME_FOLDED_BYTES];
	bool is_apex = name_equal(name, a->signer.keys->apex);
	struct hashed *hashed;
	struct sign_types types;
	size_t n;
	void *p;

	sign_types_of_proof(&types, data, is_apex, true);
	n = sign_put_bitmap(bitmap, types.type, types.n);
	if (a->n_hashed == a->hashed_cap) {
		p = reallocarray(a->hashed, 2 * a->n_hashed + 64, sizeof(*a->hashed));
		if (!p)
			return -ENOMEM;
		a->hashed = p;
		a->hashed_cap = 2 * a->n_hashed + 64;
	}
	if (a->n_bitmaps + n > a->bitmaps_cap) {
		p = realloc(a->bitmaps, 2 * (a->n_bitmaps + n));
		if (!p)
			return -ENOMEM;
		a->bitmaps = p;
		a->bitmaps_cap = 2 * (a->n_bitmaps + n);
	}
	hashed = &a->hashed[a->n_hashed++];
	hashed->n_bitmap = (uint16_t)n;
	hashed->bitmap = a->n_bitmaps;
	memcpy(a->bitmaps + a->n_bitmaps, bitmap, n);
	a->n_bitmaps += n;
	name_fold(folded, name, name_bytes(name));
	nsec3_hash(&a->params, folded, &hashed->hash);
	return 0;
}

/* Hashes the name and the empty non-terminals above it that are not above the last name. In
 * canonical order, no name before the last one can be below these. */
static int hash_with_above(struct all *a)
{
	static const struct sign_types none;
	unsigned int labels = name_n_labels(a->owner), apex = name_n_labels(a->signer.keys->apex);
	bool is_left = a->signer.options->opt_out && labels > apex &&
		       sign_types_have(&a->types, DNS_TYPE_NS) &&
		       !sign_types_have(&a->types, DNS_TYPE_DS);
	int rc = 0;

	for (unsigned int up = 1; !rc && labels > apex + up; up++) {
		const uint8_t *above = name_skip_labels(a->owner, up);

		if (name_is_under(a->last, above))
			break;
		rc = hash_sign_all_name(a, above, &none);
	}
	return rc || is_left ? rc : hash_sign_all_name(a, a->owner, &a->types);
}

static int cmp_hashed(const void *a, const void *b)
{
	return memcmp(&((const struct hashed *)a)->hash, &((const struct hashed *)b)->hash,
		      sizeof(struct nsec3_label));
}

static int put_nsec3(struct all *a, const struct hashed *hashed, const struct hashed *next)
{
	uint8_t rdata[SIGN_NSEC3_FIXED_MAX + SIGN_NSEC_MAX], owner[NAME_FOLDED_BYTES];
	size_t n = sign_put_nsec3(rdata, a->signer.options, &next->hash,
				  a->bitmaps + hashed->bitmap, hashed->n_bitmap);
	int rc;

	sign_nsec3_owner(&hashed->hash, a->signer.keys->apex, owner);
	sign_list_clear(&a->list);
	rc = sign_list_add(&a->list, rdata, n);
	if (rc)
		return rc;
	a->old = sign_old_of(a->before, owner);
	return put_sign_all_list(a, owner, DNS_TYPE_NSEC3, zone_negative_ttl(a->from));
}

/* --- The walk --------------------------------------------------------------------------------- */

static int link_name(struct all *a)
{
	int rc = 0;

	if (a->signer.options->nsec3)
		rc = hash_with_above(a);
	else if (a->has_last)
		rc = put_nsec(a, a->owner);
	memcpy(a->last, a->owner, sizeof(a->last));
	a->last_types = a->types;
	a->has_last = true;
	return rc;
}

static int put_sign_all_name(struct all *a, const struct zone_node *node)
{
	bool is_apex = node == zone_apex_node(a->from);
	bool is_occluded = zone_node_is_occluded(a->from, node);
	uint8_t folded[NAME_FOLDED_BYTES];
	int rc;

	zone_node_owner(a->from, node, a->owner);
	read_types(a, node, is_apex);
	if (!a->types.n)
		return 0;
	a->old = sign_old_of(a->before, a->owner);
	rc = put_data(a, node, is_apex, is_occluded);
	if (!rc && is_apex)
		rc = put_apex(a);
	if (rc || is_occluded)
		return rc;
	name_fold(folded, a->owner, name_bytes(a->owner));
	memcpy(a->owner, folded, sizeof(a->owner));
	return link_name(a);
}

static int end_chain(struct all *a, const bool *cancel)
{
	size_t n = a->n_hashed;
	int rc = 0;

	if (!a->signer.options->nsec3)
		return put_nsec(a, a->signer.keys->apex);
	qsort(a->hashed, n, sizeof(*a->hashed), cmp_hashed);
	for (size_t i = 0; !rc && i < n; i++) {
		const struct hashed *next = &a->hashed[i + 1 < n ? i + 1 : 0];

		if (n > 1 && !cmp_hashed(&a->hashed[i], next))
			return zone_error_set(a->err, "", 0,
					      "two names have one NSEC3 hash: change the salt");
		if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED))
			return -ECANCELED;
		rc = put_nsec3(a, &a->hashed[i], next);
	}
	return rc;
}

static int put_all_sign_all(struct all *a, const bool *cancel)
{
	const struct zone_node *node;
	struct zone_walk walk;
	int rc = 0;

	zone_walk_init(&walk, a->from);
	while (!rc && (node = zone_walk_next(&walk)))
		rc = cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED) ?
			     -ECANCELED :
			     put_sign_all_name(a, node);
	if (!rc)
		rc = end_chain(a, cancel);
	return rc ? rc : sign_batch_flush(a->batch);
}

static int check_sign_all(const struct all *a)
{
	if (a->signer.options->nsec3 &&
	    name_bytes(a->signer.keys->apex) + sizeof(struct nsec3_label) > DNS_NAME_MAX)
		return zone_error_set(a->err, "", 0, "its name is too long for NSEC3");
	return signer_check(&a->signer, a->err);
}

static void fini(struct all *a)
{
	sign_batch_free(a->batch);
	zone_builder_free(a->b);
	signer_fini(&a->signer);
	sign_list_free(&a->list);
	free(a->hashed);
	free(a->bitmaps);
	free(a);
}

int sign_all(const struct zone *from, const struct zone *before, const struct sign_keys *keys,
	     const struct sign_options *options, uint64_t now_s, uint32_t serial,
	     unsigned int n_threads, const bool *cancel, struct zone **out, struct zone_error *err)
{
	struct all *a = calloc(1, sizeof(*a));
	unsigned int apex_bytes;
	int rc;

	*out = NULL;
	*err = (struct zone_error){ 0 };
	if (!a)
		return -ENOMEM;
	a->from = from;
	a->before = before;
	a->err = err;
	a->serial = serial;
	signer_init(&a->signer, keys, options, now_s);
	sign_nsec3_params(options, &a->params);
	rc = check_sign_all(a);
	if (!rc)
		rc = zone_builder_new(&a->b, zone_apex(from, &apex_bytes));
	if (!rc) {
		a->batch = sign_batch_new(keys, options, now_s, n_threads, emit, a);
		rc = a->batch ? 0 : -ENOMEM;
	}
	if (!rc) {
		zone_builder_watch(a->b, cancel);
		rc = put_all_sign_all(a, cancel);
	}
	if (!rc)
		rc = zone_builder_finish(a->b, out, err);
	fini(a);
	return rc;
}
