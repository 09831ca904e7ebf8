/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/groups.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int groups_init(struct groups *g, uint32_t max_questions, uint32_t upstream_max, void *owner)
{
	uint64_t n_chains = 64;

	while (n_chains < max_questions)
		n_chains *= 2;
	*g = (struct groups){
		.owner = owner,
		.table_mask = n_chains - 1,
		.upstream_max = upstream_max,
		.n_all = max_questions + GROUPS_ORPHANED_TIMES * upstream_max,
	};
	CDS_INIT_LIST_HEAD(&g->free);
	ranks_init(&g->waiting);
	ranks_init(&g->live);
	g->all = calloc(g->n_all, sizeof(*g->all));
	g->table = malloc(n_chains * sizeof(*g->table));
	if (shares_init(&g->shares, g->n_all) || !g->all || !g->table) {
		groups_fini(g);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < n_chains; i++)
		CDS_INIT_LIST_HEAD(&g->table[i]);
	return 0;
}

void groups_fini(struct groups *g)
{
	shares_fini(&g->shares);
	free(g->all);
	free(g->table);
	g->all = NULL;
	g->table = NULL;
}

static bool is_groups_same(const struct groups *g, const struct resolver_group *group,
			   const struct resolver_question *q)
{
	return group->hash == q->hash && group->qtype == q->qtype && group->qclass == q->qclass &&
	       (g->keeps_cd ? group->checking_disabled == q->checking_disabled :
			      group->memory == q->memory) &&
	       name_equal(group->name, q->name);
}

static struct resolver_group *find_groups(struct groups *g, const struct resolver_question *q)
{
	struct resolver_group *group;

	cds_list_for_each_entry(group, &g->table[q->hash & g->table_mask], chain)
		if (is_groups_same(g, group, q))
			return group;
	return NULL;
}

/* Takes the group that was freed last, because its memory is in the CPU's caches. */
static struct resolver_group *take_groups_free(struct groups *g)
{
	struct resolver_group *group;

	if (cds_list_empty(&g->free)) {
		assert(g->n_fresh < g->n_all);
		return &g->all[g->n_fresh++];
	}
	group = cds_list_entry(g->free.next, struct resolver_group, chain);
	cds_list_del(&group->chain);
	return group;
}

/* --- The lists of a share --------------------------------------------------------------------- */

static void enqueue_groups(struct groups *g, struct resolver_group *group, struct share *share)
{
	group->share = share;
	cds_list_add_tail(&group->queue, &share->queue);
	if (!share->by_asked.at)
		ranks_put(&g->waiting, &share->by_asked, share->n_asked);
}

static void dequeue(struct groups *g, struct resolver_group *group)
{
	struct share *share = group->share;

	cds_list_del(&group->queue);
	if (cds_list_empty(&share->queue))
		ranks_remove(&g->waiting, &share->by_asked);
}

static void set_asked(struct groups *g, struct share *share, uint32_t n_asked)
{
	share->n_asked = n_asked;
	ranks_move(&g->waiting, &share->by_asked, n_asked);
}

static void make_live(struct groups *g, struct resolver_group *group)
{
	struct share *share = group->share;

	group->is_live = true;
	cds_list_add_tail(&group->queue, &share->live);
	ranks_put(&g->live, &share->by_live, ++share->n_live);
}

static void end_live(struct groups *g, struct resolver_group *group)
{
	struct share *share = group->share;

	if (!group->is_live)
		return;
	group->is_live = false;
	cds_list_del(&group->queue);
	if (--share->n_live)
		ranks_move(&g->live, &share->by_live, share->n_live);
	else
		ranks_remove(&g->live, &share->by_live);
}

/* If a client with fewer places asks the same, the group need not wait as long as for the first
 * client. */
static void recharge(struct groups *g, struct resolver_group *group, uint64_t client)
{
	struct share *old = group->share, *share;

	if (client == old->client)
		return;
	if (group->asked) {
		end_live(g, group);
		group->is_joined = true;
		return;
	}
	share = shares_get(&g->shares, client);
	if (share->n_asked >= old->n_asked) {
		shares_put(&g->shares, share);
		return;
	}
	dequeue(g, group);
	enqueue_groups(g, group, share);
	shares_put(&g->shares, old);
}

/* --- Questions -------------------------------------------------------------------------------- */

static struct resolver_group *make_groups(struct groups *g, const struct resolver_question *q)
{
	struct resolver_group *group = take_groups_free(g);

	group->owner = g->owner;
	group->hash = q->hash;
	group->qtype = q->qtype;
	group->qclass = q->qclass;
	group->memory = q->memory;
	group->checking_disabled = q->checking_disabled;
	group->asked = false;
	group->is_live = false;
	group->is_joined = false;
	memcpy(group->name, q->name, name_bytes(q->name));
	CDS_INIT_LIST_HEAD(&group->waiters);
	cds_list_add(&group->chain, &g->table[q->hash & g->table_mask]);
	enqueue_groups(g, group, shares_get(&g->shares, q->place.client));
	return group;
}

static void drop_groups(struct groups *g, struct resolver_group *group)
{
	shares_put(&g->shares, group->share);
	cds_list_del(&group->chain);
	cds_list_add(&group->chain, &g->free);
}

/* A group without waiters gets one again. */
static void adopt_groups(struct groups *g, struct resolver_group *group, uint64_t client)
{
	g->n_orphaned--;
	group->is_joined = client != group->share->client;
	if (!group->is_joined)
		make_live(g, group);
}

bool groups_join(struct groups *g, struct resolver_question *q)
{
	struct resolver_group *group = find_groups(g, q);
	bool joined = group;

	if (!group)
		group = make_groups(g, q);
	else if (cds_list_empty(&group->waiters))
		adopt_groups(g, group, q->place.client);
	else
		recharge(g, group, q->place.client);
	cds_list_add_tail(&q->waiting, &group->waiters);
	q->group = group;
	return joined;
}

void groups_leave(struct groups *g, struct resolver_question *q)
{
	struct resolver_group *group = q->group;

	cds_list_del(&q->waiting);
	q->group = NULL;
	if (!cds_list_empty(&group->waiters))
		return;
	if (group->asked) {
		end_live(g, group);
		g->n_orphaned++;
		return;
	}
	dequeue(g, group);
	drop_groups(g, group);
}

/* --- Asking ----------------------------------------------------------------------------------- */

struct share *groups_peek(const struct groups *g)
{
	struct rank *rank = ranks_least(&g->waiting);

	return rank ? caa_container_of(rank, struct share, by_asked) : NULL;
}

/* Takes a place from a share with the most places; false: the difference is too small. */
static bool displace_groups(struct groups *g, const struct share *share)
{
	struct rank *rank = ranks_most(&g->live);
	struct share *most = rank ? caa_container_of(rank, struct share, by_live) : NULL;

	if (!g->displace || !most || !share_may_displace(share->n_asked, most->n_live))
		return false;
	g->displace(g->owner, cds_list_entry(most->live.next, struct resolver_group, queue));
	return true;
}

static bool has_groups_place(struct groups *g, const struct share *share)
{
	uint32_t n_free = g->n_asked < g->upstream_max ? g->upstream_max - g->n_asked : 0;

	if (g->n_asked >= GROUPS_ORPHANED_TIMES * g->upstream_max ||
	    !share_fits(share->n_asked, n_free))
		return false;
	return g->n_asked - g->n_orphaned < g->upstream_max || displace_groups(g, share);
}

struct resolver_group *groups_next(struct groups *g)
{
	struct share *share = groups_peek(g);
	struct resolver_group *group;

	if (!share || !has_groups_place(g, share))
		return NULL;
	group = cds_list_entry(share->queue.next, struct resolver_group, queue);
	dequeue(g, group);
	group->asked = true;
	g->n_asked++;
	set_asked(g, share, share->n_asked + 1);
	make_live(g, group);
	if (share->by_asked.at) /* behind others of the same rank */
		ranks_put(&g->waiting, &share->by_asked, share->n_asked);
	return group;
}

void groups_put(struct groups *g, struct resolver_group *group)
{
	assert(group->asked && cds_list_empty(&group->waiters));
	g->n_asked--;
	g->n_orphaned--;
	set_asked(g, group->share, group->share->n_asked - 1);
	drop_groups(g, group);
}
