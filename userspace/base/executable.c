/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/kernel.h"

#define PROGRAM_NAME     "volley-resolver"
#define PROGRAM_FD       (EXECUTABLE_SERVE_FD + 1) /* in the new process, until it runs */
#define PROGRAM_FDS_FROM 16 /* our own files are above all that are named there */

/* --- Found ------------------------------------------------------------------------------------ */

static int open_program_at(struct executable *program, const char *folder, size_t n)
{
	int fd, high;

	snprintf(program->path, sizeof(program->path), "%.*s/" PROGRAM_NAME, (int)n, folder);
	fd = open(program->path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, PROGRAM_FDS_FROM);
	close(fd);
	if (high < 0)
		return -errno;
	program->fd = high;
	return 0;
}

/* Beside the program that runs, or where it is installed. */
static int open_usual_program(struct executable *program)
{
	char self[sizeof(program->path) - sizeof("/" PROGRAM_NAME)];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	const char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
	int code = -ENOENT;

	if (slash && n < (ssize_t)sizeof(self))
		code = open_program_at(program, self, (size_t)(slash - self));
	if (code)
		code = open_program_at(program, VOLLEY_LIBEXEC, strlen(VOLLEY_LIBEXEC));
	return code;
}

int executable_open(struct executable *program, const char *folder, char *err, size_t cap)
{
	int code;

	program->fd = -1;
	code = folder ? open_program_at(program, folder, strlen(folder)) :
			open_usual_program(program);
	if (code)
		snprintf(err, cap, "%s cannot be opened: %s; it is installed with volleyd",
			 program->path, err_text(code));
	return code;
}

void executable_close(struct executable *program)
{
	if (program->fd >= 0)
		close(program->fd);
	program->fd = -1;
}

/* --- Started ---------------------------------------------------------------------------------- */

struct spawning {
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
};

static int init_spawning(struct spawning *s)
{
	int err = posix_spawn_file_actions_init(&s->files);

	if (err)
		return -err;
	err = posix_spawnattr_init(&s->attr);
	if (err)
		posix_spawn_file_actions_destroy(&s->files);
	return -err;
}

static void fini_spawning(struct spawning *s)
{
	posix_spawnattr_destroy(&s->attr);
	posix_spawn_file_actions_destroy(&s->files);
}

/* The daemon's threads block signals and ignore one; the process gets the defaults. */
static int set_spawning_signals(struct spawning *s)
{
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	err = posix_spawnattr_setsigmask(&s->attr, &none);
	if (!err)
		err = posix_spawnattr_setsigdefault(&s->attr, &all);
	return err ? -err :
		     -posix_spawnattr_setflags(&s->attr,
					       POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* fd becomes the file `at` there, beside stderr and the program; no other file goes along. */
static int set_spawning_files(struct spawning *s, const struct executable *program, int fd, int at)
{
	int err = posix_spawn_file_actions_adddup2(&s->files, fd, at);

	if (!err)
		err = posix_spawn_file_actions_adddup2(&s->files, program->fd, PROGRAM_FD);
	return -(err ? err : posix_spawn_file_actions_addclosefrom_np(&s->files, PROGRAM_FD + 1));
}

static const struct task {
	const char *argument;
	int at; /* the number of the file */
} tasks[EXECUTABLE_N_TASKS] = {
	[EXECUTABLE_SERVE] = { "--serve", EXECUTABLE_SERVE_FD },
	[EXECUTABLE_VERSION] = { "--version", STDOUT_FILENO },
};

static int spawn_program(const struct executable *program, const struct task *task, int fd,
			 pid_t *pid)
{
	char *const argv[] = { (char *)(uintptr_t)PROGRAM_NAME, (char *)(uintptr_t)task->argument,
			       NULL };
	struct spawning s;
	char path[32];
	int err = init_spawning(&s);

	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", PROGRAM_FD);
	err = set_spawning_signals(&s);
	if (!err)
		err = set_spawning_files(&s, program, fd, task->at);
	if (!err)
		err = -posix_spawn(pid, path, &s.files, &s.attr, argv, environ);
	fini_spawning(&s);
	return err;
}

int executable_spawn(const struct executable *program, enum executable_task task, int fd,
		     pid_t *pid)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, PROGRAM_FDS_FROM);
	int err = high < 0 ? -errno : privilege_drop_all();

	if (!err)
		err = spawn_program(program, &tasks[task], high, pid);
	if (high >= 0)
		close(high);
	return err;
}
