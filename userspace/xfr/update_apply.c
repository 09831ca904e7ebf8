/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RFC 2136 section 3.4.2, record by record. The RFC demands that changes that are not allowed are
 * silently ignored.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/rdata.h"
#include "xfr/update.h"

#define SOA_MAX       (2 * DNS_NAME_MAX + 20)
#define WKS_KEY_BYTES 5 /* address and protocol: section 3.4.2.2 */
#define SERIAL_TO_END 20

struct apply {
	const struct update *u;
	const struct update_options *options;
	struct zone_edit *edit;
	bool changed;
	uint32_t old_serial;
};

/* Maps the result of an edit to an rcode, and notes in a->changed that the zone has changed. */
static enum dns_rcode edited(struct apply *a, int code)
{
	if (code == 0)
		a->changed = true;
	if (code >= 0 || code == ERR_NOT_FOUND)
		return DNS_RCODE_NOERROR;
	return code == -ENOMEM ? DNS_RCODE_SERVFAIL : DNS_RCODE_REFUSED;
}

static bool is_applied_apex(const struct apply *a, const struct xfr_record *r)
{
	return r->owner_bytes == a->u->zone_bytes;
}

static const struct zone_rrset *rrset_of_applied(const struct apply *a,
						 const struct zone_node *node, uint16_t type)
{
	return node ? zone_node_rrset(zone_edit_view(a->edit), node, type) : NULL;
}

static const struct zone_node *node_of(const struct apply *a, const struct xfr_record *r)
{
	return zone_node_of(zone_edit_view(a->edit), r->owner);
}

/* The present serial number. The edit has exactly one SOA whenever this is called. */
static uint32_t serial_of_applied(const struct apply *a)
{
	const struct zone *z = zone_edit_view(a->edit);
	const struct zone_rrset *soa = zone_node_rrset(z, zone_apex_node(z), DNS_TYPE_SOA);
	struct zone_rdata rd;

	zone_rdata_next(zone_rrset_first(z, soa), &rd);
	return xfr_soa_serial(rd.bytes, rd.len);
}

/* Types that only our signer makes. */
static bool is_signers(uint16_t type)
{
	return type == DNS_TYPE_RRSIG || type == DNS_TYPE_NSEC || type == DNS_TYPE_NSEC3 ||
	       type == DNS_TYPE_NSEC3PARAM;
}

static bool is_of_keys(uint16_t type)
{
	return type == DNS_TYPE_DNSKEY || type == DNS_TYPE_CDS || type == DNS_TYPE_CDNSKEY;
}

/* Types that are allowed beside a CNAME: RFC 4034 section 3 and 4, RFC 4035 section 2.5. */
static bool is_beside_cname(uint16_t type)
{
	return type == DNS_TYPE_RRSIG || type == DNS_TYPE_NSEC;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

/* A name may not have a CNAME and other data. If both would meet, the present records stay. */
static bool clashes(const struct apply *a, const struct xfr_record *r, const struct zone_node *node)
{
	const struct zone_rrset *rrsets;
	unsigned int n = 0;

	if (!node || is_beside_cname(r->type))
		return false;
	if (r->type != DNS_TYPE_CNAME)
		return rrset_of_applied(a, node, DNS_TYPE_CNAME);
	rrsets = zone_node_rrsets(zone_edit_view(a->edit), node, &n);
	for (unsigned int i = 0; i < n; i++)
		if (rrsets[i].type != DNS_TYPE_CNAME && !is_beside_cname(rrsets[i].type))
			return true;
	return false;
}

/* Finds the record that r replaces: a name has at most one CNAME, SOA or DNAME, and one WKS for
 * each address and protocol. */
static bool find_replaced(const struct apply *a, const struct xfr_record *r,
			  const struct zone_rrset *rrset, struct zone_rdata *rd)
{
	const uint8_t *at = zone_rrset_first(zone_edit_view(a->edit), rrset);

	if (r->type == DNS_TYPE_CNAME || r->type == DNS_TYPE_SOA || r->type == DNS_TYPE_DNAME) {
		zone_rdata_next(at, rd);
		return true;
	}
	if (r->type != DNS_TYPE_WKS || r->rdata_bytes < WKS_KEY_BYTES)
		return false;
	for (unsigned int i = 0; i < rrset->n; i++) {
		at = zone_rdata_next(at, rd);
		if (rd->len >= WKS_KEY_BYTES && !memcmp(rd->bytes, r->rdata, WKS_KEY_BYTES))
			return true;
	}
	return false;
}

static int add_applied(struct apply *a, const struct xfr_record *r)
{
	uint32_t ttl = r->ttl > DNS_TTL_MAX ? 0 : r->ttl;

	return zone_edit_add(a->edit, r->owner, r->type, ttl, r->rdata, r->rdata_bytes);
}

/* Removes the old record first, unless it is equal. Its octets are copied: the edit frees them. */
static int replace_applied(struct apply *a, const struct xfr_record *r,
			   const struct zone_rdata *old)
{
	uint8_t copy[UINT16_MAX];
	int err;

	if (!rdata_cmp(r->type, old->bytes, old->len, r->rdata, r->rdata_bytes))
		return add_applied(a, r);
	memcpy(copy, old->bytes, old->len);
	err = zone_edit_remove(a->edit, r->owner, r->type, copy, old->len);
	return err ? err : add_applied(a, r);
}

/*
 * A SOA counts only at the apex, and only if its serial number is newer than the present one and
 * than that before the update. Two steps that are each newer can lead to an older number, and
 * secondaries have the number before the update.
 */
static bool is_soa_welcome(const struct apply *a, const struct xfr_record *r)
{
	uint32_t serial;

	if (!is_applied_apex(a, r))
		return false;
	serial = xfr_soa_serial(r->rdata, r->rdata_bytes);
	return xfr_serial_newer(serial, serial_of_applied(a)) &&
	       xfr_serial_newer(serial, a->old_serial);
}

static enum dns_rcode take_add(struct apply *a, const struct xfr_record *r)
{
	const struct zone_node *node = node_of(a, r);
	const struct zone_rrset *rrset = rrset_of_applied(a, node, r->type);
	struct zone_rdata old;

	if (clashes(a, r, node))
		return DNS_RCODE_NOERROR;
	if (r->type == DNS_TYPE_SOA && !is_soa_welcome(a, r))
		return DNS_RCODE_NOERROR;
	if (rrset && find_replaced(a, r, rrset, &old))
		return edited(a, replace_applied(a, r, &old));
	return edited(a, add_applied(a, r));
}

/* ---- Removing -------------------------------------------------------------------------------- */

/* RRsets that stay at the apex when an update removes whole RRsets: section 3.4.2.3. */
static bool is_applied_kept(const struct apply *a, uint16_t type)
{
	if (type == DNS_TYPE_SOA || type == DNS_TYPE_NS)
		return true;
	return a->options->is_signed_here && (is_signers(type) || is_of_keys(type));
}

static enum dns_rcode clear_apex(struct apply *a)
{
	enum dns_rcode rcode = DNS_RCODE_NOERROR;
	unsigned int i = 0, n;

	while (rcode == DNS_RCODE_NOERROR) {
		const struct zone *z = zone_edit_view(a->edit);
		const struct zone_rrset *rrsets = zone_node_rrsets(z, zone_apex_node(z), &n);

		while (i < n && is_applied_kept(a, rrsets[i].type))
			i++;
		if (i == n)
			break;
		rcode = edited(a, zone_edit_remove_rrset(a->edit, a->u->zone, rrsets[i].type));
	}
	return rcode;
}

static enum dns_rcode take_remove_sets(struct apply *a, const struct xfr_record *r)
{
	if (r->type != DNS_TYPE_ANY) {
		if (is_applied_apex(a, r) && is_applied_kept(a, r->type))
			return DNS_RCODE_NOERROR;
		return edited(a, zone_edit_remove_rrset(a->edit, r->owner, r->type));
	}
	return is_applied_apex(a, r) ? clear_apex(a) :
				       edited(a, zone_edit_remove_name(a->edit, r->owner));
}

/* Section 3.4.2.4: the SOA and the last NS of the apex stay. */
static enum dns_rcode take_remove(struct apply *a, const struct xfr_record *r)
{
	const struct zone_rrset *ns;

	if (r->type == DNS_TYPE_SOA)
		return DNS_RCODE_NOERROR;
	if (r->type == DNS_TYPE_NS && is_applied_apex(a, r)) {
		ns = rrset_of_applied(a, zone_apex_node(zone_edit_view(a->edit)), DNS_TYPE_NS);
		if (ns && ns->n == 1)
			return DNS_RCODE_NOERROR;
	}
	return edited(a, zone_edit_remove(a->edit, r->owner, r->type, r->rdata, r->rdata_bytes));
}

/* ---- The message ----------------------------------------------------------------------------- */

static enum dns_rcode take_applied(struct apply *a, const struct xfr_record *r)
{
	if (a->options->is_signed_here && (is_signers(r->type) || is_of_keys(r->type)))
		return DNS_RCODE_REFUSED;
	switch (r->class) {
	case DNS_CLASS_ANY:
		return take_remove_sets(a, r);
	case DNS_CLASS_NONE:
		return take_remove(a, r);
	default:
		return take_add(a, r);
	}
}

static enum dns_rcode take_all_applied(struct apply *a)
{
	enum dns_rcode rcode = DNS_RCODE_NOERROR;
	struct xfr_message m;
	struct xfr_record r;

	update_rewind(&m, a->u->msg, a->u->len);
	while (rcode == DNS_RCODE_NOERROR && xfr_message_next(&m, &r))
		if (r.section == UPDATE_UPDATE)
			rcode = take_applied(a, &r);
	return rcode;
}

/* ---- The serial number ----------------------------------------------------------------------- */

/* 0 is skipped, because some software takes it for "none". */
static uint32_t next_applied_serial(uint32_t serial, const struct update_options *options)
{
	uint32_t now = (uint32_t)options->now_s;

	if (options->serial == UPDATE_SERIAL_UNIXTIME && xfr_serial_newer(now, serial))
		return now;
	return serial + 1 ? serial + 1 : 1;
}

static enum dns_rcode raise_applied_serial(struct apply *a)
{
	const struct zone *z = zone_edit_view(a->edit);
	const struct zone_rrset *soa = zone_node_rrset(z, zone_apex_node(z), DNS_TYPE_SOA);
	uint8_t old[SOA_MAX], new[SOA_MAX];
	uint32_t ttl = soa->ttl;
	struct zone_rdata rd;
	enum dns_rcode rcode;

	zone_rdata_next(zone_rrset_first(z, soa), &rd);
	memcpy(old, rd.bytes, rd.len);
	memcpy(new, rd.bytes, rd.len);
	wire_store_be32(new + rd.len - SERIAL_TO_END,
			next_applied_serial(a->old_serial, a->options));
	rcode = edited(a, zone_edit_remove(a->edit, a->u->zone, DNS_TYPE_SOA, old, rd.len));
	if (rcode != DNS_RCODE_NOERROR)
		return rcode;
	return edited(a, zone_edit_add(a->edit, a->u->zone, DNS_TYPE_SOA, ttl, new, rd.len));
}

enum dns_rcode update_apply(const struct update *u, struct zone_edit *edit,
			    const struct update_options *options, bool *changed)
{
	struct apply a = { .u = u, .options = options, .edit = edit };
	enum dns_rcode rcode = update_prerequisites(u, zone_edit_view(edit));

	*changed = false;
	if (rcode != DNS_RCODE_NOERROR)
		return rcode;
	a.old_serial = serial_of_applied(&a);
	rcode = take_all_applied(&a);
	*changed = a.changed;
	if (rcode != DNS_RCODE_NOERROR || !a.changed || options->serial == UPDATE_SERIAL_KEEP ||
	    serial_of_applied(&a) != a.old_serial)
		return rcode;
	return raise_applied_serial(&a);
}
