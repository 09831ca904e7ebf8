/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_message.h"

#include <string.h>

#include "base/wire.h"
#include "dns/edns.h"
#include "dns/name.h"

/* Length octets are below 0x40, so they are no letters. */
static void put_forward_message_name(uint8_t *out, const uint8_t *name, size_t n_bytes,
				     uint64_t upper)
{
	for (size_t i = 0; i < n_bytes; i++) {
		bool is_letter = name[i] >= 'a' && name[i] <= 'z';

		out[i] = is_letter && upper >> i % 64 & 1 ? name[i] ^ 0x20 : name[i];
	}
}

static void write_forward_message_opt(struct wire_writer *w, const struct forward_text *text)
{
	size_t n_bytes = text->cookie ? (size_t)DNS_OPTION_FIXED_BYTES + text->cookie_bytes : 0;

	wire_write_u8(w, 0);
	wire_write_be16(w, DNS_TYPE_OPT);
	wire_write_be16(w, FORWARD_UDP_BYTES);
	wire_write_be32(w, DNS_EDNS_DO);
	wire_write_be16(w, (uint16_t)n_bytes);
	if (!text->cookie)
		return;
	wire_write_be16(w, DNS_OPTION_COOKIE);
	wire_write_be16(w, text->cookie_bytes);
	wire_write_bytes(w, text->cookie, text->cookie_bytes);
}

size_t forward_message_write(uint8_t out[FORWARD_QUERY_MAX], const struct forward_text *text)
{
	size_t n_bytes = name_bytes(text->name);
	struct wire_writer w;

	wire_writer_init(&w, out, FORWARD_QUERY_MAX);
	wire_write_be16(&w, text->id);
	wire_write_be16(&w, DNS_FLAG_RD | (text->checking_disabled ? DNS_FLAG_CD : 0));
	wire_write_be16(&w, 1);
	wire_write_be32(&w, 0);
	wire_write_be16(&w, text->edns);
	put_forward_message_name(wire_write_ref(&w, n_bytes), text->name, n_bytes, text->upper);
	wire_write_be16(&w, text->qtype);
	wire_write_be16(&w, text->qclass);
	if (text->edns)
		write_forward_message_opt(&w, text);
	return w.at;
}

static enum forward_match match_name(const uint8_t *theirs, const struct forward_text *text,
				     size_t n_bytes)
{
	uint8_t sent[DNS_NAME_MAX];

	put_forward_message_name(sent, text->name, n_bytes, text->upper);
	if (!memcmp(theirs, sent, n_bytes))
		return FORWARD_MATCH;
	for (size_t i = 0; i < n_bytes; i++) {
		bool is_upper = theirs[i] >= 'A' && theirs[i] <= 'Z';

		if ((is_upper ? theirs[i] | 0x20 : theirs[i]) != text->name[i])
			return FORWARD_OTHER;
	}
	return FORWARD_OTHER_CASE;
}

static bool is_error_without_question(const uint8_t *msg, size_t n, uint16_t flags)
{
	uint16_t rcode = flags & DNS_RCODE_MASK;

	return n == DNS_HEADER_BYTES && !wire_load_be32(msg + DNS_QDCOUNT_AT) &&
	       !wire_load_be32(msg + DNS_NSCOUNT_AT) &&
	       (rcode == DNS_RCODE_FORMERR || rcode == DNS_RCODE_NOTIMP);
}

enum forward_match forward_message_match(const uint8_t *msg, size_t n,
					 const struct forward_text *text)
{
	size_t n_bytes = name_bytes(text->name);
	const uint8_t *fixed; /* type and class */
	uint16_t flags;

	if (n < DNS_HEADER_BYTES || wire_load_be16(msg + DNS_ID_AT) != text->id)
		return FORWARD_OTHER;
	flags = wire_load_be16(msg + DNS_FLAGS_AT);
	if (!(flags & DNS_FLAG_QR) || flags & DNS_OPCODE_MASK)
		return FORWARD_OTHER;
	if (is_error_without_question(msg, n, flags))
		return FORWARD_MATCH_NO_QUESTION;
	if (wire_load_be16(msg + DNS_QDCOUNT_AT) != 1 ||
	    n < DNS_HEADER_BYTES + n_bytes + DNS_QUESTION_FIXED_BYTES)
		return FORWARD_OTHER;
	fixed = msg + DNS_HEADER_BYTES + n_bytes;
	if (wire_load_be16(fixed) != text->qtype || wire_load_be16(fixed + 2) != text->qclass)
		return FORWARD_OTHER;
	return match_name(msg + DNS_HEADER_BYTES, text, n_bytes);
}

/*
 * Skips a name, and checks it through its compression pointers. Each pointer must lead to before
 * the part that it ends, and the next part must end before that part begins. So the walk ends.
 */
static bool skip_forward_message_name(struct wire_reader *r)
{
	size_t at = r->at, begin = r->at, limit = r->n_bytes, n_bytes = 0;
	bool is_here = true;

	for (;;) {
		uint8_t octet = at < limit ? r->start[at] : DNS_LABEL_MAX + 1;

		if (octet <= DNS_LABEL_MAX) {
			at += 1 + (size_t)octet;
			n_bytes += 1 + (size_t)octet;
			if (n_bytes > DNS_NAME_MAX || at > limit)
				return false;
		} else if ((octet & DNS_POINTER_BITS) == DNS_POINTER_BITS && at + 1 < limit) {
			size_t to = wire_load_be16(r->start + at) & DNS_POINTER_MAX;

			if (is_here)
				wire_reader_seek(r, at + 2);
			is_here = false;
			if (to < DNS_HEADER_BYTES || to >= begin)
				return false;
			limit = begin;
			at = begin = to;
		} else {
			return false;
		}
		if (!octet) {
			if (is_here)
				wire_reader_seek(r, at);
			return !r->error;
		}
	}
}

static void read_forward_message_options(struct forward_reply *reply, struct wire_reader *r,
					 size_t n_bytes)
{
	size_t end = r->at + n_bytes;

	while (!r->error && r->at < end) {
		uint16_t code = wire_read_be16(r), size = wire_read_be16(r);
		const uint8_t *data = wire_read_ref(r, size);

		if (data && code == DNS_OPTION_EDE && size >= 2 && reply->ede_code == EDNS_NO_EDE)
			reply->ede_code = wire_load_be16(data);
		if (data && code == DNS_OPTION_COOKIE && !reply->cookie) {
			reply->cookie = data;
			reply->cookie_bytes = size;
		}
	}
	if (r->at != end)
		r->error = ERR_SHORT;
}

struct record {
	uint16_t type;
	uint32_t ttl;
	uint16_t n_bytes;
};

static bool read_forward_message_record(struct record *record, struct wire_reader *r)
{
	if (!skip_forward_message_name(r))
		return false;
	record->type = wire_read_be16(r);
	wire_reader_skip(r, 2);
	record->ttl = wire_read_be32(r);
	record->n_bytes = wire_read_be16(r);
	return wire_reader_left(r) >= record->n_bytes && !r->error;
}

static bool read_forward_message_opt(struct forward_reply *reply, const struct record *record,
				     struct wire_reader *r)
{
	if (reply->has_opt)
		return false;
	reply->has_opt = true;
	reply->rcode |= (uint16_t)(record->ttl >> 24 << 4);
	read_forward_message_options(reply, r, record->n_bytes);
	return !r->error;
}

int forward_message_read(struct forward_reply *reply, const uint8_t *msg, size_t n)
{
	uint16_t flags = wire_load_be16(msg + DNS_FLAGS_AT);
	unsigned int n_answers = wire_load_be16(msg + DNS_ANCOUNT_AT);
	unsigned int n_authority = n_answers + wire_load_be16(msg + DNS_NSCOUNT_AT);
	unsigned int n_records = n_authority + wire_load_be16(msg + DNS_ARCOUNT_AT);
	bool has_ns = false, has_soa = false;
	struct wire_reader r;

	*reply = (struct forward_reply){ .rcode = flags & DNS_RCODE_MASK, .ede_code = EDNS_NO_EDE };
	wire_reader_init(&r, msg, n);
	wire_reader_skip(&r, DNS_HEADER_BYTES);
	if (wire_load_be16(msg + DNS_QDCOUNT_AT)) {
		if (!skip_forward_message_name(&r))
			return ERR_FORMAT;
		wire_reader_skip(&r, DNS_QUESTION_FIXED_BYTES);
	}
	for (unsigned int i = 0; i < n_records; i++) {
		struct record record;

		if (!read_forward_message_record(&record, &r))
			return ERR_FORMAT;
		reply->has_alias |= i < n_answers && (record.type == DNS_TYPE_CNAME ||
						      record.type == DNS_TYPE_DNAME);
		has_ns |= i < n_authority && record.type == DNS_TYPE_NS;
		has_soa |= i < n_authority && record.type == DNS_TYPE_SOA;
		if (i < n_authority || record.type != DNS_TYPE_OPT)
			wire_reader_skip(&r, record.n_bytes);
		else if (!read_forward_message_opt(reply, &record, &r))
			return ERR_FORMAT;
	}
	reply->end = r.at;
	reply->is_referral = !n_answers && !reply->rcode && has_ns && !has_soa &&
			     !(flags & (DNS_FLAG_AA | DNS_FLAG_RA));
	return r.error ? ERR_FORMAT : 0;
}

void forward_message_finish(uint8_t *msg, const uint8_t *name)
{
	uint16_t rcode = wire_load_be16(msg + DNS_FLAGS_AT) & DNS_RCODE_MASK;

	wire_store_be16(msg + DNS_ID_AT, 0);
	wire_store_be16(msg + DNS_FLAGS_AT, DNS_FLAG_QR | DNS_FLAG_RD | DNS_FLAG_RA | rcode);
	memcpy(msg + DNS_HEADER_BYTES, name, name_bytes(name));
}
