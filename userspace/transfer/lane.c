/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/lane.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct lane_queue {
	struct cds_list_head node; /* in the lane */
	struct cds_list_head places;
	char name[];
};

static struct lane_queue *first_queue(const struct lane *lane)
{
	return cds_list_entry(lane->queues.next, struct lane_queue, node);
}

static void drop_if_empty(struct lane_queue *queue)
{
	if (!cds_list_empty(&queue->places))
		return;
	cds_list_del(&queue->node);
	free(queue);
}

static struct lane_place *next_place(struct lane *lane)
{
	struct lane_queue *queue = first_queue(lane);
	struct lane_place *place = cds_list_entry(queue->places.next, struct lane_place, node);

	cds_list_del(&place->node);
	place->queue = NULL;
	cds_list_del(&queue->node); /* its turn is over */
	cds_list_add_tail(&queue->node, &lane->queues);
	drop_if_empty(queue);
	return place;
}

static void on_let_in(evutil_socket_t fd, short what, void *user)
{
	struct lane *lane = user;

	(void)fd, (void)what;
	while (lane->n_inside < lane->limit && !cds_list_empty(&lane->queues)) {
		struct lane_place *place = next_place(lane);

		lane->n_inside++;
		place->go(place->user);
	}
}

static void wake(struct lane *lane)
{
	const struct timeval at_once = { 0 };

	if (!cds_list_empty(&lane->queues) && lane->n_inside < lane->limit)
		(void)evtimer_add(lane->let_in, &at_once);
}

int lane_open(struct lane *lane, struct event_base *base, uint32_t limit)
{
	*lane = (struct lane){ .limit = limit };
	CDS_INIT_LIST_HEAD(&lane->queues);
	lane->let_in = evtimer_new(base, on_let_in, lane);
	return lane->let_in ? 0 : -ENOMEM;
}

void lane_close(struct lane *lane)
{
	if (lane->let_in)
		event_free(lane->let_in);
	lane->let_in = NULL;
}

void lane_set_limit(struct lane *lane, uint32_t limit)
{
	lane->limit = limit;
	wake(lane);
}

static struct lane_queue *queue_of(struct lane *lane, const char *name)
{
	struct lane_queue *queue;
	size_t n = strlen(name) + 1;

	cds_list_for_each_entry(queue, &lane->queues, node) {
		if (!strcmp(queue->name, name))
			return queue;
	}
	queue = malloc(sizeof(*queue) + n);
	if (!queue)
		return NULL;
	memcpy(queue->name, name, n);
	CDS_INIT_LIST_HEAD(&queue->places);
	cds_list_add_tail(&queue->node, &lane->queues);
	return queue;
}

int lane_enter(struct lane *lane, struct lane_place *place, const char *name)
{
	place->queue = queue_of(lane, name);
	if (!place->queue)
		return -ENOMEM;
	place->lane = lane;
	cds_list_add_tail(&place->node, &place->queue->places);
	wake(lane);
	return 0;
}

void lane_leave(struct lane_place *place)
{
	struct lane *lane = place->lane;

	if (!lane)
		return;
	place->lane = NULL;
	if (place->queue) {
		cds_list_del(&place->node);
		drop_if_empty(place->queue);
		place->queue = NULL;
		return;
	}
	lane->n_inside--;
	wake(lane);
}
