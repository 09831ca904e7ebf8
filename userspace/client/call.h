/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One question to the daemon's control socket (config/ctl_protocol.h) and its reply; waits for
 * it. */
#ifndef VOLLEY_CLIENT_CALL_H
#define VOLLEY_CLIENT_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Connects to the socket at PATH. Returns a descriptor to close(), or -errno: -ENOENT and
 * -ECONNREFUSED when no daemon is there, -EACCES when we may not.
 */
int call_open(const char *path) __attribute__((warn_unused_result));

/*
 * Sends COMMAND with ARGS, an array of strings, borrowed, and takes the reply: *REPLY is a new
 * reference to an object with "ok". Returns 0; -ETIMEDOUT after WAIT_MS; ERR_CLOSED when the daemon
 * went away without a reply; ERR_FORMAT for a reply that is none; or -errno. The same as
 * call_send() and call_receive().
 */
int call_run(int fd, const char *command, const json_t *args, int wait_ms, json_t **reply)
	__attribute__((warn_unused_result));

/* The first half, which returns when the command is sent. */
int call_send(int fd, const char *command, const json_t *args, int wait_ms)
	__attribute__((warn_unused_result));
/* 0 when call_receive() has something to take, be it the end, or -ETIMEDOUT after WAIT_MS. */
int call_wait_reply(int fd, int wait_ms) __attribute__((warn_unused_result));
/* The second half. */
int call_receive(int fd, int wait_ms, json_t **reply) __attribute__((warn_unused_result));

/* Whether the code of a reply that refuses (NULL: none) says that the words of the command cannot
 * be right, whatever the daemon has. */
bool call_is_usage(const char *code);

/* Waits until the daemon closes the connection. 0, or -ETIMEDOUT after WAIT_MS. */
int call_wait_end(int fd, int wait_ms) __attribute__((warn_unused_result));

#endif
