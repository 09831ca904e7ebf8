/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server's side of a desk (resolver/shared_memory.h), one for each worker.
 *
 *	submit ─► ticket ─► ring of questions     (no process, or no room: the line)
 *	take   ◄─ ticket ◄─ ring of replies, checked
 *
 * A ticket is the slot that the process gets in place of a pointer. The desk uses the session that
 * *now points to. `used` tells the watching thread which session's memory this is: it frees a
 * session's memory only when no desk uses it (a hazard pointer: Michael, 2004). When the session
 * changes, the next process is asked what the old one had under way (querier/trials.h).
 *
 * The process keeps the deadlines of its questions. While it seems to hang (session.is_quiet), the
 * desk does: a question comes back, and its ticket stays taken until the process replies or ends.
 *
 * One thread, the worker's; but worker_desk_stop() is for when no worker uses the desk any more.
 */
#ifndef VOLLEY_QUERIER_WORKER_DESK_H
#define VOLLEY_QUERIER_WORKER_DESK_H

#include "querier/desk_state.h"

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
