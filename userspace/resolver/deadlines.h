/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deadlines: a hashed timing wheel (Varghese and Lauck, 1987). A deadline is in the slot of its
 * tick modulo the number of slots. Adding and removing are O(1). Each tick looks at one slot;
 * deadlines of later turns stay in it. A deadline never fires early, and at most two ticks late.
 *
 * One thread. The entry is a member of the object that has the deadline.
 */
#ifndef VOLLEY_RESOLVER_DEADLINES_H
#define VOLLEY_RESOLVER_DEADLINES_H

#include <stdint.h>

#include <urcu/list.h>

#define DEADLINES_TICK_NS 8000000ULL
#define DEADLINES_SLOTS   1024 /* a turn is 8.2 s */

struct deadline {
	struct cds_list_head node;
	uint64_t at_ns; /* CLOCK_MONOTONIC */
};

struct deadlines {
	uint64_t tick; /* the last one that was handled */
	struct cds_list_head slots[DEADLINES_SLOTS];
};

void deadlines_init(struct deadlines *d, uint64_t now_ns);

/* A deadline in the past fires with the next tick. */
void deadlines_add(struct deadlines *d, struct deadline *entry, uint64_t at_ns);

static inline void deadlines_remove(struct deadline *entry)
{
	cds_list_del(&entry->node);
}

/* Moves all deadlines that have passed into the list `over`, which the caller has initialised. */
void deadlines_expire(struct deadlines *d, uint64_t now_ns, struct cds_list_head *over);

#endif
