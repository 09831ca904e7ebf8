/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/query.h"

#include <string.h>

#include "base/err.h"
#include "base/wire.h"

enum section { ANSWER, AUTHORITY, ADDITIONAL, N_SECTIONS };

/* A record without its owner. */
struct record {
	size_t owner_at;
	size_t owner_bytes; /* in the message; a pointer is 2 */
	uint16_t type;
	uint16_t class;
	uint32_t ttl;
	uint16_t rdata_bytes;
	const uint8_t *rdata;
};

static void read_query_header(struct query *q, const uint8_t *msg)
{
	q->id = wire_load_be16(msg + DNS_ID_AT);
	q->flags = wire_load_be16(msg + DNS_FLAGS_AT);
	q->opcode = (uint8_t)((q->flags & DNS_OPCODE_MASK) >> DNS_OPCODE_SHIFT);
	q->rd = q->flags & DNS_FLAG_RD;
	q->ad = q->flags & DNS_FLAG_AD;
	q->cd = q->flags & DNS_FLAG_CD;
	q->question_end = DNS_HEADER_BYTES;
	q->end = DNS_HEADER_BYTES;
}

/* The question's name must not be compressed: there is no earlier name to point to. */
static int read_query_question(struct query *q, struct wire_reader *r)
{
	const uint8_t *qname = r->start + r->at;
	int n_bytes = name_check(qname, wire_reader_left(r));

	if (n_bytes < 0)
		return n_bytes;
	wire_reader_skip(r, (size_t)n_bytes);
	q->qtype = wire_read_be16(r);
	q->qclass = wire_read_be16(r);
	if (r->error)
		return r->error;
	q->qname = qname;
	q->qname_bytes = (uint16_t)n_bytes;
	name_fold(q->folded, qname, (size_t)n_bytes);
	q->question_end = (uint16_t)r->at;
	q->end = q->question_end;
	q->has_question = true;
	return 0;
}

/*
 * The offset after a name that may be compressed. A pointer leads to "a prior occurrence of the
 * same name" (RFC 1035 section 4.1.4): one that begins after the header and ends before the run of
 * labels that the pointer belongs to. So there are no loops, and no name uses later octets.
 */
static int owner_end(const uint8_t *msg, size_t len, size_t at)
{
	size_t run_at = at, run_end = len, end = 0, n_bytes = 0;

	while (at < run_end) {
		uint8_t n = msg[at];

		if (n >= DNS_POINTER_BITS) {
			if (run_end - at < 2)
				return ERR_SHORT;
			end = end ? end : at + 2;
			at = wire_load_be16(msg + at) & DNS_POINTER_MAX;
			if (at < DNS_HEADER_BYTES)
				return ERR_NAME;
			run_end = run_at;
			run_at = at;
			continue;
		}
		if (n > DNS_LABEL_MAX)
			return ERR_NAME;
		n_bytes += 1u + n;
		if (n_bytes > DNS_NAME_MAX)
			return ERR_NAME_LONG;
		at += 1u + n;
		if (!n)
			return (int)(end ? end : at);
	}
	return end ? ERR_NAME : ERR_SHORT;
}

static int read_query_record(struct record *rr, struct wire_reader *r)
{
	int end = owner_end(r->start, r->n_bytes, r->at);

	if (end < 0)
		return end;
	rr->owner_at = r->at;
	rr->owner_bytes = (size_t)end - r->at;
	wire_reader_seek(r, (size_t)end);
	rr->type = wire_read_be16(r);
	rr->class = wire_read_be16(r);
	rr->ttl = wire_read_be32(r);
	rr->rdata_bytes = wire_read_be16(r);
	rr->rdata = wire_read_ref(r, rr->rdata_bytes);
	return r->error;
}

/* RFC 7873 section 5.2: only the first of several counts; 5.2.2: a wrong length is FORMERR. */
static int read_cookie(struct query_edns *e, const uint8_t *value, uint16_t n_bytes)
{
	const uint16_t n_client = QUERY_COOKIE_CLIENT_BYTES;

	if (e->has_cookie)
		return 0;
	if (n_bytes != n_client &&
	    (n_bytes < 2 * n_client || n_bytes > n_client + QUERY_COOKIE_SERVER_MAX))
		return ERR_FORMAT;
	memcpy(e->cookie_client, value, n_client);
	memcpy(e->cookie_server, value + n_client, (size_t)(n_bytes - n_client));
	e->cookie_server_bytes = (uint8_t)(n_bytes - n_client);
	e->has_cookie = true;
	return 0;
}

static int read_query_option(struct query_edns *e, uint16_t code, const uint8_t *value,
			     uint16_t n_bytes)
{
	e->n_options++;
	switch (code) {
	case DNS_OPTION_COOKIE:
		return read_cookie(e, value, n_bytes);
	case DNS_OPTION_NSID:
		e->asks |= QUERY_ASKS_NSID;
		return 0;
	case DNS_OPTION_EXPIRE:
		e->asks |= QUERY_ASKS_EXPIRE;
		return 0;
	case DNS_OPTION_KEEPALIVE:
		/* A client gives no timeout: RFC 7828 section 3.2.1. */
		e->asks |= n_bytes ? 0 : QUERY_ASKS_KEEPALIVE;
		return 0;
	case DNS_OPTION_PADDING:
		e->asks |= QUERY_ASKS_PADDING;
		return 0;
	default:
		return 0;
	}
}

static int read_query_options(struct query_edns *e, const struct record *rr)
{
	struct wire_reader r;
	int error = 0;

	wire_reader_init(&r, rr->rdata, rr->rdata_bytes);
	while (wire_reader_left(&r) && !error) {
		uint16_t code = wire_read_be16(&r);
		uint16_t n_bytes = wire_read_be16(&r);
		const uint8_t *value = wire_read_ref(&r, n_bytes);

		/* A malformed OPT gets no OPT in the reply. */
		if (!value) {
			e->present = false;
			return ERR_FORMAT;
		}
		error = read_query_option(e, code, value, n_bytes);
	}
	return error;
}

/* RFC 6891 section 6.1.2 and 6.1.3: class and TTL hold size, version and flags. */
static int read_query_opt(struct query_edns *e, const struct record *rr)
{
	if (e->present) {
		e->present = false;
		return ERR_FORMAT;
	}
	if (rr->owner_bytes != 1)
		return ERR_FORMAT;
	e->present = true;
	e->udp_size = rr->class;
	e->version = (uint8_t)(rr->ttl >> 16);
	e->dnssec_ok = rr->ttl & DNS_EDNS_DO;
	return e->version == DNS_EDNS_VERSION ? read_query_options(e, rr) : 0;
}

/* RFC 8945 section 5.1: a TSIG is the last record. */
static int take_tsig(struct query *q, const struct record *rr, bool is_last)
{
	if (!is_last)
		return ERR_FORMAT;
	q->has_tsig = true;
	q->tsig_at = (uint16_t)rr->owner_at;
	return 0;
}

static int take_query_record(struct query *q, const struct record *rr, enum section section,
			     bool is_last)
{
	if (rr->type != DNS_TYPE_OPT && rr->type != DNS_TYPE_TSIG)
		return 0;
	if (section != ADDITIONAL)
		return ERR_FORMAT;
	return rr->type == DNS_TYPE_OPT ? read_query_opt(&q->edns, rr) : take_tsig(q, rr, is_last);
}

static int read_section(struct query *q, struct wire_reader *r, enum section section,
			uint16_t n_records)
{
	struct record rr;
	int error = 0;

	while (n_records && !error) {
		error = read_query_record(&rr, r);
		if (error)
			return error;
		n_records--;
		error = take_query_record(q, &rr, section, !n_records);
	}
	return error;
}

static int read_body(struct query *q, struct wire_reader *r, uint16_t n_questions,
		     const uint16_t n_records[N_SECTIONS])
{
	int error = 0;

	if (n_questions > 1)
		return ERR_FORMAT;
	if (n_questions)
		error = read_query_question(q, r);
	for (enum section s = ANSWER; s < N_SECTIONS && !error; s++)
		error = read_section(q, r, s, n_records[s]);
	if (!error)
		q->end = (uint16_t)r->at;
	return error;
}

static int read_message(struct query *q, const uint8_t *msg, size_t len)
{
	uint16_t n_questions, n_records[N_SECTIONS];
	struct wire_reader r;

	wire_reader_init(&r, msg, len);
	wire_reader_seek(&r, DNS_QDCOUNT_AT);
	n_questions = wire_read_be16(&r);
	for (enum section s = ANSWER; s < N_SECTIONS; s++)
		n_records[s] = wire_read_be16(&r);
	return read_body(q, &r, n_questions, n_records);
}

enum query_verdict query_parse(struct query *q, const uint8_t *msg, size_t len)
{
	int error;

	if (len < DNS_HEADER_BYTES || wire_load_be16(msg + DNS_FLAGS_AT) & DNS_FLAG_QR)
		return QUERY_IGNORE;
	if (len > DNS_MESSAGE_MAX)
		len = DNS_MESSAGE_MAX;
	memset(q, 0, offsetof(struct query, edns.cookie_client));
	read_query_header(q, msg);
	error = read_message(q, msg, len);
	if (q->opcode != DNS_OPCODE_QUERY)
		return QUERY_NOTIMP;
	if (error)
		return QUERY_FORMERR;
	if (q->edns.version != DNS_EDNS_VERSION)
		return QUERY_BADVERS;
	/* RFC 9619: one question; RFC 7873 section 5.4: none, if it only asks for a cookie. */
	if (!q->has_question)
		return q->edns.has_cookie ? QUERY_COOKIE_ONLY : QUERY_FORMERR;
	return QUERY_OK;
}
