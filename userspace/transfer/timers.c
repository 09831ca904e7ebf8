/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/timers.h"

#include <errno.h>
#include <stdlib.h>

#define CAP_FIRST 16

static bool is_timer_before(const struct timer *a, const struct timer *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->number < b->number;
}

/* Places count from 1: the parent of i is i / 2. */
static void put_timer(struct timers *all, size_t place, struct timer *timer)
{
	all->heap[place - 1] = timer;
	timer->place = place;
}

static void move_up(struct timers *all, struct timer *timer)
{
	size_t i = timer->place;

	for (; i > 1 && is_timer_before(timer, all->heap[i / 2 - 1]); i /= 2)
		put_timer(all, i, all->heap[i / 2 - 1]);
	put_timer(all, i, timer);
}

static void move_down(struct timers *all, struct timer *timer)
{
	size_t i = timer->place;

	for (size_t child = 2 * i; child <= all->n; child = 2 * i) {
		if (child < all->n && is_timer_before(all->heap[child], all->heap[child - 1]))
			child++;
		if (!is_timer_before(all->heap[child - 1], timer))
			break;
		put_timer(all, i, all->heap[child - 1]);
		i = child;
	}
	put_timer(all, i, timer);
}

int timer_init(struct timer *timer, struct timers *all, void (*fire)(void *user), void *user)
{
	if (all->n_places == all->cap) {
		size_t cap = all->cap ? 2 * all->cap : CAP_FIRST;
		struct timer **heap = realloc(all->heap, cap * sizeof(struct timer *));

		if (!heap)
			return -ENOMEM;
		all->heap = heap;
		all->cap = cap;
	}
	all->n_places++;
	*timer = (struct timer){ .all = all, .fire = fire, .user = user };
	return 0;
}

void timer_fini(struct timer *timer)
{
	if (!timer->all)
		return;
	timer_cancel(timer);
	timer->all->n_places--;
	timer->all = NULL;
}

void timer_set(struct timer *timer, uint64_t due_ns)
{
	struct timers *all = timer->all;

	timer_cancel(timer);
	timer->due_ns = due_ns;
	timer->number = all->n_set++;
	put_timer(all, ++all->n, timer);
	move_up(all, timer);
}

void timer_cancel(struct timer *timer)
{
	struct timers *all = timer->all;
	struct timer *last;
	size_t place = timer->place;

	if (!place)
		return;
	timer->place = 0;
	last = all->heap[--all->n];
	if (last == timer)
		return;
	put_timer(all, place, last);
	move_up(all, last);
	move_down(all, last);
}

uint64_t timers_due_ns(const struct timers *all)
{
	return all->n ? all->heap[0]->due_ns : UINT64_MAX;
}

void timers_run(struct timers *all, uint64_t now_ns)
{
	uint64_t number = all->n_set;

	/* A timer that a call sets is due now at the earliest, so it comes after all that were set
	 * before. */
	while (all->n && all->heap[0]->due_ns <= now_ns && all->heap[0]->number < number) {
		struct timer *timer = all->heap[0];

		timer_cancel(timer);
		timer->fire(timer->user);
	}
}

void timers_fini(struct timers *all)
{
	free(all->heap);
	*all = (struct timers){ 0 };
}
