/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slots: `limit` users have one at a time, the others wait. They are let in by turns of the name
 * servers that they wait for, so that ten thousand zones of one do not keep out the only zone of
 * another.
 *
 *      remote a: z1 z2 z3 ...     ┐
 *      remote b: z7               ├─► one of each by turns ─► at most `limit` at a time
 *      remote c: z8 z9            ┘
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_SLOTS_H
#define VOLLEY_TRANSFER_SLOTS_H

#include <event2/event.h>
#include <stdint.h>
#include <urcu/list.h>

struct slots {
	uint32_t limit, n_inside;
	struct cds_list_head
		queues; /* one for each name server that is waited for, the next one first */
	struct event *let_in;
};

/* Of a user that has a slot or waits for it. All zeros: neither. */
struct slot {
	struct slots *slots;       /* NULL: neither */
	struct slots_queue *queue; /* NULL: inside */
	struct cds_list_head node;
	void (*go)(void *user);
	void *user;
};

/* 0 or -ENOMEM. */
int slots_open(struct slots *slots, struct event_base *base, uint32_t limit)
	__attribute__((warn_unused_result));
void slots_close(struct slots *slots); /* only when nothing waits in it any more */
void slots_set_limit(struct slots *slots, uint32_t limit);

/*
 * Waits for a place among those for the name server @name; go() is called when there is one, never
 * from within. -ENOMEM.
 */
int slots_enter(struct slots *slots, struct slot *place, const char *name)
	__attribute__((warn_unused_result));
/* Gives the place back, or waits no more. One that has none is allowed. */
void slots_leave(struct slot *place);

#endif
