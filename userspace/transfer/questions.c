/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/peer_request.h"
#include "transfer/primary_state.h"

#include <stdlib.h>
#include <string.h>

#include "transfer/remotes.h"

struct question {
	struct peer_task task;     /* first */
	struct cds_list_head link; /* in primary.questions */
	struct handover_item *item;
	struct remotes *remotes; /* a reference, for the key */
	struct tsig tsig;
	bool is_padded;
};

static void forget_question(struct question *q)
{
	cds_list_del(&q->link);
	tsig_fini(&q->tsig);
	remotes_put(q->remotes);
	free(q);
}

static void reply_signed(struct transfer *t, struct question *q)
{
	struct peer_request rq = {
		.t = t,
		.is_stream = true,
		.item = q->item,
		.cap = q->item->reply_cap,
		.tsig = q->tsig,
		.is_padded = q->is_padded,
	};
	uint8_t *out = t->primary->out;
	size_t n = q->item->n_bytes;

	if (n)
		memcpy(out, q->item->bytes, n);
	peer_request_reply(&rq, out, n);
	q->tsig = rq.tsig;
}

static void on_question_event(struct transfer *t, struct peer_task *task, enum handover_event event)
{
	struct question *q = (struct question *)task;

	if (event == HANDOVER_CLOSES)
		handover_close(q->item);
	else if (event == HANDOVER_ANSWERED)
		reply_signed(t, q);
	else
		return;
	forget_question(q);
}

bool questions_ask(struct peer_request *rq, size_t cap)
{
	struct question *q = cap >= rq->n ? calloc(1, sizeof(*q)) : NULL;

	if (!q)
		return false;
	q->task.tell = on_question_event;
	q->item = rq->item;
	q->remotes = remotes_get(rq->t->remotes);
	q->tsig = rq->tsig;
	q->is_padded = peer_request_is_padded(rq);
	rq->tsig = (struct tsig){ 0 };
	rq->item = NULL;
	cds_list_add_tail(&q->link, &rq->t->primary->questions);
	q->item->user = &q->task;
	q->item->n_bytes = rq->n; /* without the signature */
	handover_ask(q->item, cap);
	return true;
}

/* The items come back to the handover, which ends them. */
void questions_close(struct transfer *t)
{
	struct question *q, *next;

	cds_list_for_each_entry_safe(q, next, &t->primary->questions, link)
		forget_question(q);
}
