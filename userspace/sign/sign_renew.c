/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Renews signatures that will end, and those that new or removed keys require. */
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "sign/resign.h"
#include "zone/zone_walk.h"

#define RRSIG_EXPIRATION_AT 8
#define RRSIG_INCEPTION_AT  12
#define RRSIG_FIXED         18u

/* --- Looking ---------------------------------------------------------------------------------- */

/* True if the name's signatures of this type are by the keys that sign, and valid long enough. */
static bool is_good(const struct signer *s, const struct zone *z, const struct zone_node *node,
		    uint16_t type)
{
	struct zone_rrsigs it = zone_rrsigs(z, node, type);
	struct zone_rdata rd;
	size_t n = 0, n_wanted = 0, n_good = 0;

	while (zone_rrsigs_next(&it, &rd))
		n++;
	for (size_t i = 0; i < s->keys->n; i++) {
		const struct sign_key *key = &s->keys->keys[i];
		bool found = false;

		if (!sign_key_signs(key, type, s->now_s))
			continue;
		n_wanted++;
		it = zone_rrsigs(z, node, type);
		while (!found && zone_rrsigs_next(&it, &rd))
			found = signer_keeps(s, key, &rd);
		n_good += found;
	}
	return n_good == n_wanted && n == n_wanted;
}

static bool is_name_good(const struct signer *s, const struct zone *z, const struct zone_node *node)
{
	unsigned int n;
	const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n);

	if (zone_node_is_occluded(z, node))
		return true;
	for (unsigned int i = 0; i < n; i++)
		if (sign_is_signed(rrsets[i].type, node->flags & NODE_CUT) &&
		    !is_good(s, z, node, rrsets[i].type))
			return false;
	return true;
}

/* --- Renewing --------------------------------------------------------------------------------- */

/* Begins the walk at the name with this number. */
static void begin_sign_renew(struct zone_walk *walk, const struct zone *z, size_t at)
{
	zone_walk_init(walk, z);
	if (!walk->overlay)
		walk->base = (uint32_t)at;
	else
		while (at-- && zone_walk_next(walk))
			;
}

static int renew_names(struct resign *r, size_t *at, size_t n_max)
{
	uint8_t owner[NAME_FOLDED_BYTES];
	const struct zone_node *node;
	struct zone_walk walk;
	int rc = 0;

	begin_sign_renew(&walk, r->base, *at);
	while (!rc && r->n_new < n_max) {
		node = zone_walk_next(&walk);
		if (!node) {
			*at = 0;
			break;
		}
		++*at;
		if (node == zone_apex_node(r->base) || is_name_good(&r->signer, r->base, node))
			continue;
		name_fold(owner, owner, zone_node_owner(r->base, node, owner));
		rc = resign_sign_name(r, owner);
	}
	return rc;
}

static bool is_list_there(const struct zone *z, uint16_t type, uint32_t ttl,
			  const struct sign_list *list)
{
	struct sign_old old = { z, zone_apex_node(z) };
	struct sign_rrset rrset = { .type = type, .n = list->n, .ttl = ttl, .records = list->bytes };

	return list->n ? sign_is_as_before(&old, &rrset) : !zone_node_rrset(z, old.node, type);
}

/* *is_good: the apex has the keys' RRsets as they shall be, and good signatures. */
static int look_at_apex(struct resign *r, bool *is_good)
{
	static const uint16_t types[] = { DNS_TYPE_DNSKEY, DNS_TYPE_CDS, DNS_TYPE_CDNSKEY };
	int rc = 0;

	*is_good = is_name_good(&r->signer, r->base, zone_apex_node(r->base));
	for (unsigned int i = 0; !rc && i < sizeof(types) / sizeof(types[0]); i++) {
		sign_list_clear(&r->want);
		rc = sign_list_keys(&r->want, &r->signer, types[i]);
		*is_good &=
			is_list_there(r->base, types[i], r->signer.options->dnskey_ttl_s, &r->want);
	}
	return rc;
}

/* RFC 1982: the next number is always greater. */
static int raise_sign_renew_serial(struct resign *r)
{
	const struct zone_rrset *soa = zone_soa(r->base);
	int rc = sign_list_soa(&r->want, r->base, zone_serial(r->base) + 1);

	return rc ? rc :
		    resign_set_rrset(r, r->signer.keys->apex, DNS_TYPE_SOA, soa->ttl, &r->want);
}

static int renew_sign_renew(struct resign *r, size_t *at, size_t n_max)
{
	bool apex_is_good = true;
	int rc = *at ? 0 : look_at_apex(r, &apex_is_good);

	if (!rc)
		rc = renew_names(r, at, n_max);
	if (rc || (apex_is_good && !r->n_new && !r->n_gone))
		return rc;
	rc = raise_sign_renew_serial(r);
	return rc ? rc : resign_all(r); /* of the apex */
}

int sign_renew(struct zone_edit *edit, const struct zone *base, const struct sign_keys *keys,
	       const struct sign_options *options, uint64_t now_s, size_t *at, size_t n_max,
	       size_t *n, struct zone_error *err)
{
	struct resign r;
	int rc;

	*err = (struct zone_error){ 0 };
	rc = resign_init(&r, edit, base, keys, options, now_s, err);
	if (!rc)
		rc = renew_sign_renew(&r, at, n_max);
	*n = r.n_new > r.n_gone ? r.n_new : r.n_gone;
	resign_fini(&r);
	return rc;
}

/* --- When ------------------------------------------------------------------------------------- */

/* A 32-bit time is the one nearest to now: RFC 4034 section 3.1.5. */
static uint64_t time_at(const uint8_t *at, uint64_t now_s)
{
	int32_t from_now = (int32_t)(wire_load_be32(at) - (uint32_t)now_s);

	return (uint64_t)((int64_t)now_s + from_now);
}

static void narrow(struct sign_span *span, const struct zone_rdata *rrsig, uint64_t now_s)
{
	uint64_t begin_s, end_s;

	if (rrsig->len < RRSIG_FIXED)
		return;
	begin_s = time_at(rrsig->bytes + RRSIG_INCEPTION_AT, now_s);
	end_s = time_at(rrsig->bytes + RRSIG_EXPIRATION_AT, now_s);
	if (begin_s > span->begin_s)
		span->begin_s = begin_s;
	if (end_s < span->end_s)
		span->end_s = end_s;
}

struct sign_span sign_span(const struct zone *z, uint64_t now_s)
{
	struct sign_span span = { 0, UINT64_MAX };
	const struct zone_node *node;
	struct zone_walk walk;

	zone_walk_init(&walk, z);
	while ((node = zone_walk_next(&walk))) {
		const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_RRSIG);
		const uint8_t *at = rrset ? zone_rrset_first(z, rrset) : NULL;
		struct zone_rdata rd;

		for (unsigned int i = 0; rrset && i < rrset->n; i++) {
			at = zone_rdata_next(at, &rd);
			narrow(&span, &rd, now_s);
		}
	}
	return span;
}

/* The signatures may be of several keys: one valid signature is enough. */
struct sign_span sign_span_of_soa(const struct zone *z, uint64_t now_s)
{
	struct zone_rrsigs it = zone_rrsigs(z, zone_apex_node(z), DNS_TYPE_SOA);
	struct sign_span span = { 0, UINT64_MAX };
	struct zone_rdata rd;

	while (zone_rrsigs_next(&it, &rd)) {
		span = (struct sign_span){ 0, UINT64_MAX };
		narrow(&span, &rd, now_s);
		if (sign_span_has(&span, now_s))
			break;
	}
	return span;
}

uint64_t sign_due(const struct sign_span *span, const struct sign_options *options)
{
	if (span->end_s == UINT64_MAX)
		return UINT64_MAX;
	return span->end_s > options->refresh_s ? span->end_s - options->refresh_s : 0;
}

uint32_t sign_ttl_max(const struct zone *z)
{
	const struct zone_node *node;
	struct zone_walk walk;
	uint32_t max = 0;

	zone_walk_init(&walk, z);
	while ((node = zone_walk_next(&walk))) {
		unsigned int n;
		const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n);

		for (unsigned int i = 0; i < n; i++)
			if (rrsets[i].ttl > max)
				max = rrsets[i].ttl;
	}
	return max;
}
