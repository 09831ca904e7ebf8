/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups: equal questions of one thread, which are asked upstream once.
 *
 *	groups_join() ─► QUEUED ─► groups_next() ─► ASKED ─► groups_put()
 *	                    └── no client waits any more ────────▲
 *
 * If all deadlines of a group pass after it was asked, the group has no waiters any more. It stays
 * until libunbound or the forwarder is done with it, so that clients that ask again meanwhile get
 * its answer. It counts less against upstream_max (groups_next()), so that dead upstreams do not
 * take all places.
 *
 * The order: each group is charged to a prefix of clients (resolver/shares.h): the prefix of its
 * first question, or a prefix with fewer places that joins while the group is queued. The oldest
 * group of the prefix with the fewest places is next. A prefix with more than its share waits. If
 * all places are taken, a prefix with few places takes the place of the oldest group of a prefix
 * with the most: the questions of that group end by displace(). A group for which other clients
 * wait, too, keeps its place.
 *
 * All groups are allocated at the start. One thread.
 */
#ifndef VOLLEY_RESOLVER_GROUPS_H
#define VOLLEY_RESOLVER_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "resolver/resolver_question.h"
#include "resolver/shares.h"

/* Asked groups, with and without waiters, are at most so many times upstream_max. */
#define GROUPS_ORPHANED_TIMES 4

struct resolver_group {
	struct cds_list_head chain;   /* of the hash table, or of the free list */
	struct cds_list_head queue;   /* of its share: share.queue, and share.live while is_live */
	struct cds_list_head waiters; /* resolver_question.waiting */
	void *owner;                  /* of struct groups */
	struct share *share;
	uint64_t hash;
	uint16_t qtype;
	uint16_t qclass;
	uint32_t target;        /* resolver/targets.h; set with asked_ns when asked */
	uint64_t asked_ns;      /* CLOCK_MONOTONIC */
	uint8_t memory;         /* that is asked */
	bool checking_disabled; /* valid if groups.keeps_cd */
	bool asked;
	bool is_live;   /* asked, and may lose its place */
	bool is_joined; /* a question of another client joined it */
	uint8_t name[NAME_FOLDED_BYTES];
};

struct groups {
	void *owner;
	void (*displace)(void *owner,
			 struct resolver_group *group); /* completes all of its questions */
	struct resolver_group *all;
	struct cds_list_head *table;
	uint64_t table_mask;
	struct cds_list_head free;
	struct shares shares;
	struct ranks waiting; /* share.by_asked */
	struct ranks live;    /* share.by_live */
	uint32_t upstream_max;
	/*
	 * Set after groups_init(). True, for the forwarder: questions with and without CD are
	 * different, and memory is ignored. False, for libunbound: questions to different memories
	 * are different.
	 */
	bool keeps_cd;
	uint32_t n_fresh; /* index in `all` of the first never used; its memory is untouched */
	uint32_t n_all;
	uint32_t n_asked;    /* with n_orphaned */
	uint32_t n_orphaned; /* asked, without waiters */
};

/*
 * For max_questions at a time. 0 or -ENOMEM. owner is for the callers. If displace is not set
 * afterwards, no group loses its place.
 */
int groups_init(struct groups *g, uint32_t max_questions, uint32_t upstream_max, void *owner)
	__attribute__((warn_unused_result));
void groups_fini(struct groups *g);

/*
 * Adds the question, with hash and folded name, to its group; a new group is queued. True if there
 * was a group already. There is always room for max_questions.
 */
bool groups_join(struct groups *g, struct resolver_question *q);

/* Takes a question out of its group. A queued group that has no more waiters is freed. */
void groups_leave(struct groups *g, struct resolver_question *q);

/* The share whose group groups_next() would return, if it returns one; NULL: no group waits. */
struct share *groups_peek(const struct groups *g);

/* The next group to be asked, marked as asked; NULL: no group may be asked now. */
struct resolver_group *groups_next(struct groups *g);

/* Frees a group that was asked and has ended. It must have no waiters. */
void groups_put(struct groups *g, struct resolver_group *group);

#endif
