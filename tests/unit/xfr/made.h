/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes uncompressed messages and data from text, for tests. */
#ifndef VOLLEY_TESTS_XFR_MADE_H
#define VOLLEY_TESTS_XFR_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"

struct made {
	size_t n;
	uint8_t bytes[DNS_MESSAGE_MAX];
};

struct made_rdata {
	uint16_t n;
	uint8_t bytes[600];
};

static inline size_t put_name(uint8_t *dst, const char *text)
{
	int n = name_from_text(dst, DNS_NAME_MAX, text, strlen(text));

	assert_true(n > 0);
	return (size_t)n;
}

/* qname NULL: no question. */
static inline void made_begin(struct made *m, uint16_t id, uint16_t flags, const char *qname,
			      uint16_t qtype, uint16_t qclass)
{
	memset(m->bytes, 0, DNS_HEADER_BYTES);
	m->n = DNS_HEADER_BYTES;
	wire_store_be16(m->bytes, id);
	wire_store_be16(m->bytes + DNS_FLAGS_AT, flags);
	if (!qname)
		return;
	wire_store_be16(m->bytes + DNS_QDCOUNT_AT, 1);
	m->n += put_name(m->bytes + m->n, qname);
	wire_store_be16(m->bytes + m->n, qtype);
	wire_store_be16(m->bytes + m->n + 2, qclass);
	m->n += 4;
}

static inline void made_count(struct made *m, unsigned count_at)
{
	wire_store_be16(m->bytes + count_at, (uint16_t)(wire_load_be16(m->bytes + count_at) + 1));
}

/* count_at is the section: DNS_ANCOUNT_AT and so on. */
static inline void made_record(struct made *m, unsigned count_at, const char *owner, uint16_t type,
			       uint16_t class, uint32_t ttl, const void *rdata, size_t n)
{
	made_count(m, count_at);
	m->n += put_name(m->bytes + m->n, owner);
	wire_store_be16(m->bytes + m->n, type);
	wire_store_be16(m->bytes + m->n + 2, class);
	wire_store_be32(m->bytes + m->n + 4, ttl);
	wire_store_be16(m->bytes + m->n + 8, (uint16_t)n);
	if (n)
		memcpy(m->bytes + m->n + 10, rdata, n);
	m->n += 10 + n;
}

static inline struct made_rdata soa_of(uint32_t serial)
{
	struct made_rdata r = { 0 };

	r.n = (uint16_t)put_name(r.bytes, "ns.z");
	r.n = (uint16_t)(r.n + put_name(r.bytes + r.n, "host.z"));
	wire_store_be32(r.bytes + r.n, serial);
	for (unsigned i = 1; i < 5; i++)
		wire_store_be32(r.bytes + r.n + 4 * i, 60 * i);
	r.n = (uint16_t)(r.n + 20);
	return r;
}

static inline struct made_rdata name_rdata(const char *text)
{
	struct made_rdata r = { 0 };

	r.n = (uint16_t)put_name(r.bytes, text);
	return r;
}

static inline struct made_rdata a_rdata(uint8_t last)
{
	return (struct made_rdata){ .n = 4, .bytes = { 192, 0, 2, last } };
}

#endif
