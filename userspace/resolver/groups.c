/* SPDX-License-Identifier: GPL-2.0-only */
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
	CDS_INIT_LIST_HEAD(&g->queue);
	g->all = calloc(g->n_all, sizeof(*g->all));
	g->table = malloc(n_chains * sizeof(*g->table));
	if (!g->all || !g->table) {
		groups_fini(g);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < n_chains; i++)
		CDS_INIT_LIST_HEAD(&g->table[i]);
	return 0;
}

void groups_fini(struct groups *g)
{
	free(g->all);
	free(g->table);
	g->all = NULL;
	g->table = NULL;
}

static bool is_same(const struct groups *g, const struct resolver_group *group,
		    const struct resolver_question *q)
{
	return group->hash == q->hash && group->qtype == q->qtype && group->qclass == q->qclass &&
	       (g->keeps_cd ? group->checking_disabled == q->checking_disabled :
			      group->memory == q->memory) &&
	       name_equal(group->name, q->name);
}

static struct resolver_group *find(struct groups *g, const struct resolver_question *q)
{
	struct resolver_group *group;

	cds_list_for_each_entry(group, &g->table[q->hash & g->table_mask], chain)
		if (is_same(g, group, q))
			return group;
	return NULL;
}

/* The one that was freed last, since its memory is warm. */
static struct resolver_group *take_free(struct groups *g)
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

static struct resolver_group *make(struct groups *g, const struct resolver_question *q)
{
	struct resolver_group *group = take_free(g);

	group->owner = g->owner;
	group->hash = q->hash;
	group->qtype = q->qtype;
	group->qclass = q->qclass;
	group->memory = q->memory;
	group->checking_disabled = q->checking_disabled;
	group->asked = false;
	memcpy(group->name, q->name, name_bytes(q->name));
	CDS_INIT_LIST_HEAD(&group->waiters);
	cds_list_add(&group->chain, &g->table[q->hash & g->table_mask]);
	cds_list_add_tail(&group->queue, &g->queue);
	return group;
}

static void drop(struct groups *g, struct resolver_group *group)
{
	cds_list_del(&group->chain);
	cds_list_add(&group->chain, &g->free);
}

bool groups_join(struct groups *g, struct resolver_question *q)
{
	struct resolver_group *group = find(g, q);
	bool joined = group;

	if (!group)
		group = make(g, q);
	else if (cds_list_empty(&group->waiters))
		g->n_orphaned--;
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
		g->n_orphaned++;
		return;
	}
	cds_list_del(&group->queue);
	drop(g, group);
}

struct resolver_group *groups_next(struct groups *g)
{
	struct resolver_group *group;

	if (cds_list_empty(&g->queue) || g->n_asked - g->n_orphaned >= g->upstream_max ||
	    g->n_asked >= GROUPS_ORPHANED_TIMES * g->upstream_max)
		return NULL;
	group = cds_list_entry(g->queue.next, struct resolver_group, queue);
	cds_list_del(&group->queue);
	group->asked = true;
	g->n_asked++;
	return group;
}

void groups_put(struct groups *g, struct resolver_group *group)
{
	assert(group->asked && cds_list_empty(&group->waiters));
	g->n_asked--;
	g->n_orphaned--;
	drop(g, group);
}
