/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/reply_writer.h"

#include <assert.h>
#include <string.h>

#include "base/wire.h"

static enum emit_form choose_emit(const struct cache_answer *a, size_t room)
{
	if (a->full_bytes <= room)
		return EMIT_FULL;
	if (a->short_bytes <= room)
		return EMIT_SHORT;
	return EMIT_TRUNCATED;
}

static void put_emit_header(uint8_t *out, const struct query *q, const struct cache_answer *a,
			    enum emit_form form, unsigned int n_opt)
{
	const uint16_t kept = DNS_OPCODE_MASK | DNS_FLAG_RD | DNS_FLAG_CD;
	const uint16_t hidden = q->ad || q->edns.dnssec_ok ? 0 : DNS_FLAG_AD;
	bool cut = form == EMIT_TRUNCATED;
	unsigned int n_additional = form == EMIT_FULL ? a->arcount_full : a->arcount_short;

	wire_store_be16(out + DNS_ID_AT, q->id);
	wire_store_be16(out + DNS_FLAGS_AT, (uint16_t)((a->flags & ~hidden) | (q->flags & kept) |
						       (cut ? DNS_FLAG_TC : 0)));
	wire_store_be16(out + DNS_QDCOUNT_AT, q->has_question);
	wire_store_be16(out + DNS_ANCOUNT_AT, cut ? 0 : a->ancount);
	wire_store_be16(out + DNS_NSCOUNT_AT, cut ? 0 : a->nscount);
	wire_store_be16(out + DNS_ARCOUNT_AT, (uint16_t)((cut ? 0 : n_additional) + n_opt));
}

size_t emit_reply(uint8_t *out, size_t limit, const uint8_t *msg, const struct query *q,
		  const struct cache_answer *a, const struct edns_reply *opt, enum emit_form *form)
{
	const size_t body_bytes[] = { a->full_bytes, a->short_bytes, 0 };
	size_t opt_bytes = opt ? edns_reply_bytes(opt) : 0;
	size_t at = q->question_end;
	struct wire_writer w;
	int err;

	if (at + opt_bytes > limit)
		return 0;
	*form = choose_emit(a, limit - at - opt_bytes);
	if (out != msg)
		memcpy(out + DNS_HEADER_BYTES, msg + DNS_HEADER_BYTES, at - DNS_HEADER_BYTES);
	put_emit_header(out, q, a, *form, opt != NULL);
	if (body_bytes[*form])
		memcpy(out + at, a->body, body_bytes[*form]);
	cache_answer_age(a, out + at, body_bytes[*form]);
	at += body_bytes[*form];
	if (!opt)
		return at;
	wire_writer_init(&w, out + at, opt_bytes);
	err = edns_reply_write(&w, opt);
	assert(!err); /* edns_reply_bytes() gave the size */
	(void)err;
	return at + w.at;
}
