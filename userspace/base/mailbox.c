/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mailbox.h"

#include <errno.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mailbox_open(struct mailbox *box)
{
	box->first = NULL;
	box->last = &box->first;
	box->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (box->fd < 0)
		return -errno;
	(void)pthread_mutex_init(&box->lock, NULL); /* it cannot fail without attributes */
	return 0;
}

void mailbox_close(struct mailbox *box)
{
	if (box->fd < 0)
		return;
	close(box->fd);
	box->fd = -1;
	pthread_mutex_destroy(&box->lock);
}

void mailbox_wake(struct mailbox *box)
{
	/* It fails only if the counter is full, and then the fd is readable already. */
	(void)eventfd_write(box->fd, 1);
}

void mailbox_put(struct mailbox *box, struct post *post)
{
	struct post **end;

	post->next = NULL;
	pthread_mutex_lock(&box->lock);
	end = box->last;
	*end = post;
	box->last = &post->next;
	pthread_mutex_unlock(&box->lock);
	/* If the list was not empty, the receiver has been woken already. */
	if (end == &box->first)
		mailbox_wake(box);
}

struct post *mailbox_take(struct mailbox *box)
{
	eventfd_t n;
	struct post *all;

	/* The fd first: a post that is put from here on makes it readable again. */
	(void)eventfd_read(box->fd, &n);
	pthread_mutex_lock(&box->lock);
	all = box->first;
	box->first = NULL;
	box->last = &box->first;
	pthread_mutex_unlock(&box->lock);
	return all;
}
