/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records come one at a time from a cursor over the zone or over change sets. The cursor moves only
 * after its record has been written, so a record that does not fit begins the next message.
 */
#include "xfr/xfr_out.h"

#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "xfr/xfr_message.h"

#define EXPIRE_BYTES 4 /* RFC 7314 section 3.1 */

enum stage { FIRST_SOA, BODY, LAST_SOA, DONE };

/* ---- The beginning --------------------------------------------------------------------------- */

static void begin_xfr_out(struct xfr_out *out, const struct xfr_out_request *request,
			  const struct zone *zone)
{
	const struct zone_rrset *soa = zone_soa(zone);
	struct zone_rdata rd;

	memset(out, 0, sizeof(*out));
	out->request = *request;
	memcpy(out->qname, request->qname, name_bytes(request->qname));
	out->request.qname = out->qname;
	out->zone = zone;
	zone_rdata_next(zone_rrset_first(zone, soa), &rd);
	/* it fits: its size was checked when the zone was made */
	memcpy(out->soa, rd.bytes, rd.len);
	out->soa_bytes = rd.len;
	out->soa_ttl = soa->ttl;
	changeset_init(&out->set);
}

void xfr_out_axfr(struct xfr_out *out, const struct xfr_out_request *request,
		  const struct zone *zone)
{
	begin_xfr_out(out, request, zone);
	out->kind = XFR_OUT_AXFR;
	zone_walk_init(&out->walk, zone);
}

void xfr_out_ixfr(struct xfr_out *out, const struct xfr_out_request *request,
		  const struct zone *zone, xfr_out_next_set *next, void *user)
{
	begin_xfr_out(out, request, zone);
	out->kind = XFR_OUT_IXFR;
	out->next_set = next;
	out->user = user;
}

void xfr_out_soa(struct xfr_out *out, const struct xfr_out_request *request,
		 const struct zone *zone)
{
	begin_xfr_out(out, request, zone);
	out->kind = XFR_OUT_SOA;
}

void xfr_out_fini(struct xfr_out *out)
{
	changeset_fini(&out->set);
}

bool xfr_out_is_done(const struct xfr_out *out)
{
	return out->stage == DONE;
}

static int put_xfr_out(struct xfr_out *out, const uint8_t *owner, uint16_t type, uint32_t ttl,
		       const uint8_t *rdata, size_t rdata_bytes)
{
	int err = pack_record(&out->pack, owner, type, ttl, rdata, rdata_bytes);

	out->n_records += !err;
	return err;
}

static int put_xfr_out_soa(struct xfr_out *out)
{
	unsigned int len;

	return put_xfr_out(out, zone_apex(out->zone, &len), DNS_TYPE_SOA, out->soa_ttl, out->soa,
			   out->soa_bytes);
}

/* ---- AXFR: the cursor over the zone ---------------------------------------------------------- */

static void take_rrset(struct xfr_out *out)
{
	out->n_left = out->rrset->n;
	out->rdata_at = zone_rrset_first(out->zone, out->rrset);
}

/* Moves to the next RRset, on this node or a later one. Skips the SOA. False at the end. */
static bool next_rrset(struct xfr_out *out)
{
	do {
		if (out->n_rrsets) {
			out->n_rrsets--;
			out->rrset++;
		}
		while (!out->n_rrsets) {
			out->node = zone_walk_next(&out->walk);
			if (!out->node)
				return false;
			out->owner_bytes = zone_node_owner(out->zone, out->node, out->owner);
			out->rrset = zone_node_rrsets(out->zone, out->node, &out->n_rrsets);
		}
	} while (out->rrset->type == DNS_TYPE_SOA);
	take_rrset(out);
	return true;
}

/* RFC 4034 section 3: an RRSIG has the TTL of the RRset that it covers. */
static uint32_t ttl_of_xfr_out(const struct xfr_out *out, const struct zone_rdata *rd)
{
	const struct zone_rrset *covered;

	if (out->rrset->type != DNS_TYPE_RRSIG)
		return out->rrset->ttl;
	covered = zone_node_rrset(out->zone, out->node, zone_rrsig_covered(rd));
	return covered ? covered->ttl : out->rrset->ttl;
}

/* Returns 1 at the end. */
static int put_zone_record(struct xfr_out *out)
{
	const uint8_t *behind;
	struct zone_rdata rd;
	int err;

	if (!out->n_left && !next_rrset(out))
		return 1;
	behind = zone_rdata_next(out->rdata_at, &rd);
	err = put_xfr_out(out, out->owner, out->rrset->type, ttl_of_xfr_out(out, &rd), rd.bytes,
			  rd.len);
	if (err)
		return err;
	out->rdata_at = behind;
	out->n_left--;
	return 0;
}

/* ---- IXFR: the cursor over change sets ------------------------------------------------------- */

static int take_set(struct xfr_out *out)
{
	uint32_t from = out->set.serial_to;
	int err;

	changeset_fini(&out->set);
	err = out->next_set(out->user, &out->set);
	if (err < 0)
		return err;
	if (!err)
		return from == xfr_soa_serial(out->soa, out->soa_bytes) && out->has_set ? 1 :
											  ERR_ZONE;
	if (out->has_set && out->set.serial_from != from)
		return ERR_ZONE;
	out->has_set = true;
	out->set_at = 0;
	return 0;
}

static int put_xfr_out_change(struct xfr_out *out)
{
	struct changeset_record r;
	size_t at = out->set_at;
	int err;

	while (!changeset_next(&out->set, &at, &r)) {
		err = take_set(out);
		if (err)
			return err;
		at = 0;
	}
	err = put_xfr_out(out, r.owner, r.type, r.ttl, r.rdata, r.rdata_bytes);
	if (!err)
		out->set_at = at;
	return err;
}

/* ---- Records --------------------------------------------------------------------------------- */

static int put_body(struct xfr_out *out)
{
	switch (out->kind) {
	case XFR_OUT_AXFR:
		return put_zone_record(out);
	case XFR_OUT_IXFR:
		return put_xfr_out_change(out);
	case XFR_OUT_SOA:
		break;
	}
	return 1;
}

/* Writes the next record. If it does not fit, the cursor does not move. */
static int put_next(struct xfr_out *out)
{
	int err;

	switch ((enum stage)out->stage) {
	case FIRST_SOA:
		err = put_xfr_out_soa(out);
		if (!err)
			out->stage = out->kind == XFR_OUT_SOA ? DONE : BODY;
		return err;
	case BODY:
		err = put_body(out);
		if (err == 1)
			out->stage = LAST_SOA;
		return err < 0 ? err : 0;
	case LAST_SOA:
		err = put_xfr_out_soa(out);
		if (!err)
			out->stage = DONE;
		return err;
	case DONE:
		break;
	}
	return 0;
}

/* Writes as many records as fit. */
static int put_xfr_out_records(struct xfr_out *out)
{
	int err = 0;

	while (out->stage != DONE && !err)
		err = put_next(out);
	return err == ERR_SPACE && out->pack.n_records ? 0 : err;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static size_t tsig_bytes(const struct xfr_out *out)
{
	return out->request.tsig ? tsig_room(out->request.tsig) : 0;
}

static bool has_opt(const struct xfr_out *out)
{
	return out->request.pad_to || (out->request.has_edns && !out->n_messages);
}

static bool has_expire(const struct xfr_out *out)
{
	return out->request.has_expire && out->request.has_edns && !out->n_messages;
}

static size_t opt_bytes(const struct xfr_out *out)
{
	if (!has_opt(out))
		return 0;
	return DNS_OPT_FIXED_BYTES +
	       (has_expire(out) ? DNS_OPTION_FIXED_BYTES + EXPIRE_BYTES : 0u) +
	       (out->request.pad_to ? DNS_OPTION_FIXED_BYTES : 0u);
}

/* The first message has the question; later names may point to its name. Returns the offset of the
 * octet after the question. */
static size_t put_question(struct xfr_out *out, uint8_t *buf)
{
	size_t n = name_bytes(out->qname);

	if (out->n_messages)
		return DNS_HEADER_BYTES;
	memcpy(buf + DNS_HEADER_BYTES, out->qname, n);
	wire_store_be16(buf + DNS_HEADER_BYTES + n, out->request.qtype);
	wire_store_be16(buf + DNS_HEADER_BYTES + n + 2, DNS_CLASS_IN);
	return DNS_HEADER_BYTES + n + DNS_QUESTION_FIXED_BYTES;
}

/* How many octets make the message with its signature a multiple of pad_to, or as many as fit. */
static size_t xfr_out_padding(const struct xfr_out *out, size_t at, size_t cap)
{
	size_t room = tsig_bytes(out), total = at + room, n;

	n = (out->request.pad_to - total % out->request.pad_to) % out->request.pad_to;
	return n < cap - total ? n : cap - total;
}

static size_t put_xfr_out_option(uint8_t *buf, size_t at, uint16_t code, size_t n)
{
	wire_store_be16(buf + at, code);
	wire_store_be16(buf + at + 2, (uint16_t)n);
	memset(buf + at + DNS_OPTION_FIXED_BYTES, 0, n);
	return at + DNS_OPTION_FIXED_BYTES + n;
}

/* The caller has reserved the room. Returns the offset of the octet after the record. */
static size_t put_opt(const struct xfr_out *out, uint8_t *buf, size_t at, size_t cap)
{
	uint8_t *opt = buf + at;
	size_t options_at = at + DNS_OPT_FIXED_BYTES;

	if (!has_opt(out))
		return at;
	memset(opt, 0, DNS_OPT_FIXED_BYTES);
	wire_store_be16(opt + 1, DNS_TYPE_OPT);
	wire_store_be16(opt + 3, XFR_OUT_UDP_SIZE);
	at = options_at;
	if (has_expire(out)) {
		at = put_xfr_out_option(buf, at, DNS_OPTION_EXPIRE, EXPIRE_BYTES);
		wire_store_be32(buf + at - EXPIRE_BYTES, out->request.expire_s);
	}
	if (out->request.pad_to)
		at = put_xfr_out_option(buf, at, DNS_OPTION_PADDING,
					xfr_out_padding(out, at + DNS_OPTION_FIXED_BYTES, cap));
	wire_store_be16(buf + options_at - 2, (uint16_t)(at - options_at));
	return at;
}

static void put_xfr_out_header(const struct xfr_out *out, uint8_t *buf)
{
	wire_store_be16(buf + DNS_ID_AT, out->request.id);
	wire_store_be16(buf + DNS_FLAGS_AT,
			(uint16_t)(DNS_FLAG_QR | DNS_FLAG_AA | (out->request.flags & DNS_FLAG_RD)));
	wire_store_be16(buf + DNS_QDCOUNT_AT, !out->n_messages);
	wire_store_be16(buf + DNS_ANCOUNT_AT, (uint16_t)out->pack.n_records);
	wire_store_be16(buf + DNS_NSCOUNT_AT, 0);
	wire_store_be16(buf + DNS_ARCOUNT_AT, has_opt(out));
}

int xfr_out_next(struct xfr_out *out, uint8_t *buf, size_t cap, uint64_t now_s)
{
	struct tsig *tsig = out->request.tsig;
	size_t kept = tsig_bytes(out) + opt_bytes(out), base, at;
	int err;

	if (out->stage == DONE)
		return 0;
	if (cap > DNS_MESSAGE_MAX)
		cap = DNS_MESSAGE_MAX;
	if (cap < DNS_HEADER_BYTES + DNS_NAME_MAX + DNS_QUESTION_FIXED_BYTES + kept)
		return ERR_SPACE;
	base = put_question(out, buf);
	pack_begin(&out->pack, buf, base, cap - kept, out->n_messages ? NULL : out->qname);
	err = put_xfr_out_records(out);
	if (err)
		return err;
	put_xfr_out_header(out, buf);
	at = put_opt(out, buf, out->pack.at, cap);
	err = tsig ? tsig_sign(tsig, buf, at, cap, now_s) : (int)at;
	if (err < 0)
		return err;
	out->n_messages++;
	out->n_bytes += (uint64_t)err;
	return err;
}
