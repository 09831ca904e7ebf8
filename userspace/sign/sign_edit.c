/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signs what an edit touched: sets the signer's own RRsets, finds the names that came into the
 * chain or left it, closes the chain around them, and signs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sign/resign.h"
#include "zone/builder.h"
#include "zone/version.h"
#include "zone/zone_walk.h"

static bool is_sign_edit_apex(const struct resign *r, const uint8_t *name)
{
	return name_equal(name, r->signer.keys->apex);
}

/* --- The signer's own RRsets ------------------------------------------------------------------ */

static int set_keys(struct resign *r, uint16_t type)
{
	int rc;

	sign_list_clear(&r->want);
	rc = sign_list_keys(&r->want, &r->signer, type);
	return rc ? rc :
		    resign_set_rrset(r, r->signer.keys->apex, type, r->signer.options->dnskey_ttl_s,
				     &r->want);
}

static int set_param(struct resign *r)
{
	uint8_t rdata[5 + 255];
	int rc = 0;

	sign_list_clear(&r->want);
	if (r->signer.options->nsec3)
		rc = sign_list_add(&r->want, rdata, sign_put_nsec3param(rdata, r->signer.options));
	return rc ? rc :
		    resign_set_rrset(r, r->signer.keys->apex, DNS_TYPE_NSEC3PARAM, 0, &r->want);
}

static int set_apex(struct resign *r)
{
	int rc = set_keys(r, DNS_TYPE_DNSKEY);

	if (!rc)
		rc = set_keys(r, DNS_TYPE_CDS);
	if (!rc)
		rc = set_keys(r, DNS_TYPE_CDNSKEY);
	if (!rc)
		rc = set_param(r);
	return rc ? rc : resign_remove_rrset(r, r->signer.keys->apex, DNS_TYPE_ZONEMD);
}

/* Sets the NSEC3 RRset back to the base's; the chain is completed from there. */
static int set_nsec3(struct resign *r, const uint8_t *name)
{
	const struct zone_node *node = zone_node_of(r->base, name);
	const struct zone_rrset *rrset = node ? zone_node_rrset(r->base, node, DNS_TYPE_NSEC3) :
						NULL;
	const uint8_t *at = rrset ? zone_rrset_first(r->base, rrset) : NULL;
	struct zone_rdata rd;
	int rc = 0;

	sign_list_clear(&r->want);
	for (unsigned int i = 0; !rc && rrset && i < rrset->n; i++) {
		at = zone_rdata_next(at, &rd);
		rc = sign_list_add(&r->want, rd.bytes, rd.len);
	}
	return rc ? rc :
		    resign_set_rrset(r, name, DNS_TYPE_NSEC3, rrset ? rrset->ttl : 0, &r->want);
}

static int set_own(struct resign *r, const uint8_t *name)
{
	static const uint16_t apex_only[] = { DNS_TYPE_DNSKEY, DNS_TYPE_CDS, DNS_TYPE_CDNSKEY,
					      DNS_TYPE_NSEC3PARAM };
	int rc = 0;

	if (is_sign_edit_apex(r, name))
		return set_apex(r);
	for (unsigned int i = 0; !rc && i < sizeof(apex_only) / sizeof(apex_only[0]); i++)
		rc = resign_remove_rrset(r, name, apex_only[i]);
	return rc ? rc : set_nsec3(r, name);
}

/* --- The names -------------------------------------------------------------------------------- */

static bool is_sign_edit_cut(const struct zone *z, const uint8_t *name)
{
	const struct zone_node *node = zone_node_of(z, name);

	return node && node->flags & NODE_CUT;
}

static int add_sign_edit_name(void *user, const uint8_t *owner, unsigned n)
{
	struct resign *r = user;

	(void)n;
	return resign_names_add(&r->names, owner);
}

static bool exists(const struct zone *z, const uint8_t *name)
{
	const struct zone_node *node = zone_node_of(z, name);

	return node && !(node->flags & NODE_NSEC3);
}

/* Adds empty non-terminals that came or went with the name. */
static int add_above(struct resign *r, const uint8_t *name)
{
	const struct zone *z = zone_edit_view(r->edit);
	int rc = 0;

	while (!rc && !is_sign_edit_apex(r, name)) {
		name = name_parent(name);
		if (exists(r->base, name) == exists(z, name))
			break;
		rc = resign_names_add(&r->names, name);
	}
	return rc;
}

/* True if the name belongs in the chain. */
static bool is_sign_edit_member(const struct resign *r, const uint8_t *name)
{
	const struct zone *z = zone_edit_view(r->edit);
	const struct zone_node *node = zone_node_of(z, name);
	struct sign_types types;

	if (!node || zone_node_is_occluded(z, node))
		return false;
	resign_types(z, node, &types);
	if (!r->signer.options->nsec3)
		return types.n;
	if (node->flags & NODE_NSEC3)
		return false;
	return !r->signer.options->opt_out || is_sign_edit_apex(r, name) ||
	       !sign_types_have(&types, DNS_TYPE_NS) || sign_types_have(&types, DNS_TYPE_DS);
}

/* If the name has no data any more, removes its signatures: else it would seem to exist. */
static int clean_sign_edit(struct resign *r, const uint8_t *name)
{
	const struct zone *z = zone_edit_view(r->edit);
	struct sign_types types;
	int rc;

	resign_types(z, zone_node_of(z, name), &types);
	if (types.n && is_sign_edit_member(r, name))
		return 0;
	rc = resign_remove_rrset(r, name, DNS_TYPE_NSEC);
	return rc ? rc : resign_sign_name(r, name);
}

typedef int per_name(struct resign *r, const uint8_t *name);

/* Calls for each name in the list at the begin; a call may add names. */
static int for_names(struct resign *r, per_name *call)
{
	uint8_t name[NAME_FOLDED_BYTES] = { 0 };
	size_t end = r->names.n_bytes;
	int rc = 0;

	for (size_t at = 0; !rc && at < end;) {
		size_t n = name_bytes(r->names.bytes + at);

		memcpy(name, r->names.bytes + at, n);
		rc = call(r, name);
		at += n;
	}
	return rc;
}

/* If the name became a cut or is no longer one, the names below it leave or enter the chain. */
static int add_below_if_cut(struct resign *r, const uint8_t *name)
{
	if (is_sign_edit_cut(r->base, name) == is_sign_edit_cut(zone_edit_view(r->edit), name))
		return 0;
	return zone_walk_below(zone_edit_view(r->edit), name, add_sign_edit_name, r);
}

/* --- Links ------------------------------------------------------------------------------------ */

/* The NSEC3 owners and the bitmaps stay in memory until the chain is complete. */
struct linking {
	struct resign_link *links;
	size_t n;
	struct resign_names owners; /* of NSEC3 */
	uint8_t *bitmaps;
	size_t n_bitmaps, cap;
};

static int put_bitmap(struct linking *l, const struct sign_types *types)
{
	uint8_t bitmap[SIGN_NSEC_MAX];
	size_t n = sign_put_bitmap(bitmap, types->type, types->n);
	uint8_t *bytes = l->bitmaps;

	if (l->n_bitmaps + n > l->cap) {
		bytes = realloc(l->bitmaps, 2 * (l->n_bitmaps + n));
		if (!bytes)
			return -ENOMEM;
		l->bitmaps = bytes;
		l->cap = 2 * (l->n_bitmaps + n);
	}
	memcpy(bytes + l->n_bitmaps, bitmap, n);
	l->n_bitmaps += n;
	l->links[l->n].n_bitmap = (uint16_t)n;
	return 0;
}

static int put_hash_owner(struct resign *r, struct linking *l, const uint8_t *name)
{
	uint8_t owner[NAME_FOLDED_BYTES];
	struct nsec3_label hash;

	nsec3_hash(&r->params, name, &hash);
	l->links[l->n].was = nsec3_match(r->base, &hash);
	sign_nsec3_owner(&hash, r->signer.keys->apex, owner);
	return resign_names_add(&l->owners, owner);
}

static bool had_nsec(const struct resign *r, const uint8_t *name)
{
	const struct zone_node *node = zone_node_of(r->base, name);

	return node && zone_node_rrset(r->base, node, DNS_TYPE_NSEC);
}

static int put_link(struct resign *r, struct linking *l, const uint8_t *name)
{
	const struct zone *z = zone_edit_view(r->edit);
	struct resign_link *link = &l->links[l->n];
	struct sign_types data, types;
	int rc;

	*link = (struct resign_link){ .owner = name, .is = is_sign_edit_member(r, name) };
	if (r->signer.options->nsec3)
		rc = put_hash_owner(r, l, name);
	else
		rc = 0, link->was = had_nsec(r, name);
	resign_types(z, zone_node_of(z, name), &data);
	sign_types_of_proof(&types, &data, is_sign_edit_apex(r, name), r->signer.options->nsec3);
	if (!rc)
		rc = put_bitmap(l, &types);
	l->n++;
	return rc;
}

static int cmp_links(const void *a, const void *b)
{
	return name_canonical_cmp(((const struct resign_link *)a)->owner,
				  ((const struct resign_link *)b)->owner);
}

/* Sets pointers now, since the arrays grow no more. */
static void set_pointers(const struct resign *r, struct linking *l)
{
	const uint8_t *owner = l->owners.bytes, *bitmap = l->bitmaps;

	for (size_t i = 0; i < l->n; i++) {
		l->links[i].bitmap = bitmap;
		bitmap += l->links[i].n_bitmap;
		if (r->signer.options->nsec3) {
			l->links[i].owner = owner;
			owner += name_bytes(owner);
		}
	}
	qsort(l->links, l->n, sizeof(*l->links), cmp_links);
}

static int link_names(struct resign *r)
{
	struct name_list list = { 0 };
	struct linking l = { 0 };
	int rc = name_list_make(&list, r->names.bytes, r->names.n_bytes);

	if (!rc) {
		l.links = calloc(list.n + 1, sizeof(*l.links));
		rc = l.links ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !rc && i < list.n; i++)
		rc = put_link(r, &l, list.names[i]);
	if (!rc) {
		set_pointers(r, &l);
		rc = resign_chain(r, l.links, l.n);
	}
	name_list_free(&list);
	free(l.links);
	free(l.owners.bytes);
	free(l.bitmaps);
	return rc;
}

/* --- All -------------------------------------------------------------------------------------- */

static int add_to_sign(struct resign *r, const uint8_t *name)
{
	return resign_names_add(&r->sign, name);
}

static int sign_names(struct resign *r)
{
	struct name_list list = { 0 };
	int rc = for_names(r, add_to_sign);

	if (!rc)
		rc = name_list_make(&list, r->sign.bytes, r->sign.n_bytes);
	for (size_t i = 0; !rc && i < list.n; i++)
		rc = resign_sign_name(r, list.names[i]);
	name_list_free(&list);
	return rc;
}

/* All proofs have the SOA's negative TTL: if it changes, all of them change. */
static int check_soa(struct resign *r)
{
	const struct zone *z = zone_edit_view(r->edit);

	if (!zone_soa(z))
		return zone_error_set(r->err, "", 0, "the zone has no SOA record at its apex");
	return zone_negative_ttl(z) == zone_negative_ttl(r->base) ? 0 : ERR_LIMIT;
}

int resign_all(struct resign *r)
{
	int rc = check_soa(r);

	if (!rc)
		rc = resign_names_add(&r->names, r->signer.keys->apex);
	if (!rc)
		rc = for_names(r, set_own);
	if (!rc)
		rc = for_names(r, add_below_if_cut);
	if (!rc)
		rc = for_names(r, clean_sign_edit);
	if (!rc && r->signer.options->nsec3)
		rc = for_names(r, add_above);
	if (!rc)
		rc = link_names(r);
	return rc ? rc : sign_names(r);
}

/* Looks at the NSEC3 of the apex: all others have the same flag. */
static bool has_opt_out(const struct resign *r)
{
	const struct zone_node *node;
	struct nsec3_label hash;
	struct zone_rdata rd;

	nsec3_hash(&r->params, r->signer.keys->apex, &hash);
	node = nsec3_match(r->base, &hash);
	if (!node)
		return false;
	zone_rdata_next(zone_rrset_first(r->base, zone_node_rrset(r->base, node, DNS_TYPE_NSEC3)),
			&rd);
	return rd.bytes[1] & SIGN_NSEC3_OPT_OUT;
}

int resign_init(struct resign *r, struct zone_edit *edit, const struct zone *base,
		const struct sign_keys *keys, const struct sign_options *options, uint64_t now_s,
		struct zone_error *err)
{
	enum zone_chain chain = options->nsec3 ? ZONE_CHAIN_NSEC3 : ZONE_CHAIN_NSEC;

	*r = (struct resign){ .edit = edit, .base = base, .err = err };
	signer_init(&r->signer, keys, options, now_s);
	sign_nsec3_params(options, &r->params);
	if (zone_chain(base) != chain)
		return ERR_LIMIT;
	if (options->nsec3 && (!nsec3_params_equal(&r->params, base->nsec3_params) ||
			       options->opt_out != has_opt_out(r)))
		return ERR_LIMIT;
	return signer_check(&r->signer, err);
}

void resign_fini(struct resign *r)
{
	signer_fini(&r->signer);
	sign_list_free(&r->want);
	sign_list_free(&r->gone);
	free(r->names.bytes);
	free(r->sign.bytes);
}

int sign_edit(struct zone_edit *edit, const struct zone *base, const struct sign_keys *keys,
	      const struct sign_options *options, uint64_t now_s, struct zone_error *err)
{
	struct resign r;
	int rc;

	*err = (struct zone_error){ 0 };
	rc = resign_init(&r, edit, base, keys, options, now_s, err);
	if (!rc)
		rc = zone_edit_touched(edit, &r.names.bytes, &r.names.n_bytes);
	r.names.cap = r.names.n_bytes;
	if (!rc)
		rc = resign_all(&r);
	resign_fini(&r);
	return rc;
}
