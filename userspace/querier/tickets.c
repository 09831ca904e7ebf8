/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/tickets.h"

#include "dns/edns.h"
#include "dns/proto.h"
#include "querier/trials.h"
#include "resolver/answer.h"

static const struct outcome failures[] = {
	[DESK_REFUSED] = { .ede_code = DNS_EDE_OTHER,
			   .text = "the resolver ended twice while it asked this" },
	[DESK_WAITED] = { .ede_code = DNS_EDE_OTHER, .text = "the resolver was not ready in time" },
	/* as a question that times out in the process */
	[DESK_OVERDUE] = { .ede_code = DNS_EDE_NO_REACHABLE_AUTHORITY,
			   .text = "the resolver did not answer in time" },
	[DESK_NO_TICKET] = { .ede_code = DNS_EDE_OTHER,
			     .text = "too many questions are outstanding" },
	[DESK_MEMORY] = { .ede_code = DNS_EDE_OTHER, .text = "out of memory" },
	[DESK_STOP] = { .ede_code = DNS_EDE_NOT_READY, .text = "the resolver stops" },
};

static void set_failure(struct resolver_question *q, enum desk_failure why)
{
	struct outcome o = failures[why];

	o.rcode = DNS_RCODE_SERVFAIL;
	q->is_known = false;
	question_set_outcome(q, &o);
}

/* --- Tickets ---------------------------------------------------------------------------------- */

bool ticket_take(struct worker_desk *desk, struct resolver_question *q)
{
	struct ticket *t;
	uint32_t turn;

	if (desk->free) {
		t = &desk->tickets[desk->free - 1];
		desk->free = t->next_free;
	} else if (desk->n_fresh < desk->n_tickets) {
		t = &desk->tickets[desk->n_fresh++];
	} else {
		return false;
	}
	turn = t->turn + 1;
	*t = (struct ticket){ .question = q, .turn = turn };
	q->hash = (uint64_t)(t - desk->tickets);
	desk_count(&desk->counters.outstanding, 1);
	return true;
}

void ticket_give(struct worker_desk *desk, struct ticket *t)
{
	trial_end(desk, t);
	t->question = NULL;
	t->is_sent = false;
	t->next_free = desk->free;
	desk->free = (uint32_t)(t - desk->tickets) + 1;
	desk_count(&desk->counters.outstanding, (uint64_t)-1);
}

void ticket_finish_by(struct worker_desk *desk, struct ticket *t, const struct outcome *o)
{
	struct resolver_question *q = t->question;

	ticket_give(desk, t);
	question_set_outcome(q, o);
	desk_list_add(&desk->done, q);
}

void ticket_finish(struct worker_desk *desk, struct ticket *t, enum desk_failure why)
{
	struct resolver_question *q = t->question;

	ticket_give(desk, t);
	set_failure(q, why);
	desk_list_add(&desk->done, q);
}

void ticket_return_overdue(struct worker_desk *desk, struct ticket *t)
{
	struct resolver_question *q = t->question;

	t->suspect = suspects_hash(desk->suspects, q);
	t->question = NULL;
	set_failure(q, DESK_OVERDUE);
	desk_list_add(&desk->done, q);
}

void ticket_refuse(struct resolver_question *q, enum desk_failure why)
{
	struct inbox_chain chain = { 0 };

	set_failure(q, why);
	inbox_chain_add(&chain, &q->link);
	inbox_put(q->inbox, &chain);
}
