/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks and runs a line of the control socket, and makes the line of the reply. */
#ifndef VOLLEY_CONTROL_CTL_REQUEST_H
#define VOLLEY_CONTROL_CTL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
