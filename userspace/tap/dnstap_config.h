/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which dnstap messages to write, and where. */
#ifndef VOLLEY_TAP_DNSTAP_CONFIG_H
#define VOLLEY_TAP_DNSTAP_CONFIG_H

#include <linux/types.h>
#include <stdint.h>

#include "tap/shorten.h"

/* In the order of the words of dnstap.messages. D(enum, name of the schema). */
#define DNSTAP_KIND_LIST(D)                              \
	D(DNSTAP_AUTH_QUERY, AUTH_QUERY)                 \
	D(DNSTAP_AUTH_RESPONSE, AUTH_RESPONSE)           \
	D(DNSTAP_CLIENT_QUERY, CLIENT_QUERY)             \
	D(DNSTAP_CLIENT_RESPONSE, CLIENT_RESPONSE)       \
	D(DNSTAP_FORWARDER_QUERY, FORWARDER_QUERY)       \
	D(DNSTAP_FORWARDER_RESPONSE, FORWARDER_RESPONSE) \
	D(DNSTAP_UPDATE_QUERY, UPDATE_QUERY)             \
	D(DNSTAP_UPDATE_RESPONSE, UPDATE_RESPONSE)

enum dnstap_kind {
#define DNSTAP_KIND(name, schema) name,
	DNSTAP_KIND_LIST(DNSTAP_KIND) DNSTAP_N_KINDS
#undef DNSTAP_KIND
};

#define DNSTAP_ALL ((1u << DNSTAP_N_KINDS) - 1)

enum dnstap_to { DNSTAP_TO_SOCKET, DNSTAP_TO_TCP, DNSTAP_TO_FILE };

/* Plain data. Two equal configurations are equal as octets, if both were zeroed before. */
struct dnstap_config {
	enum dnstap_to to;
	char path[4096]; /* of the Unix socket or file */
	uint8_t family;  /* of the collector's TCP address, AF_INET or AF_INET6 */
	__be16 port;
	uint8_t address[16];
	uint32_t scope_id;  /* the interface of a link-local address, else 0 */
	char identity[256]; /* "": not sent */
	char version[256];  /* "": not sent */
	uint32_t messages;  /* a bit for each enum dnstap_kind */
	uint32_t every;     /* one in this many answers; at least 1 */
	struct tap_prefix prefix;
};

#endif
