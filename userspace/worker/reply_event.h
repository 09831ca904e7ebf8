/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a worker tells of its answers: events (tap/event.h) made of messages and their ports.
 *
 *      telling_begin() ─► the engine answers over the query ─► telling_end()
 *            └─ deferred: telling_keep() ─► upstream answers ─► telling_late()
 *
 * The worker's thread calls all of these.
 */
#ifndef VOLLEY_WORKER_TELLING_H
#define VOLLEY_WORKER_TELLING_H

#include "port/port.h"
#include "tap/tap.h"

#define TELLING_QUERY_MAX 512 /* of a query that waits; a longer one is made anew from its reply */

/* An event without its reply, and when its query came. Zeroed before; not touched where nobody is told. */
struct telling {
	struct tap_event event;
	uint64_t asked_ns;
	uint8_t query[TELLING_QUERY_MAX]; /* behind the event */
};

/* The query is whole at m->data. NULL: there is no room, which is counted. */
struct tap_event *telling_begin(struct tap_producer *p, const struct port_msg *m);
void telling_end(struct tap_producer *p, struct tap_event *e, const uint8_t *reply, size_t n,
		 uint64_t asked_ns);
/* The event is kept as what it says, and its room is not used. */
void telling_keep(struct telling *t, const struct tap_event *e, uint64_t asked_ns);
void telling_late(struct tap_producer *p, const struct telling *t, const uint8_t *reply, size_t n);

#endif
