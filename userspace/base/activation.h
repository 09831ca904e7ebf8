/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that a service manager starts instead of the parent, each in a unit of its own
 * (docs/decisions/0074).
 *
 *      volley-parent                   a listening socket of systemd     an instance of the unit
 *      activation_open() ────────────► FOLDER/volley-broker ───────────► activation_accept()
 *      the hello, with descriptors ────────────────────────────────────► of the same build?
 *      ◄────────────────────────── ACTIVATION_READY, or ACTIVATION_REFUSED and why
 *      ◄────────────────────────── ACTIVATION_DONE: the daemon has let it go; then the end
 *
 * A connection is one process. Its end without ACTIVATION_DONE is a crash, and the parent
 * connects again. The environment variable VOLLEY_UNITS names the folder; without it the
 * parent forks.
 */
#ifndef VOLLEY_BASE_ACTIVATION_H
#define VOLLEY_BASE_ACTIVATION_H

#include <stdint.h>
#include <sys/types.h>

#define ACTIVATION_VARIABLE "VOLLEY_UNITS"
#define ACTIVATION_FDS_MAX  2

enum activation_state { ACTIVATION_READY, ACTIVATION_REFUSED, ACTIVATION_DONE };

struct activation_report {
	uint32_t state; /* enum activation_state */
	char why[128];  /* of a refusal */
};

/* --- The parent ------------------------------------------------------------------------------- */

/* The folder of the sockets; NULL: there is no service manager that starts processes. */
const char *activation_folder(void);

/* Connects to FOLDER/NAME, which must be a socket of root or of this process's user. The
 * connection, which does not block; or -errno, -EPERM: it is of another user. */
int activation_connect(const char *folder, const char *name) __attribute__((warn_unused_result));

/* Connects, and sends the hello with n descriptors, which stay the caller's. As
 * activation_connect(). */
int activation_open(const char *folder, const char *name, pid_t daemon, const int *fds,
		    unsigned int n) __attribute__((warn_unused_result));

/* Receives a report. 0; -EAGAIN: there is none; or ERR_CLOSED: the process has ended. */
int activation_hear(int connection, struct activation_report *report)
	__attribute__((warn_unused_result));

/* --- The process in a unit -------------------------------------------------------------------- */

/* The socket of this process, which the service manager passes: a connection of this user or of
 * root. Writes a sentence to standard error and returns -errno if there is none. */
int activation_socket(const char *user) __attribute__((warn_unused_result));

/* Receives the hello with exactly n descriptors from the socket, and answers it. *daemon is the
 * process id of the daemon. As activation_socket(). */
int activation_accept(int socket, pid_t *daemon, int *fds, unsigned int n)
	__attribute__((warn_unused_result));

/* Reports that the daemon has let the process go. */
void activation_tell_done(int socket);

#endif
