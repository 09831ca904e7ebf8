/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slots: `limit` users have one at a time; the others wait. The name servers that they wait for get
 * slots by turns, so that ten thousand zones of one server do not keep out the only zone of
 * another. Of the users that wait for one name server, those of the highest rank come first, and
 * among these the one that has waited longest. Every SLOTS_LAST_TURN-th is of the lowest rank that
 * waits, so that none waits for ever.
 *
 *      remote a: z1 z2 z3 ...     ┐
 *      remote b: z7               ├─► one of each in turn ─► at most `limit` at a time
 *      remote c: z8 z9            ┘
 *
 * Of SLOTS_SHARED slots or more, one name server has at most three quarters. A name server that has
 * none gets its first one although all are taken, until there are twice as many as the limit. So
 * some name servers that never end an answer do not keep out the others.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_SLOTS_H
#define VOLLEY_TRANSFER_SLOTS_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <urcu/list.h>

#define SLOTS_SHARED    8
#define SLOTS_LAST_TURN 8

enum slot_rank {
	SLOT_ASKED,    /* somebody waits for it */
	SLOT_PROMPTED, /* there is something new */
	SLOT_OTHER,
	SLOT_RANKS,
};

struct slots {
	uint32_t limit, n_inside;
	/* one for each name server with users that wait or have a slot, the next one first */
	struct cds_list_head queues;
	struct event *let_in;
};

/* A user that has a slot or waits for it. All zeros: neither. */
struct slot {
	struct slots *slots;       /* NULL: neither */
	struct slots_queue *queue; /* its name server's */
	bool is_inside;            /* it has a slot */
	struct cds_list_head node;
	void (*go)(void *user);
	void *user;
};

/* 0 or -ENOMEM. */
int slots_open(struct slots *slots, struct event_base *base, uint32_t limit)
	__attribute__((warn_unused_result));
void slots_close(struct slots *slots); /* only when no user waits any more */
void slots_set_limit(struct slots *slots, uint32_t limit);

/* Waits for a slot in the queue of the name server @name. go() is called when it has one, never
 * within this call. 0 or -ENOMEM. */
int slots_enter(struct slots *slots, struct slot *place, const char *name, enum slot_rank rank)
	__attribute__((warn_unused_result));
/* The most slots that may be taken with this limit. Any thread. */
static inline uint32_t slots_most(uint32_t limit)
{
	return limit < SLOTS_SHARED ? limit : 2 * limit;
}
/* Gives the slot back, or stops waiting. A place that has none is allowed. */
void slots_leave(struct slot *place);

#endif
