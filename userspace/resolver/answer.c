/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct resolver_answer {
	struct inbox_link link; /* first; in the inbox home */
	struct inbox *home;
	uint32_t refs;
	uint8_t bytes[]; /* msg, then text with its NUL */
};

int answer_new(struct outcome *o, const uint8_t *msg, size_t msg_bytes, const char *text,
	       struct inbox *home)
{
	size_t text_bytes = text ? strlen(text) + 1 : 0;
	struct resolver_answer *answer = malloc(sizeof(*answer) + msg_bytes + text_bytes);

	if (!answer)
		return -ENOMEM;
	answer->home = home;
	answer->refs = 1;
	memcpy(answer->bytes, msg, msg_bytes);
	if (text)
		memcpy(answer->bytes + msg_bytes, text, text_bytes);
	o->answer = answer;
	o->msg = answer->bytes;
	o->msg_bytes = msg_bytes;
	o->text = text ? (const char *)answer->bytes + msg_bytes : NULL;
	return 0;
}

void answer_put(struct resolver_answer *answer)
{
	struct inbox_chain chain = { 0 };

	if (!answer || __atomic_sub_fetch(&answer->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (!answer->home) {
		free(answer);
		return;
	}
	inbox_chain_add(&chain, &answer->link);
	inbox_put(answer->home, &chain);
}

uint32_t answers_free_home(struct inbox *home)
{
	struct inbox_link *link = inbox_take(home);
	uint32_t n = 0;

	while (link) {
		struct inbox_link *next = link->next;

		free(link);
		link = next;
		n++;
	}
	return n;
}

void question_set_outcome(struct resolver_question *q, const struct outcome *o)
{
	q->rcode = o->rcode;
	q->ede_code = o->ede_code;
	q->security = o->security;
	q->text = o->text;
	q->msg = o->msg;
	q->msg_bytes = o->msg_bytes;
	q->head_bytes = o->head_bytes;
	q->answer = o->answer;
	if (q->answer)
		__atomic_fetch_add(&q->answer->refs, 1, __ATOMIC_RELAXED);
}

void resolver_release(struct resolver_question *q)
{
	answer_put(q->answer);
	q->answer = NULL;
	q->msg = NULL;
	q->text = NULL;
}

void completions_add(struct completions *c, struct resolver_question *q)
{
	unsigned int i = 0;

	while (i < c->n && c->out[i].box != q->inbox)
		i++;
	if (i == COMPLETIONS_INBOXES) {
		completions_flush(c);
		i = 0;
	}
	if (i == c->n) {
		c->out[c->n++].box = q->inbox;
		c->out[i].chain = (struct inbox_chain){ 0 };
	}
	inbox_chain_add(&c->out[i].chain, &q->link);
}

void completions_flush(struct completions *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		inbox_put(c->out[i].box, &c->out[i].chain);
	c->n = 0;
}
