/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line of the control socket: checked, run, and made into the line that answers it. */
#ifndef VOLLEY_CONTROL_CTL_REQUEST_H
#define VOLLEY_CONTROL_CTL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "control/ctl_command.h"

#define CTL_REQUEST_WORDS_CAP  512
#define CTL_REQUEST_RESULT_CAP 48

/* A request and its result, for the audit. */
struct ctl_request_told {
	const struct ctl_command *command; /* NULL: none that we have */
	/* the command and its arguments, a space between; cut where they are longer */
	char words[CTL_REQUEST_WORDS_CAP];
	char result[CTL_REQUEST_RESULT_CAP]; /* "ok", or the code of the refusal; "" where it comes later */
};

/* Notes the result of a command that ended later. */
void ctl_request_tell(struct ctl_request_told *told, int code);

/*
 * Runs the request in LEN bytes of LINE and returns the reply, a new string with a newline at its
 * end; free() it. NULL: out of memory, or, with *IS_LATER set, the command brings its reply later.
 * Codes of our own: "request" (the line is not a request), "version", "command" (unknown), "usage"
 * (number of arguments); else that of the error. *TOLD is filled.
 */
char *ctl_request_run(const struct ctl_command *commands, void *user, const char *line, size_t len,
		      bool *is_later, struct ctl_request_told *told);

/* The reply with the result of a command; takes the reference to RESULT. NULL: out of memory. */
char *ctl_request_reply(int code, json_t *result, const char *err);

/* The reply that refuses, likewise. */
char *ctl_request_refuse(const char *code, const char *sentence);

/* 0 if all have words (config/words.h), else -EINVAL. */
int ctl_request_check_commands(const struct ctl_command *commands)
	__attribute__((warn_unused_result));

#endif
