/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control's calls on their way into the loop's thread, in the order in which they were made. Most
 * callers do not wait for the end of their call; callers that want a result do, until the loop has
 * run it.
 */
#ifndef VOLLEY_TRANSFER_CALLS_H
#define VOLLEY_TRANSFER_CALLS_H

#include <stddef.h>

#include "transfer/mailbox.h"

struct transfer;
struct call;

typedef void call_fn(struct transfer *t, struct call *call);

struct call {
	struct post post; /* first */
	call_fn *run;
	/* wakes the caller; NULL: nobody waits, and the call is freed when it has run */
	void *done;
};

/* Runs all calls in the chain. The loop's thread. */
void calls_run(struct transfer *t, struct post *post);

/*
 * A call of @bytes, which begins with a struct call, all of it copied. Where there is no memory for
 * the copy it is as call_wait(). Control's thread, as the next.
 */
void call_post(struct transfer *t, struct call *call, size_t bytes);
/* Returns when it has run, so it may point to the caller's stack. */
void call_wait(struct transfer *t, struct call *call);

#endif
