/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jobs that control's thread must not wait for, such as a walk over a large cache. One thread with
 * a lower priority than the workers runs them one after the other.
 *
 *      background_start() ─► run() ─► background_fd() is readable ─► background_poll() ─► ended()
 *
 * The caller owns the job again in ended(). Control's thread calls all of these except run().
 */
#ifndef VOLLEY_BASE_BACKGROUND_H
#define VOLLEY_BASE_BACKGROUND_H

#include <stdbool.h>

struct background_job {
	/* Runs in the background, on a liburcu QSBR thread that is offline. Must check
	 * background_is_cancelled(). */
	void (*run)(struct background_job *job);
	/* Control's thread. Also called for a job that was cancelled before it ran. */
	void (*ended)(struct background_job *job);
	struct background_job *next; /* of the list */
	bool is_cancelled;           /* atomic */
};

struct background;

/* Starts the thread. 0 or -errno. */
int background_new(struct background **out) __attribute__((warn_unused_result));

/* Cancels jobs that have not ended, calls ended() for each, ends the thread. NULL is allowed. */
void background_free(struct background *background);

/* Readable when a job has ended; for epoll. */
int background_fd(const struct background *background);

void background_start(struct background *background, struct background_job *job);
void background_poll(struct background *background);

static inline bool background_is_cancelled(const struct background_job *job)
{
	return __atomic_load_n(&job->is_cancelled, __ATOMIC_RELAXED);
}

#endif
