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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tap/dnstap_config.h"
#include "tap/event.h"

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
/* dnstap_sink_reopen() (tap/dnstap_sink.h). Any thread. */
void dnstap_reopen(struct dnstap *dnstap);
bool dnstap_is_connected(const struct dnstap *d);

/* One message of an event as protobuf, at most `cap` octets. 0: no room. The event must have that
 * query or reply. Pure; any thread. */
size_t dnstap_encode(const struct dnstap_config *config, const struct tap_event *e,
		     enum dnstap_kind kind, uint8_t *out, size_t cap);

/* The kinds of messages that an event has: a bit for each. Pure; any thread. */
uint32_t dnstap_kinds(const struct tap_event *e);

#endif
