/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/event.h"

#include "base/wire.h"
#include "dns/proto.h"

/* Skips a name that may be compressed. */
static void skip_edns_options_name(struct wire_reader *r)
{
	uint8_t len;

	do {
		len = wire_read_u8(r);
		if (len >= DNS_POINTER_BITS) {
			wire_reader_skip(r, 1);
			return;
		}
		wire_reader_skip(r, len);
	} while (len && !r->error);
}

bool tap_options_find(struct tap_options *o, const uint8_t *msg, size_t n)
{
	struct wire_reader r;
	unsigned int n_questions, n_records;

	if (n < DNS_HEADER_BYTES)
		return false;
	n_questions = wire_load_be16(msg + DNS_QDCOUNT_AT);
	n_records = (unsigned int)wire_load_be16(msg + DNS_ANCOUNT_AT) +
		    wire_load_be16(msg + DNS_NSCOUNT_AT) + wire_load_be16(msg + DNS_ARCOUNT_AT);
	wire_reader_init(&r, msg, n);
	wire_reader_skip(&r, DNS_HEADER_BYTES);
	while (n_questions-- && !r.error) {
		skip_edns_options_name(&r);
		wire_reader_skip(&r, DNS_QUESTION_FIXED_BYTES);
	}
	while (n_records-- && !r.error) {
		uint16_t type, bytes;
		uint32_t ttl;

		skip_edns_options_name(&r);
		type = wire_read_be16(&r);
		wire_reader_skip(&r, 2);
		ttl = wire_read_be32(&r);
		bytes = wire_read_be16(&r);
		if (type == DNS_TYPE_OPT && bytes <= wire_reader_left(&r) && !r.error) {
			*o = (struct tap_options){ msg, ttl, r.at, r.at + bytes };
			return true;
		}
		wire_reader_skip(&r, bytes);
	}
	return false;
}

bool tap_options_next(struct tap_options *o, uint16_t *code, size_t *at, size_t *bytes)
{
	if (o->end - o->at < DNS_OPTION_FIXED_BYTES)
		return false;
	*code = wire_load_be16(o->msg + o->at);
	*bytes = wire_load_be16(o->msg + o->at + 2);
	*at = o->at + DNS_OPTION_FIXED_BYTES;
	if (*bytes > o->end - *at)
		return false;
	o->at = *at + *bytes;
	return true;
}
