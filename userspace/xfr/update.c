/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of the message that need no zone. update_apply.c applies it to the zone. */
#include "xfr/update.h"

#include "base/err.h"
#include "dns/rdata.h"

static bool is_update_data(const struct xfr_record *r)
{
	return !rdata_is_meta(r->type) && !rdata_check(r->type, r->rdata, r->rdata_bytes);
}

/* RFC 2136 section 3.2.5, without the zone. */
static enum dns_rcode check_prerequisite(const struct xfr_record *r)
{
	if (r->ttl)
		return DNS_RCODE_FORMERR;
	switch (r->class) {
	case DNS_CLASS_ANY:
	case DNS_CLASS_NONE:
		if (r->rdata_bytes || (rdata_is_meta(r->type) && r->type != DNS_TYPE_ANY))
			return DNS_RCODE_FORMERR;
		return DNS_RCODE_NOERROR;
	case DNS_CLASS_IN:
		return is_update_data(r) ? DNS_RCODE_NOERROR : DNS_RCODE_FORMERR;
	default:
		return DNS_RCODE_FORMERR;
	}
}

/* Section 3.4.1.3. */
static enum dns_rcode check_update(const struct xfr_record *r)
{
	switch (r->class) {
	case DNS_CLASS_IN:
		return is_update_data(r) ? DNS_RCODE_NOERROR : DNS_RCODE_FORMERR;
	case DNS_CLASS_NONE:
		return !r->ttl && is_update_data(r) ? DNS_RCODE_NOERROR : DNS_RCODE_FORMERR;
	case DNS_CLASS_ANY:
		if (r->ttl || r->rdata_bytes || (rdata_is_meta(r->type) && r->type != DNS_TYPE_ANY))
			return DNS_RCODE_FORMERR;
		return DNS_RCODE_NOERROR;
	default:
		return DNS_RCODE_FORMERR;
	}
}

static enum dns_rcode check_update_record(const struct update *u, const struct xfr_record *r)
{
	if (r->section == UPDATE_ADDITIONAL)
		return DNS_RCODE_NOERROR;
	if (!name_is_under(r->owner, u->zone))
		return DNS_RCODE_NOTZONE;
	return r->section == UPDATE_PREREQUISITE ? check_prerequisite(r) : check_update(r);
}

/* Section 3.1. */
static enum dns_rcode read_update_zone(struct update *u, struct xfr_message *m)
{
	struct xfr_question q;

	if (m->count[XFR_QUESTION] != 1 || xfr_message_question(m, &q) || q.type != DNS_TYPE_SOA)
		return DNS_RCODE_FORMERR;
	u->zone_bytes = q.name_bytes;
	name_fold(u->zone, q.name, q.name_bytes);
	return q.class == DNS_CLASS_IN ? DNS_RCODE_NOERROR : DNS_RCODE_NOTAUTH;
}

enum dns_rcode update_open(struct update *u, const uint8_t *msg, size_t len)
{
	enum dns_rcode rcode = DNS_RCODE_NOERROR;
	struct xfr_message m;
	struct xfr_record r;

	*u = (struct update){ .msg = msg, .len = len };
	if (xfr_message_open(&m, msg, len) || m.flags & DNS_FLAG_QR)
		return DNS_RCODE_FORMERR;
	u->id = m.id;
	if (m.opcode != DNS_OPCODE_UPDATE)
		return DNS_RCODE_NOTIMP;
	rcode = read_update_zone(u, &m);
	u->n_prerequisites = m.count[UPDATE_PREREQUISITE];
	u->n_updates = m.count[UPDATE_UPDATE];
	while (rcode == DNS_RCODE_NOERROR && xfr_message_next(&m, &r))
		rcode = check_update_record(u, &r);
	return m.error ? DNS_RCODE_FORMERR : rcode;
}
