/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks and runs a line of the control socket, and makes the line of the reply; and ends a
 * client's connection.
 */
#ifndef VOLLEY_CONTROL_CTL_REQUEST_H
#define VOLLEY_CONTROL_CTL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "control/ctl_command.h"

#define CTL_REQUEST_WORDS_CAP  512
#define CTL_REQUEST_RESULT_CAP 48

/* A request and its result, for the audit. */
struct ctl_request_told {
	const struct ctl_command *command; /* NULL: unknown, or the client has no right to it */
	/* the command and its arguments, separated by spaces; may be cut */
	char words[CTL_REQUEST_WORDS_CAP];
	/* "ok", or the code of the refusal; "": it comes later */
	char result[CTL_REQUEST_RESULT_CAP];
};

/* Records the result of a command that ended later. */
void ctl_request_tell(struct ctl_request_told *told, int code);

/*
 * Runs the request in LEN octets of LINE, of a client that may do MAY and less, and fills *TOLD.
 * Unless MAY is CTL_OWNS, the reply has no words that are quoted from a file (control/rights.h).
 * Returns the reply: a new string that ends with a newline; free() it. NULL: out of memory, or, if
 * *IS_LATER is set, the reply comes later. A refusal has the code of the error, or "request" (the
 * line is not a request), "version", "command" (unknown), "EACCES" (no right) or "usage" (number of
 * arguments).
 */
char *ctl_request_run(const struct ctl_command *commands, void *user, enum ctl_kind may,
		      const char *line, size_t len, bool *is_later, struct ctl_request_told *told);

/*
 * The reply with the result of a command, for a client that may do MAY; takes the reference to
 * RESULT. NULL: out of memory.
 */
char *ctl_request_reply(enum ctl_kind may, int code, json_t *result, const char *err);

/* The reply of a refusal, likewise. */
char *ctl_request_refuse(const char *code, const char *sentence);

/* 0 if all commands have words (config/words.h), else -EINVAL. */
int ctl_request_check_commands(const struct ctl_command *commands)
	__attribute__((warn_unused_result));

/*
 * Ends connections of clients that may have sent descriptors which nobody has received (SCM_RIGHTS,
 * unix(7)). The kernel closes such descriptors in the thread that closes the connection, and that
 * may take long: a TCP socket with SO_LINGER and unread data takes as long as its sender wants. No
 * descriptor of such a client is put into the table of this process, and none is closed in the
 * caller's thread, unless a thread cannot be started:
 *
 *      shutdown(): nothing comes any more ─► read what has come ─► no descriptor: close()
 *                                                              └► one: a thread of its own closes
 *
 * The caller learns by recvmsg() with MSG_PEEK whether a descriptor has come: the kernel then sets
 * MSG_CTRUNC, and the message stays in the queue (hangup_receive()).
 *
 * One thread calls these functions.
 */

/* Connections that wait for their end at a time. */
#define HANGUP_CAP 64

struct hangup;

int hangup_new(struct hangup **out) __attribute__((warn_unused_result));

/*
 * Does not wait for connections that are not closed yet: a thread goes on, and the end of the
 * process closes them. NULL is allowed.
 */
void hangup_free(struct hangup *h);

/*
 * For each accepted connection, before anything is read. An urgent octet (MSG_OOB) may have a
 * descriptor, too, and the kernel would drop both at the next read; now it is read as the others.
 */
void hangup_prepare(int fd);

/* Ends the connection; fd is this module's. */
void hangup_close(struct hangup *h, int fd);

/*
 * True if as many connections wait for their end that a full set of n more may have no place. Then
 * accept none: hangup_close() would have to close in the caller's thread.
 */
bool hangup_is_behind(struct hangup *h, unsigned int n);

/*
 * Reads octets that have come, as recv() with MSG_DONTWAIT does; -errno. -EPERM: a descriptor came
 * with them. Then nothing is read, and the connection is for hangup_close().
 */
ssize_t hangup_receive(int fd, void *octets, size_t n);

#endif
