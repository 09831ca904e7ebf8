/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/reply_writer.h"

#include "base/audit.h"
#include "engine/handover_rules.h"

#define N_OF(fields) (sizeof(fields) / sizeof((fields)[0]))

static enum audit_event event_of(const struct query *q)
{
	if (q->has_tsig)
		return AUDIT_TSIG_REFUSED;
	if (q->opcode == DNS_OPCODE_NOTIFY)
		return AUDIT_NOTIFY_REFUSED;
	return q->opcode == DNS_OPCODE_UPDATE ? AUDIT_UPDATE_REFUSED : AUDIT_TRANSFER_REFUSED;
}

static const char *reason_of_refused(const struct query *q, unsigned int rcode)
{
	if (q->has_tsig)
		return "the key is not known";
	return rcode == DNS_RCODE_NOTAUTH ? "not a zone of ours" : "no rule allows this address";
}

/* NULL: there is no name. */
static const char *refused_name_text(char text[NAME_TEXT_MAX], const uint8_t *name)
{
	return name && name_to_text(text, NAME_TEXT_MAX, name) > 0 ? text : NULL;
}

void refused_audit(const struct engine_request *rq, const struct query *q, unsigned int rcode)
{
	char client[AUDIT_ADDRESS_CAP], zone[NAME_TEXT_MAX], key[NAME_TEXT_MAX];
	char type[PROTO_TEXT_MAX], word[PROTO_TEXT_MAX];
	const enum audit_event event = event_of(q);
	uint8_t key_name[NAME_FOLDED_BYTES];

	if (!audit_take(event, rq->now_ns))
		return;
	proto_type_to_text(type, q->qtype);
	proto_rcode_to_text(word, (uint16_t)rcode);

	const struct log_field fields[] = {
		{ "client", audit_address(client, rq->family, rq->client) },
		{ "transport", rq->is_tls ? "tls" :
			       rq->stream ? "tcp" :
					    "udp" },
		{ "key", handover_key_name(key_name, rq->msg, q) ?
				 refused_name_text(key, key_name) :
				 NULL },
		{ "zone", refused_name_text(zone, q->has_question ? q->folded : NULL) },
		{ "type", q->opcode == DNS_OPCODE_QUERY ? type : NULL },
		{ "rcode", word },
		{ "reason", reason_of_refused(q, rcode) },
	};

	audit_write(event, fields, N_OF(fields));
}
