/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/transfer_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transfer/transfer_thread.h"

/* An event in the mailbox, with the memory that it points to. */
struct event_post {
	struct post post; /* first */
	struct transfer_event event;
	uint8_t apex[DNS_NAME_MAX];
	char remote[128];
};

int transfer_emit(struct transfer *t, const struct transfer_event *event)
{
	struct event_post *p = calloc(1, sizeof(*p));

	if (!p) {
		zone_builder_free(event->builder);
		for (size_t i = 0; i < event->n_sets; i++)
			changeset_fini(&event->sets[i]);
		free(event->sets);
		return -ENOMEM;
	}
	p->event = *event;
	memcpy(p->apex, event->apex, event->apex_len);
	if (event->remote)
		strncpy(p->remote, event->remote, sizeof(p->remote) - 1);
	p->event.apex = p->apex;
	p->event.remote = p->remote;
	mailbox_put(&t->to_control, &p->post);
	return 0;
}

static void free_event(struct event_post *p)
{
	for (size_t i = 0; i < p->event.n_sets; i++)
		changeset_fini(&p->event.sets[i]);
	free(p->event.sets);
	free(p);
}

int transfer_fd(const struct transfer *t)
{
	return t->to_control.fd;
}

void transfer_poll(struct transfer *t)
{
	for (unsigned int i = 0; i < TRANSFER_POLL_EVENTS; i++) {
		struct event_post *p;

		if (!t->unpolled)
			t->unpolled = mailbox_take(&t->to_control);
		p = (struct event_post *)t->unpolled;
		if (!p)
			return;
		t->unpolled = p->post.next;
		t->event(t->user, &p->event);
		free_event(p);
	}
	if (t->unpolled) /* the mailbox itself may be empty */
		mailbox_wake(&t->to_control);
}

static void drop_posts(struct post *post)
{
	while (post) {
		struct event_post *p = (struct event_post *)post;

		post = post->next;
		zone_builder_free(p->event.builder);
		free_event(p);
	}
}

void transfer_drop_events(struct transfer *t)
{
	drop_posts(t->unpolled);
	t->unpolled = NULL;
	if (t->to_control.fd >= 0)
		drop_posts(mailbox_take(&t->to_control));
}
