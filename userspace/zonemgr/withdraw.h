/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a new version of a zone takes out of the answer cache: the answers that it changed, where
 * that can be told; else all of the zone's. docs/decisions/0010-withdraw-what-changed.md
 *
 *      withdrawal_plan        for each zone: compares old and new, unless that is done; its generation stays
 *      withdrawal_plan_routes where a zone has come: answers of others may change
 *      (engine/routes.h); where a cut has changed
 *                             and there is recursion: names may be ours now
 *      the new zones serve
 *      grace period           who rendered from the old ones has published
 *      withdrawal_run         one invalidation through the cache for all of them, or a walk; grace period
 *
 * An invalidation (cache/dependency_filter.h) looks only where the names that changed lead to;
 * docs/decisions/0023. Routes take a walk.
 *
 * Between plan and the end of run the generation stands for no content, so a daemon that dies there
 * leaves nothing of these zones to the next one. Control's thread calls all of these.
 */
#ifndef VOLLEY_ZONEMGR_WITHDRAW_H
#define VOLLEY_ZONEMGR_WITHDRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/keeper.h"
#include "engine/changes.h"
#include "zone/set.h"
#include "zone/zone.h"

/* What the last change of a zone took out of the cache, for people. */
struct withdrawn {
	bool is_known;
	const char *all; /* why all answers went; NULL: those that changed did. Static. */
	uint64_t n_names;
	uint64_t n_answers;
};

struct withdrawal_zone {
	uint32_t slot;
	const struct zone *old_zone, *new_zone; /* both live until run has returned */
	uint64_t from[2], to[2];                /* digests of the content before and after */
	struct withdrawn *told;                 /* lives as long; NULL is not allowed */
	bool is_compared;                       /* changes and refusal are those of changes_new() */
	struct changes *changes;                /* withdrawal_plan() takes it */
	enum changes_refusal refusal;
};

struct withdrawal;

/*
 * Zones will be served: from now on this cache's answers are noted by what they rest on, those that
 * are in it first. As often as you like.
 */
void withdrawal_expect(struct cache *cache);

/* NULL: no memory. */
struct withdrawal *withdrawal_new(struct cache *cache);
void withdrawal_free(struct withdrawal *withdrawal);

/*
 * The generation that answers of the new zone carry: the present one. 0, and nothing is planned,
 * when all answers have to go; told->all says why.
 */
uint32_t withdrawal_plan(struct withdrawal *withdrawal, const struct withdrawal_zone *zone);

/*
 * Does a change that was planned touch a cut or a DNAME? Then names below it may be ours that
 * upstream has answered for, and where there is recursion routes have to be planned.
 */
bool withdrawal_moves_cuts(const struct withdrawal *withdrawal);

/*
 * The walk also takes out what `set`, which is to serve, no longer leads to: answers of zones that
 * have not changed themselves, and those from upstream for names that are ours now, below no cut.
 * The set lives until run has returned. 0 or -ENOMEM.
 */
int withdrawal_plan_routes(struct withdrawal *withdrawal, const struct zone_set *set)
	__attribute__((warn_unused_result));

/* What was planned does not take place: the old zones go on. */
void withdrawal_cancel(struct withdrawal *withdrawal);

/*
 * After the new zones serve and a grace period of all who render. When it returns 0, nobody gives
 * an answer that changed; it has waited for nobody where there was none in the cache. An error is
 * that of `grace`; then all answers of these zones are dead; where routes were planned, all of the
 * set.
 */
int withdrawal_run(struct withdrawal *withdrawal, cache_grace_fn *grace, void *grace_user)
	__attribute__((warn_unused_result));

/* The same instead of run, where the first grace period failed: all these answers die. */
void withdrawal_give_up(struct withdrawal *withdrawal);

#endif
