/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "querier/worker_desk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dns/edns.h"
#include "dns/proto.h"
#include "resolver/answer.h"

static const struct outcome outcome_ended = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "the resolver ended while it asked",
};

static const struct outcome outcome_refused = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "the resolver ended twice while it asked this",
};

static const struct outcome outcome_waited = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "the resolver was not ready in time",
};

static const struct outcome outcome_overdue = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_NO_REACHABLE_AUTHORITY, /* as a question that times out there */
	.text = "the resolver did not answer in time",
};

static const struct outcome outcome_no_ticket = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "too many questions are outstanding",
};

static const struct outcome outcome_memory = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_OTHER,
	.text = "out of memory",
};

static const struct outcome outcome_stop = {
	.rcode = DNS_RCODE_SERVFAIL,
	.ede_code = DNS_EDE_NOT_READY,
	.text = "the resolver stops",
};

#define EXPIRE_NS 50000000ULL /* between two looks at the deadlines of all sent questions */

static void count_desk(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* --- Tickets ---------------------------------------------------------------------------------- */

static struct ticket *ticket_of(const struct worker_desk *desk, const struct resolver_question *q)
{
	return &desk->tickets[q->hash];
}

static bool take_ticket(struct worker_desk *desk, struct resolver_question *q)
{
	struct ticket *t;

	if (desk->free) {
		t = &desk->tickets[desk->free - 1];
		desk->free = t->next_free;
	} else if (desk->n_fresh < desk->n_tickets) {
		t = &desk->tickets[desk->n_fresh++];
	} else {
		return false;
	}
	t->question = q;
	t->turn++;
	t->is_sent = false;
	q->hash = (uint64_t)(t - desk->tickets);
	count_desk(&desk->counters.outstanding, 1);
	return true;
}

static void give_ticket(struct worker_desk *desk, struct ticket *t)
{
	t->question = NULL;
	t->is_sent = false;
	t->next_free = desk->free;
	desk->free = (uint32_t)(t - desk->tickets) + 1;
	count_desk(&desk->counters.outstanding, (uint64_t)-1);
}

static void list_question(struct desk_list *list, struct resolver_question *q)
{
	q->link.next = NULL;
	*list->end = q;
	list->end = (struct resolver_question **)(void *)&q->link.next;
}

static void finish_ticket(struct worker_desk *desk, struct ticket *t, const struct outcome *o)
{
	struct resolver_question *q = t->question;

	give_ticket(desk, t);
	question_set_outcome(q, o);
	list_question(&desk->done, q);
}

/* The question comes back, and its ticket stays taken: the process may still reply. */
static void return_overdue(struct worker_desk *desk, struct ticket *t)
{
	struct resolver_question *q = t->question;

	t->suspect = suspects_hash(desk->suspects, q);
	t->question = NULL;
	q->is_known = false;
	question_set_outcome(q, &outcome_overdue);
	list_question(&desk->done, q);
}

/* A question that gets no ticket. */
static void return_at_once(struct resolver_question *q, const struct outcome *o)
{
	struct inbox_chain chain = { 0 };

	q->is_known = false;
	question_set_outcome(q, o);
	inbox_chain_add(&chain, &q->link);
	inbox_put(q->inbox, &chain);
}

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
		finish_ticket(desk, t, &outcome_memory);
		return;
	}
	if (!head->has_msg)
		o.msg = NULL;
	t->question->is_known = head->is_known;
	finish_ticket(desk, t, &o);
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
		give_ticket(desk, t); /* too late */
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

static void put_in_line(struct worker_desk *desk, struct resolver_question *q)
{
	q->link.next = NULL;
	*desk->line_end = q;
	desk->line_end = (struct resolver_question **)(void *)&q->link.next;
}

/* Sends the line, as far as there is room. */
static void send_desk_line(struct worker_desk *desk)
{
	struct resolver_question *q;

	if (!desk->used)
		return;
	while ((q = desk->line)) {
		struct resolver_question *next = resolver_next(q);

		if (!send_question(desk, q))
			break;
		desk->line = next;
	}
	if (!desk->line)
		desk->line_end = &desk->line;
	if (byte_ring_publish(&desk->questions))
		session_knock(desk->used, desk->number);
}

/* While no process serves or reads, the line is short of nothing but time. */
static void expire_line(struct worker_desk *desk, uint64_t now_ns)
{
	struct resolver_question *q = desk->line, *next;

	desk->line = NULL;
	desk->line_end = &desk->line;
	for (; q; q = next) {
		next = resolver_next(q);
		if (q->deadline_ns > now_ns) {
			put_in_line(desk, q);
			continue;
		}
		count_desk(&desk->counters.waited, 1);
		q->is_known = false;
		finish_ticket(desk, ticket_of(desk, q), &outcome_waited);
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
			return_overdue(desk, t);
	}
}

/* --- Sessions --------------------------------------------------------------------------------- */

/* The old process has ended, and the questions that it had with it. */
static void lose_sent(struct worker_desk *desk)
{
	uint64_t ended_ns = __atomic_load_n(desk->ended_ns, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < desk->n_fresh; i++) {
		struct ticket *t = &desk->tickets[i];

		if (!t->is_sent)
			continue;
		if (t->question)
			t->suspect = suspects_hash(desk->suspects, t->question);
		(void)suspects_note(desk->suspects, t->suspect, ended_ns);
		count_desk(&desk->counters.lost, 1);
		if (!t->question) {
			give_ticket(desk, t);
			continue;
		}
		t->question->is_known = false;
		finish_ticket(desk, t, &outcome_ended);
	}
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
		lose_sent(desk);
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
			count_desk(&desk->counters.refused, 1);
			return_at_once(q, &outcome_refused);
		} else if (!take_ticket(desk, q)) {
			count_desk(&desk->counters.limited, 1);
			return_at_once(q, &outcome_no_ticket);
		} else {
			put_in_line(desk, q);
		}
	}
	send_desk_line(desk);
}

struct resolver_question *worker_desk_take(struct worker_desk *desk, uint64_t now_ns)
{
	struct resolver_question *first;

	bool is_served;

	follow_session(desk);
	if (desk->used)
		take_replies(desk);
	is_served = desk->used && !__atomic_load_n(&desk->used->is_quiet, __ATOMIC_RELAXED);
	if (!is_served) {
		expire_line(desk, now_ns);
		expire_sent(desk, now_ns);
	}
	send_desk_line(desk);
	first = desk->done.first;
	desk->done = (struct desk_list){ .end = &desk->done.first };
	return first;
}

/* --- Life ------------------------------------------------------------------------------------- */

int worker_desk_open(struct worker_desk *desk, uint32_t n_tickets)
{
	desk->line_end = &desk->line;
	desk->done.end = &desk->done.first;
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

	for (uint32_t i = 0; i < desk->n_fresh; i++) {
		struct ticket *t = &desk->tickets[i];

		if (t->question) {
			t->question->is_known = false;
			finish_ticket(desk, t, &outcome_stop);
		} else if (t->is_sent) {
			give_ticket(desk, t);
		}
	}
	desk->line = NULL;
	for (q = desk->done.first; q; q = next) {
		struct inbox_chain chain = { 0 };

		next = resolver_next(q);
		inbox_chain_add(&chain, &q->link);
		inbox_put(q->inbox, &chain);
	}
	desk->done = (struct desk_list){ .end = &desk->done.first };
}
