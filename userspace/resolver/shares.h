/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares: how many of a thread's places each prefix of clients has now, so that one prefix does not
 * take the places of the others. A place is a question upstream (resolver/groups.h), or a query
 * whose reply is waited for (the forwarder).
 *
 *	a prefix may take a place when it has at most SHARE_TIMES times as many as are free, or
 *	fewer than SHARE_FEW
 *
 * So places stay free for the others without a list of who they are (the dynamic thresholds of
 * Choudhury and Hahne, 1998): one prefix alone gets four fifths of them, two get four ninths each,
 * and so on. A question that gets no reply has its place until it ends, so it counts for its whole
 * time.
 *
 * Prefixes are ranked by the number of their places. The one with the fewest comes next; from one
 * of those with the most a place is taken where none is free.
 *
 *	ranks.of[0]  no place     of[1]  1     of[2]  2 and 3     of[3]  4 to 7     ...
 *
 * All steps take constant time. Shares are made at the start, as many as can be in use. One thread.
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

/* A member of one struct ranks, or of none: then at is 0. */
struct rank {
	struct cds_list_head node;
	uint8_t at; /* 1 + its index in ranks.of */
};

struct share {
	struct cds_list_head chain; /* of the hash table, or of the free ones */
	uint64_t client;            /* limits_place.client */
	uint32_t n_users;           /* groups that are charged to it */
	uint32_t n_asked;           /* of these, asked upstream */
	uint32_t n_live;            /* of these, in the list below */
	uint32_t n_in_flight;       /* the forwarder's queries whose reply is waited for */
	struct cds_list_head queue; /* groups that wait to be asked, oldest first */
	struct cds_list_head live;  /* groups whose place may be taken from them, oldest first */
	struct cds_list_head
		again; /* the forwarder's questions that wait to be asked, oldest first */
	struct cds_list_head sent; /* the forwarder's queries in flight, oldest first */
	struct rank by_asked;      /* while queue has any: ranked by n_asked */
	struct rank by_live;       /* while live has any: by n_live */
	struct rank by_in_flight;  /* while again has any: by n_in_flight */
	struct rank by_sent;       /* while sent has any: by n_in_flight */
};

struct shares {
	struct share *all;
	struct cds_list_head *table;
	uint64_t table_mask;
	struct cds_list_head free;
	uint32_t n_fresh; /* of all, those never used: memory that is not touched yet */
	uint32_t n_all;
};

void ranks_init(struct ranks *ranks);

/* Puts it behind all others with about as many places as n; it may be there already. */
void ranks_put(struct ranks *ranks, struct rank *rank, uint32_t n);

/* Puts it where n says, if it is in and n says another rank than before. */
void ranks_move(struct ranks *ranks, struct rank *rank, uint32_t n);

/* It may be in none. */
void ranks_remove(struct ranks *ranks, struct rank *rank);

/* The first one of those with the fewest places, and of those with the most; NULL: there is
 * none. */
struct rank *ranks_least(const struct ranks *ranks);
struct rank *ranks_most(const struct ranks *ranks);

/* For so many users at a time. -ENOMEM; shares_fini() in any case. */
int shares_init(struct shares *shares, uint32_t max_users) __attribute__((warn_unused_result));
void shares_fini(struct shares *shares);

/* The client's share, with one more user. There is one for each of max_users. */
struct share *shares_get(struct shares *shares, uint64_t client);

/* One user less; with the last one it is free. */
void shares_put(struct shares *shares, struct share *share);

/* Whether who has n places may take another one, of which n_free are free. */
static inline bool share_fits(uint32_t n, uint32_t n_free)
{
	return n < LIMITS_SHARE_FEW || n <= (uint64_t)LIMITS_SHARE_TIMES * n_free;
}

/* Whether who has n places, and few, may take one of who has most. The one who loses it still has
 * more then. */
static inline bool share_may_displace(uint32_t n, uint32_t most)
{
	return n < LIMITS_SHARE_FEW && most > 2 * (n + 1);
}

#endif
