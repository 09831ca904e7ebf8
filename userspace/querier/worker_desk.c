/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/worker_desk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dns/edns.h"
#include "dns/proto.h"
#include "querier/tickets.h"
#include "querier/trials.h"
#include "resolver/answer.h"

#define EXPIRE_NS 50000000ULL /* between two looks at the deadlines of all sent questions */

/* --- Replies ---------------------------------------------------------------------------------- */

static bool is_head_sound(const struct shared_reply *r, int64_t bytes)
{
	uint64_t n = sizeof(*r) + (uint64_t)r->msg_bytes + r->text_bytes;

	if (r->msg_bytes > SHARED_MESSAGES_MAX || r->text_bytes > SHARED_TEXT_MAX ||
	    n != (uint64_t)bytes || r->rcode > 0xfff || r->security > RESOLVER_SECURE ||
	    r->is_known > 1 || r->has_msg > 1 || r->has_text > 1 || r->ede_code < EDNS_NO_EDE ||
	    r->ede_code > UINT16_MAX)
		return false;
	if (!r->has_msg)
		return !r->msg_bytes && !r->head_bytes;
	return r->head_bytes <= r->msg_bytes && r->msg_bytes - r->head_bytes >= DNS_HEADER_BYTES &&
	       (!r->head_bytes || r->head_bytes >= DNS_HEADER_BYTES);
}

bool worker_desk_read_reply(const struct byte_ring_reader *ring, int64_t bytes,
			    struct shared_reply *head, uint8_t *copied)
{
	if (bytes < (int64_t)sizeof(*head))
		return false;
	byte_ring_copy(ring, 0, head, sizeof(*head));
	if (!is_head_sound(head, bytes))
		return false;
	byte_ring_copy(ring, sizeof(*head), copied, (size_t)bytes - sizeof(*head));
	copied[(size_t)bytes - sizeof(*head)] = 0; /* the end of the text */
	return !head->text_bytes || !memchr(copied + head->msg_bytes, 0, head->text_bytes);
}

static void finish_by_reply(struct worker_desk *desk, struct ticket *t,
			    const struct shared_reply *head)
{
	const char *text = head->has_text ? (const char *)desk->copied + head->msg_bytes : NULL;
	struct outcome o = {
		.rcode = head->rcode,
		.ede_code = head->ede_code,
		.security = (enum resolver_security)head->security,
		.head_bytes = head->head_bytes,
	};

	if ((head->has_msg || text) && answer_new(&o, desk->copied, head->msg_bytes, text, NULL)) {
		ticket_finish(desk, t, DESK_MEMORY);
		return;
	}
	if (!head->has_msg)
		o.msg = NULL;
	t->question->is_known = head->is_known;
	ticket_finish_by(desk, t, &o);
	answer_put(o.answer);
}

/* False: nonsense. */
static bool take_desk_reply(struct worker_desk *desk, int64_t bytes)
{
	struct shared_reply head;
	struct ticket *t;

	if (bytes < 0 || !worker_desk_read_reply(&desk->replies, bytes, &head, desk->copied))
		return false;
	byte_ring_pop(&desk->replies, bytes);
	if (head.slot >= desk->n_fresh)
		return false;
	t = &desk->tickets[head.slot];
	if (!t->is_sent || t->turn != head.turn)
		return false;
	if (t->question)
		finish_by_reply(desk, t, &head);
	else
		ticket_give(desk, t); /* too late */
	return true;
}

static void take_replies(struct worker_desk *desk)
{
	int64_t bytes;

	if (__atomic_load_n(&desk->used->is_nonsense, __ATOMIC_RELAXED))
		return;
	do {
		while ((bytes = byte_ring_next(&desk->replies)) != BYTE_RING_EMPTY)
			if (!take_desk_reply(desk, bytes)) {
				__atomic_store_n(&desk->used->is_nonsense, true, __ATOMIC_RELAXED);
				return;
			}
	} while (!byte_ring_wait(&desk->replies));
}

/* --- Questions -------------------------------------------------------------------------------- */

static bool send_question(struct worker_desk *desk, const struct resolver_question *q)
{
	struct ticket *t = ticket_of(desk, q);
	const struct shared_question head = {
		.slot = (uint32_t)q->hash,
		.turn = t->turn,
		.deadline_ns = q->deadline_ns,
		.qtype = q->qtype,
		.qclass = q->qclass,
		.checking_disabled = q->checking_disabled,
		.is_refresh = q->is_refresh,
		.memory = q->memory,
		.family = q->family,
	};
	struct shared_question with_client = head;
	const struct iovec parts[] = {
		{ &with_client, sizeof(with_client) },
		{ (void *)(uintptr_t)q->name, name_bytes(q->name) },
	};

	memcpy(with_client.client, q->client, sizeof(with_client.client));
	t->is_sent = byte_ring_put(&desk->questions, parts, 2);
	return t->is_sent;
}

/* A question that has been refused since it came. */
static bool refuse_suspect(struct worker_desk *desk, struct resolver_question *q, uint64_t now_ns)
{
	if (!suspects_refuse(desk->suspects, q, now_ns))
		return false;
	desk_count(&desk->counters.refused, 1);
	ticket_finish(desk, ticket_of(desk, q), DESK_REFUSED);
	return true;
}

/* Sends the line, as far as there is room. */
static void send_desk_line(struct worker_desk *desk, uint64_t now_ns)
{
	struct resolver_question *q;

	while ((q = desk->line.first)) {
		struct resolver_question *next = resolver_next(q);

		if (!refuse_suspect(desk, q, now_ns) && !send_question(desk, q))
			break;
		desk->line.first = next;
	}
	if (!desk->line.first)
		desk_list_init(&desk->line);
}

/* Not while the process has failed perhaps: the one that was tried last is the reason then. */
static void send_trials(struct worker_desk *desk, uint64_t now_ns)
{
	struct ticket *t;

	while (desk->trials.first && !__atomic_load_n(&desk->used->is_nonsense, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&desk->used->is_quiet, __ATOMIC_RELAXED) &&
	       (t = trial_next(desk, now_ns))) {
		if (refuse_suspect(desk, t->question, now_ns) || send_question(desk, t->question))
			continue;
		trial_end(desk, t);
		trial_add(desk, t);
		return;
	}
}

static void send_desk_questions(struct worker_desk *desk, uint64_t now_ns)
{
	if (!desk->used)
		return;
	if (!__atomic_load_n(&desk->used->is_isolated, __ATOMIC_SEQ_CST))
		send_desk_line(desk, now_ns);
	send_trials(desk, now_ns);
	if (byte_ring_publish(&desk->questions))
		session_knock(desk->used, desk->number);
}

static void finish_waited(struct worker_desk *desk, struct resolver_question *q)
{
	desk_count(&desk->counters.waited, 1);
	ticket_finish(desk, ticket_of(desk, q), DESK_WAITED);
}

/* While no process serves or reads, the line is short of nothing but time. */
static void expire_line(struct worker_desk *desk, uint64_t now_ns)
{
	struct desk_list line = desk->line;
	struct resolver_question *q;

	desk_list_init(&desk->line);
	while ((q = desk_list_take(&line))) {
		if (q->deadline_ns > now_ns)
			desk_list_add(&desk->line, q);
		else
			finish_waited(desk, q);
	}
}

/* A question that nobody has tried in time stays a suspect. */
static void expire_trials(struct worker_desk *desk, uint64_t now_ns)
{
	uint64_t ended_ns = __atomic_load_n(desk->ended_ns, __ATOMIC_RELAXED);
	struct resolver_question *q, *next;

	for (q = trial_expire(desk, now_ns); q; q = next) {
		next = resolver_next(q);
		(void)suspects_note(desk->suspects, suspects_hash(desk->suspects, q), ended_ns);
		finish_waited(desk, q);
	}
}

static void expire_sent(struct worker_desk *desk, uint64_t now_ns)
{
	if (now_ns - desk->expired_ns < EXPIRE_NS)
		return;
	desk->expired_ns = now_ns;
	for (uint32_t i = 0; i < desk->n_fresh; i++) {
		struct ticket *t = &desk->tickets[i];

		if (t->question && t->is_sent && t->question->deadline_ns <= now_ns)
			ticket_return_overdue(desk, t);
	}
}

/* --- Sessions --------------------------------------------------------------------------------- */

/* The question of a ticket does not come back by a reply any more. */
static void lose_ticket(struct worker_desk *desk, struct ticket *t)
{
	desk_count(&desk->counters.lost, 1);
	if (t->question)
		ticket_finish(desk, t, DESK_REFUSED);
	else
		ticket_give(desk, t);
}

/* It is asked again, of the next process: at once if the last one was killed, but only once so. */
static void ask_again(struct worker_desk *desk, struct ticket *t, struct desk_list *again)
{
	bool is_suspect = !desk->used->was_killed || t->n_ends;

	trial_end(desk, t);
	t->is_sent = false;
	t->n_ends++;
	t->turn++;
	if (is_suspect)
		trial_add(desk, t);
	else
		desk_list_add(again, t->question);
}

/* The process has ended while it had this question. */
static void end_ticket(struct worker_desk *desk, struct ticket *t, struct desk_list *again)
{
	uint64_t ended_ns = __atomic_load_n(desk->ended_ns, __ATOMIC_RELAXED);
	bool is_guilty = trial_convicts(desk, t);

	if (t->question)
		t->suspect = suspects_hash(desk->suspects, t->question);
	if (is_guilty)
		suspects_convict(desk->suspects, t->suspect, ended_ns);
	else if (!t->question)
		(void)suspects_note(desk->suspects, t->suspect, ended_ns);
	if (is_guilty || !t->question)
		lose_ticket(desk, t);
	else
		ask_again(desk, t, again);
}

/* The questions that the old process had come before those that have not been sent yet. */
static void end_sent(struct worker_desk *desk)
{
	struct desk_list again;

	desk_list_init(&again);
	for (uint32_t i = 0; i < desk->n_fresh; i++)
		if (desk->tickets[i].is_sent)
			end_ticket(desk, &desk->tickets[i], &again);
	if (!again.first)
		return;
	*again.end = desk->line.first;
	if (desk->line.first)
		again.end = desk->line.end;
	desk->line = again;
}

/* Says first which session the desk will use, and then looks whether it still serves: the watching
 * thread does it the other way round. */
static struct session *claim_session(struct worker_desk *desk)
{
	struct session *s;

	do {
		s = __atomic_load_n(desk->now, __ATOMIC_SEQ_CST);
		__atomic_store_n(&desk->used, s, __ATOMIC_SEQ_CST);
	} while (__atomic_load_n(desk->now, __ATOMIC_SEQ_CST) != s);
	return s;
}

static void follow_session(struct worker_desk *desk)
{
	struct session *s;

	if (__atomic_load_n(desk->now, __ATOMIC_ACQUIRE) == desk->used)
		return;
	if (desk->used) {
		take_replies(desk); /* those that came before the end */
		end_sent(desk);
	}
	s = claim_session(desk);
	if (!s)
		return;
	byte_ring_writer_init(&desk->questions, session_questions(s, desk->number),
			      SHARED_QUESTIONS_CAP);
	byte_ring_reader_init(&desk->replies, session_replies(s, desk->number), SHARED_REPLIES_CAP);
	take_replies(desk); /* there are none: the process learns that the desk waits */
}

/* --- For the worker --------------------------------------------------------------------------- */

void worker_desk_submit(struct worker_desk *desk, struct resolver_question *const *questions,
			unsigned int n)
{
	uint64_t now_ns = clock_ns();

	follow_session(desk);
	for (unsigned int i = 0; i < n; i++) {
		struct resolver_question *q = questions[i];

		if (suspects_refuse(desk->suspects, q, now_ns)) {
			desk_count(&desk->counters.refused, 1);
			ticket_refuse(q, DESK_REFUSED);
		} else if (!ticket_take(desk, q)) {
			desk_count(&desk->counters.limited, 1);
			ticket_refuse(q, DESK_NO_TICKET);
		} else {
			desk_list_add(&desk->line, q);
		}
	}
	send_desk_questions(desk, now_ns);
}

struct resolver_question *worker_desk_take(struct worker_desk *desk, uint64_t now_ns)
{
	struct resolver_question *first;

	bool is_served;

	follow_session(desk);
	if (desk->used)
		take_replies(desk);
	is_served = desk->used && !__atomic_load_n(&desk->used->is_quiet, __ATOMIC_RELAXED) &&
		    !__atomic_load_n(&desk->used->is_isolated, __ATOMIC_RELAXED);
	if (!is_served) {
		expire_line(desk, now_ns);
		expire_sent(desk, now_ns);
	}
	expire_trials(desk, now_ns);
	send_desk_questions(desk, now_ns);
	first = desk->done.first;
	desk_list_init(&desk->done);
	return first;
}

/* --- Life ------------------------------------------------------------------------------------- */

int worker_desk_open(struct worker_desk *desk, uint32_t n_tickets)
{
	desk_list_init(&desk->line);
	desk_list_init(&desk->trials);
	desk_list_init(&desk->done);
	desk->n_tickets = n_tickets;
	desk->tickets = calloc(n_tickets, sizeof(*desk->tickets));
	desk->copied = malloc(SHARED_MESSAGES_MAX + SHARED_TEXT_MAX + 1);
	return desk->tickets && desk->copied ? 0 : -ENOMEM;
}

void worker_desk_close(struct worker_desk *desk)
{
	free(desk->tickets);
	free(desk->copied);
}

void worker_desk_stop(struct worker_desk *desk)
{
	struct resolver_question *q, *next;

	(void)trial_expire(desk, UINT64_MAX); /* their tickets are left */
	for (uint32_t i = 0; i < desk->n_fresh; i++) {
		struct ticket *t = &desk->tickets[i];

		if (t->question) {
			ticket_finish(desk, t, DESK_STOP);
		} else if (t->is_sent) {
			ticket_give(desk, t);
		}
	}
	desk_list_init(&desk->line);
	for (q = desk->done.first; q; q = next) {
		struct inbox_chain chain = { 0 };

		next = resolver_next(q);
		inbox_chain_add(&chain, &q->link);
		inbox_put(q->inbox, &chain);
	}
	desk_list_init(&desk->done);
}
