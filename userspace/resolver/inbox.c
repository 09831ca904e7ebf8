/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/inbox.h"

#include <errno.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

int inbox_open(struct inbox *box)
{
	box->head = NULL;
	box->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return box->fd < 0 ? -errno : 0;
}

void inbox_close(struct inbox *box)
{
	if (box->fd >= 0)
		close(box->fd);
	box->fd = -1;
}

void inbox_wake(struct inbox *box)
{
	/* A write to a full counter fails, but then the owner is awake already. */
	(void)eventfd_write(box->fd, 1);
}

void inbox_put(struct inbox *box, struct inbox_chain *chain)
{
	bool is_quiet = box->fd < 0; /* after the links are in, a quiet inbox may be gone */
	struct inbox_link *head;

	if (!chain->first)
		return;
	head = __atomic_load_n(&box->head, __ATOMIC_RELAXED);
	do
		chain->last->next = head;
	while (!__atomic_compare_exchange_n(&box->head, &head, chain->first, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
	*chain = (struct inbox_chain){ 0 };
	if (!is_quiet && !head)
		inbox_wake(box);
}

static struct inbox_link *turn_round(struct inbox_link *link)
{
	struct inbox_link *oldest = NULL;

	while (link) {
		struct inbox_link *next = link->next;

		link->next = oldest;
		oldest = link;
		link = next;
	}
	return oldest;
}

struct inbox_link *inbox_take(struct inbox *box)
{
	eventfd_t value;

	/* The fd is read first: a thread that puts between the two steps may not wake us, but its
	 * links are taken now. */
	if (box->fd >= 0)
		(void)eventfd_read(box->fd, &value);
	return turn_round(__atomic_exchange_n(&box->head, NULL, __ATOMIC_ACQUIRE));
}
