/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dnstap (https://dnstap.info): events as protobuf messages, in Frame Streams, to a collector or a
 * file.
 *
 *      event ─► dnstap_put(): one or two messages ─► tap/record_writer.h ─► libfstrm ─► Unix socket, TCP, file
 *
 * A collector that is not there is looked for once a second; meanwhile messages are lost, and
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
/* Adds what dnstap_counters() says at the end. NULL is allowed. */
void dnstap_close(struct dnstap *d, uint64_t *written, uint64_t *lost);

/*
 * The messages of an event, into the queue. The event may be changed: its addresses are shortened.
 * dnstap_kick() wakes the writer. One thread.
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
 * One message of an event as protobuf, at most `cap` octets. 0: no room. Its query or reply must be
 * there. Pure; any thread.
 */
size_t dnstap_encode(const struct dnstap_config *config, const struct tap_event *e,
		     enum dnstap_kind kind, uint8_t *out, size_t cap);

/* Which kinds an event has: a bit for each. Pure; any thread. */
uint32_t dnstap_kinds(const struct tap_event *e);

#endif
