/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/render.h"

#include <string.h>

#include "dns/name.h"

/* The text for this name; "": none. */
static const char *chaos_text(const struct engine_identity *identity, const uint8_t *name)
{
	static const uint8_t version_bind[] = "\7version\4bind";
	static const uint8_t version_server[] = "\7version\6server";
	static const uint8_t id_server[] = "\2id\6server";
	static const uint8_t hostname_bind[] = "\10hostname\4bind";

	if (name_equal(name, version_bind) || name_equal(name, version_server))
		return identity->version;
	if (name_equal(name, id_server) || name_equal(name, hostname_bind))
		return identity->name;
	return "";
}

uint16_t chaos_answer(struct render *r, const struct engine_identity *identity,
		      const struct query *q, struct cache_answer *a)
{
	const char *told = identity ? chaos_text(identity, q->folded) : "";
	uint8_t text[256];
	size_t len;

	render_empty(a, DNS_RCODE_REFUSED);
	if (!*told || (q->qtype != DNS_TYPE_TXT && q->qtype != DNS_TYPE_ANY))
		return DNS_RCODE_REFUSED;
	len = strnlen(told, sizeof(text) - 1);
	text[0] = (uint8_t)len;
	memcpy(text + 1, told, len);
	writer_init(&r->writer, r->body, q->question_end, DNS_UDP_MIN, q->folded);
	if (writer_add_rr(&r->writer, q->folded, DNS_TYPE_TXT, DNS_CLASS_CH, 0, text, len + 1))
		return DNS_RCODE_REFUSED;
	render_empty(a, DNS_RCODE_NOERROR);
	a->body = r->body;
	a->full_bytes = a->short_bytes = (uint16_t)writer_bytes(&r->writer);
	a->ancount = 1;
	return DNS_RCODE_NOERROR;
}
