/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups: the questions of one thread that are the same one, asked upstream once.
 *
 *	groups_join() ─► QUEUED ─► groups_next() ─► ASKED ─► groups_put()
 *	                    └── nobody waits any more ───────────▲
 *
 * A group that is asked and has lost its waiters (their deadlines are over) stays until libunbound
 * or the forwarder is done with it, so that its answer still serves who asks again meanwhile; it
 * counts less against upstream_max (groups_next()), so that dead upstreams do not shut out the
 * living.
 *
 * Who is asked for next: each group is charged to a prefix of clients (resolver/shares.h), that of
 * its first question, or that of one with fewer places that joins it while it is queued. The oldest
 * group of the prefix with the fewest places is next. A prefix with more than its share waits.
 * Where all places are taken, a prefix with few takes that of the oldest group of one of those that
 * have most: its questions end by displace(). That is not done to groups for which other clients
 * wait, too.
 *
 * All groups are made at the start. One thread.
 */
#ifndef VOLLEY_RESOLVER_GROUPS_H
#define VOLLEY_RESOLVER_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "resolver/resolver_question.h"
#include "resolver/shares.h"

/* Groups that are asked, with those that lost their waiters, are at most so many times
 * upstream_max. */
#define GROUPS_ORPHANED_TIMES 4

struct resolver_group {
	struct cds_list_head chain;   /* of the hash table, or of the free ones */
	struct cds_list_head queue;   /* of its share: share.queue, and share.live while is_live */
	struct cds_list_head waiters; /* resolver_question.waiting */
	void *owner;                  /* of struct groups */
	struct share *share;
	uint64_t hash;
	uint16_t qtype;
	uint16_t qclass;
	uint32_t target;        /* resolver/targets.h, once it is asked of libunbound; and when */
	uint64_t asked_ns;      /* CLOCK_MONOTONIC */
	uint8_t memory;         /* where it is asked */
	bool checking_disabled; /* of groups that keep it */
	bool asked;
	bool is_live;   /* asked, and its place may be taken from it */
	bool is_joined; /* a question of another client joined it */
	uint8_t name[NAME_FOLDED_BYTES];
};

struct groups {
	void *owner;
	void (*displace)(void *owner,
			 struct resolver_group *group); /* all of its questions leave it */
	struct resolver_group *all;
	struct cds_list_head *table;
	uint64_t table_mask;
	struct cds_list_head free;
	struct shares shares;
	struct ranks waiting; /* share.by_asked */
	struct ranks live;    /* share.by_live */
	uint32_t upstream_max;
	/*
	 * Set after groups_init(). True, for the forwarder: questions with CD and without are not
	 * the same, and memory says nothing. False, for libunbound: questions to the one memory and
	 * to the other are not the same.
	 */
	bool keeps_cd;
	uint32_t n_fresh; /* of all, those never used: memory that is not touched yet */
	uint32_t n_all;
	uint32_t n_asked;    /* with those below */
	uint32_t n_orphaned; /* asked, without waiters */
};

/*
 * For so many questions at a time. -ENOMEM. owner is for the groups' users; where displace is not
 * set afterwards, no group loses its place.
 */
int groups_init(struct groups *g, uint32_t max_questions, uint32_t upstream_max, void *owner)
	__attribute__((warn_unused_result));
void groups_fini(struct groups *g);

/*
 * Joins the question, with hash and folded name, to its group; a new one is queued. Whether there
 * was one (true), or it is new. There is always room for max_questions.
 */
bool groups_join(struct groups *g, struct resolver_question *q);

/* Takes a question out of its group; a queued group without waiters is gone. */
void groups_leave(struct groups *g, struct resolver_question *q);

/* The share whose group groups_next() would give, if it gave one; NULL: no group waits. */
struct share *groups_peek(const struct groups *g);

/* The next group to be asked, now asked; NULL: none waits that may be asked now. */
struct resolver_group *groups_next(struct groups *g);

/* Frees a group that is asked and done; it has no waiters any more. */
void groups_put(struct groups *g, struct resolver_group *group);

#endif
