/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runner: a process of one thread that starts the commands of zones[].verify, so that threads
 * of the daemon that load zones neither execute nor fork; and that opens the files of other owners,
 * so that the daemon needs no capability for that.
 *
 *      daemon, any thread                         runner (config/runner_process.h)
 *      runner_verify(digest of a command) ──────► does its own copy of the configuration have it?
 *                                                 ─► a child, which starts and awaits the command
 *      command_fd is readable ◄────────────────── the child: the end, and its status
 *      runner_end() or close() ─────────────────► the child kills the command's process group
 *      runner_open(path) ───────────────────────► does the configuration name it?
 *      descriptor ◄────────────────────────────── ─► opened by base/trusted_open.h
 *
 * The runner runs no command that the daemon could name: it reads the configuration itself, and a
 * request says only by a hash which command of it is meant. It takes text that the daemon passes
 * (`config apply`) only from a file in memory that is sealed (memory_file_seal()), and that belongs
 * to root or to the owner of the configuration's file. Its only
 * capability is CAP_DAC_READ_SEARCH, by which it reads a configuration of another owner, and opens
 * the files that it names (config/runner_files.h); a command has none. Requests are structs of
 * fixed size with descriptors (SCM_RIGHTS) on a SOCK_SEQPACKET pair; the process ends when the
 * daemon's end is closed. If it ends before, its parent starts the next one (base/parent.h).
 */
#ifndef VOLLEY_CONFIG_RUNNER_H
#define VOLLEY_CONFIG_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/files.h"

struct config;
struct runner;

/* The zone for which a command runs. */
struct runner_zone {
	const char *name;
	const char *file;
	uint32_t serial;
};

/*
 * Adds the process to those that parent_start() starts (base/parent.h). It gets the configuration,
 * which must be valid until then, and frees the zones in its own copy. If it ends, the next one
 * reads the configuration's file, and the daemon passes it the text that is in force if that is
 * another. 0 or -errno.
 */
int runner_prepare(struct runner **out, struct config *config) __attribute__((warn_unused_result));

/* Lets the process go, which ends; commands that run do, too, when their descriptors are closed.
 * NULL is allowed. */
void runner_free(struct runner *runner);

/* False: the process has ended with its parent, and no command can be run. */
bool runner_is_alive(const struct runner *runner);

/* A sentence for `degraded` if the process has ended or does not answer, else "". */
const char *runner_problem(const struct runner *runner);

/*
 * Begins to run the command of the configuration that has the digest (config/verify.h); any thread.
 * zone_fd becomes its standard input and said_fd its standard error; the caller keeps both. Returns
 * a descriptor for runner_end(), which is readable when the command has ended; or ERR_CLOSED: there
 * is no runner (NULL) or it has ended; -ETIMEDOUT: it does not answer; -ENAMETOOLONG or -errno.
 */
int runner_verify(struct runner *runner, uint64_t digest, const struct runner_zone *zone,
		  int zone_fd, int said_fd) __attribute__((warn_unused_result));

/*
 * Kills the command and its process group if it still runs, and waits for its end. *status is as
 * from waitpid(). 0; ERR_NOT_FOUND: the runner's configuration has no such command; ERR_CLOSED: the
 * runner has ended; -ETIMEDOUT: it does not answer; or the -errno of starting it. The caller closes
 * command_fd. Any thread.
 */
int runner_end(int command_fd, int *status) __attribute__((warn_unused_result));

/*
 * Opens a file or folder that the daemon's user may not read, if the configuration names it: for
 * regular_set_helper() (base/files.h), with the runner as `user`. Texts and files of an earlier
 * configuration count as its commands do. A descriptor; -EACCES: the configuration does not name
 * it, or there is no runner; -ETIMEDOUT: it does not answer; or as trusted_open(). Any thread.
 */
int runner_open(void *user, const char *path, const struct regular_chain *from, bool is_folder)
	__attribute__((warn_unused_result));

/*
 * Makes the runner read the configuration again, from its file, or with fd >= 0 the text of that
 * file; later requests wait until it has. Commands of the earlier text stay allowed. Control's
 * thread. A failure shows when a command is asked for.
 */
void runner_read_config(struct runner *runner, int fd);
/* The configuration that was read last is in force: the one before it is forgotten at the next. */
void runner_keep_config(struct runner *runner);

#endif
