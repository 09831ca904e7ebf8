/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sandbox: each thread may make only the system calls that threads of its kind need.
 *
 *      sandbox_start()                   the calling thread, and all that it starts: CONTROL
 *         └─ sandbox_enter(KIND)         a thread at its beginning: its own, smaller list
 *      sandbox_start_process(KIND)       a process beside the daemon, for good
 *
 * base/sandbox_calls.c is the table: which calls, for which kinds, and why. libseccomp makes a BPF
 * program for each kind. A call that is not allowed does not end the process, since then a new
 * version of a library that tries a new call would take the service down:
 *
 *      not in the table, or newer than it   ENOSYS, so libraries do without it
 *      in the table, for other kinds        SIGSYS ─► handler: counts it ─► EPERM
 *      never needed (ptrace, mount, ...)    the same
 *      the same while SIGSYS is blocked     the process is killed: posix_spawn() blocks it
 *      another architecture's (i386, x32)   the process is killed
 *
 * Parent and runner execute other programs, which inherit the filter and have no handler. So they
 * make all calls but some that no command needs, which get EPERM, and those newer than the table.
 *
 * A kernel without seccomp changes nothing else; sandbox_state() says so. Time of an allowed call:
 * docs/decisions/0069.
 */
#ifndef VOLLEY_BASE_SANDBOX_H
#define VOLLEY_BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sandbox_calls.h"

struct sandbox_state {
	bool is_on;
	const char *why_not; /* "": it is on, or was not asked for */
	uint64_t n_refused;  /* calls that were counted */
};

/*
 * Begins the sandbox of the process, in the calling thread, which becomes one of that kind. It must
 * be the only thread, and has called prctl(PR_SET_NO_NEW_PRIVS). From CONTROL threads can go on to
 * each kind of threads; from another kind to none. 0; -ENOSYS: the kernel has no seccomp; or
 * -errno. After an error there is no sandbox, and sandbox_enter() does nothing.
 */
int sandbox_start(enum sandbox_kind kind) __attribute__((warn_unused_result));

/* The same for a process of the daemon's, which becomes that kind for good. A fault is logged. */
void sandbox_start_process(enum sandbox_kind kind);

/*
 * Restricts the calling thread, and threads that it starts, to its kind. It cannot be undone. Does
 * nothing without sandbox_start(). It unblocks SIGSYS, so each thread that blocks signals calls
 * this. After an error the thread keeps the restrictions of the one that started it.
 */
void sandbox_enter(enum sandbox_kind kind);

/* Any thread. */
void sandbox_state(struct sandbox_state *state);

/* Logs calls that have been refused, each of a kind once. Control's thread, once a second. */
void sandbox_tick(void);

/* A sentence for `degraded` when a call was refused, or there is no sandbox; else "". Valid until
 * the next call. Control's thread. */
const char *sandbox_problem(void);

const char *sandbox_kind_text(enum sandbox_kind kind);

#endif
