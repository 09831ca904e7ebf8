/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command of the control socket: its name, and the function that runs it. */
#ifndef VOLLEY_CONTROL_CTL_COMMAND_H
#define VOLLEY_CONTROL_CTL_COMMAND_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "config/ctl_protocol.h"

#define CTL_LATER 1 /* returned by run(): ctl_answer() brings the reply */

/*
 * The right that a command needs (control/rights.h), from the least to the greatest. The audit
 * leaves out `health`, and repeated commands that only read.
 */
enum ctl_kind {
	CTL_HEALTH,
	CTL_READS,
	CTL_CHANGES,
	CTL_OWNS,
};

/*
 * A command. Its name is one of words_commands, by which the number of arguments is checked before
 * run(). ARGS is an array of strings, borrowed. On success run() returns 0 and sets *RESULT to a
 * new reference to an object, or leaves it NULL for an empty one. On failure it returns a negative
 * code and writes a sentence to ERR, or leaves it "" for the sentence of the code. CTL_LATER: it
 * sets neither; see ctl_defer(). of() returns the part of the common user that this command works
 * on; if it is NULL, run() gets the common user.
 */
struct ctl_command {
	const char *name;
	int (*run)(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
	enum ctl_kind kind;
	void *(*of)(void *user);
};

/* --- For run() --- */

/* The i-th argument; NULL: there are fewer. */
const char *ctl_arg(const json_t *args, size_t i);

/* Reads `-n N`, N from 1 to max; without it *n stays. 0, or -EINVAL and a sentence in err. */
int ctl_read_n(const json_t *args, uint64_t max, uint64_t *n, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* For a command that must wait for the end of the start: -EAGAIN, with a sentence in err. */
int ctl_not_ready(char *err, size_t err_cap);

#endif
