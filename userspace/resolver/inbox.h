/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An inbox: many threads put, and one thread takes all. Putting is one compare-and-swap for a whole
 * chain. The eventfd wakes the owner only when the inbox was empty, so a burst costs one system
 * call.
 *
 *	head ─► newest ─► ... ─► oldest ─► NULL		put: swap the head
 *	   └── inbox_take() swaps NULL in and turns the chain round: oldest first
 *
 * There is no ABA problem, because each take empties the inbox. No lock, no allocation. A link is a
 * member of the object that is put.
 */
#ifndef VOLLEY_RESOLVER_INBOX_H
#define VOLLEY_RESOLVER_INBOX_H

#include <stdbool.h>

struct inbox_link {
	struct inbox_link *next;
};

struct inbox {
	struct inbox_link *head;
	int fd; /* eventfd, readable when there is something; level-triggered, not blocking */
};

/* An inbox that wakes no thread: its owner polls it. It is neither opened nor closed. */
/* clang-format off */
#define INBOX_QUIET { .fd = -1 }
/* clang-format on */

/* Links that are put together: newest first, as in the inbox. */
struct inbox_chain {
	struct inbox_link *first;
	struct inbox_link *last;
};

/* 0 or -errno. No other thread may use the inbox during inbox_open() and inbox_close(). */
int inbox_open(struct inbox *box) __attribute__((warn_unused_result));
void inbox_close(struct inbox *box);

/* Adds a link to a chain of the caller's own. */
static inline void inbox_chain_add(struct inbox_chain *chain, struct inbox_link *link)
{
	link->next = chain->first;
	chain->first = link;
	if (!chain->last)
		chain->last = link;
}

/*
 * Puts the chain and empties it; an empty chain is allowed. From then on the objects of the links
 * belong to the inbox's owner, which may take them before it is woken. So even when all objects
 * have come back, a thread may still be about to wake the owner, and the inbox must not be closed
 * yet. A quiet inbox may be freed then. Any thread.
 */
void inbox_put(struct inbox *box, struct inbox_chain *chain);

/* Wakes the owner, even if the inbox is empty. Any thread. */
void inbox_wake(struct inbox *box);

/* Takes all links, oldest first, and resets the fd. NULL: the inbox is empty. The owner's thread
 * only. */
struct inbox_link *inbox_take(struct inbox *box);

#endif
