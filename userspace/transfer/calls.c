/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/transfer_thread.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

void calls_run(struct transfer *t, struct post *post)
{
	while (post) {
		struct call *call = (struct call *)post;
		sem_t *done = call->done;

		post = post->next;
		call->run(t, call);
		if (done)
			sem_post(done);
		else
			free(call);
	}
}

void call_wait(struct transfer *t, struct call *call)
{
	sem_t done;

	(void)sem_init(&done, 0, 0);
	call->done = &done;
	if (t->is_running) {
		mailbox_put(&t->to_loop, &call->post);
		while (sem_wait(&done)) /* interrupted by a signal */
			;
	} else {
		call->run(t, call);
	}
	sem_destroy(&done);
}

void call_post(struct transfer *t, struct call *call, size_t bytes)
{
	struct call *copy = t->is_running ? malloc(bytes) : NULL;

	if (!copy) {
		call_wait(t, call);
		return;
	}
	memcpy(copy, call, bytes);
	copy->done = NULL;
	mailbox_put(&t->to_loop, &copy->post);
}
