/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/slots.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct slots_queue {
	struct cds_list_head node;               /* in the queues of slots */
	struct cds_list_head places[SLOT_RANKS]; /* that wait */
	uint32_t n_waiting;
	uint32_t n_inside; /* places that have a slot */
	uint32_t n_let_in; /* places that had one so far */
	char name[];
};

static void drop_if_unused(struct slots_queue *queue)
{
	if (queue->n_inside || queue->n_waiting)
		return;
	cds_list_del(&queue->node);
	free(queue);
}

/* The most slots of one name server. */
static uint32_t most_of_one(const struct slots *slots)
{
	return slots->limit < SLOTS_SHARED ? slots->limit : slots->limit - slots->limit / 4;
}

static bool may_enter_slot(const struct slots *slots, const struct slots_queue *queue)
{
	if (slots->n_inside < slots->limit)
		return queue->n_inside < most_of_one(slots);
	return !queue->n_inside && slots->n_inside < slots_most(slots->limit);
}

/* The next name server with a user that may have a slot, or NULL. */
static struct slots_queue *next_queue(const struct slots *slots)
{
	struct slots_queue *queue;

	if (slots->n_inside >= slots_most(slots->limit))
		return NULL;
	cds_list_for_each_entry(queue, &slots->queues, node) {
		if (queue->n_waiting && may_enter_slot(slots, queue))
			return queue;
	}
	return NULL;
}

/* The list whose first place is next. */
static struct cds_list_head *next_rank(struct slots_queue *queue)
{
	bool is_last_turn = queue->n_let_in % SLOTS_LAST_TURN == SLOTS_LAST_TURN - 1;
	int rank = is_last_turn ? SLOT_RANKS - 1 : 0;

	while (cds_list_empty(&queue->places[rank]))
		rank += is_last_turn ? -1 : 1;
	return &queue->places[rank];
}

static struct slot *let_next_in(struct slots *slots, struct slots_queue *queue)
{
	struct slot *place = cds_list_entry(next_rank(queue)->next, struct slot, node);

	cds_list_del(&place->node);
	place->is_inside = true;
	slots->n_inside++;
	queue->n_inside++;
	queue->n_let_in++;
	queue->n_waiting--;
	cds_list_del(&queue->node); /* the queue goes to the end */
	cds_list_add_tail(&queue->node, &slots->queues);
	return place;
}

static void on_let_in(evutil_socket_t fd, short what, void *user)
{
	struct slots *slots = user;
	struct slots_queue *queue;

	(void)fd, (void)what;
	while ((queue = next_queue(slots))) {
		struct slot *place = let_next_in(slots, queue);

		place->go(place->user);
	}
}

static void wake_slot(struct slots *slots)
{
	const struct timeval at_once = { 0 };

	if (next_queue(slots))
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
	wake_slot(slots);
}

static struct slots_queue *queue_of_slot(struct slots *slots, const char *name)
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
	queue->n_inside = queue->n_waiting = queue->n_let_in = 0;
	for (int rank = 0; rank < SLOT_RANKS; rank++)
		CDS_INIT_LIST_HEAD(&queue->places[rank]);
	cds_list_add_tail(&queue->node, &slots->queues);
	return queue;
}

int slots_enter(struct slots *slots, struct slot *place, const char *name, enum slot_rank rank)
{
	place->queue = queue_of_slot(slots, name);
	if (!place->queue)
		return -ENOMEM;
	place->slots = slots;
	cds_list_add_tail(&place->node, &place->queue->places[rank]);
	place->queue->n_waiting++;
	wake_slot(slots);
	return 0;
}

void slots_leave(struct slot *place)
{
	struct slots *slots = place->slots;
	struct slots_queue *queue = place->queue;

	if (!slots)
		return;
	place->slots = NULL;
	place->queue = NULL;
	if (place->is_inside) {
		place->is_inside = false;
		slots->n_inside--;
		queue->n_inside--;
	} else {
		cds_list_del(&place->node);
		queue->n_waiting--;
	}
	drop_if_unused(queue);
	wake_slot(slots);
}
