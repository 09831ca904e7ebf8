/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A worker reports its answers to the tap: it makes events (tap/event.h) from messages and their
 * ports.
 *
 *      reply_event_begin() ─► the engine answers over the query ─► reply_event_end()
 *            └─ deferred: reply_event_keep() ─► upstream answers ─► reply_event_late()
 *
 * Only the worker's thread calls these functions.
 */
#ifndef VOLLEY_WORKER_REPLY_EVENT_H
#define VOLLEY_WORKER_REPLY_EVENT_H

#include "port/port.h"
#include "tap/tap.h"

#define REPLY_EVENT_QUERY_MAX \
	512 /* of a deferred query; a longer query is made anew from its reply */

/* An event without its reply, and the time of its query. The caller zeroes it; it is not touched
 * unless the tap has a reader. */
struct reply_event {
	uint64_t asked_ns;
	union {
		struct tap_event event; /* with its query, if that is not longer than room for it */
		uint8_t room[sizeof(struct tap_event) + REPLY_EVENT_QUERY_MAX];
	};
};

/* Begins an event; m->data must have the whole query. NULL: no room, which is counted. */
struct tap_event *reply_event_begin(struct tap_producer *p, const struct port_msg *m);
void reply_event_end(struct tap_producer *p, struct tap_event *e, const uint8_t *reply, size_t n,
		     uint64_t asked_ns);
/* Copies the event, and frees its place in the tap. */
void reply_event_keep(struct reply_event *kept, const struct tap_event *e, uint64_t asked_ns);
void reply_event_late(struct tap_producer *p, const struct reply_event *kept, const uint8_t *reply,
		      size_t n);

#endif
