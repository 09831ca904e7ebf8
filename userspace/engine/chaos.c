/* SPDX-License-Identifier: GPL-2.0-only */
#include "engine/chaos.h"

#include <string.h>

#include "dns/name.h"

static bool asks_version(const struct query *q)
{
	static const uint8_t bind[] = "\7version\4bind";
	static const uint8_t server[] = "\7version\6server";

	if (q->qtype != DNS_TYPE_TXT && q->qtype != DNS_TYPE_ANY)
		return false;
	return name_equal(q->folded, bind) || name_equal(q->folded, server);
}

uint16_t chaos_answer(struct render *r, const struct engine_config *config, const struct query *q,
		      struct cache_answer *a)
{
	uint8_t text[256];
	size_t len;

	render_empty(a, DNS_RCODE_REFUSED);
	if (!config->version || !asks_version(q))
		return DNS_RCODE_REFUSED;
	len = strnlen(config->version, sizeof(text) - 1);
	text[0] = (uint8_t)len;
	memcpy(text + 1, config->version, len);
	writer_init(&r->writer, r->body, q->question_end, DNS_UDP_MIN, q->folded);
	if (writer_add_rr(&r->writer, q->folded, DNS_TYPE_TXT, DNS_CLASS_CH, 0, text, len + 1))
		return DNS_RCODE_REFUSED;
	render_empty(a, DNS_RCODE_NOERROR);
	a->body = r->body;
	a->full_bytes = a->short_bytes = (uint16_t)writer_bytes(&r->writer);
	a->ancount = 1;
	return DNS_RCODE_NOERROR;
}
