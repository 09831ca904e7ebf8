/* SPDX-License-Identifier: GPL-2.0-only */
#include "control/answer_kind.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"
#include "cache/cache.h"
#include "dns/proto.h"

#define POINTER_BITS 0xc0 /* RFC 1035 section 4.1.4 */

/* What stands in the sections, as far as the kind depends on it. */
struct contents {
	bool has_asked, has_alias; /* answer section */
	bool has_soa, has_ns;      /* authority section */
};

/* The offset behind the name at `at`; 0 where it does not end. */
static uint32_t name_end(const uint8_t *body, uint32_t at, uint32_t end)
{
	while (at < end) {
		if (body[at] >= POINTER_BITS)
			return at + 2;
		if (!body[at])
			return at + 1;
		at += body[at] + 1u;
	}
	return 0;
}

static void note(struct contents *c, uint16_t type, uint16_t qtype, bool in_authority)
{
	if (in_authority) {
		c->has_soa |= type == DNS_TYPE_SOA;
		c->has_ns |= type == DNS_TYPE_NS;
	} else if (type == qtype) {
		c->has_asked = true;
	} else {
		c->has_alias |= type == DNS_TYPE_CNAME || type == DNS_TYPE_DNAME;
	}
}

static bool read_contents(struct contents *c, const struct volley_entry *e)
{
	uint32_t n_answer = ntohs(e->ancount), n = n_answer + ntohs(e->nscount), at = 0;
	const uint8_t *body = cache_entry_body(e);

	*c = (struct contents){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		at = name_end(body, at, e->full_bytes);
		if (!at || at + DNS_RR_FIXED_BYTES > e->full_bytes)
			return false;
		note(c, wire_load_be16(body + at), ntohs(e->key.qtype), i >= n_answer);
		at += DNS_RR_FIXED_BYTES + wire_load_be16(body + at + 8);
	}
	return at <= e->full_bytes;
}

enum answer_kind answer_kind(const struct volley_entry *e)
{
	uint16_t flags = ntohs(e->flags);
	struct contents c;

	if ((flags & DNS_RCODE_MASK) == DNS_RCODE_NXDOMAIN)
		return ANSWER_NXDOMAIN;
	if ((flags & DNS_RCODE_MASK) != DNS_RCODE_NOERROR || !read_contents(&c, e))
		return ANSWER_ERROR;
	if (ntohs(e->key.qtype) == DNS_TYPE_ANY && e->ancount)
		return ANSWER_ANY;
	if (c.has_asked)
		return c.has_alias ? ANSWER_ALIAS : ANSWER_POSITIVE;
	if (c.has_soa || (!c.has_alias && !c.has_ns))
		return ANSWER_NODATA;
	return c.has_alias ? ANSWER_ALIAS : ANSWER_REFERRAL;
}

bool answer_kind_is_negative(enum answer_kind kind)
{
	return kind == ANSWER_NODATA || kind == ANSWER_NXDOMAIN;
}

const char *answer_kind_text(enum answer_kind kind)
{
	static const char *const texts[] = {
#define TEXT(name, words) words,
		ANSWER_KINDS(TEXT)
#undef TEXT
	};

	return texts[kind];
}
