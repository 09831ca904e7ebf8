/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work that control's thread must not wait for, such as a walk over a large cache: done one after
 * the other by a thread behind the workers.
 *
 *      chores_start ─► run() in the background ─► chores_fd is readable ─► chores_poll ─► ended()
 *
 * Whoever starts a chore owns it again in ended(). Control's thread calls all of these but run().
 */
#ifndef VOLLEY_BASE_CHORE_H
#define VOLLEY_BASE_CHORE_H

#include <stdbool.h>

struct chore {
	/* In the background, on a liburcu QSBR thread that is offline. Looks at
	 * chore_is_cancelled(). */
	void (*run)(struct chore *chore);
	/* Control's thread. Also for a chore that was cancelled before it ran. */
	void (*ended)(struct chore *chore);
	struct chore *next; /* the list's */
	bool is_cancelled;  /* atomic */
};

struct chores;

/* Starts the thread. 0 or -errno. */
int chores_new(struct chores **out) __attribute__((warn_unused_result));

/* Cancels what has not ended, calls every ended() and ends the thread. NULL is allowed. */
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
