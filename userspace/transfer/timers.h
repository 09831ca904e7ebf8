/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers by a clock that the caller brings: timers_run(now) calls all timers that are due at that
 * moment. So a test can let a week pass at once, and the loop asks the kernel only for the first of
 * them.
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
	size_t n_places; /* of all, set or not */
	uint64_t n_set;  /* how often one was set */
};

/* All zeros: not initialized, which timer_fini() allows. */
struct timer {
	struct timers *all;
	void (*fire)(void *user);
	void *user;
	uint64_t due_ns;
	/* of its setting: of two that are due at one time, the earlier set goes first */
	uint64_t number;
	size_t place; /* in the heap, from 1; 0: not set */
};

/* @fire is called with @user when it is due; it may set and end any timer, this one, too. 0 or
 * -ENOMEM. */
int timer_init(struct timer *timer, struct timers *all, void (*fire)(void *user), void *user)
	__attribute__((warn_unused_result));
/* It is not set any more, and its place is given back. */
void timer_fini(struct timer *timer);

/* It is due at @due_ns and at no other time. */
void timer_set(struct timer *timer, uint64_t due_ns);
/* It is not set any more. */
void timer_cancel(struct timer *timer);
static inline bool timer_is_set(const struct timer *timer)
{
	return timer->place;
}

/* When the first is due; UINT64_MAX: none is set. */
uint64_t timers_due_ns(const struct timers *all);
/* Calls those that are due at @now_ns. One that is set meanwhile waits for the next call. */
void timers_run(struct timers *all, uint64_t now_ns);
/* After timer_fini() of each. */
void timers_fini(struct timers *all);

#endif
