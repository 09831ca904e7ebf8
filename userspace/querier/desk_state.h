/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a desk (querier/worker_desk.h), for tickets.c, trials.c and worker_desk.c, and its
 * lists of questions. */
#ifndef VOLLEY_QUERIER_DESK_STATE_H
#define VOLLEY_QUERIER_DESK_STATE_H

#include "base/byte_ring.h"
#include "querier/session.h"
#include "querier/suspects.h"
#include "resolver/resolver_question.h"

/* A slot in use. */
struct ticket {
	struct resolver_question *question; /* NULL: free, or the question has come back */
	uint64_t suspect;                   /* suspects_hash() of a question that has come back */
	uint64_t trial;                     /* its number; 0: it is not tried now */
	uint32_t turn;
	uint32_t next_free; /* index + 1; 0: none */
	bool is_sent;       /* the process is to reply; else it is free or waits in a list */
	bool is_alone;      /* no other one was tried when its trial began */
	uint8_t n_ends;     /* of processes that had the question */
};

/* Counters of one worker, which alone writes them. */
struct desk_counters {
	uint64_t outstanding;
	uint64_t lost;    /* ended the process, or their deadline had passed at its end */
	uint64_t refused; /* have ended the process within a minute */
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
	uint32_t n_fresh;        /* index of the first that was never used */
	uint32_t free;           /* index + 1 */
	struct desk_list line;   /* not sent yet, oldest first */
	struct desk_list trials; /* were under way at an end, and are to be tried */
	struct desk_list done;   /* come back, for worker_desk_take() */
	uint64_t expired_ns;     /* when the deadlines of sent questions were looked at */
	struct desk_counters counters;
	uint8_t *copied; /* one reply */
};

static inline void desk_list_init(struct desk_list *list)
{
	*list = (struct desk_list){ .end = &list->first };
}

/* Puts a question at the end of a list. */
static inline void desk_list_add(struct desk_list *list, struct resolver_question *q)
{
	q->link.next = NULL;
	*list->end = q;
	list->end = (struct resolver_question **)(void *)&q->link.next;
}

/* Removes the first question of a list, and returns it; NULL: there is none. */
static inline struct resolver_question *desk_list_take(struct desk_list *list)
{
	struct resolver_question *q = list->first;

	if (!q)
		return NULL;
	list->first = resolver_next(q);
	if (!list->first)
		list->end = &list->first;
	return q;
}

static inline void desk_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline struct ticket *ticket_of(const struct worker_desk *desk,
				       const struct resolver_question *q)
{
	return &desk->tickets[q->hash];
}

#endif
