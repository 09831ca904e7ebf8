/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The starter: a process that starts one program, waits for its end, and tells it. It stands
 * between the program and a daemon that may neither fork nor execute.
 *
 *      starter_ask(): task, channel, file ─────────► starter_run(): executes the program
 *      its process id  ◄──────────────────────────── or an error
 *      starter_kill(), or the end of the daemon ───► kills the program
 *      starter_await() ◄──────────────────────────── the status of its end
 *
 * Nothing in a request is text, and the program is the starter's.
 */
#ifndef VOLLEY_BASE_STARTER_H
#define VOLLEY_BASE_STARTER_H

#include "base/executable.h"

/* A process that was started. */
struct started {
	pid_t pid;
	int channel; /* of its starter; -1: it is a child of this process */
	/* /proc/PID/statm and /proc/PID/task, opened by the starter, or -1. A daemon that Landlock
	 * confines may not open them where /proc hides processes (hidepid=). */
	int statm, task;
};

struct starter_request {
	enum executable_task task;
	int channel;
	int file;
};

/* --- The daemon ------------------------------------------------------------------------------- */

/* Sends the request over `fd`, a SOCK_SEQPACKET socket, and waits for the start. As
 * started_execute(). Any thread. */
int starter_ask(int fd, enum executable_task task, int file, struct started *out)
	__attribute__((warn_unused_result));
void starter_kill(const struct started *started);
/* Closes the descriptors. */
void starter_forget(struct started *started);
/* As started_await(). */
int starter_await(struct started *started, int wait_ms, int *status)
	__attribute__((warn_unused_result));

/* --- The starter ------------------------------------------------------------------------------ */

/* Receives a request. 0, and its descriptors are the caller's; ERR_CLOSED: the daemon has ended;
 * -EPROTO: it was none, and is dropped; or -errno. */
int starter_receive(int fd, struct starter_request *request) __attribute__((warn_unused_result));
/* Sends the request on to another process. 0, ERR_CLOSED or -errno. */
int starter_pass(int fd, const struct starter_request *request) __attribute__((warn_unused_result));
void starter_close(struct starter_request *request);

/* Tells that the program is not started, with this code. */
void starter_refuse(const struct starter_request *request, int code);

/*
 * Starts the program, and returns when it has ended and the daemon was told. The process must have
 * no other thread. It gives up all capabilities. Closes the descriptors.
 */
void starter_run(const struct executable *program, struct starter_request *request);

#endif
