/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/request_audit.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "engine/handover_rules.h"

#define N_WHO  6 /* fields of the client and its request */
#define N_MORE 4

/* The texts of the fields of one line. */
struct line {
	char client[AUDIT_ADDRESS_CAP], port[8];
	char key[NAME_TEXT_MAX], zone[NAME_TEXT_MAX], type[PROTO_TEXT_MAX];
	char more[N_MORE][24];
	struct log_field fields[N_WHO + N_MORE];
	size_t n;
};

static void add_request_audit(struct line *line, const char *name, const char *text)
{
	line->fields[line->n++] = (struct log_field){ name, text };
}

static void add_number(struct line *line, char text[24], const char *name, uint64_t value)
{
	snprintf(text, 24, "%" PRIu64, value);
	add_request_audit(line, name, text);
}

static void add_request_audit_name(struct line *line, char text[NAME_TEXT_MAX], const char *field,
				   const uint8_t *name)
{
	if (name && name_to_text(text, NAME_TEXT_MAX, name) > 0)
		add_request_audit(line, field, text);
}

static void begin_request_audit(struct line *line, const struct request_audit *audit)
{
	line->n = 0;
	add_request_audit(line, "client",
			  audit_address(line->client, audit->peer->family, audit->peer->bytes));
	snprintf(line->port, sizeof(line->port), "%u", ntohs(audit->peer->port));
	add_request_audit(line, "port", line->port);
	add_request_audit(line, "transport", audit->transport);
	add_request_audit_name(line, line->key, "key", audit->key);
	add_request_audit_name(line, line->zone, "zone", audit->zone);
	if (audit->qtype) {
		proto_type_to_text(line->type, audit->qtype);
		add_request_audit(line, "type", line->type);
	}
}

struct request_audit request_audit_of(const struct peer_request *rq, const uint8_t *zone)
{
	return (struct request_audit){
		.now_ns = rq->t->now.ns,
		.peer = &rq->client.addr,
		.transport = rq->client.is_tls ? "tls" :
			     rq->is_stream     ? "tcp" :
						 "udp",
		.key = rq->tsig.key ? rq->tsig.key->name : NULL,
		.zone = zone,
		.qtype = rq->q.opcode == DNS_OPCODE_QUERY ? rq->q.qtype : 0,
	};
}

void request_audit_refused(enum audit_event event, const struct request_audit *audit,
			   unsigned int rcode, const char *reason)
{
	char word[PROTO_TEXT_MAX];
	struct line line;

	if (!audit_take(event, audit->now_ns))
		return;
	begin_request_audit(&line, audit);
	proto_rcode_to_text(word, (uint16_t)rcode);
	add_request_audit(&line, "rcode", word);
	add_request_audit(&line, "reason", reason);
	audit_write(event, line.fields, line.n);
}

void request_audit_tsig(const struct peer_request *rq, enum tsig_verdict verdict)
{
	struct request_audit audit = request_audit_of(rq, rq->q.has_question ? rq->q.folded : NULL);
	uint8_t key[NAME_FOLDED_BYTES];

	if (!audit.key && handover_key_name(key, rq->msg, &rq->q))
		audit.key = key;
	request_audit_refused(AUDIT_TSIG_REFUSED, &audit, tsig_rcode(verdict),
			      tsig_verdict_text(verdict, rq->tsig.remote_error));
}

void request_audit_transfer(enum audit_event event, const struct request_audit *audit,
			    const struct xfr_out *out, uint32_t serial)
{
	struct line line;

	if (!audit_take(event, audit->now_ns))
		return;
	begin_request_audit(&line, audit);
	add_number(&line, line.more[0], "serial", serial);
	add_number(&line, line.more[1], "messages", out->n_messages);
	add_number(&line, line.more[2], "records", out->n_records);
	add_number(&line, line.more[3], "octets", out->n_bytes);
	audit_write(event, line.fields, line.n);
}

void request_audit_update(const struct request_audit *audit)
{
	struct line line;

	if (!audit_take(AUDIT_UPDATE_DONE, audit->now_ns))
		return;
	begin_request_audit(&line, audit);
	audit_write(AUDIT_UPDATE_DONE, line.fields, line.n);
}
