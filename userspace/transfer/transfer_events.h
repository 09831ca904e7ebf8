/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of the transfer thread for control (transfer/transfer.h): what has come, and what control
 * has to decide.
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
	TRANSFER_CHANGES, /* sets: one after the other, from the serial number that is served */
	TRANSFER_CHECKED, /* a primary has nothing newer: the zone is good for its time again */
	TRANSFER_EXPIRED, /* no primary could be asked for too long: serve it no more */
	TRANSFER_UPDATE,  /* an UPDATE that may be made (RFC 2136), signature and rules checked */
};

struct transfer_event {
	enum transfer_kind kind;
	const uint8_t *apex; /* folded wire; valid during the call */
	unsigned int apex_len;
	const char *remote; /* the sender, "hidden 192.0.2.1@53"; likewise */
	/* TRANSFER_ZONE: the callee's to free. */
	struct zone_builder *builder;
	uint32_t serial;
	/* TRANSFER_CHANGES: n_sets, the callee may take their bytes (changeset_move). */
	struct changeset *sets;
	size_t n_sets;
	/*
	 * TRANSFER_ZONE, _CHANGES, _CHECKED: seconds since 1970; when it was so, and until when it
	 * is good.
	 */
	uint64_t checked_wall_s, expires_wall_s;
	/* TRANSFER_UPDATE: the message, valid until transfer_answer(), which has to follow. */
	const uint8_t *message;
	size_t message_bytes;
	void *request;
};

/* In control's thread, from transfer_poll(). */
typedef void transfer_event_fn(void *user, struct transfer_event *event);

/*
 * Sends a copy of @event to control, which then owns the memory of the event. On failure, -ENOMEM,
 * that memory is freed. The loop's thread.
 */
int transfer_emit(struct transfer *t, const struct transfer_event *event)
	__attribute__((warn_unused_result));
/* The thread has ended: events that control has not seen are freed. */
void transfer_drop_events(struct transfer *t);

/* Readable when there are events. */
int transfer_fd(const struct transfer *t);
void transfer_poll(struct transfer *t);

#endif
