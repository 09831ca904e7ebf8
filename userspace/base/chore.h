/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that control's thread must not wait for, such as a walk over a large cache. One thread with
 * a lower priority than the workers runs them one after the other.
 *
 *      chores_start ─► run() in the background ─► chores_fd is readable ─► chores_poll ─► ended()
 *
 * The caller owns the chore again in ended(). Control's thread calls all of these except run().
 */
#ifndef VOLLEY_BASE_CHORE_H
#define VOLLEY_BASE_CHORE_H

#include <stdbool.h>

struct chore {
	/* Runs in the background, on a liburcu QSBR thread that is offline. Must check
	 * chore_is_cancelled(). */
	void (*run)(struct chore *chore);
	/* Control's thread. Also called for a chore that was cancelled before it ran. */
	void (*ended)(struct chore *chore);
	struct chore *next; /* of the list */
	bool is_cancelled;  /* atomic */
};

struct chores;

/* Starts the thread. 0 or -errno. */
int chores_new(struct chores **out) __attribute__((warn_unused_result));

/* Cancels chores that have not ended, calls ended() for each, ends the thread. NULL is allowed. */
void chores_free(struct chores *chores);

/* Readable when a chore has ended; for epoll. */
int chores_fd(const struct chores *chores);

void chores_start(struct chores *chores, struct chore *chore);
void chores_poll(struct chores *chores);

static inline bool chore_is_cancelled(const struct chore *chore)
{
	return __atomic_load_n(&chore->is_cancelled, __ATOMIC_RELAXED);
}

#endif
