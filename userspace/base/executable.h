/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program of the resolver's process, volley-resolver: found and started.
 *
 * It is looked for in the folder of the running program (a build tree), and then where it is
 * installed. It stays open, so a process that is started again later is of the same build, also
 * after a package was upgraded.
 */
#ifndef VOLLEY_BASE_EXECUTABLE_H
#define VOLLEY_BASE_EXECUTABLE_H

#include <stddef.h>
#include <sys/types.h>

#define EXECUTABLE_SERVE_FD 3 /* the file of EXECUTABLE_SERVE in the new process */

/* What the program does, and which file it has beside stderr. */
enum executable_task {
	EXECUTABLE_SERVE,   /* answers questions that come over the socket */
	EXECUTABLE_VERSION, /* writes its version to standard output */
	EXECUTABLE_N_TASKS,
};

struct executable {
	int fd; /* O_PATH; -1: not found */
	char path[256];
};

/* Finds and opens the program, in this folder (NULL: where it is usually). 0, or -errno with a
 * sentence in err of cap octets. Any thread. */
int executable_open(struct executable *program, const char *folder, char *err, size_t cap)
	__attribute__((warn_unused_result));
void executable_close(struct executable *program);

/*
 * Starts the program with this file, as a child of the calling thread, whose end ends it. Both have
 * no capability from then on. 0 or -errno.
 */
int executable_spawn(const struct executable *program, enum executable_task task, int fd,
		     pid_t *pid) __attribute__((warn_unused_result));

#endif
