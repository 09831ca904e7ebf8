/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parent: a process of one thread that starts the other processes of the daemon, so that no
 * thread of the daemon forks or executes (docs/decisions/0074).
 *
 *      volleyd                     parent_start(), before it has threads
 *        └─ volley-parent          waits, and starts what has ended again; reads no other text
 *             ├─ volley-broker     forked: a copy of the daemon as it was before its threads
 *             ├─ volley-runner     the same
 *             └─ volley-starter    forked for each request; ends with its program
 *                  └─ volley-resolver   executed
 *
 * Requests are structs of fixed size with two descriptors, and say only which task the one program
 * shall do: parent and daemon have opened it before. Each process ends when the one above it ends,
 * however that does (PR_SET_PDEATHSIG). A daemon has one parent, as it has one log.
 */
#ifndef VOLLEY_BASE_PARENT_H
#define VOLLEY_BASE_PARENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/executable.h"
#include "base/starter.h"

#define PARENT_CHILDREN_MAX 2
#define PARENT_FDS_MAX      2 /* of a child */

/* A process that is forked, and again after each end. */
struct parent_child {
	const char *name; /* of the process, at most 15 octets; static */
	/* In the new process, whose files are the standard ones and `fds`. Returns its exit status.
	 * 0: the daemon has let it go, no other is started. `is_next`: it is not the first one. */
	int (*run)(void *user, bool is_next);
	/* In the parent, after another end and before the next start. It must not block. */
	void (*on_end)(void *user);
	/* In the parent, once, after the first start: gives up the copy of what the daemon has read
	 * for that start. NULL: there is nothing. */
	void (*on_first)(void *user);
	void *user; /* as it is when the daemon calls parent_start(); changes in the parent stay */
	int fds[PARENT_FDS_MAX]; /* their copies in the daemon are closed by parent_start() */
	unsigned int n_fds;
};

/* Adds a child to those that the next parent_start() starts. The descriptors are the parent's then.
 */
void parent_add(const struct parent_child *child);

/*
 * Starts the parent with the children that were added. There must be no threads. `program` is what
 * started_execute() starts; its fd may be -1. `drop` gives up the capabilities that no child
 * needs. 0 or -errno; in both cases the children's descriptors are closed here.
 */
int parent_start(const struct executable *program, int (*drop)(void))
	__attribute__((warn_unused_result));

/* True between parent_start() and parent_stop(), also if it has ended meanwhile. Any thread. */
bool parent_is_there(void);
/* False: the process has ended, and all others with it. Any thread. */
bool parent_is_alive(void);

/* The parent ends when its children have, which must have been let go. Waits for that at most
 * wait_ms. Does nothing without one. */
void parent_stop(int wait_ms);

/* As started_execute(). Any thread. */
int parent_execute(enum executable_task task, int fd, struct started *out)
	__attribute__((warn_unused_result));

#endif
