/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control's calls on their way into the loop's thread, in the order in which control made them.
 * call_post() returns at once; call_wait() returns when the loop has run the call.
 */
#ifndef VOLLEY_TRANSFER_CALLS_H
#define VOLLEY_TRANSFER_CALLS_H

#include <stddef.h>

#include "base/mailbox.h"

struct transfer;
struct call;

typedef void call_fn(struct transfer *t, struct call *call);

struct call {
	struct post post; /* first */
	call_fn *run;
	/* wakes the caller; NULL: no caller waits, and the call is freed after run() */
	void *done;
};

/* Runs all calls in the chain. The loop's thread. */
void calls_run(struct transfer *t, struct post *post);

/* Sends a copy of @call, @bytes long, which begins with a struct call. Without memory for the copy
 * it does the same as call_wait(). Control's thread. */
void call_post(struct transfer *t, struct call *call, size_t bytes);
/* Returns after the call has run, so @call may be on the caller's stack. Control's thread. */
void call_wait(struct transfer *t, struct call *call);

#endif
