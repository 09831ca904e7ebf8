/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of the transfer thread for control (transfer/transfer.h): what has arrived, and what
 * control has to decide.
 *
 *      the loop: transfer_emit() ─► mailbox ─► transfer_poll() :control ─► transfer_event_fn
 */
#ifndef VOLLEY_TRANSFER_TRANSFER_EVENTS_H
#define VOLLEY_TRANSFER_TRANSFER_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "zone/builder.h"
#include "zone/changeset.h"

struct transfer;

enum transfer_kind {
	TRANSFER_ZONE,    /* a whole zone has come: builder, not finished */
	TRANSFER_CHANGES, /* sets: consecutive, the first begins with the served serial number */
	TRANSFER_CHECKED, /* a primary has nothing newer: the time until expiry begins again */
	/* no primary has answered for too long: the zone must not be served any more */
	TRANSFER_EXPIRED,
	TRANSFER_UPDATE, /* an UPDATE (RFC 2136); its signature and the rules are checked */
};

struct transfer_event {
	enum transfer_kind kind;
	const uint8_t *apex; /* folded wire; valid during the call */
	unsigned int apex_len;
	const char *remote; /* the sender, "hidden 192.0.2.1@53"; valid during the call */
	/* TRANSFER_ZONE: the callee frees it. */
	struct zone_builder *builder;
	uint32_t serial;
	/* TRANSFER_CHANGES: n_sets of them; the callee may move their bytes (changeset_move). */
	struct changeset *sets;
	size_t n_sets;
	/* TRANSFER_ZONE, _CHANGES, _CHECKED: when a primary was asked, and when the zone expires;
	 * seconds since 1970. */
	uint64_t checked_wall_s, expires_wall_s;
	/* TRANSFER_UPDATE: the message, valid until transfer_answer(), which has to follow. */
	const uint8_t *message;
	size_t message_bytes;
	void *request;
};

/* Called in control's thread by transfer_poll(). */
typedef void transfer_event_fn(void *user, struct transfer_event *event);

/* Sends a copy of @event to control, which then owns the memory that it points to. 0; or -ENOMEM:
 * that memory is freed. The loop's thread. */
int transfer_emit(struct transfer *t, const struct transfer_event *event)
	__attribute__((warn_unused_result));
/* Frees the events that control has not seen, after the thread has ended. */
void transfer_drop_events(struct transfer *t);

/* Events of one transfer_poll(): some milliseconds, so that a storm of them does not keep control
 * from other work. */
#define TRANSFER_POLL_EVENTS 256

/* Readable when there are events. */
int transfer_fd(const struct transfer *t);
/* Gives control the next events, at most TRANSFER_POLL_EVENTS. */
void transfer_poll(struct transfer *t);

#endif
