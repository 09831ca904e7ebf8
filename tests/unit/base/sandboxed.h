/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process for each case of a sandbox, which cannot be left. */
#ifndef VOLLEY_TESTS_UNIT_BASE_SANDBOXED_H
#define VOLLEY_TESTS_UNIT_BASE_SANDBOXED_H

#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "tests/lib/must.h"

/* The exit status of a process that runs `run`; -1: it was killed. */
static inline int status_of(int (*run)(enum sandbox_kind), enum sandbox_kind kind)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(run(kind));
	MUST(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
