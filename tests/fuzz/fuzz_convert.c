/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arbitrary bytes as a message from upstream. In the first octet, bit 0 is the query's DO; the rest
 * is the message, and its question is the query's. The result, put behind that question and
 * converted again, is the same. So it can be parsed, has only records of the alias chain, and its
 * TTLs are within their limits.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "cache/convert.h"
#include "tests/lib/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct convert convert;

static int run(const uint8_t *msg, size_t n, bool dnssec_ok, struct cache_answer *a,
	       uint32_t *ttl_s)
{
	static const struct convert_limits limits = { 86400, 2, 3600 };
	static uint8_t folded[NAME_FOLDED_BYTES];
	struct convert_question question = { .name = folded, .dnssec_ok = dnssec_ok };
	struct convert_source from;
	uint32_t name_bytes;

	if (!convert_from_wire(&from, msg, n))
		return -1;
	name_bytes = from.message.name_end - DNS_HEADER_BYTES;
	name_fold(folded, from.message.name, name_bytes);
	question.qtype = wire_load_be16(from.message.name + name_bytes);
	return convert_answer(&convert, &from, &question, &limits, a, ttl_s);
}

static void check(const struct cache_answer *a)
{
	unsigned int n = (unsigned int)a->ancount + a->nscount;

	MUST(a->n_ttls == n && a->short_bytes == a->full_bytes && !a->arcount_full);
	for (unsigned int i = 0; i < n; i++) {
		MUST(a->ttls[i] + 4u <= a->full_bytes);
		MUST(!i || a->ttls[i] > a->ttls[i - 1]);
		MUST(wire_load_be32(a->body + a->ttls[i]) <= 86400);
	}
}

/* Joins header and question of msg and the body of a. */
static size_t put_together(uint8_t *out, const uint8_t *msg, const struct cache_answer *a)
{
	size_t at = DNS_HEADER_BYTES;

	while (msg[at])
		at += 1u + msg[at];
	at += 1 + DNS_QUESTION_FIXED_BYTES;
	memcpy(out, msg, at);
	wire_store_be16(out + DNS_FLAGS_AT, a->flags);
	wire_store_be16(out + DNS_ANCOUNT_AT, a->ancount);
	wire_store_be16(out + DNS_NSCOUNT_AT, a->nscount);
	wire_store_be16(out + DNS_ARCOUNT_AT, 0);
	memcpy(out + at, a->body, a->full_bytes);
	return at + a->full_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t first[DNS_MESSAGE_MAX], second[DNS_MESSAGE_MAX];
	struct cache_answer a;
	uint32_t ttl_s, again_s;
	uint8_t *msg;
	size_t n, n2;

	if (!size || size > DNS_MESSAGE_MAX)
		return 0;
	msg = malloc(size);
	MUST(msg);
	memcpy(msg, data + 1, size - 1);
	if (!run(msg, size - 1, data[0] & 1, &a, &ttl_s)) {
		check(&a);
		n = put_together(first, msg, &a);
		MUST(!run(first, n, data[0] & 1, &a, &again_s));
		n2 = put_together(second, msg, &a);
		MUST(n == n2 && !memcmp(first, second, n) && ttl_s == again_s);
	}
	free(msg);
	return 0;
}
