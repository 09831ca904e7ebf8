/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of volley-resolver, for the daemon: started, ended, awaited.
 *
 * Where the daemon has a parent (base/parent.h), that starts the program, which it has opened
 * itself, and the daemon neither forks nor executes. Without one (`volleyd --check`), the calling
 * thread starts it.
 */
#ifndef VOLLEY_BASE_STARTED_H
#define VOLLEY_BASE_STARTED_H

#include <stddef.h>

#include "base/executable.h"
#include "base/starter.h"

/*
 * Starts the program with this file. 0; ERR_CLOSED: the parent has ended; -ETIMEDOUT: it hangs; or
 * -errno. After 0, started_await() must be called until it returns something else than -ETIMEDOUT,
 * or started_forget(). Without a parent as executable_spawn(). Any thread.
 */
int started_execute(struct started *out, const struct executable *program,
		    enum executable_task task, int fd) __attribute__((warn_unused_result));

/* Ends the process at once. */
void started_kill(const struct started *started);

/*
 * Waits for the end of the process, at most wait_ms (-1: for ever). 0 and *status, which is as from
 * waitpid(); ERR_CLOSED: it has ended with its parent, and there is no status; -ETIMEDOUT: not yet;
 * or -errno. In all cases but -ETIMEDOUT *started is used up.
 */
int started_await(struct started *started, int wait_ms, int *status)
	__attribute__((warn_unused_result));

/* No longer waits for a process that was killed and does not end, since its parent hangs. */
void started_forget(struct started *started);

/* Writes the version of libunbound that the program runs with into out, "" if it does not answer.
 * Waits for it, some seconds at most. Any thread. */
void started_ask_libunbound(const struct executable *program, char *out, size_t cap);

#endif
