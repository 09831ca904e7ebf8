/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_queries.h"

#include <errno.h>
#include <stdlib.h>

int forward_queries_init(struct forward_queries *queries, uint32_t max)
{
	uint32_t n_chains = 64;

	while (n_chains < max && n_chains < 1U << 20)
		n_chains *= 2;
	queries->mask = n_chains - 1;
	queries->table = malloc(n_chains * sizeof(*queries->table));
	if (!queries->table)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_chains; i++)
		CDS_INIT_LIST_HEAD(&queries->table[i]);
	return 0;
}

void forward_queries_fini(struct forward_queries *queries)
{
	free(queries->table);
	queries->table = NULL;
}

/* The ID is random but has only 16 bits; the channel's address spreads it. */
static struct cds_list_head *chain_of_forward_queries(const struct forward_queries *queries,
						      const struct forward_channel *channel,
						      uint16_t id)
{
	uint64_t n = (uint64_t)(uintptr_t)channel / sizeof(*channel) * 0x9e3779b97f4a7c15ULL;

	return &queries->table[((uint32_t)(n >> 40) ^ id) & queries->mask];
}

struct forward_query *forward_queries_find(const struct forward_queries *queries,
					   const struct forward_channel *channel, uint16_t id)
{
	struct forward_query *query;

	cds_list_for_each_entry(query, chain_of_forward_queries(queries, channel, id), chain)
		if (query->channel == channel && query->id == id)
			return query;
	return NULL;
}

void forward_queries_add(struct forward_queries *queries, struct forward_query *query,
			 struct forward_channel *channel, struct random *random)
{
	do
		query->id = random_u16(random);
	while (forward_queries_find(queries, channel, query->id));
	query->channel = channel;
	channel->n_queries++;
	cds_list_add(&query->chain, chain_of_forward_queries(queries, channel, query->id));
	cds_list_add_tail(&query->on_channel, &channel->queries);
}

void forward_queries_remove(struct forward_query *query)
{
	query->channel->n_queries--;
	query->channel = NULL;
	cds_list_del(&query->chain);
	cds_list_del(&query->on_channel);
}
