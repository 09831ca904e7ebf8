/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/render_state.h"

#include "dns/name.h"

static int add_dnssec_record(struct render *r, const uint8_t *owner, uint16_t type, uint32_t ttl,
			     const struct zone_rdata *rd)
{
	return writer_add_rr(&r->writer, owner, type, DNS_CLASS_IN, ttl, rd->bytes, rd->len);
}

static int add_dnssec_signatures(struct render *r, const struct zone *z,
				 const struct zone_node *node, const uint8_t *owner,
				 const struct zone_rrset *rrset, uint32_t ttl)
{
	struct zone_rrsigs signatures = zone_rrsigs(z, node, rrset->type);
	struct zone_rdata rd;
	int err = 0;

	while (!err && zone_rrsigs_next(&signatures, &rd))
		err = add_dnssec_record(r, owner, DNS_TYPE_RRSIG, ttl, &rd);
	return err;
}

/* The TTL of a signature that was asked for by itself: the TTL of the RRset that it covers. */
static uint32_t signature_ttl(const struct zone *z, const struct zone_node *node,
			      const struct zone_rrset *rrset, const struct zone_rdata *rd)
{
	const struct zone_rrset *covered = zone_node_rrset(z, node, zone_rrsig_covered(rd));

	return covered ? covered->ttl : rrset->ttl;
}

static int add_dnssec_rrset(struct render *r, const struct zone *z, const struct zone_node *node,
			    const uint8_t *owner, const struct zone_rrset *rrset, uint32_t ttl)
{
	const uint8_t *at = zone_rrset_first(z, rrset);
	struct zone_rdata rd;
	int err = 0;

	for (unsigned int i = 0; i < rrset->n && !err; i++) {
		at = zone_rdata_next(at, &rd);
		if (rrset->type == DNS_TYPE_RRSIG)
			ttl = signature_ttl(z, node, rrset, &rd);
		err = add_dnssec_record(r, owner, rrset->type, ttl, &rd);
	}
	if (!err && r->dnssec_ok && node)
		err = add_dnssec_signatures(r, z, node, owner, rrset, ttl);
	return err;
}

int dnssec_add_rrset(struct render *r, const struct zone_node *node, const uint8_t *owner,
		     const struct zone_rrset *rrset, uint32_t ttl)
{
	return add_dnssec_rrset(r, r->zone, node, owner, rrset, ttl);
}

static bool is_dnssec_noted(const struct render *r, const struct zone_rrset *rrset)
{
	for (unsigned int i = 0; i < r->n_proofs; i++) {
		if (r->proofs[i].rrset == rrset)
			return true;
	}
	return false;
}

void dnssec_note_proofs(struct render *r, const struct zone_result *found)
{
	const uint8_t *folded = r->chain[r->n_steps];
	struct zone_denial denial;

	if (!r->dnssec_ok)
		return;
	zone_denial(r->zone, folded, (unsigned int)name_bytes(folded), found, &denial);
	for (unsigned int i = 0; i < denial.n; i++) {
		if (is_dnssec_noted(r, denial.proof[i].rrset))
			continue;
		r->proofs[r->n_proofs++] = (struct render_proof){
			.zone = r->zone,
			.node = denial.proof[i].node,
			.rrset = denial.proof[i].rrset,
		};
	}
}

int dnssec_add_proofs(struct render *r)
{
	uint8_t owner[ZONE_NAME_MAX];
	int err = 0;

	if (!r->n_proofs)
		return 0;
	writer_set_section(&r->writer, WRITER_AUTHORITY);
	for (unsigned int i = 0; i < r->n_proofs && !err; i++) {
		const struct render_proof *p = &r->proofs[i];

		zone_node_owner(p->zone, p->node, owner);
		err = add_dnssec_rrset(r, p->zone, p->node, owner, p->rrset, p->rrset->ttl);
	}
	r->n_proofs = 0;
	return err;
}
