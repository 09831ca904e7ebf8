/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xfr/xfr_request.h"

#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/rdata.h"

/* The padding that makes message and signature a multiple of XFR_REQUEST_PAD_BYTES. */
static size_t xfr_request_padding(const struct xfr_request *r, size_t at)
{
	size_t total = at + DNS_OPTION_FIXED_BYTES + r->pad_room;

	return (XFR_REQUEST_PAD_BYTES - total % XFR_REQUEST_PAD_BYTES) % XFR_REQUEST_PAD_BYTES;
}

static void write_xfr_request_opt(struct wire_writer *w, const struct xfr_request *r)
{
	size_t options_at = w->at + DNS_OPT_FIXED_BYTES, n;
	uint8_t *pad;

	wire_write_u8(w, 0);
	wire_write_be16(w, DNS_TYPE_OPT);
	wire_write_be16(w, r->udp_size);
	wire_write_be32(w, 0);
	wire_write_be16(w, 0);
	if (r->wants_expire) {
		wire_write_be16(w, DNS_OPTION_EXPIRE);
		wire_write_be16(w, 0);
	}
	if (r->pads) {
		n = xfr_request_padding(r, w->at);
		wire_write_be16(w, DNS_OPTION_PADDING);
		wire_write_be16(w, (uint16_t)n);
		pad = wire_write_ref(w, n);
		if (pad)
			memset(pad, 0, n);
	}
	if (!w->error)
		wire_store_be16(w->start + options_at - 2, (uint16_t)(w->at - options_at));
}

/* RFC 1995 section 3: the version that we have, in the authority section. */
static void write_xfr_request_soa(struct wire_writer *w, const struct xfr_request *r)
{
	wire_write_be16(w, DNS_POINTER_BITS << 8 | DNS_HEADER_BYTES);
	wire_write_be16(w, DNS_TYPE_SOA);
	wire_write_be16(w, DNS_CLASS_IN);
	wire_write_be32(w, r->soa_ttl);
	wire_write_be16(w, r->soa_bytes);
	wire_write_bytes(w, r->soa, r->soa_bytes);
}

int xfr_request_build(uint8_t *buf, size_t cap, const struct xfr_request *r)
{
	bool is_ixfr = r->type == DNS_TYPE_IXFR;
	struct wire_writer w;

	wire_writer_init(&w, buf, cap);
	wire_write_be16(&w, r->id);
	wire_write_be16(&w, 0);
	wire_write_be16(&w, 1);
	wire_write_be16(&w, 0);
	wire_write_be16(&w, is_ixfr);
	wire_write_be16(&w, r->udp_size > 0);
	wire_write_bytes(&w, r->zone, name_bytes(r->zone));
	wire_write_be16(&w, r->type);
	wire_write_be16(&w, DNS_CLASS_IN);
	if (is_ixfr)
		write_xfr_request_soa(&w, r);
	if (r->udp_size)
		write_xfr_request_opt(&w, r);
	return w.error ? w.error : (int)w.at;
}

static void take_xfr_request_soa(struct xfr_request_soa *out, const struct xfr_record *r)
{
	const uint8_t *numbers = r->rdata + r->rdata_bytes - 20;

	out->has_soa = true;
	out->serial = wire_load_be32(numbers);
	out->refresh_s = wire_load_be32(numbers + 4);
	out->retry_s = wire_load_be32(numbers + 8);
	out->expire_s = wire_load_be32(numbers + 12);
	out->minimum_s = wire_load_be32(numbers + 16);
}

static int read_xfr_request_records(struct xfr_request_soa *out, struct xfr_message *m,
				    const uint8_t *zone)
{
	struct xfr_record r;
	unsigned int n_soa = 0;

	while (xfr_message_next(m, &r)) {
		out->has_expire |= xfr_expire_of(&r, &out->expire_left_s);
		out->rcode |= xfr_extended_rcode(&r);
		if (r.section != XFR_ANSWER || r.type != DNS_TYPE_SOA || r.class != DNS_CLASS_IN ||
		    !name_equal(r.owner, zone))
			continue;
		if (rdata_check(r.type, r.rdata, r.rdata_bytes))
			return ERR_FORMAT;
		take_xfr_request_soa(out, &r);
		n_soa++;
	}
	out->has_soa = n_soa == 1;
	return m->error;
}

int xfr_request_read_soa(struct xfr_request_soa *out, const uint8_t *msg, size_t len, uint16_t id,
			 const uint8_t *zone)
{
	struct xfr_message m;
	struct xfr_question q;

	*out = (struct xfr_request_soa){ 0 };
	if (xfr_message_open(&m, msg, len) || !(m.flags & DNS_FLAG_QR) || m.id != id ||
	    m.opcode != DNS_OPCODE_QUERY)
		return ERR_CLOSED;
	out->rcode = m.rcode;
	out->is_authority = m.flags & DNS_FLAG_AA;
	/* A server that does not understand the question may send an error without it. */
	if (!m.count[XFR_QUESTION] && m.rcode)
		return 0;
	if (m.count[XFR_QUESTION] != 1)
		return ERR_FORMAT;
	if (xfr_message_question(&m, &q))
		return ERR_FORMAT;
	if (q.type != DNS_TYPE_SOA || q.class != DNS_CLASS_IN || !name_equal(q.name, zone))
		return ERR_CLOSED;
	out->is_truncated = m.flags & DNS_FLAG_TC;
	return out->is_truncated ? 0 : read_xfr_request_records(out, &m, zone);
}
