/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/started.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parent.h"

#define PROGRAM_VERSION_MS 2000 /* on a busy machine */
#define PROGRAM_END_MS     2000 /* after it was killed */

int started_execute(struct started *out, const struct executable *program,
		    enum executable_task task, int fd)
{
	out->channel = out->statm = out->task = -1;
	return parent_is_there() ? parent_execute(task, fd, out) :
				   executable_spawn(program, task, fd, &out->pid);
}

/* --- Ended ------------------------------------------------------------------------------------ */

void started_kill(const struct started *started)
{
	if (started->channel >= 0)
		starter_kill(started);
	else
		kill(started->pid, SIGKILL);
}

static int await_child(pid_t pid, int wait_ms, int *status)
{
	struct pollfd wait = { .fd = pidfd_open(pid, 0), .events = POLLIN };
	int n = 0;

	if (wait.fd >= 0) {
		n = poll(&wait, 1, wait_ms);
		close(wait.fd);
	}
	if (n <= 0 && wait.fd >= 0 && wait_ms >= 0)
		return -ETIMEDOUT;
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int started_await(struct started *started, int wait_ms, int *status)
{
	return started->channel >= 0 ? starter_await(started, wait_ms, status) :
				       await_child(started->pid, wait_ms, status);
}

void started_forget(struct started *started)
{
	if (started->channel >= 0)
		starter_forget(started);
}

/* --- Asked ------------------------------------------------------------------------------------ */

static size_t hear_program(int fd, char *text, size_t cap)
{
	const uint64_t until_ns = clock_ns() + PROGRAM_VERSION_MS * CLOCK_NS_PER_MS;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t n = 0;
	ssize_t got = 1;

	/* a program that writes one octet after the other has no more time than any other */
	while (got > 0 && n < cap - 1 && clock_ns() < until_ns &&
	       poll(&wait, 1, PROGRAM_VERSION_MS) == 1) {
		got = read(fd, text + n, cap - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	text[n] = 0;
	return n;
}

void started_ask_libunbound(const struct executable *program, char *out, size_t cap)
{
	static const char before[] = "libunbound ";
	const char *at = NULL;
	struct started started;
	char text[256] = "";
	int fds[2], status, err;

	*out = 0;
	if (program->fd < 0 || pipe2(fds, O_CLOEXEC))
		return;
	err = started_execute(&started, program, EXECUTABLE_VERSION, fds[1]);
	close(fds[1]);
	if (!err) {
		if (hear_program(fds[0], text, sizeof(text)))
			at = strstr(text, before);
		started_kill(&started); /* it has said all that is asked */
		if (started_await(&started, PROGRAM_END_MS, &status) == -ETIMEDOUT)
			started_forget(&started);
	}
	close(fds[0]);
	if (at)
		snprintf(out, cap, "%.*s", (int)strcspn(at + sizeof(before) - 1, "\n"),
			 at + sizeof(before) - 1);
}
