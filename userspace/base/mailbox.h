/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mailbox between two threads: a list under a mutex, and an eventfd that is readable while the
 * list has posts. Order is kept. The sender allocates a post and the receiver frees it.
 */
#ifndef VOLLEY_BASE_MAILBOX_H
#define VOLLEY_BASE_MAILBOX_H

#include <pthread.h>

struct post {
	struct post *next;
};

struct mailbox {
	pthread_mutex_t lock;
	struct post *first, **last;
	int fd; /* eventfd, not blocking */
};

/* 0 or -errno. */
int mailbox_open(struct mailbox *box) __attribute__((warn_unused_result));
void mailbox_close(struct mailbox *box); /* after all posts were taken; a second call is allowed */

/* Any thread. */
void mailbox_put(struct mailbox *box, struct post *post);
/* Makes the fd readable without a post. */
void mailbox_wake(struct mailbox *box);
/* Takes all posts, oldest first, and makes the fd unreadable. NULL: there are none. */
struct post *mailbox_take(struct mailbox *box);

#endif
