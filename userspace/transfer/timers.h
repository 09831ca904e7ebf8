/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers by a clock that the caller brings: timers_run(now) calls all timers that are due. So a
 * test can let a week pass at once, and the loop needs one kernel timer, for the earliest.
 *
 *      timer_set() ─► heap by due time ─► timers_run(now): all that are due, the earliest first
 *
 * A timer owns its place in the heap from timer_init() on. So setting one needs no memory and
 * cannot fail.
 *
 * Threads: one, the loop's. Times are clock_ns().
 */
#ifndef VOLLEY_TRANSFER_TIMERS_H
#define VOLLEY_TRANSFER_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timer;

/* All zeros: there is none. */
struct timers {
	struct timer **heap; /* the timers that are set */
	size_t n, cap;
	size_t n_places; /* of all timers, set or not */
	uint64_t n_set;  /* calls of timer_set() */
};

/* All zeros: not initialised; timer_fini() allows it. */
struct timer {
	struct timers *all;
	void (*fire)(void *user);
	void *user;
	uint64_t due_ns;
	/* order of setting: of two timers due at the same time, the one that was set first is
	 * called first */
	uint64_t number;
	size_t place; /* in the heap, from 1; 0: not set */
};

/* @fire is called with @user when it is due; it may set and end any timer, this one too. 0 or
 * -ENOMEM. */
int timer_init(struct timer *timer, struct timers *all, void (*fire)(void *user), void *user)
	__attribute__((warn_unused_result));
/* Cancels it and gives its place back. */
void timer_fini(struct timer *timer);

/* Sets it to @due_ns, in place of any earlier time. */
void timer_set(struct timer *timer, uint64_t due_ns);
/* Cancels it. */
void timer_cancel(struct timer *timer);
static inline bool timer_is_set(const struct timer *timer)
{
	return timer->place;
}

/* When the earliest timer is due; UINT64_MAX: none is set. */
uint64_t timers_due_ns(const struct timers *all);
/*
 * Calls the timers that are due at @now_ns. A timer that is set meanwhile waits for the next call.
 */
void timers_run(struct timers *all, uint64_t now_ns);
/* To be called after timer_fini() of each timer. */
void timers_fini(struct timers *all);

#endif
