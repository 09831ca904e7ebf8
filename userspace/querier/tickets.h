/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tickets of a desk (querier/worker_desk.h), and the ways in which a question comes back
 * without a reply. The worker's thread. */
#ifndef VOLLEY_QUERIER_TICKETS_H
#define VOLLEY_QUERIER_TICKETS_H

#include "querier/desk_state.h"

struct outcome; /* resolver/answer.h */

/* Why a question comes back with SERVFAIL; each has a text and an extended error. */
enum desk_failure {
	DESK_REFUSED,
	DESK_WAITED,
	DESK_OVERDUE,
	DESK_NO_TICKET,
	DESK_MEMORY,
	DESK_STOP,
};

/* Gives the question a ticket. False: none is free. */
bool ticket_take(struct worker_desk *desk, struct resolver_question *q);
/* The ticket is free again. */
void ticket_give(struct worker_desk *desk, struct ticket *t);

/* The question comes back, and its ticket is free again. */
void ticket_finish(struct worker_desk *desk, struct ticket *t, enum desk_failure why);
void ticket_finish_by(struct worker_desk *desk, struct ticket *t, const struct outcome *o);

/* The question comes back, and its ticket stays taken: the process may still reply. */
void ticket_return_overdue(struct worker_desk *desk, struct ticket *t);

/* A question that gets no ticket comes back by its inbox. */
void ticket_refuse(struct resolver_question *q, enum desk_failure why);

#endif
