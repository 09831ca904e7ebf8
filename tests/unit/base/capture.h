/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces stderr by a pipe, from which a test reads what the log has written. */
#ifndef VOLLEY_TESTS_UNIT_BASE_CAPTURE_H
#define VOLLEY_TESTS_UNIT_BASE_CAPTURE_H

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

static int stderr_kept;
static int pipe_fd[2];

static int capture(void **state)
{
	(void)state;
	unsetenv("JOURNAL_STREAM");
	stderr_kept = dup(STDERR_FILENO);
	if (stderr_kept < 0 || pipe(pipe_fd) || dup2(pipe_fd[1], STDERR_FILENO) < 0)
		return -1;
	return 0;
}

static int release(void **state)
{
	(void)state;
	dup2(stderr_kept, STDERR_FILENO);
	close(stderr_kept);
	close(pipe_fd[0]);
	return 0;
}

/* Reads all that was written. Closes stderr first, so that the pipe ends. */
static size_t taken(char *dst, size_t cap)
{
	size_t n = 0;
	ssize_t got;

	log_close();
	close(pipe_fd[1]);
	dup2(stderr_kept, STDERR_FILENO);
	while ((got = read(pipe_fd[0], dst + n, cap - 1 - n)) > 0)
		n += (size_t)got;
	dst[n] = '\0';
	return n;
}

#endif
