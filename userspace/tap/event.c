/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tap/event.h"

#include "base/wire.h"
#include "dns/name.h"
#include "dns/proto.h"

#define EDNS_SIZE 1232

static void read_event_opt(struct tap_view *view, const uint8_t *msg, size_t n)
{
	struct tap_options o;
	uint16_t code;
	size_t at, bytes;

	if (!tap_options_find(&o, msg, n))
		return;
	view->has_edns = true;
	view->dnssec_ok = o.ttl & DNS_EDNS_DO;
	view->rcode |= (uint16_t)(o.ttl >> 24 << 4);
	while (view->ede < 0 && tap_options_next(&o, &code, &at, &bytes))
		if (code == DNS_OPTION_EDE && bytes >= 2)
			view->ede = wire_load_be16(msg + at);
}

static void read_event_question(struct tap_view *view, const uint8_t *msg, size_t n)
{
	const uint8_t *name = msg + DNS_HEADER_BYTES;
	int bytes = name_check(name, n - DNS_HEADER_BYTES);

	if (bytes < 0 || n - DNS_HEADER_BYTES - (size_t)bytes < DNS_QUESTION_FIXED_BYTES)
		return;
	view->name = name;
	view->name_bytes = (size_t)bytes;
	view->qtype = wire_load_be16(name + bytes);
	view->qclass = wire_load_be16(name + bytes + 2);
}

bool tap_view_read(struct tap_view *view, const uint8_t *msg, size_t n)
{
	*view = (struct tap_view){ .ede = -1 };
	if (n < DNS_HEADER_BYTES)
		return false;
	view->flags = wire_load_be16(msg + DNS_FLAGS_AT);
	view->rcode = view->flags & DNS_RCODE_MASK;
	if (wire_load_be16(msg + DNS_QDCOUNT_AT) == 1)
		read_event_question(view, msg, n);
	if (wire_load_be16(msg + DNS_ARCOUNT_AT))
		read_event_opt(view, msg, n);
	return true;
}

size_t tap_event_rebuild(uint8_t *out, size_t cap, const uint8_t *reply, size_t n)
{
	const uint16_t kept = DNS_OPCODE_MASK | DNS_FLAG_RD | DNS_FLAG_CD;
	struct tap_view view;
	struct wire_writer w;
	size_t question_bytes;

	if (!tap_view_read(&view, reply, n) || !view.name)
		return 0;
	question_bytes = view.name_bytes + DNS_QUESTION_FIXED_BYTES;
	wire_writer_init(&w, out, cap);
	wire_write_bytes(&w, reply, 2);
	wire_write_be16(&w, view.flags & kept);
	wire_write_be16(&w, 1);
	wire_write_be32(&w, 0);
	wire_write_be16(&w, view.has_edns);
	wire_write_bytes(&w, reply + DNS_HEADER_BYTES, question_bytes);
	if (view.has_edns) {
		wire_write_u8(&w, 0);
		wire_write_be16(&w, DNS_TYPE_OPT);
		wire_write_be16(&w, EDNS_SIZE);
		wire_write_be32(&w, view.dnssec_ok ? DNS_EDNS_DO : 0);
		wire_write_be16(&w, 0);
	}
	return w.error ? 0 : w.at;
}
