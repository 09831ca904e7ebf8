/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/shares.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

void ranks_init(struct ranks *ranks)
{
	ranks->used = 0;
	for (unsigned int i = 0; i < RANKS_N; i++)
		CDS_INIT_LIST_HEAD(&ranks->of[i]);
}

static uint8_t rank_of_shares(uint32_t n)
{
	return n ? (uint8_t)(32 - __builtin_clz(n)) : 0;
}

void ranks_remove(struct ranks *ranks, struct rank *rank)
{
	unsigned int i = rank->at - 1U;

	if (!rank->at)
		return;
	cds_list_del(&rank->node);
	rank->at = 0;
	if (cds_list_empty(&ranks->of[i]))
		ranks->used &= ~(1ULL << i);
}

void ranks_put(struct ranks *ranks, struct rank *rank, uint32_t n)
{
	uint8_t i = rank_of_shares(n);

	ranks_remove(ranks, rank);
	cds_list_add_tail(&rank->node, &ranks->of[i]);
	rank->at = i + 1;
	ranks->used |= 1ULL << i;
}

void ranks_move(struct ranks *ranks, struct rank *rank, uint32_t n)
{
	if (rank->at && rank->at != rank_of_shares(n) + 1)
		ranks_put(ranks, rank, n);
}

static struct rank *first_of(const struct ranks *ranks, unsigned int i)
{
	return cds_list_entry(ranks->of[i].next, struct rank, node);
}

struct rank *ranks_least(const struct ranks *ranks)
{
	return ranks->used ? first_of(ranks, (unsigned int)__builtin_ctzll(ranks->used)) : NULL;
}

struct rank *ranks_most(const struct ranks *ranks)
{
	return ranks->used ? first_of(ranks, 63U - (unsigned int)__builtin_clzll(ranks->used)) :
			     NULL;
}

int shares_init(struct shares *shares, uint32_t max_users)
{
	uint64_t n_chains = 64;

	while (n_chains < max_users)
		n_chains *= 2;
	*shares = (struct shares){ .table_mask = n_chains - 1, .n_all = max_users };
	CDS_INIT_LIST_HEAD(&shares->free);
	shares->all = calloc(max_users, sizeof(*shares->all));
	shares->table = malloc(n_chains * sizeof(*shares->table));
	if (!shares->all || !shares->table)
		return -ENOMEM;
	for (uint64_t i = 0; i < n_chains; i++)
		CDS_INIT_LIST_HEAD(&shares->table[i]);
	return 0;
}

void shares_fini(struct shares *shares)
{
	free(shares->all);
	free(shares->table);
	shares->all = NULL;
	shares->table = NULL;
}

/* Takes the share that was freed last, because its memory is in the CPU's caches. */
static struct share *take_shares_free(struct shares *shares)
{
	struct share *share;

	if (cds_list_empty(&shares->free)) {
		assert(shares->n_fresh < shares->n_all);
		return &shares->all[shares->n_fresh++];
	}
	share = cds_list_entry(shares->free.next, struct share, chain);
	cds_list_del(&share->chain);
	return share;
}

static struct share *make_shares(struct shares *shares, uint64_t client)
{
	struct share *share = take_shares_free(shares);

	*share = (struct share){ .client = client, .n_users = 1 };
	CDS_INIT_LIST_HEAD(&share->queue);
	CDS_INIT_LIST_HEAD(&share->live);
	CDS_INIT_LIST_HEAD(&share->again);
	CDS_INIT_LIST_HEAD(&share->sent);
	cds_list_add(&share->chain, &shares->table[client & shares->table_mask]);
	return share;
}

struct share *shares_get(struct shares *shares, uint64_t client)
{
	struct share *share;

	cds_list_for_each_entry(share, &shares->table[client & shares->table_mask], chain) {
		if (share->client != client)
			continue;
		share->n_users++;
		return share;
	}
	return make_shares(shares, client);
}

void shares_put(struct shares *shares, struct share *share)
{
	if (--share->n_users)
		return;
	assert(!share->n_asked && !share->n_in_flight);
	cds_list_del(&share->chain);
	cds_list_add(&share->chain, &shares->free);
}
