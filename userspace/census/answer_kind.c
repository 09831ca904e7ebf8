/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "census/answer_kind.h"

#include <arpa/inet.h>
#include <stdint.h>

#include "dns/proto.h"
#include "cache/message.h"

/* The records in the sections that decide the kind. */
struct contents {
	bool has_asked, has_alias; /* answer section */
	bool has_soa, has_ns;      /* authority section */
};

static void note_answer_kind(struct contents *c, uint16_t type, uint16_t qtype, bool in_authority)
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
	uint32_t n_answer = ntohs(e->ancount), n = n_answer + ntohs(e->nscount);
	struct message m = message_of_entry(e);
	struct message_record r;
	uint32_t at = m.body_at;

	*c = (struct contents){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		at = message_name_end(&m, at);
		if (!at || !message_read_record(&m, at, &r))
			return false;
		note_answer_kind(c, r.type, ntohs(e->key.qtype), i >= n_answer);
		at = r.rdata_at + r.len;
	}
	return true;
}

enum answer_kind answer_kind(const struct volley_entry *e)
{
	uint16_t flags = ntohs(e->flags);
	struct contents c;

	if (VOLLEY_IS_SHARED(e->key))
		return ANSWER_SHARED;
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
