/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/render_state.h"

#include "base/wire.h"
#include "dns/name.h"
#include "dns/rdata.h"

int additional_target_offset(uint16_t type)
{
	switch (type) {
	case DNS_TYPE_NS:
	case DNS_TYPE_MX:
	case DNS_TYPE_KX:
	case DNS_TYPE_AFSDB:
	case DNS_TYPE_SRV:
	case DNS_TYPE_SVCB:
	case DNS_TYPE_HTTPS:
		return rdata_layout(type, RD_KEEP).front_bytes;
	default:
		return -1;
	}
}

static bool is_additional_noted(const struct render *r, const uint8_t *target)
{
	for (unsigned int i = 0; i < r->n_targets; i++) {
		if (name_equal(r->targets[i].name, target))
			return true;
	}
	return false;
}

static bool is_additional_service(uint16_t type)
{
	return type == DNS_TYPE_SVCB || type == DNS_TYPE_HTTPS;
}

bool additional_has_type(uint16_t type)
{
	return type == DNS_TYPE_A || type == DNS_TYPE_AAAA || is_additional_service(type);
}

/*
 * RFC 9460 section 4.1. A record with priority 0 is an alias: its target has records of the same
 * type. The target "." is the owner itself, or nothing for an alias (section 2.5).
 */
static void note_service(struct render *r, struct render_target *t, uint16_t type,
			 const struct zone_rdata *rd)
{
	bool is_alias = !wire_load_be16(rd->bytes);

	if (is_alias)
		t->type = type;
	else if (!*t->name)
		t->name = r->name;
}

void additional_note(struct render *r, const struct zone_rrset *rrset)
{
	const uint8_t *at = zone_rrset_first(r->zone, rrset);
	int offset = additional_target_offset(rrset->type);
	struct zone_rdata rd;

	if (offset < 0)
		return;
	for (unsigned int i = 0; i < rrset->n && r->n_targets < RENDER_TARGETS_MAX; i++) {
		struct render_target t = { 0 };

		at = zone_rdata_next(at, &rd);
		if (rd.len <= offset || name_check(rd.bytes + offset, rd.len - (size_t)offset) < 0)
			continue; /* unknown data (RFC 3597) that is invalid for its type */
		t.name = rd.bytes + offset;
		if (is_additional_service(rrset->type))
			note_service(r, &t, rrset->type, &rd);
		if (!is_additional_noted(r, t.name))
			r->targets[r->n_targets++] = t;
	}
}

/* True if the answer section has these addresses of target already. */
static bool is_answered(const struct render *r, const struct zone_rrset *rrset,
			const uint8_t *target)
{
	for (unsigned int i = 0; i < r->n_answered; i++) {
		if (r->answered[i] == rrset && name_equal(r->name, target))
			return true;
	}
	return false;
}

/*
 * The node that has these addresses, for their signatures; glue has none. A wildcard may match the
 * name, so it is looked up like a question.
 */
static const struct zone_node *signed_node(const struct render *r, const uint8_t *folded,
					   unsigned int len, uint16_t type)
{
	struct zone_result found;

	zone_find(r->zone, folded, len, type, &found);
	return found.status == ZONE_ANSWER ? found.node : NULL;
}

/* Adds one RRset with its signatures, or nothing. Returns the number of records, or ERR_SPACE. */
static int add_address(struct render *r, const uint8_t *target, const uint8_t *folded,
		       unsigned int len, uint16_t type)
{
	struct writer_mark mark = writer_get_mark(&r->writer);
	const struct zone_node *node = NULL;
	const struct zone_rrset *rrset;
	enum zone_place place;
	int err;

	rrset = zone_find_address(r->zone, folded, len, type, &place);
	if (!rrset || is_answered(r, rrset, target))
		return 0;
	if (place != ZONE_PLACE_INSIDE && is_additional_service(type))
		return 0; /* glue consists of addresses */
	if (r->dnssec_ok && place == ZONE_PLACE_INSIDE)
		node = signed_node(r, folded, len, type);
	err = dnssec_add_rrset(r, node, target, rrset, rrset->ttl);
	if (err)
		writer_rollback(&r->writer, &mark);
	return err ? err : rrset->n;
}

/*
 * Adds A and AAAA of target, and the type for which it may be an alias (0: none). Returns the
 * number of records, or ERR_SPACE if some do not fit.
 */
static int add_addresses(struct render *r, const uint8_t *target, uint16_t service)
{
	const uint16_t types[] = { DNS_TYPE_A, DNS_TYPE_AAAA, service };
	uint8_t folded[NAME_FOLDED_BYTES];
	unsigned int len = (unsigned int)name_bytes(target);
	int sum = 0;

	name_fold(folded, target, len);
	for (unsigned int i = 0; i < 3 && types[i]; i++) {
		int n = add_address(r, target, folded, len, types[i]);

		if (n < 0)
			return n;
		sum += n;
	}
	return sum;
}

static uint32_t udp_limit(const struct render *r)
{
	return r->config->max_udp_bytes - (uint32_t)RENDER_OPT_BYTES;
}

/* The records after this are optional: over UDP they may go up to the end of our largest reply. */
static void end_required(struct render *r)
{
	uint32_t limit = udp_limit(r);

	r->short_at = r->writer.at;
	r->n_short = r->writer.n_records[WRITER_ADDITIONAL];
	render_note_room(r, r->writer.at, limit);
	if (!r->stream)
		writer_set_limit(&r->writer, r->writer.at > limit ? r->writer.at : limit);
}

/* After the last optional record. err: some did not fit. */
static void end_optional(struct render *r, bool err)
{
	r->is_exact |= err;
	if (r->writer.at > r->short_at)
		render_note_room(r, r->writer.at, udp_limit(r));
	if (err || (r->writer.at > r->short_at && r->writer.at > udp_limit(r)))
		r->partial = true;
}

void additional_optional(struct render *r)
{
	int n = 0;

	writer_set_section(&r->writer, WRITER_ADDITIONAL);
	end_required(r);
	if (r->config->minimal_responses)
		return;
	for (unsigned int i = 0; i < r->n_targets && n >= 0; i++)
		n = add_addresses(r, r->targets[i].name, r->targets[i].type);
	end_optional(r, n < 0);
}

enum kin { IN_DOMAIN, SIBLING, ELSEWHERE };

/* RFC 9499 section 7: glue is in-domain below the cut, sibling below another cut of the zone. */
static enum kin kin_of(const struct render *r, const uint8_t *cut, const uint8_t *server)
{
	uint8_t folded[NAME_FOLDED_BYTES];
	size_t len = name_bytes(server);
	enum zone_place place;

	if (name_is_under(server, cut))
		return IN_DOMAIN;
	name_fold(folded, server, len);
	(void)zone_find_address(r->zone, folded, (unsigned int)len, DNS_TYPE_A, &place);
	return place == ZONE_PLACE_GLUE ? SIBLING : ELSEWHERE;
}

/* Adds the addresses of one kin of servers. Returns the number of records. With `one`, stops after
 * the first server that has addresses. */
static int add_servers(struct render *r, const uint8_t *cut, const struct zone_rrset *ns,
		       enum kin kin, bool one, const uint8_t **skip)
{
	const uint8_t *at = zone_rrset_first(r->zone, ns);
	struct zone_rdata rd;
	int sum = 0;

	for (unsigned int i = 0; i < ns->n && !(one && sum); i++) {
		int n;

		at = zone_rdata_next(at, &rd);
		if (rd.bytes == *skip || kin_of(r, cut, rd.bytes) != kin)
			continue;
		n = add_addresses(r, rd.bytes, 0);
		if (n < 0)
			return n;
		sum += n;
		if (one && n)
			*skip = rd.bytes;
	}
	return sum;
}

int additional_referral(struct render *r, const uint8_t *cut, const struct zone_rrset *ns)
{
	const uint8_t *done = NULL;
	int n;

	writer_set_section(&r->writer, WRITER_ADDITIONAL);
	n = add_servers(r, cut, ns, IN_DOMAIN, false, &done);
	if (!n)
		n = add_servers(r, cut, ns, SIBLING, true, &done);
	if (n < 0)
		return n;
	end_required(r);
	n = add_servers(r, cut, ns, SIBLING, false, &done);
	if (n >= 0 && !r->config->minimal_responses)
		n = add_servers(r, cut, ns, ELSEWHERE, false, &done);
	end_optional(r, n < 0);
	return 0;
}
