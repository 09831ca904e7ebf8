/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/desk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "dns/edns.h"
#include "resolver/resolver.h"
#include "resolver/shared_memory.h"

#define DESK_BATCH    64
#define DESK_RETRY_NS 1000000

/* --- Questions -------------------------------------------------------------------------------- */

/* NULL: the server has sent more than it said it would. */
static struct desk_question *take_desk_question(struct desk *desk)
{
	struct desk_question *q = desk->free;

	if (q)
		desk->free = q->next_free;
	else if (desk->n_fresh < desk->n_all)
		q = &desk->all[desk->n_fresh++];
	return q;
}

static void free_desk_question(struct desk *desk, struct desk_question *q)
{
	q->next_free = desk->free;
	desk->free = q;
}

static bool read_desk_question(struct desk *desk, struct desk_question *to, int64_t bytes)
{
	struct resolver_question *q = &to->question;
	struct shared_question from;
	size_t name_length = (size_t)bytes - sizeof(from);

	if (bytes <= (int64_t)sizeof(from) || name_length > sizeof(q->name))
		return false;
	byte_ring_copy(&desk->questions, 0, &from, sizeof(from));
	memset(q, 0, sizeof(*q));
	byte_ring_copy(&desk->questions, sizeof(from), q->name, name_length);
	if (name_check(q->name, name_length) != (int)name_length || from.memory > 1)
		return false;
	to->slot = from.slot;
	to->turn = from.turn;
	q->inbox = &desk->inbox;
	q->deadline_ns = from.deadline_ns;
	q->qtype = from.qtype;
	q->qclass = from.qclass;
	q->checking_disabled = from.checking_disabled;
	q->is_refresh = from.is_refresh;
	q->memory = from.memory;
	q->family = from.family;
	memcpy(q->client, from.client, sizeof(q->client));
	return true;
}

static int read_desk(struct desk *desk)
{
	struct resolver_question *batch[DESK_BATCH];
	unsigned int n = 0;
	int64_t bytes;

	do {
		while ((bytes = byte_ring_next(&desk->questions)) > 0) {
			struct desk_question *q = take_desk_question(desk);

			if (!q || !read_desk_question(desk, q, bytes))
				return -EPROTO;
			byte_ring_pop(&desk->questions, bytes);
			batch[n++] = &q->question;
			if (n == DESK_BATCH) {
				resolver_submit(desk->resolver, batch, n);
				n = 0;
			}
		}
		if (bytes == BYTE_RING_NONSENSE)
			return -EPROTO;
	} while (!byte_ring_wait(&desk->questions));
	if (n)
		resolver_submit(desk->resolver, batch, n);
	return 0;
}

/* --- Replies ---------------------------------------------------------------------------------- */

static bool put_desk_reply(struct desk *desk, const struct desk_question *from)
{
	const struct resolver_question *q = &from->question;
	struct shared_reply reply = {
		.slot = from->slot,
		.turn = from->turn,
		.msg_bytes = q->msg ? (uint32_t)q->msg_bytes : 0,
		.head_bytes = q->msg ? (uint32_t)q->head_bytes : 0,
		.text_bytes = q->text ? (uint32_t)strnlen(q->text, SHARED_TEXT_MAX) : 0,
		.ede_code = q->ede_code,
		.rcode = q->rcode,
		.security = (uint8_t)q->security,
		.is_known = q->is_known,
		.has_msg = !!q->msg,
		.has_text = !!q->text,
	};
	const struct iovec parts[] = {
		{ &reply, sizeof(reply) },
		{ (void *)(uintptr_t)q->msg, reply.msg_bytes },
		{ (void *)(uintptr_t)q->text, reply.text_bytes },
	};

	return byte_ring_put(&desk->replies, parts, 3);
}

/* Appends the questions that were answered since the last call. */
static void collect_answered(struct desk *desk)
{
	struct resolver_question *q = resolver_take(&desk->inbox);

	while (q) {
		struct resolver_question *next = resolver_next(q);
		struct desk_question *late = (struct desk_question *)q;

		late->next_free = NULL;
		*desk->late_end = late;
		desk->late_end = &late->next_free;
		q = next;
	}
}

static void answer_desk(struct desk *desk)
{
	const struct timeval retry = { .tv_usec = DESK_RETRY_NS / 1000 };
	struct desk_question *q;

	collect_answered(desk);
	if (!desk->late)
		return;
	while ((q = desk->late) && put_desk_reply(desk, q)) {
		desk->late = q->next_free;
		resolver_release(&q->question);
		free_desk_question(desk, q);
	}
	if (!desk->late)
		desk->late_end = &desk->late;
	else if (!evtimer_pending(desk->on_retry, NULL))
		(void)evtimer_add(desk->on_retry, &retry);
	/* If the bell's socket is full, it rings already. */
	if (byte_ring_publish(&desk->replies))
		(void)send(desk->bell_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void on_desk_inbox(evutil_socket_t fd, short events, void *user)
{
	(void)fd, (void)events;
	answer_desk(user);
}

/* --- Life ------------------------------------------------------------------------------------- */

static void answer_after_round(struct thread_guest *guest)
{
	answer_desk((struct desk *)guest);
}

int desks_read(struct resolver_thread *thread)
{
	struct thread_guest *guest;
	int err = 0;

	cds_list_for_each_entry(guest, &thread->guests, node)
		err = err ? err : read_desk((struct desk *)guest);
	return err;
}

int desk_open(struct desk *desk, struct resolver *resolver, struct resolver_thread *thread,
	      const struct desk_config *config)
{
	int err = 0;

	*desk = (struct desk){
		.guest = { .round = answer_after_round },
		.resolver = resolver,
		.bell_fd = config->bell_fd,
		.inbox = INBOX_QUIET,
		.n_all = config->n_questions,
		.late_end = &desk->late,
	};
	byte_ring_reader_init(&desk->questions, config->questions, SHARED_QUESTIONS_CAP);
	byte_ring_writer_init(&desk->replies, config->replies, SHARED_REPLIES_CAP);
	if (!config->is_alone)
		err = inbox_open(&desk->inbox);
	if (err)
		return err;
	desk->all = calloc(desk->n_all, sizeof(*desk->all));
	desk->on_retry = evtimer_new(thread->base, on_desk_inbox, desk);
	if (!config->is_alone)
		desk->on_inbox = event_new(thread->base, desk->inbox.fd, EV_READ | EV_PERSIST,
					   on_desk_inbox, desk);
	if (!desk->all || !desk->on_retry || (!config->is_alone && !desk->on_inbox))
		return -ENOMEM;
	if (desk->on_inbox && event_add(desk->on_inbox, NULL))
		return -ENOMEM;
	cds_list_add_tail(&desk->guest.node, &thread->guests);
	return 0;
}

void desk_close(struct desk *desk)
{
	struct desk_question *q;

	if (desk->late_end)
		collect_answered(desk);
	while ((q = desk->late)) {
		desk->late = q->next_free;
		resolver_release(&q->question);
	}
	if (desk->on_inbox)
		event_free(desk->on_inbox);
	if (desk->on_retry)
		event_free(desk->on_retry);
	if (desk->inbox.fd >= 0)
		inbox_close(&desk->inbox);
	free(desk->all);
}
