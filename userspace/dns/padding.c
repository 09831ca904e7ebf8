/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/edns.h"

#include <string.h>

#include "base/wire.h"
#include "dns/proto.h"

#define RR_FIXED_BYTES 10 /* type, class, TTL, length of the data */
#define RR_LENGTH_AT   8

/* Skips a name, which may end in a pointer. */
static void skip_padding_name(struct wire_reader *r)
{
	uint8_t octet;

	while ((octet = wire_read_u8(r)) && !r->error) {
		if (octet > DNS_LABEL_MAX) {
			wire_reader_skip(r, 1);
			return;
		}
		wire_reader_skip(r, octet);
	}
}

/* The offset of the OPT record's type, if OPT is the last record and ends the message; else 0. */
static size_t find_opt(const uint8_t *msg, size_t n)
{
	unsigned int n_questions = wire_load_be16(msg + DNS_QDCOUNT_AT);
	unsigned int n_records = 0;
	struct wire_reader r;
	size_t at = 0;

	for (size_t i = DNS_ANCOUNT_AT; i < DNS_HEADER_BYTES; i += 2)
		n_records += wire_load_be16(msg + i);
	wire_reader_init(&r, msg, n);
	wire_reader_skip(&r, DNS_HEADER_BYTES);
	for (; n_questions && !r.error; n_questions--) {
		skip_padding_name(&r);
		wire_reader_skip(&r, DNS_QUESTION_FIXED_BYTES);
	}
	for (; n_records && !r.error; n_records--) {
		skip_padding_name(&r);
		at = r.at;
		wire_reader_skip(&r, RR_LENGTH_AT);
		wire_reader_skip(&r, wire_read_be16(&r));
	}
	return !r.error && at && r.at == n && wire_load_be16(msg + at) == DNS_TYPE_OPT ? at : 0;
}

static size_t add_padding(uint8_t *msg, size_t n, size_t cap, size_t room, size_t block)
{
	size_t opt = n >= DNS_HEADER_BYTES ? find_opt(msg, n) : 0;
	size_t least = n + DNS_OPTION_FIXED_BYTES, whole, n_zeros;
	uint8_t *option = msg + n;

	if (!opt || least + room > cap)
		return n;
	whole = (least + room + block - 1) / block * block;
	n_zeros = (whole < cap ? whole : cap) - least - room;
	wire_store_be16(option, DNS_OPTION_PADDING);
	wire_store_be16(option + 2, (uint16_t)n_zeros);
	memset(option + DNS_OPTION_FIXED_BYTES, 0, n_zeros);
	wire_store_be16(msg + opt + RR_LENGTH_AT,
			(uint16_t)(n - opt - RR_FIXED_BYTES + DNS_OPTION_FIXED_BYTES + n_zeros));
	return least + n_zeros;
}

size_t padding_add(uint8_t *msg, size_t n, size_t cap, size_t room)
{
	return add_padding(msg, n, cap, room, PADDING_REPLY_BYTES);
}

size_t padding_add_query(uint8_t *msg, size_t n, size_t cap)
{
	return add_padding(msg, n, cap, 0, PADDING_QUERY_BYTES);
}
