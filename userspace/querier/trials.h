/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trials: which question ends the resolver's process?
 *
 * A question that was under way at an end is asked again. If the process had failed, any of these
 * questions may have been the reason. So each waits on its desk's list, and they are asked one
 * after the other, of all desks together:
 *
 *	under way at an end ─► waits ─► tried ──► a reply: it was another one
 *	                         ▲        │
 *	                         │        ├─ alone in the process at its end, or under way at
 *	                         │        │  TRIAL_ENDS ends: it is refused for a minute
 *	                         └────────┘
 *
 * The next one is tried when no other one is under way, or after TRIAL_NS: a server that does not
 * answer holds the others no longer. After a failure the next process begins isolated: for as long
 * as questions are tried, but at most TRIALS_NS, the others wait. So another question that ends the
 * process, of which there may be many, does not make one look guilty.
 *
 * All functions but trials_are_done(): the desk's worker.
 */
#ifndef VOLLEY_QUERIER_TRIALS_H
#define VOLLEY_QUERIER_TRIALS_H

#include "querier/desk_state.h"

#define TRIAL_NS   100000000ULL
#define TRIALS_NS  500000000ULL
#define TRIAL_ENDS 3

/* The question of this ticket is to be tried. */
void trial_add(struct worker_desk *desk, struct ticket *t);

/* The next question that is to be tried now, of which the process must be asked; NULL: there is
 * none, or another one is tried. */
struct ticket *trial_next(struct worker_desk *desk, uint64_t now_ns);

/* The ticket is tried no longer, if it was. */
void trial_end(struct worker_desk *desk, struct ticket *t);

/* At an end of the process: true if the ticket's question is the reason. Before trial_end(). */
bool trial_convicts(const struct worker_desk *desk, const struct ticket *t);

/* Removes from the list the questions whose deadline has passed, and returns them, linked. */
struct resolver_question *trial_expire(struct worker_desk *desk, uint64_t now_ns);

/* No desk has a question that is tried, or waits for that. Any thread. */
static inline bool trials_are_done(const struct trials *all)
{
	return !__atomic_load_n(&all->n_tried, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&all->n_waiting, __ATOMIC_SEQ_CST);
}

#endif
