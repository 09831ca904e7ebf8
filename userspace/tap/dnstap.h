/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dnstap (https://dnstap.info): writes events as protobuf messages in Frame Streams, to a collector
 * or a file.
 *
 *      event ─► dnstap_put(): one or two messages ─► tap/record_writer.h ─► libfstrm ─┐
 *                                                       Unix socket, TCP or file ◄───────────┘
 *
 * If the collector is not there, it is tried again once a second. Meanwhile messages are lost, and
 * counted.
 */
#ifndef VOLLEY_TAP_DNSTAP_H
#define VOLLEY_TAP_DNSTAP_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tap/event.h"
#include "tap/record_writer.h"

/* Which dnstap messages to write, and where. */

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

struct dnstap;

/* Starts the thread that writes. 0 or -errno. */
int dnstap_open(struct dnstap **out, const struct dnstap_config *config)
	__attribute__((warn_unused_result));
/* Adds the final dnstap_counters(). NULL is allowed. */
void dnstap_close(struct dnstap *d, uint64_t *written, uint64_t *lost);

/* Puts the messages of an event into the queue. Shortens the event's addresses in place.
 * dnstap_kick() wakes the writer. One thread. */
void dnstap_put(struct dnstap *d, struct tap_event *e);
void dnstap_kick(struct dnstap *d);

/* True if it wants the octets of queries, or messages with upstreams. Pure. */
bool dnstap_wants_queries(const struct dnstap_config *config);
bool dnstap_wants_forwarders(const struct dnstap_config *config);

/* Messages that the collector got, and lost ones. Any thread, as the next one. */
void dnstap_counters(const struct dnstap *d, uint64_t *written, uint64_t *lost);
/* dnstap_sink_reopen(). Any thread. */
void dnstap_reopen(struct dnstap *dnstap);
bool dnstap_is_connected(const struct dnstap *d);

/* One message of an event as protobuf, at most `cap` octets. 0: no room. The event must have that
 * query or reply. Pure; any thread. */
size_t dnstap_encode(const struct dnstap_config *config, const struct tap_event *e,
		     enum dnstap_kind kind, uint8_t *out, size_t cap);

/* The kinds of messages that an event has: a bit for each. Pure; any thread. */
uint32_t dnstap_kinds(const struct tap_event *e);

/*
 * Frame Streams to a collector, with a handshake, or to a file, without one. libfstrm makes the
 * frames. Reading and writing is done here, so that a collector that takes nothing cannot block the
 * end of the thread.
 */

struct dnstap_sink;

/* Makes *sink for tap_writer_open(); its close() frees it. `config` and `out`, which will point to
 * the output, must live as long. 0 or -ENOMEM. */
int dnstap_sink_new(struct dnstap_sink **to, struct tap_sink *sink,
		    const struct dnstap_config *config, struct tap_writer *const *out)
	__attribute__((warn_unused_result));

/*
 * If the file's path no longer leads to the open file, because that was renamed or removed, the
 * output's thread ends the stream and begins another at its next tick(). Any thread.
 */
void dnstap_sink_reopen(struct dnstap_sink *sink);

/* True if a collector is connected or the file is open. Any thread. */
bool dnstap_sink_is_open(const struct dnstap_sink *sink);

#endif
