/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One poll() waits for the command's output and for the end that the runner tells. */
#include "config/verify_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files.h"
#include "zone/rdprint.h"

#define SLICE_MS   100 /* between two checks whether the load is cancelled */
#define LINE_CAP   256
#define PIPE_BYTES 65536 /* the capacity of a pipe, pipe(7) */

struct run {
	struct runner *runner;
	const struct verify *verify;
	const bool *cancel;
	int zone_fd;         /* the text of the zone, for reading */
	int said_fd[2];      /* a pipe: its standard error */
	int command_fd;      /* the runner tells its end here */
	char line[LINE_CAP]; /* its first line */
	size_t n_line;
	bool is_line_full;
};

static bool is_verify_cancelled(const struct run *run)
{
	return __atomic_load_n(run->cancel, __ATOMIC_RELAXED);
}

/* Writes the zone as text in memory. A descriptor, open for reading only, or a negative code. */
static int write_verify_text(const struct zone *zone, const bool *cancel)
{
	int fd = memory_file_open("zone", 0), read_fd = -1, err;
	char path[32];
	FILE *out;

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_fd = open(path, O_RDONLY | O_CLOEXEC);
	err = read_fd < 0 ? -errno : 0;
	out = fdopen(fd, "w");
	if (!out) {
		close(fd);
		err = -ENOMEM;
	} else {
		if (!err)
			err = zone_dump(zone, out, cancel);
		if (fclose(out) && !err)
			err = -errno;
	}
	if (err && read_fd >= 0)
		close(read_fd);
	return err ? err : read_fd;
}

/*
 * Reads at most what the pipe holds, so a command that writes without end does not keep us here.
 * False: nothing more will come.
 */
static bool hear_verify(struct run *run)
{
	char said[PIPE_BYTES];
	ssize_t n = read(run->said_fd[0], said, sizeof(said));

	for (ssize_t i = 0; i < n && !run->is_line_full; i++) {
		char c = said[i];

		run->is_line_full = c == '\n' && run->n_line;
		if (c == '\n' || run->n_line == LINE_CAP - 1)
			continue;
		run->line[run->n_line++] = c < ' ' || c > '~' ? '?' : c;
	}
	return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Waits until the command has ended. 0, -ETIMEDOUT, -ECANCELED or -errno. */
static int wait_for_end(struct run *run)
{
	uint64_t end_ns = clock_ns() + run->verify->timeout_s * CLOCK_NS_PER_S;
	struct pollfd fds[] = { { .fd = run->command_fd, .events = POLLIN },
				{ .fd = run->said_fd[0], .events = POLLIN } };

	while (!is_verify_cancelled(run)) {
		if (poll(fds, 2, SLICE_MS) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents && !hear_verify(run))
			fds[1].fd = -1;
		if (fds[0].revents)
			return 0;
		if (clock_ns() >= end_ns)
			return -ETIMEDOUT;
	}
	return -ECANCELED;
}

static int judge_verify(const struct run *run, int err, int status, char *why, size_t cap)
{
	const char *command = run->verify->argv[0];
	const char *colon = run->n_line ? ": " : "";

	if (err == -ETIMEDOUT)
		snprintf(why, cap, "%s did not end within %u s%s%s", command,
			 run->verify->timeout_s, colon, run->line);
	else if (err)
		snprintf(why, cap, "%s: %s", command, err_text(err));
	else if (WIFSIGNALED(status))
		snprintf(why, cap, "%s was ended by signal %d%s%s", command, WTERMSIG(status),
			 colon, run->line);
	else if (WEXITSTATUS(status))
		snprintf(why, cap, "%s ended with status %d%s%s", command, WEXITSTATUS(status),
			 colon, run->line);
	else
		return 0;
	return err && err != -ETIMEDOUT ? err : ERR_VERIFY;
}

static int refuse_verify(const struct run *run, int err, char *why, size_t cap)
{
	const char *command = run->verify->argv[0];

	if (err == ERR_CLOSED)
		snprintf(why, cap,
			 "%s cannot be run: the process volley-runner, which starts commands, has "
			 "ended: restart volleyd",
			 command);
	else if (err == -ETIMEDOUT)
		snprintf(why, cap,
			 "%s cannot be run: the process volley-runner, which starts commands, does "
			 "not answer",
			 command);
	else if (err == ERR_NOT_FOUND)
		snprintf(why, cap,
			 "%s cannot be run: the configuration's file does not have this command "
			 "any more, or its file is not of the configuration's owner: reload",
			 command);
	else
		snprintf(why, cap, "%s cannot be run: %s", command, err_text(err));
	return err;
}

static int run_process(struct run *run, const struct zone *zone, const char *name, const char *file,
		       char *why, size_t cap)
{
	const struct runner_zone of = { name, file, zone_serial(zone) };
	int err = runner_verify(run->runner, verify_digest(run->verify), &of, run->zone_fd,
				run->said_fd[1]);
	int status = 0, ended;

	if (err < 0)
		return refuse_verify(run, err, why, cap);
	run->command_fd = err;
	close(run->said_fd[1]);
	run->said_fd[1] = -1;
	err = wait_for_end(run);
	ended = runner_end(run->command_fd, &status);
	hear_verify(run);
	if (ended && (!err || ended == ERR_CLOSED))
		return refuse_verify(run, ended, why, cap);
	return judge_verify(run, err, status, why, cap);
}

static void close_verify_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int verify_run(struct runner *runner, const struct verify *verify, const struct zone *zone,
	       const char *name, const char *file, const bool *cancel, char *why, size_t why_cap)
{
	struct run run = { .runner = runner,
			   .verify = verify,
			   .cancel = cancel,
			   .said_fd = { -1, -1 },
			   .command_fd = -1 };
	int err = 0;

	run.zone_fd = write_verify_text(zone, cancel);
	if (run.zone_fd < 0)
		err = run.zone_fd;
	else if (pipe2(run.said_fd, O_CLOEXEC) || fcntl(run.said_fd[0], F_SETFL, O_NONBLOCK))
		err = -errno;
	if (err)
		snprintf(why, why_cap, "the zone cannot be given to %s: %s", verify->argv[0],
			 err_text(err));
	else
		err = run_process(&run, zone, name, file, why, why_cap);
	close_verify_fd(run.zone_fd);
	close_verify_fd(run.said_fd[0]);
	close_verify_fd(run.said_fd[1]);
	close_verify_fd(run.command_fd);
	return err;
}
