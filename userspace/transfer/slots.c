/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/slots.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct slots_queue {
	struct cds_list_head node; /* in the queues of slots */
	struct cds_list_head places;
	char name[];
};

static struct slots_queue *first_queue(const struct slots *slots)
{
	return cds_list_entry(slots->queues.next, struct slots_queue, node);
}

static void drop_if_empty(struct slots_queue *queue)
{
	if (!cds_list_empty(&queue->places))
		return;
	cds_list_del(&queue->node);
	free(queue);
}

static struct slot *next_place(struct slots *slots)
{
	struct slots_queue *queue = first_queue(slots);
	struct slot *place = cds_list_entry(queue->places.next, struct slot, node);

	cds_list_del(&place->node);
	place->queue = NULL;
	cds_list_del(&queue->node); /* the queue goes to the end */
	cds_list_add_tail(&queue->node, &slots->queues);
	drop_if_empty(queue);
	return place;
}

static void on_let_in(evutil_socket_t fd, short what, void *user)
{
	struct slots *slots = user;

	(void)fd, (void)what;
	while (slots->n_inside < slots->limit && !cds_list_empty(&slots->queues)) {
		struct slot *place = next_place(slots);

		slots->n_inside++;
		place->go(place->user);
	}
}

static void wake(struct slots *slots)
{
	const struct timeval at_once = { 0 };

	if (!cds_list_empty(&slots->queues) && slots->n_inside < slots->limit)
		(void)evtimer_add(slots->let_in, &at_once);
}

int slots_open(struct slots *slots, struct event_base *base, uint32_t limit)
{
	*slots = (struct slots){ .limit = limit };
	CDS_INIT_LIST_HEAD(&slots->queues);
	slots->let_in = evtimer_new(base, on_let_in, slots);
	return slots->let_in ? 0 : -ENOMEM;
}

void slots_close(struct slots *slots)
{
	if (slots->let_in)
		event_free(slots->let_in);
	slots->let_in = NULL;
}

void slots_set_limit(struct slots *slots, uint32_t limit)
{
	slots->limit = limit;
	wake(slots);
}

static struct slots_queue *queue_of(struct slots *slots, const char *name)
{
	struct slots_queue *queue;
	size_t n = strlen(name) + 1;

	cds_list_for_each_entry(queue, &slots->queues, node) {
		if (!strcmp(queue->name, name))
			return queue;
	}
	queue = malloc(sizeof(*queue) + n);
	if (!queue)
		return NULL;
	memcpy(queue->name, name, n);
	CDS_INIT_LIST_HEAD(&queue->places);
	cds_list_add_tail(&queue->node, &slots->queues);
	return queue;
}

int slots_enter(struct slots *slots, struct slot *place, const char *name)
{
	place->queue = queue_of(slots, name);
	if (!place->queue)
		return -ENOMEM;
	place->slots = slots;
	cds_list_add_tail(&place->node, &place->queue->places);
	wake(slots);
	return 0;
}

void slots_leave(struct slot *place)
{
	struct slots *slots = place->slots;

	if (!slots)
		return;
	place->slots = NULL;
	if (place->queue) {
		cds_list_del(&place->node);
		drop_if_empty(place->queue);
		place->queue = NULL;
		return;
	}
	slots->n_inside--;
	wake(slots);
}
