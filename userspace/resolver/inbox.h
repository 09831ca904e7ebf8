/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An inbox: many threads put, one takes all. Putting is one compare-and-swap for a whole chain, and
 * the owner is woken by its eventfd only when the inbox was empty, so a burst costs one system
 * call.
 *
 *	head ─► newest ─► ... ─► oldest ─► NULL		put: swap the head
 *	   └── inbox_take() swaps NULL in and turns the chain round: oldest first
 *
 * Whoever takes takes all, so a link that comes back can never be mistaken for the one that was
 * there (no ABA). No lock, no allocation. Links are part of what is put.
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

/* An inbox that wakes nobody: its owner looks by itself some time. Neither opened nor closed. */
/* clang-format off */
#define INBOX_QUIET { .fd = -1 }
/* clang-format on */

/* Links to be put together: newest first, as they lie in the inbox. */
struct inbox_chain {
	struct inbox_link *first;
	struct inbox_link *last;
};

/* 0 or -errno. Not while others use it, as inbox_close(). */
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
 * Puts the chain and empties it; an empty one is allowed. What its links belong to is the owner's
 * from then on. It may take them before it is woken: that all came back does not yet mean that an
 * inbox may be closed, but a quiet one may be gone. Any thread.
 */
void inbox_put(struct inbox *box, struct inbox_chain *chain);

/* Wakes the owner, whether or not there is something. Any thread. */
void inbox_wake(struct inbox *box);

/* All that is there, oldest first, and the fd is quiet again; NULL: nothing. The owner's thread
 * only. */
struct inbox_link *inbox_take(struct inbox *box);

#endif
