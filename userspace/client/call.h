/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends a command to the daemon's control socket (config/ctl_protocol.h) and gets the reply. */
#ifndef VOLLEY_CLIENT_CALL_H
#define VOLLEY_CLIENT_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Connects to the socket at PATH. Returns a descriptor to close(), or -errno: -ENOENT or
 * -ECONNREFUSED if no daemon runs, -EACCES if we may not use the socket.
 */
int call_open(const char *path) __attribute__((warn_unused_result));

/*
 * Sends COMMAND with ARGS, a borrowed array of strings, and receives the reply: *REPLY is a new
 * reference to an object with "ok". Returns 0; -ETIMEDOUT after WAIT_MS; ERR_CLOSED if the daemon
 * closed the connection without a reply; ERR_FORMAT if the reply is malformed; or another -errno.
 * It is call_send() and call_receive() in one.
 */
int call_run(int fd, const char *command, const json_t *args, int wait_ms, json_t **reply)
	__attribute__((warn_unused_result));

/* Sends the command, with the descriptor FILE unless it is -1, and does not wait for the reply. */
int call_send(int fd, const char *command, const json_t *args, int file, int wait_ms)
	__attribute__((warn_unused_result));
/* Waits for octets of the reply, or for the end. 0, or -ETIMEDOUT after WAIT_MS. */
int call_wait_reply(int fd, int wait_ms) __attribute__((warn_unused_result));
/* Receives the reply. */
int call_receive(int fd, int wait_ms, json_t **reply) __attribute__((warn_unused_result));

/* True if CODE (or NULL), from a reply that refuses, means that the words of the command are wrong,
 * and not that the daemon is in a state that prevents it. */
bool call_is_usage(const char *code);

/* Waits until the daemon closes the connection. 0, or -ETIMEDOUT after WAIT_MS. */
int call_wait_end(int fd, int wait_ms) __attribute__((warn_unused_result));

#endif
