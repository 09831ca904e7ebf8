/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is told of answers: the keys below dnstap and query-log. */
#include <stdio.h>
#include <string.h>

#include "config/take.h"
#include "config/value.h"
#include "dns/proto.h"

#define ALL_MESSAGES 0xffu

/* In the order of the choices. */
static const uint8_t rcodes[] = { DNS_RCODE_NOERROR,  DNS_RCODE_FORMERR, DNS_RCODE_SERVFAIL,
				  DNS_RCODE_NXDOMAIN, DNS_RCODE_NOTIMP,  DNS_RCODE_REFUSED,
				  DNS_RCODE_YXDOMAIN, DNS_RCODE_YXRRSET, DNS_RCODE_NXRRSET,
				  DNS_RCODE_NOTAUTH,  DNS_RCODE_NOTZONE, DNS_RCODE_BADVERS,
				  DNS_RCODE_BADCOOKIE };

static void take_bits(struct take *take, const char *prefix, const char *text,
		      struct config_tap *tap)
{
	uint64_t bits = take_number(take, prefix, "client-prefix", text);

	tap->bits4 = (uint8_t)(bits >> 8);
	tap->bits6 = (uint8_t)bits;
}

/* A bit for each choice, none twice; 0: the key is absent. */
static uint64_t take_choices(struct take *take, const char *prefix, const char *key,
			     const struct config_raw_list *list)
{
	char path[YAMLWALK_PATH_CAP], leaf[32];
	uint64_t bits = 0, bit;

	for (uint32_t i = 0; i < list->n && !take->source.failed; i++) {
		snprintf(leaf, sizeof(leaf), "%s[%u]", key, i);
		bit = 1ull << take_number(take, prefix, leaf, list->items[i]);
		if (bits & bit)
			source_refuse_value(&take->source, take_join_path(take, path, prefix, leaf),
					    list->items[i]);
		bits |= bit;
	}
	return bits;
}

static void take_collector(struct take *take, const struct config_raw_dnstap *raw)
{
	struct config_dnstap *d = &take->config->dnstap;

	if ((raw->socket != NULL) + (raw->tcp != NULL) + (raw->file != NULL) != 1) {
		source_fail(&take->source, 0, "dnstap",
			    "give exactly one of socket, tcp and file below it");
		return;
	}
	if (raw->socket)
		d->socket = take_path(take, "dnstap.", "socket", raw->socket);
	if (raw->file)
		d->file = take_path(take, "dnstap.", "file", raw->file);
	if (raw->tcp && (!strchr(raw->tcp, '@') || value_read_addr(raw->tcp, 0, &d->tcp)))
		source_refuse_value(&take->source, "dnstap.tcp", raw->tcp);
	if (d->socket && strlen(d->socket) > 107)
		source_refuse_value(&take->source, "dnstap.socket", d->socket);
}

static void take_dnstap(struct take *take)
{
	const struct config_raw_dnstap *raw = &take->raw->dnstap;
	struct config_dnstap *d = &take->config->dnstap;

	d->tap.is_on = raw->socket || raw->tcp || raw->file || raw->identity || raw->version ||
		       raw->sample || raw->client_prefix || raw->messages.n;
	if (!d->tap.is_on || take->source.failed)
		return;
	take_collector(take, raw);
	d->identity = take_string(take, "dnstap.identity",
				  raw->identity ? raw->identity : take->config->identity);
	d->version = take_string(take, "dnstap.version",
				 raw->version ? raw->version : take->config->version);
	d->tap.sample = (uint32_t)take_number(take, "dnstap.", "sample", raw->sample);
	take_bits(take, "dnstap.", raw->client_prefix, &d->tap);
	d->messages = (uint32_t)take_choices(take, "dnstap.", "messages", &raw->messages);
	if (!d->messages)
		d->messages = ALL_MESSAGES;
}

static void take_query_log(struct take *take)
{
	const struct config_raw_query_log *raw = &take->raw->query_log;
	struct config_query_log *log = &take->config->query_log;
	uint64_t choices;
	bool to_journal;

	log->tap.is_on = raw->file || raw->journal || raw->format || raw->sample ||
			 raw->client_prefix || raw->zones.n || raw->rcodes.n || raw->clients.n;
	if (!log->tap.is_on || take->source.failed)
		return;
	to_journal = take_number(take, "query-log.", "journal", raw->journal) != 0;
	if (to_journal == (raw->file != NULL)) {
		source_fail(&take->source, 0, "query-log", "give file, or journal: true, below it");
		return;
	}
	if (raw->file)
		log->file = take_path(take, "query-log.", "file", raw->file);
	log->is_json = !take_number(take, "query-log.", "format", raw->format);
	log->tap.sample = (uint32_t)take_number(take, "query-log.", "sample", raw->sample);
	take_bits(take, "query-log.", raw->client_prefix, &log->tap);
	log->zones = take_domains(take, "query-log.zones", &raw->zones);
	choices = take_choices(take, "query-log.", "rcodes", &raw->rcodes);
	for (size_t i = 0; i < sizeof(rcodes); i++)
		if (choices >> i & 1)
			log->rcodes |= 1ull << rcodes[i];
	log->clients = take_prefixes(take, "query-log.clients", &raw->clients, CONFIG_PREFIXES_MAX,
				     &log->n_clients);
}

void take_taps(struct take *take)
{
	take_dnstap(take);
	take_query_log(take);
}
