/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "xfr/xfr_message.h"

#include <string.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/name.h"
#include "dns/rdata.h"

int xfr_message_open(struct xfr_message *m, const uint8_t *bytes, size_t len)
{
	*m = (struct xfr_message){
		.bytes = bytes,
		.len = len,
		.at = DNS_HEADER_BYTES,
		.owner_at = XFR_NO_OWNER,
	};
	if (len < DNS_HEADER_BYTES || len > DNS_MESSAGE_MAX) {
		m->error = ERR_FORMAT;
		return ERR_FORMAT;
	}
	m->id = wire_load_be16(bytes + DNS_ID_AT);
	m->flags = wire_load_be16(bytes + DNS_FLAGS_AT);
	m->opcode = (uint8_t)((m->flags & DNS_OPCODE_MASK) >> DNS_OPCODE_SHIFT);
	m->rcode = m->flags & DNS_RCODE_MASK;
	for (unsigned int i = 0; i < XFR_N_SECTIONS; i++)
		m->count[i] = wire_load_be16(bytes + DNS_QDCOUNT_AT + 2 * i);
	memcpy(m->left, m->count, sizeof(m->left));
	return 0;
}

static int fail_xfr_message(struct xfr_message *m)
{
	m->error = ERR_FORMAT;
	return ERR_FORMAT;
}

int xfr_message_question(struct xfr_message *m, struct xfr_question *q)
{
	int n_bytes;

	if (m->error || !m->left[XFR_QUESTION])
		return fail_xfr_message(m);
	n_bytes = name_follow(q->name, m->bytes, m->len, m->at, &m->at);
	if (n_bytes < 0 || m->len - m->at < DNS_QUESTION_FIXED_BYTES)
		return fail_xfr_message(m);
	q->name_bytes = (unsigned int)n_bytes;
	q->type = wire_load_be16(m->bytes + m->at);
	q->class = wire_load_be16(m->bytes + m->at + 2);
	m->at += DNS_QUESTION_FIXED_BYTES;
	m->left[XFR_QUESTION]--;
	return 0;
}

/* ---- Data with names ------------------------------------------------------------------------- */

/* The octets of the data that are not copied yet, [at, end) of the message, and where they go. */
struct expansion {
	size_t at, end;
	uint8_t *out, *out_end;
};

static int copy_xfr_message(struct expansion *x, const uint8_t *msg, size_t n)
{
	if (n > x->end - x->at || n > (size_t)(x->out_end - x->out))
		return ERR_FORMAT;
	memcpy(x->out, msg + x->at, n);
	x->out += n;
	x->at += n;
	return 0;
}

static int copy_xfr_message_string(struct expansion *x, const uint8_t *msg)
{
	return x->at < x->end ? copy_xfr_message(x, msg, 1u + msg[x->at]) : ERR_FORMAT;
}

/* The name may contain a pointer that leads out of the data, but the pointer itself is inside. */
static int copy_xfr_message_name(struct expansion *x, const uint8_t *msg)
{
	uint8_t name[NAME_FOLDED_BYTES];
	int n = name_follow(name, msg, x->end, x->at, &x->at);

	if (n < 0 || n > x->out_end - x->out)
		return ERR_FORMAT;
	memcpy(x->out, name, (size_t)n);
	x->out += n;
	return 0;
}

static int expand_field(struct expansion *x, const uint8_t *msg, enum rdata_field field)
{
	unsigned n = rdata_fixed_bytes(field);

	if (field == RD_NAME)
		return copy_xfr_message_name(x, msg);
	if (field == RD_STRING)
		return copy_xfr_message_string(x, msg);
	return copy_xfr_message(
		x, msg, n ? n : x->end - x->at); /* no name stands behind a field of any size */
}

static bool has_names(const struct rdata_type *row)
{
	for (const uint8_t *field = row->fields; *field; field++)
		if (*field == RD_NAME)
			return true;
	return false;
}

/*
 * Old servers compress names in data of any type, and named, knotd and nsd read them, although RFC
 * 3597 section 4 wants it of some types only. A label's length has never the bits of a pointer.
 * Data that cannot be expanded stays as it is, and rdata_check() refuses it.
 */
static void expand(const uint8_t *msg, struct xfr_record *r, size_t at)
{
	const struct rdata_type *row = rdata_type(r->type);
	struct expansion x = {
		.at = at,
		.end = at + r->rdata_bytes,
		.out = r->expanded,
		.out_end = r->expanded + sizeof(r->expanded),
	};

	if (!row || !r->rdata_bytes || !has_names(row))
		return;
	for (const uint8_t *field = row->fields; *field; field++)
		if (expand_field(&x, msg, *field))
			return;
	if (copy_xfr_message(&x, msg,
			     x.end - x.at)) /* octets that no field has: they are refused later */
		return;
	r->rdata = r->expanded;
	r->rdata_bytes = (uint16_t)(x.out - r->expanded);
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Most owners are a pointer to the owner of the record before. */
static int read_xfr_message_owner(struct xfr_message *m, struct xfr_record *r)
{
	size_t real = m->at;
	int n_bytes;

	if (m->len - m->at >= 2 && m->bytes[m->at] >= DNS_POINTER_BITS) {
		real = wire_load_be16(m->bytes + m->at) & DNS_POINTER_MAX;
		if (real == m->owner_at) {
			m->at += 2;
			return 0;
		}
	}
	n_bytes = name_follow(r->owner, m->bytes, m->len, m->at, &m->at);
	if (n_bytes < 0)
		return ERR_FORMAT;
	m->owner_at = real;
	r->owner_bytes = (unsigned int)n_bytes;
	return 0;
}

static int read_xfr_message_record(struct xfr_message *m, struct xfr_record *r)
{
	const uint8_t *fixed;
	size_t at;

	r->at = m->at;
	if (read_xfr_message_owner(m, r) || m->len - m->at < DNS_RR_FIXED_BYTES)
		return ERR_FORMAT;
	fixed = m->bytes + m->at;
	r->type = wire_load_be16(fixed);
	r->class = wire_load_be16(fixed + 2);
	r->ttl = wire_load_be32(fixed + 4);
	r->rdata_bytes = wire_load_be16(fixed + 8);
	at = m->at + DNS_RR_FIXED_BYTES;
	if (r->rdata_bytes > m->len - at)
		return ERR_FORMAT;
	m->at = at + r->rdata_bytes;
	r->rdata = m->bytes + at;
	expand(m->bytes, r, at);
	return 0;
}

bool xfr_message_next(struct xfr_message *m, struct xfr_record *r)
{
	enum xfr_section section = XFR_ANSWER;

	while (section < XFR_N_SECTIONS && !m->left[section])
		section++;
	if (m->error || section == XFR_N_SECTIONS)
		return false;
	m->left[section]--;
	r->section = section;
	if (m->left[XFR_QUESTION] || read_xfr_message_record(m, r)) {
		m->error = ERR_FORMAT;
		return false;
	}
	return true;
}

bool xfr_expire_of(const struct xfr_record *r, uint32_t *seconds)
{
	bool has_expire = false;
	struct wire_reader w;

	if (r->section != XFR_ADDITIONAL || r->type != DNS_TYPE_OPT)
		return false;
	wire_reader_init(&w, r->rdata, r->rdata_bytes);
	while (wire_reader_left(&w)) {
		uint16_t code = wire_read_be16(&w), n = wire_read_be16(&w);
		const uint8_t *value = wire_read_ref(&w, n);

		if (!value || code != DNS_OPTION_EXPIRE || n != 4)
			continue;
		has_expire = true;
		*seconds = wire_load_be32(value);
	}
	return has_expire;
}

uint16_t xfr_extended_rcode(const struct xfr_record *r)
{
	bool is_opt = r->section == XFR_ADDITIONAL && r->type == DNS_TYPE_OPT;

	return is_opt ? (uint16_t)(r->ttl >> 24 << 4) : 0;
}

/* ---- Replies --------------------------------------------------------------------------------- */

int xfr_reply(uint8_t *out, size_t cap, const uint8_t *request, size_t n, uint16_t flags,
	      enum dns_rcode rcode)
{
	struct xfr_message m;
	struct xfr_question q;
	size_t len = DNS_HEADER_BYTES;

	if (xfr_message_open(&m, request, n))
		return ERR_FORMAT;
	if (cap < DNS_HEADER_BYTES)
		return ERR_SPACE;
	if (m.count[XFR_QUESTION] == 1 && !xfr_message_question(&m, &q))
		len = m.at;
	if (cap < len)
		return ERR_SPACE;
	memmove(out, request, len);
	wire_store_be16(out + DNS_FLAGS_AT,
			(uint16_t)(DNS_FLAG_QR | (m.flags & (DNS_OPCODE_MASK | DNS_FLAG_RD)) |
				   flags | ((unsigned int)rcode & DNS_RCODE_MASK)));
	memset(out + DNS_QDCOUNT_AT, 0, 8);
	wire_store_be16(out + DNS_QDCOUNT_AT, len > DNS_HEADER_BYTES);
	return (int)len;
}

uint32_t xfr_soa_serial(const uint8_t *rdata, size_t rdata_bytes)
{
	return wire_load_be32(rdata + rdata_bytes - 20);
}
