/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rpz/rpz.h"

#include <string.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "cache/message.h"
#include "rpz/rpz_rules.h"

struct reply {
	const uint8_t *msg;
	struct message m;
	uint16_t flags, n_answers, n_authority;
	uint8_t name[NAME_FOLDED_BYTES];
	unsigned int n_name;
	uint16_t qtype;
};

/* False: no rule makes such a reply. Answers of our zones have AA, and no rule changes them. */
static bool read_said_reply(struct reply *r, const uint8_t *msg, size_t n)
{
	r->msg = msg;
	if (!message_of_wire(&r->m, msg, n))
		return false;
	r->flags = wire_load_be16(msg + DNS_FLAGS_AT);
	r->n_answers = wire_load_be16(msg + DNS_ANCOUNT_AT);
	r->n_authority = wire_load_be16(msg + DNS_NSCOUNT_AT);
	r->n_name = message_read_name(&r->m, DNS_HEADER_BYTES, r->name);
	r->qtype = wire_load_be16(msg + r->m.name_end);
	return r->n_name && (r->flags & (DNS_FLAG_RA | DNS_FLAG_AA)) == DNS_FLAG_RA;
}

/* Reads the record at *at, and moves *at to the octet after it. Returns the octets of its owner,
 * folded; 0: there is no record. */
static unsigned int next_said_record(const struct reply *r, uint32_t *at,
				     uint8_t owner[NAME_FOLDED_BYTES],
				     struct message_record *record)
{
	unsigned int n = message_read_name(&r->m, *at, owner);
	uint32_t end = message_name_end(&r->m, *at);

	if (!n || !end || !message_read_record(&r->m, end, record))
		return 0;
	*at = record->rdata_at + record->len;
	return n;
}

static bool is_list(const struct rpz *p, const uint8_t *name, unsigned int n)
{
	for (size_t i = 0; i < p->n_lists; i++) {
		unsigned int n_apex;
		const uint8_t *apex = zone_apex(p->lists[i].zone, &n_apex);

		if (n_apex == n && !memcmp(apex, name, n))
			return true;
	}
	return false;
}

/* True if the SOA record of a list stands after the answers; out->list is then its owner. */
static bool has_soa(const struct rpz *p, const struct reply *r, struct rpz_said *out)
{
	uint32_t at = r->m.body_at;

	for (unsigned int i = 0; i < (unsigned int)r->n_answers + r->n_authority; i++) {
		struct message_record record;
		unsigned int n = next_said_record(r, &at, out->list, &record);

		if (!n)
			return false;
		if (i >= r->n_answers && record.type == DNS_TYPE_SOA && is_list(p, out->list, n))
			return true;
	}
	return false;
}

/* True if the answer begins with an alias of the name that was asked for. */
static bool begins_with_alias(const struct reply *r)
{
	uint8_t owner[NAME_FOLDED_BYTES];
	struct message_record record;
	uint32_t at = r->m.body_at;
	unsigned int n = r->n_answers ? next_said_record(r, &at, owner, &record) : 0;

	return n == r->n_name && record.type == DNS_TYPE_CNAME && !memcmp(owner, r->name, n);
}

/* The word for the action, if the reply has the form that it makes; else NULL. */
static const char *action_of(enum rpz_action action, const struct reply *r)
{
	const bool is_noerror = (r->flags & DNS_RCODE_MASK) == DNS_RCODE_NOERROR;

	if (action == RPZ_ACTION_TCP_ONLY)
		return r->flags & DNS_FLAG_TC && !r->n_answers ? "tcp-only" : NULL;
	if (action == RPZ_ACTION_ALIAS)
		return begins_with_alias(r) ? "cname" : NULL;
	if (action == RPZ_ACTION_DATA)
		return is_noerror && r->n_answers ? "data" : NULL;
	return NULL; /* the other actions make an SOA record, or no reply */
}

/* Without the type that is asked for, local data gives only the SOA of the root: that tells
 * nothing. */
static bool is_said_local(const struct reply *r, struct rpz_said *out)
{
	out->is_local_data = true;
	out->action = r->n_answers ? "data" : "nodata";
	return (r->flags & DNS_RCODE_MASK) == DNS_RCODE_NOERROR;
}

bool rpz_said(const struct rpz *p, const struct rpz_client *client, const uint8_t *reply, size_t n,
	      struct rpz_said *out)
{
	struct rpz_question question;
	struct rpz_hit hit;
	struct reply r;
	const uint8_t *apex;
	unsigned int n_apex;

	out->is_local_data = false;
	if (!read_said_reply(&r, reply, n))
		return false;
	if (has_soa(p, &r, out)) {
		out->action = (r.flags & DNS_RCODE_MASK) == DNS_RCODE_NXDOMAIN ? "nxdomain" :
										 "nodata";
		return true;
	}
	question = (struct rpz_question){ r.name, r.n_name, r.qtype };
	if (!rpz_find(p, client, &question, &hit) || !rpz_changes(&hit))
		return false;
	if (hit.trigger == RPZ_BY_LOCAL_DATA)
		return is_said_local(&r, out);
	apex = zone_apex(hit.zone, &n_apex);
	memcpy(out->list, apex, n_apex);
	out->action = action_of(rpz_action(hit.zone, hit.node), &r);
	return out->action != NULL;
}
