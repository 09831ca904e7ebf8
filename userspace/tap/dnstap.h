/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dnstap (https://dnstap.info): events as protobuf messages, in Frame Streams, to a collector or a file.
 *
 *      event ─► dnstap_put(): one or two messages ─► tap/out.h ─► libfstrm ─► Unix socket, TCP, file
 *
 * A collector that is not there is looked for once a second; meanwhile messages are lost, and counted.
 */
#ifndef VOLLEY_TAP_DNSTAP_H
#define VOLLEY_TAP_DNSTAP_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "tap/event.h"
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

/* Plain data: two that say the same are equal as octets, if both were zeroed before. */
struct dnstap_config {
	enum dnstap_to to;
	char path[4096]; /* of the Unix socket or file */
	uint8_t family;  /* of the collector's address over TCP, AF_INET or AF_INET6 */
	__be16 port;
	uint8_t address[16];
	char identity[256]; /* "": none is said */
	char version[256];  /* likewise */
	uint32_t messages;  /* a bit for each enum dnstap_kind */
	uint32_t every;     /* one in so many answers; at least 1 */
	struct tap_prefix prefix;
};

struct dnstap;

/* Starts the thread that writes. 0 or -errno. */
int dnstap_open(struct dnstap **out, const struct dnstap_config *config)
	__attribute__((warn_unused_result));
/* Adds what dnstap_counters() says at the end. NULL is allowed. */
void dnstap_close(struct dnstap *d, uint64_t *written, uint64_t *lost);

/*
 * The messages of an event, into the queue. The event may be changed: its addresses are shortened. dnstap_kick() wakes the
 * writer. One thread.
 */
void dnstap_put(struct dnstap *d, struct tap_event *e);
void dnstap_kick(struct dnstap *d);

/* Whether it wants the octets of queries, and what upstreams are asked. Pure. */
bool dnstap_wants_queries(const struct dnstap_config *config);
bool dnstap_wants_forwarders(const struct dnstap_config *config);

/* Messages that were given to the collector, and lost ones. Any thread, as the next one. */
void dnstap_counters(const struct dnstap *d, uint64_t *written, uint64_t *lost);
bool dnstap_is_connected(const struct dnstap *d);

/*
 * One message of an event as protobuf, at most `cap` octets. 0: no room. Its query or reply must be there. Pure; any thread.
 */
size_t dnstap_encode(const struct dnstap_config *config, const struct tap_event *e,
		     enum dnstap_kind kind, uint8_t *out, size_t cap);

/* Which kinds an event has: a bit for each. Pure; any thread. */
uint32_t dnstap_kinds(const struct tap_event *e);

#endif
