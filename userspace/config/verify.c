/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses posix_spawn() because of threads, and a pidfd: one poll() waits for output and end. */
#include "config/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "zone/rdprint.h"

#define SLICE_MS     100 /* between two checks whether the load is cancelled */
#define LINE_CAP     256
#define PIPE_BYTES   65536 /* the capacity of a pipe, pipe(7) */
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* --- The settings ----------------------------------------------------------------------------- */

static size_t count_verify(char *const *argv)
{
	size_t n = 0;

	while (argv && argv[n])
		n++;
	return n;
}

int verify_copy(struct verify *to, const struct verify *from)
{
	size_t n = count_verify(from->argv), i;

	*to = (struct verify){ NULL, from->timeout_s };
	if (!from->argv)
		return 0;
	to->argv = calloc(n + 1, sizeof(char *));
	for (i = 0; to->argv && i < n; i++) {
		to->argv[i] = strdup(from->argv[i]);
		if (!to->argv[i])
			verify_fini(to);
	}
	return to->argv ? 0 : -ENOMEM;
}

void verify_fini(struct verify *verify)
{
	size_t i;

	for (i = 0; verify->argv && verify->argv[i]; i++)
		free(verify->argv[i]);
	free(verify->argv);
	verify->argv = NULL;
}

bool verify_equal(const struct verify *a, const struct verify *b)
{
	size_t n = count_verify(a->argv), i;

	if (a->timeout_s != b->timeout_s || n != count_verify(b->argv))
		return false;
	for (i = 0; i < n; i++)
		if (strcmp(a->argv[i], b->argv[i]) != 0)
			return false;
	return true;
}

/* --- The process ------------------------------------------------------------------------------ */

struct run {
	const struct verify *verify;
	const bool *cancel;
	int zone_fd;    /* the text of the zone, for reading */
	int said_fd[2]; /* a pipe: its standard error */
	int pid_fd;
	pid_t pid;
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
	int fd = memfd_create("zone", MFD_CLOEXEC), read_fd = -1, err;
	char path[32];
	FILE *out;

	if (fd < 0)
		return -errno;
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

static int set_files(posix_spawn_file_actions_t *files, const struct run *run)
{
	int err = posix_spawn_file_actions_adddup2(files, run->zone_fd, STDIN_FILENO);

	if (!err)
		err = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY,
						       0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(files, run->said_fd[1], STDERR_FILENO);
	return err ? err : posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
}

/* The daemon's threads block signals and ignore one; the command gets the defaults. */
static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	err = posix_spawnattr_setsigmask(attr, &none);
	if (!err)
		err = posix_spawnattr_setsigdefault(attr, &all);
	if (!err)
		err = posix_spawnattr_setpgroup(attr, 0);
	return err ? err :
		     posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							    POSIX_SPAWN_SETPGROUP);
}

static int spawn(struct run *run, char *const *env)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int err = posix_spawn_file_actions_init(&files);

	if (err)
		return -err;
	err = posix_spawnattr_init(&attr);
	if (err) {
		posix_spawn_file_actions_destroy(&files);
		return -err;
	}
	err = set_files(&files, run);
	if (!err)
		err = set_attributes(&attr);
	if (!err)
		err = posix_spawnp(&run->pid, run->verify->argv[0], &files, &attr,
				   run->verify->argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return -err;
}

static int start_verify(struct run *run, const struct zone *zone, const char *name,
			const char *file)
{
	const char *path = getenv("PATH");
	char *env[5] = { NULL };
	int err = 0;

	if (asprintf(&env[0], "PATH=%s", path ? path : DEFAULT_PATH) < 0 ||
	    asprintf(&env[1], "VOLLEY_ZONE=%s", name) < 0 ||
	    asprintf(&env[2], "VOLLEY_SERIAL=%u", zone_serial(zone)) < 0 ||
	    asprintf(&env[3], "VOLLEY_FILE=%s", file) < 0)
		err = -ENOMEM;
	if (!err)
		err = spawn(run, env);
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	return err;
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
	struct pollfd fds[] = { { .fd = run->pid_fd, .events = POLLIN },
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

/* Kills the rest of the group. waitpid() comes later, so the number still belongs to this group. */
static int reap(struct run *run)
{
	int status = 0;

	kill(-run->pid, SIGKILL);
	while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
		;
	hear_verify(run);
	return status;
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

static int run_process(struct run *run, const struct zone *zone, const char *name, const char *file,
		       char *why, size_t cap)
{
	int err = start_verify(run, zone, name, file), status;

	if (err) {
		snprintf(why, cap, "%s cannot be run: %s", run->verify->argv[0], err_text(err));
		return err;
	}
	close(run->said_fd[1]);
	run->said_fd[1] = -1;
	run->pid_fd = pidfd_open(run->pid, 0);
	err = run->pid_fd < 0 ? -errno : wait_for_end(run);
	status = reap(run);
	return judge_verify(run, err, status, why, cap);
}

static void close_verify_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int verify_run(const struct verify *verify, const struct zone *zone, const char *name,
	       const char *file, const bool *cancel, char *why, size_t why_cap)
{
	struct run run = { .verify = verify, .cancel = cancel, .said_fd = { -1, -1 }, .pid_fd = -1 };
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
	close_verify_fd(run.pid_fd);
	return err;
}
