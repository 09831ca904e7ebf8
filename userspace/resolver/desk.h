/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resolver's side of a desk (resolver/shared_memory.h): takes a worker's questions from their
 * ring, submits them, and puts their replies into the other ring.
 *
 *	ring ─► question ─► resolver_submit() ─► the desk's inbox ─► reply ─► ring ─► bell
 *
 * A desk belongs to one resolver thread and runs on its event base. If the ring of replies is full,
 * the replies wait in the desk, and the thread looks again a moment later. All memory is made at
 * the start; that of a question is touched when it is first used.
 */
#ifndef VOLLEY_RESOLVER_DESK_H
#define VOLLEY_RESOLVER_DESK_H

#include "base/byte_ring.h"
#include "resolver/thread.h"

struct desk_question {
	struct resolver_question question; /* first: resolver_take() returns it */
	uint32_t slot;
	uint32_t turn;
	struct desk_question *next_free;
};

struct desk_config {
	void *questions; /* rings in shared memory */
	void *replies;
	int bell_fd;          /* wakes the worker */
	uint32_t n_questions; /* that may be under way at a time */
	bool is_alone;        /* there is one resolver thread */
};

struct desk {
	struct thread_guest guest; /* first: of its thread */
	struct resolver *resolver;
	struct byte_ring_reader questions;
	struct byte_ring_writer replies;
	int bell_fd;
	struct inbox inbox; /* quiet if all questions are answered by the desk's own thread */
	struct event *on_inbox;
	struct event *on_retry;
	struct desk_question *all;
	uint32_t n_all;
	uint32_t n_fresh; /* index in `all` of the first that was never used */
	struct desk_question *free;
	struct desk_question *late; /* answered, without room in the ring: oldest first */
	struct desk_question **late_end;
};

/* Before the thread runs. 0 or -errno. Call desk_close() in any case, after resolver_stop(). */
int desk_open(struct desk *desk, struct resolver *resolver, struct resolver_thread *thread,
	      const struct desk_config *config) __attribute__((warn_unused_result));
void desk_close(struct desk *desk);

/* Takes the questions of all desks of the thread. 0; -EPROTO: the server has written nonsense. The
 * desks' thread. */
int desks_read(struct resolver_thread *thread) __attribute__((warn_unused_result));

#endif
