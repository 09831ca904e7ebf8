/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "zonemgr/withdraw.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "cache/dependency_filter.h"
#include "cache/entry_walk.h"
#include "cache/generations.h"
#include "invalidate/affected.h"

struct plan {
	struct withdrawal_zone zone;
	struct changes *changes;
	uint32_t gen;
	struct plan *next;
};

struct withdrawal {
	struct cache *cache;
	struct plan *plans;
	struct plan **by_slot;
	uint32_t n_slots;
	const struct zone_set *set; /* NULL: no routes are planned */
	bool moves_cuts;
	uint32_t *gens; /* generations of `set`, by slot; NULL: only these zones have come: */
	const uint8_t **come;
	size_t n_come;
	uint64_t n_led_elsewhere;
};

void withdrawal_expect(struct cache *cache)
{
	if (cache_filter_new(cache, affected_dependencies))
		log_warn("zones: no memory for the index of cached answers by name: each "
			 "change of a zone checks all answers");
}

struct withdrawal *withdrawal_new(struct cache *cache)
{
	struct withdrawal *w = calloc(1, sizeof(*w));

	if (w)
		*w = (struct withdrawal){ .cache = cache, .n_slots = cache_state(cache)->n_zones };
	return w;
}

static void forget_plans(struct withdrawal *w)
{
	struct plan *plan, *next;

	for (plan = w->plans; plan; plan = next) {
		next = plan->next;
		changes_free(plan->changes);
		free(plan);
	}
	w->plans = NULL;
}

void withdrawal_free(struct withdrawal *w)
{
	if (!w)
		return;
	forget_plans(w);
	free(w->by_slot);
	free(w->gens);
	free(w->come);
	free(w);
}

/* --- Before the new zones serve --------------------------------------------------------------- */

static struct plan *plan_new(struct withdrawal *w, const struct withdrawal_zone *zone,
			     enum changes_refusal *why)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	*why = CHANGES_MEMORY;
	if (!w->by_slot)
		w->by_slot = calloc(w->n_slots, sizeof(struct plan *));
	if (!plan || !w->by_slot) {
		changes_free(zone->changes);
		free(plan);
		return NULL;
	}
	plan->zone = *zone;
	plan->changes = zone->changes;
	*why = zone->refusal;
	if (!zone->is_compared)
		plan->changes = changes_new(zone->old_zone, zone->new_zone, why);
	if (plan->changes)
		return plan;
	free(plan);
	return NULL;
}

static uint32_t refuse_withdraw(const struct withdrawal_zone *zone, const char *words)
{
	*zone->told = (struct withdrawn){ .is_known = true, .all = words };
	return 0;
}

uint32_t withdrawal_plan(struct withdrawal *w, const struct withdrawal_zone *zone)
{
	enum changes_refusal why;
	struct plan *plan;

	if (!zone->slot || zone->slot >= w->n_slots) {
		changes_free(zone->changes);
		return refuse_withdraw(zone, "none are cached");
	}
	plan = plan_new(w, zone, &why);
	if (!plan)
		return refuse_withdraw(zone, changes_refusal_text(why));
	plan->gen = cache_zone_begin_change(w->cache, zone->slot, zone->from);
	if (!plan->gen) {
		changes_free(plan->changes);
		free(plan);
		return refuse_withdraw(zone, "an earlier change did not end");
	}
	plan->next = w->plans;
	w->plans = plan;
	w->by_slot[zone->slot] = plan;
	w->moves_cuts |= changes_have_cuts(plan->changes);
	*zone->told =
		(struct withdrawn){ .is_known = true, .n_names = changes_n_names(plan->changes) };
	return plan->gen;
}

bool withdrawal_moves_cuts(const struct withdrawal *w)
{
	return w->moves_cuts;
}

int withdrawal_plan_routes(struct withdrawal *w, const struct zone_set *set)
{
	struct zone_set_place place = { 0 };
	const struct zone_member *m;

	w->gens = calloc(w->n_slots, sizeof(*w->gens));
	if (!w->gens)
		return -ENOMEM;
	while ((m = zone_set_next(set, &place)))
		if (m->cache_slot < w->n_slots)
			w->gens[m->cache_slot] = m->cache_gen;
	w->set = set;
	return 0;
}

void withdrawal_note_gen(struct withdrawal *w, uint32_t slot, uint32_t gen)
{
	if (w->gens && slot < w->n_slots)
		w->gens[slot] = gen;
}

int withdrawal_plan_come(struct withdrawal *w, const struct zone_set *set, const uint8_t *apex)
{
	const uint8_t **grown = w->come;

	if (!(w->n_come & (w->n_come - 1)))
		grown = reallocarray(w->come, w->n_come ? 2 * w->n_come : 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	w->come = grown;
	w->come[w->n_come++] = apex;
	w->set = set;
	return 0;
}

void withdrawal_cancel(struct withdrawal *w)
{
	for (struct plan *plan = w->plans; plan; plan = plan->next)
		cache_zone_end_change(w->cache, plan->zone.slot, plan->zone.from);
	forget_plans(w);
}

/* --- After the new zones serve ---------------------------------------------------------------- */

/* True if the new set routes this answer of one of its zones elsewhere, or if it is from upstream
 * and the name is now ours. Dead answers stay. */
static bool is_led_elsewhere(const struct withdrawal *w, const struct volley_entry *e)
{
	bool is_upstreams = e->key.view == VOLLEY_VIEW_RECURSIVE;

	if (!w->set || e->zone_slot >= w->n_slots)
		return false;
	return (is_upstreams || !w->gens || e->zone_gen == w->gens[e->zone_slot]) &&
	       !routes_hold(w->set, e);
}

static struct plan *plan_of(const struct withdrawal *w, const struct volley_entry *e)
{
	return w->plans && e->zone_slot < w->n_slots ? w->by_slot[e->zone_slot] : NULL;
}

static bool is_changed(void *user, const struct volley_entry *e)
{
	const struct plan *plan = plan_of(user, e);

	return plan && e->zone_gen == plan->gen && affected_by(plan->changes, e);
}

static bool is_withdrawn(void *user, const struct volley_entry *e)
{
	return is_led_elsewhere(user, e) || is_changed(user, e);
}

static void count_withdrawn(void *user, const struct volley_entry *e)
{
	struct withdrawal *w = user;

	if (is_changed(w, e))
		plan_of(w, e)->zone.told->n_answers++;
	else
		w->n_led_elsewhere++;
}

static enum walk_step judge_withdraw(void *user, const struct volley_entry *e)
{
	struct withdrawal *w = user;

	if (!is_withdrawn(w, e))
		return WALK_ON;
	count_withdrawn(w, e);
	return WALK_WITHDRAW;
}

static int list_all(const struct withdrawal *w, struct dependency_list *list)
{
	uint64_t seed = cache_filter_seed(w->cache);
	int err = 0;

	for (const struct plan *plan = w->plans; !err && plan; plan = plan->next)
		err = affected_list(seed, plan->changes, list);
	for (size_t i = 0; !err && i < w->n_come; i++)
		err = affected_list_below(seed, w->come[i], list);
	return err;
}

/* Not 0: a walk is needed. */
static int invalidate(struct withdrawal *w, bool *must_wait)
{
	struct dependency_list list = { .n = 0 };
	struct cache_invalidation invalidation = { .is_affected = is_withdrawn,
						   .withdrawn = count_withdrawn,
						   .user = w };
	int err = list_all(w, &list);

	invalidation.dependencies = list.items;
	invalidation.n_dependencies = list.n;
	if (!err)
		err = cache_invalidate(w->cache, &invalidation, must_wait);
	free(list.items);
	return err;
}

static void flush_set(const struct withdrawal *w)
{
	struct zone_set_place place = { 0 };
	const struct zone_member *m;

	while (w->set && (m = zone_set_next(w->set, &place)))
		cache_zone_flush(w->cache, m->cache_slot);
}

void withdrawal_give_up(struct withdrawal *w)
{
	for (struct plan *plan = w->plans; plan; plan = plan->next) {
		cache_zone_flush(w->cache, plan->zone.slot);
		refuse_withdraw(&plan->zone,
				"the kernel gives no grace period, so a reader may still use "
				"the old data");
	}
	flush_set(w);
	forget_plans(w);
}

int withdrawal_run(struct withdrawal *w, cache_grace_fn *grace, void *grace_user)
{
	bool must_wait = false;
	uint64_t n;
	int err = 0;

	if (!w->plans && !w->set)
		return 0;
	if (w->gens || invalidate(w, &must_wait))
		err = cache_sweep(w->cache, NULL, judge_withdraw, w, grace, grace_user, &n);
	else if (must_wait)
		err = grace(grace_user);
	if (err) {
		withdrawal_give_up(w);
		return err;
	}
	for (struct plan *plan = w->plans; plan; plan = plan->next)
		cache_zone_end_change(w->cache, plan->zone.slot, plan->zone.to);
	if (w->n_led_elsewhere)
		log_info("zones: %llu cached answers withdrawn: their names are in other zones now",
			 (unsigned long long)w->n_led_elsewhere);
	forget_plans(w);
	return 0;
}
