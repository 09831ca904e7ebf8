/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server's side of a desk (resolver/shared_memory.h), one for each worker.
 *
 *	submit ─► ticket ─► ring of questions                (no process, or no room: the line)
 *	take   ◄─ ticket ◄─ ring of replies, checked
 *
 * A ticket is the slot that the process gets in place of a pointer. The desk uses the session that
 * *now points to. `used` tells the watching thread which session's memory this is: it frees a
 * session's memory only when no desk uses it (a hazard pointer: Michael, 2004). When the session
 * changes, the questions that the old process had come back as failed.
 *
 * The process keeps the deadlines of its questions. While it seems to hang (session.is_quiet), the
 * desk does: a question comes back, and its ticket stays taken until the process replies or ends.
 *
 * One thread, the worker's; but worker_desk_stop() is for when no worker uses the desk any more.
 */
#ifndef VOLLEY_QUERIER_WORKER_DESK_H
#define VOLLEY_QUERIER_WORKER_DESK_H

#include "base/byte_ring.h"
#include "querier/session.h"
#include "querier/suspects.h"
#include "resolver/resolver_question.h"

/* A slot in use. */
struct ticket {
	struct resolver_question *question; /* NULL: free, or the question has come back */
	uint64_t suspect;                   /* suspects_hash() of a question that has come back */
	uint32_t turn;
	uint32_t next_free; /* index + 1; 0: none */
	bool is_sent;       /* the process is to reply; else it is free or waits in the line */
};

/* Counters of one worker, which alone writes them. */
struct desk_counters {
	uint64_t outstanding;
	uint64_t lost;    /* under way when the process ended */
	uint64_t refused; /* was under way at two ends */
	uint64_t waited;  /* past their deadline before a process took them */
	uint64_t limited; /* no free ticket */
};

struct desk_list {
	struct resolver_question *first;
	struct resolver_question **end;
};

struct worker_desk {
	unsigned int number;
	struct session *const *now; /* atomic: what serves; NULL: nothing does */
	const uint64_t *ended_ns;   /* atomic: when the last session ended */
	struct session *used;       /* atomic; only the worker writes it */
	struct suspects *suspects;
	struct byte_ring_writer questions;
	struct byte_ring_reader replies;
	struct ticket *tickets;
	uint32_t n_tickets;
	uint32_t n_fresh;               /* index of the first that was never used */
	uint32_t free;                  /* index + 1 */
	struct resolver_question *line; /* not sent yet, oldest first */
	struct resolver_question **line_end;
	struct desk_list done; /* come back, for worker_desk_take() */
	uint64_t expired_ns;   /* when the deadlines of sent questions were looked at */
	struct desk_counters counters;
	uint8_t *copied; /* one reply */
};

/* Set number, now, ended_ns and suspects. 0 or -ENOMEM. Call worker_desk_close() in any case. */
int worker_desk_open(struct worker_desk *desk, uint32_t n_tickets)
	__attribute__((warn_unused_result));
void worker_desk_close(struct worker_desk *desk);

/* As querier_submit() and querier_take(). */
void worker_desk_submit(struct worker_desk *desk, struct resolver_question *const *questions,
			unsigned int n);
struct resolver_question *worker_desk_take(struct worker_desk *desk, uint64_t now_ns);

/* Puts all outstanding questions into their inboxes. */
void worker_desk_stop(struct worker_desk *desk);

/*
 * Copies the reply of `bytes` octets that is next in the ring into *head and `copied`, which has
 * room for the longest. False: it is nonsense. Exposed for tests and the fuzzer.
 */
bool worker_desk_read_reply(const struct byte_ring_reader *ring, int64_t bytes,
			    struct shared_reply *head, uint8_t *copied);

#endif
