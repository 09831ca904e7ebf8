/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares: how many of a thread's places each prefix of clients has now, so that one prefix cannot
 * take all places. A place is a question upstream (resolver/groups.h), or a query in flight (the
 * forwarder).
 *
 *	a prefix may take a place if it has at most LIMITS_SHARE_TIMES times as many as are
 *	free, or fewer than LIMITS_SHARE_FEW
 *
 * So places stay free for other prefixes, without a list of prefixes (the dynamic thresholds of
 * Choudhury and Hahne, 1998): one prefix alone gets four fifths of the places, two get four ninths
 * each, and so on. A question without a reply has its place until it ends, so it counts for its
 * whole time.
 *
 * Prefixes are ranked by the number of their places. The prefix with the fewest comes next. If no
 * place is free, a prefix with the most loses one.
 *
 *	ranks.of[0]  no place     of[1]  1     of[2]  2 and 3     of[3]  4 to 7     ...
 *
 * All steps take constant time. The shares are allocated at the start, as many as can be in use.
 * One thread.
 */
#ifndef VOLLEY_RESOLVER_SHARES_H
#define VOLLEY_RESOLVER_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include <urcu/list.h>

#include "base/limits.h"

#define RANKS_N 33

struct ranks {
	uint64_t used; /* bit i: of[i] has a member */
	struct cds_list_head of[RANKS_N];
};

/* A member of one struct ranks, or of none. */
struct rank {
	struct cds_list_head node;
	uint8_t at; /* 1 + its index in ranks.of; 0: in none */
};

struct share {
	struct cds_list_head chain; /* of the hash table, or of the free list */
	uint64_t client;            /* limits_place.client */
	uint32_t n_users;           /* groups that are charged to it */
	uint32_t n_asked;           /* of these, asked upstream */
	uint32_t n_live;            /* of these, in the list below */
	uint32_t n_in_flight;       /* the forwarder's queries in flight */
	struct cds_list_head queue; /* groups that wait to be asked, oldest first */
	struct cds_list_head live;  /* groups that may lose their place, oldest first */
	struct cds_list_head again; /* the forwarder's questions to be asked, oldest first */
	struct cds_list_head sent;  /* the forwarder's queries in flight, oldest first */
	struct rank by_asked;       /* while queue has any: ranked by n_asked */
	struct rank by_live;        /* while live has any: by n_live */
	struct rank by_in_flight;   /* while again has any: by n_in_flight */
	struct rank by_sent;        /* while sent has any: by n_in_flight */
};

struct shares {
	struct share *all;
	struct cds_list_head *table;
	uint64_t table_mask;
	struct cds_list_head free;
	uint32_t n_fresh; /* index in `all` of the first never used; its memory is untouched */
	uint32_t n_all;
};

void ranks_init(struct ranks *ranks);

/* Puts it behind all others of the rank of n. It may be in `ranks` already. */
void ranks_put(struct ranks *ranks, struct rank *rank, uint32_t n);

/* Moves it to the rank of n, if it is in `ranks` and has another rank. */
void ranks_move(struct ranks *ranks, struct rank *rank, uint32_t n);

/* Removes it, if it is in `ranks`. */
void ranks_remove(struct ranks *ranks, struct rank *rank);

/* The first member of the lowest rank, and of the highest; NULL: there is none. */
struct rank *ranks_least(const struct ranks *ranks);
struct rank *ranks_most(const struct ranks *ranks);

/* For max_users at a time. 0 or -ENOMEM. Call shares_fini() in any case. */
int shares_init(struct shares *shares, uint32_t max_users) __attribute__((warn_unused_result));
void shares_fini(struct shares *shares);

/* Adds a user to the client's share, and returns the share. There are enough for max_users. */
struct share *shares_get(struct shares *shares, uint64_t client);

/* Removes a user from the share. Without users it is freed. */
void shares_put(struct shares *shares, struct share *share);

/* True if a prefix with n places may take one of n_free free places. */
static inline bool share_fits(uint32_t n, uint32_t n_free)
{
	return n < LIMITS_SHARE_FEW || n <= (uint64_t)LIMITS_SHARE_TIMES * n_free;
}

/* True if a prefix with n places, which must be few, may take a place of a prefix with `most`. The
 * loser still has more places afterwards. */
static inline bool share_may_displace(uint32_t n, uint32_t most)
{
	return n < LIMITS_SHARE_FEW && most > 2 * (n + 1);
}

#endif
