/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks whether the keys below dnstap and query-log go together. */
#include <stddef.h>

#include "config/reader.h"
#include "dns/proto.h"

#define ALL_MESSAGES 0xffu

/* Both lengths of client-prefix are one value: config/words.h, WORDS_BITS. */
_Static_assert(offsetof(struct config_tap, bits6) == offsetof(struct config_tap, bits4) + 1,
	       "bits6 stands right behind bits4");

/* In the order of the choices. */
static const uint8_t rcodes[] = { DNS_RCODE_NOERROR,  DNS_RCODE_FORMERR, DNS_RCODE_SERVFAIL,
				  DNS_RCODE_NXDOMAIN, DNS_RCODE_NOTIMP,  DNS_RCODE_REFUSED,
				  DNS_RCODE_YXDOMAIN, DNS_RCODE_YXRRSET, DNS_RCODE_NXRRSET,
				  DNS_RCODE_NOTAUTH,  DNS_RCODE_NOTZONE, DNS_RCODE_BADVERS,
				  DNS_RCODE_BADCOOKIE };

/* True if a map has a key with a value: that turns it on. */
static bool has_values(const struct yamltree *map)
{
	const struct yamltree *node = map ? map->first : NULL;

	while (node && node->shape == YAMLTREE_LIST && !node->n)
		node = node->next;
	return node;
}

static void check_dnstap(struct reader *reader)
{
	const struct yamltree *map = reader_find(reader, "dnstap");
	struct config *config = reader->config;
	struct config_dnstap *d = &config->dnstap;

	d->tap.is_on = has_values(map);
	if (!d->tap.is_on)
		return;
	if ((d->socket != NULL) + (d->tcp.family != 0) + (d->file != NULL) != 1)
		document_fail(&reader->document, map, "",
			      "give exactly one of socket, tcp and file below it");
	if (!d->identity && config->identity)
		d->identity = reader_copy(reader, config->identity);
	if (!d->version && config->version)
		d->version = reader_copy(reader, config->version);
	if (!d->messages)
		d->messages = ALL_MESSAGES;
}

static void check_query_log(struct reader *reader)
{
	const struct yamltree *map = reader_find(reader, "query-log");
	struct config_query_log *log = &reader->config->query_log;
	uint64_t choices = log->rcodes;
	bool to_journal = reader_number(reader, "query-log.journal");

	log->tap.is_on = has_values(map);
	if (log->tap.is_on && to_journal == (log->file != NULL))
		document_fail(&reader->document, map, "", "give file, or journal: true, below it");
	log->rcodes = 0;
	for (size_t i = 0; i < sizeof(rcodes); i++)
		if (choices >> i & 1)
			log->rcodes |= 1ull << rcodes[i];
}

void reader_check_taps(struct reader *reader)
{
	check_dnstap(reader);
	check_query_log(reader);
}
