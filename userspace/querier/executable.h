/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program of the resolver's process, volley-resolver: found, started and asked for its version.
 *
 * It is looked for in the folder of the running program (a build tree), and then where it is
 * installed. It stays open, so a process that is started again later is of the same build, also
 * after a package was upgraded. This file is the only place that starts a process for the resolver.
 */
#ifndef VOLLEY_QUERIER_EXECUTABLE_H
#define VOLLEY_QUERIER_EXECUTABLE_H

#include <stddef.h>
#include <sys/types.h>

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
 * Starts the program with the socket as its only file beside stderr, and the right to read files of
 * other owners if the calling thread has it. The calling thread loses its other capabilities; its
 * end ends the process. 0 or -errno.
 */
int executable_start(const struct executable *program, int socket_fd, pid_t *pid)
	__attribute__((warn_unused_result));

/* Writes the version of libunbound that the program runs with into out, "" if it does not answer.
 * Waits for it. Any thread. */
void executable_libunbound(const struct executable *program, char *out, size_t cap);

#endif
