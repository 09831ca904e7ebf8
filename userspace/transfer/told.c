/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/told.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "engine/handover_rules.h"
#include "transfer/server.h"

#define N_WHO  6 /* fields that tell who asked for what */
#define N_MORE 4

/* The texts of the fields of one line. */
struct line {
	char client[AUDIT_ADDRESS_CAP], port[8];
	char key[NAME_TEXT_MAX], zone[NAME_TEXT_MAX], type[PROTO_TEXT_MAX];
	char more[N_MORE][24];
	struct log_field fields[N_WHO + N_MORE];
	size_t n;
};

static void add(struct line *line, const char *name, const char *text)
{
	line->fields[line->n++] = (struct log_field){ name, text };
}

static void add_number(struct line *line, char text[24], const char *name, uint64_t value)
{
	snprintf(text, 24, "%" PRIu64, value);
	add(line, name, text);
}

static void add_name(struct line *line, char text[NAME_TEXT_MAX], const char *field,
		     const uint8_t *name)
{
	if (name && name_to_text(text, NAME_TEXT_MAX, name) > 0)
		add(line, field, text);
}

static void begin(struct line *line, const struct told *who)
{
	line->n = 0;
	add(line, "client", audit_address(line->client, who->peer->family, who->peer->bytes));
	snprintf(line->port, sizeof(line->port), "%u", ntohs(who->peer->port));
	add(line, "port", line->port);
	add(line, "transport", who->transport);
	add_name(line, line->key, "key", who->key);
	add_name(line, line->zone, "zone", who->zone);
	if (who->qtype) {
		proto_type_to_text(line->type, who->qtype);
		add(line, "type", line->type);
	}
}

struct told told_of(const struct inquiry *i, const uint8_t *zone)
{
	return (struct told){
		.now_ns = i->t->now.ns,
		.peer = &i->who.addr,
		.transport = i->who.is_tls ? "tls" :
			     i->conn       ? "tcp" :
					     "udp",
		.key = i->tsig.key ? i->tsig.key->name : NULL,
		.zone = zone,
		.qtype = i->q.opcode == DNS_OPCODE_QUERY ? i->q.qtype : 0,
	};
}

void told_refused(enum audit_event event, const struct told *who, unsigned int rcode,
		  const char *reason)
{
	char word[PROTO_TEXT_MAX];
	struct line line;

	if (!audit_take(event, who->now_ns))
		return;
	begin(&line, who);
	proto_rcode_to_text(word, (uint16_t)rcode);
	add(&line, "rcode", word);
	add(&line, "reason", reason);
	audit_write(event, line.fields, line.n);
}

void told_tsig(const struct inquiry *i, enum tsig_verdict verdict)
{
	struct told who = told_of(i, i->q.has_question ? i->q.folded : NULL);
	uint8_t key[NAME_FOLDED_BYTES];

	if (!who.key && handover_key_name(key, i->msg, &i->q))
		who.key = key;
	told_refused(AUDIT_TSIG_REFUSED, &who, tsig_rcode(verdict),
		     tsig_verdict_text(verdict, i->tsig.remote_error));
}

void told_transfer(enum audit_event event, const struct told *who, const struct xfr_out *out,
		   uint32_t serial)
{
	struct line line;

	if (!audit_take(event, who->now_ns))
		return;
	begin(&line, who);
	add_number(&line, line.more[0], "serial", serial);
	add_number(&line, line.more[1], "messages", out->n_messages);
	add_number(&line, line.more[2], "records", out->n_records);
	add_number(&line, line.more[3], "octets", out->n_bytes);
	audit_write(event, line.fields, line.n);
}

void told_update(const struct told *who)
{
	struct line line;

	if (!audit_take(AUDIT_UPDATE_DONE, who->now_ns))
		return;
	begin(&line, who);
	audit_write(AUDIT_UPDATE_DONE, line.fields, line.n);
}
