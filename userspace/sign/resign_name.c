/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets the RRsets and signatures of one name in an edit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sign/resign.h"

int resign_names_add(struct resign_names *names, const uint8_t *name)
{
	size_t n = name_bytes(name), need = names->n_bytes + n;
	uint8_t *bytes;

	if (need > names->cap) {
		bytes = realloc(names->bytes, 2 * need + 1024);
		if (!bytes)
			return -ENOMEM;
		names->bytes = bytes;
		names->cap = 2 * need + 1024;
	}
	memcpy(names->bytes + names->n_bytes, name, n);
	names->n_bytes = need;
	return 0;
}

int resign_remove_rrset(struct resign *r, const uint8_t *owner, uint16_t type)
{
	int rc = zone_edit_remove_rrset(r->edit, owner, type);

	return rc == ERR_NOT_FOUND ? 0 : rc;
}

int resign_set_rrset(struct resign *r, const uint8_t *owner, uint16_t type, uint32_t ttl,
		     const struct sign_list *list)
{
	struct sign_old now = sign_old_of(zone_edit_view(r->edit), owner);
	struct sign_rrset rrset = { owner, type, list->n, ttl, list->bytes };
	const uint8_t *at = list->bytes;
	struct zone_rdata rd;
	int rc;

	if (list->n && sign_is_as_before(&now, &rrset))
		return 0;
	rc = resign_remove_rrset(r, owner, type);
	for (unsigned int i = 0; rc >= 0 && i < list->n; i++) {
		at = zone_rdata_next(at, &rd);
		rc = zone_edit_add(r->edit, owner, type, ttl, rd.bytes, rd.len);
	}
	return rc < 0 ? rc : 0;
}

void resign_types(const struct zone *z, const struct zone_node *node, struct sign_types *out)
{
	unsigned int n = 0;
	const struct zone_rrset *rrsets = node ? zone_node_rrsets(z, node, &n) : NULL;

	out->n = 0;
	for (unsigned int i = 0; i < n; i++)
		if (rrsets[i].type != DNS_TYPE_RRSIG && rrsets[i].type != DNS_TYPE_NSEC &&
		    rrsets[i].type != DNS_TYPE_NSEC3)
			sign_types_add(out, rrsets[i].type);
}

/* --- Signatures ------------------------------------------------------------------------------- */

/* Puts all signatures that the name shall have into r->want. */
static int want_resign_name(struct resign *r, const struct zone *z, const struct zone_node *node,
			    const uint8_t *owner)
{
	struct sign_old old = sign_old_of(r->base, owner);
	unsigned int n;
	const struct zone_rrset *rrsets = zone_node_rrsets(z, node, &n);
	int rc = 0;

	if (zone_node_is_occluded(z, node))
		return 0;
	for (unsigned int i = 0; !rc && i < n; i++) {
		struct sign_rrset rrset = { owner, rrsets[i].type, rrsets[i].n, rrsets[i].ttl,
					    zone_rrset_first(z, &rrsets[i]) };

		if (sign_is_signed(rrset.type, node->flags & NODE_CUT))
			rc = signer_sign_rrset(&r->signer, &rrset, &old, &r->want, &r->n_new);
	}
	return rc;
}

/* Puts the signatures that the name has and shall not have into r->gone. */
static int find_gone(struct resign *r, const struct zone *z, const struct zone_node *node)
{
	const struct zone_rrset *rrset = zone_node_rrset(z, node, DNS_TYPE_RRSIG);
	const uint8_t *at = rrset ? zone_rrset_first(z, rrset) : NULL;
	int rc = 0;

	for (unsigned int i = 0; !rc && rrset && i < rrset->n; i++) {
		struct zone_rdata rd;

		at = zone_rdata_next(at, &rd);
		if (!sign_list_has(&r->want, &rd))
			rc = sign_list_add(&r->gone, rd.bytes, rd.len);
	}
	return rc;
}

static int apply_resign_name(struct resign *r, const uint8_t *owner)
{
	const uint8_t *at = r->want.bytes;
	struct zone_rdata rd;
	int rc = 0;

	/* Adds first: the last signature of a name must not be removed before the new ones come. */
	for (unsigned int i = 0; rc >= 0 && i < r->want.n; i++) {
		at = zone_rdata_next(at, &rd);
		rc = zone_edit_add(r->edit, owner, DNS_TYPE_RRSIG, 0, rd.bytes, rd.len);
	}
	at = r->gone.bytes;
	for (unsigned int i = 0; rc >= 0 && i < r->gone.n; i++) {
		at = zone_rdata_next(at, &rd);
		rc = zone_edit_remove(r->edit, owner, DNS_TYPE_RRSIG, rd.bytes, rd.len);
	}
	r->n_gone += r->gone.n;
	return rc < 0 ? rc : 0;
}

int resign_sign_name(struct resign *r, const uint8_t *owner)
{
	const struct zone *z = zone_edit_view(r->edit);
	const struct zone_node *node = zone_node_of(z, owner);
	int rc;

	if (!node)
		return 0;
	sign_list_clear(&r->want);
	sign_list_clear(&r->gone);
	rc = want_resign_name(r, z, node, owner);
	if (!rc)
		rc = find_gone(r, z, node);
	return rc ? rc : apply_resign_name(r, owner);
}
