/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which cached answers a new version of a zone withdraws: the answers that it changes, if they are
 * known; else all answers of the zone. docs/decisions/0010-withdraw-what-changed.md
 *
 *      withdrawal_plan         for each zone: compares old and new, unless the loader has done so
 *      withdrawal_plan_routes  a zone has come: others' answers may change (invalidate/affected.h);
 *                              with recursion, if a cut has changed: names may be ours now
 *      the new zones serve
 *      grace period            answers rendered from the old ones are in the cache after it
 *      withdrawal_run          one invalidation for all of them, or a walk; grace period
 *
 * An invalidation (cache/dependency_filter.h) looks only at segments that may depend on changed
 * names; docs/decisions/0023. Routes need a walk over all answers.
 *
 * Between plan and the end of run the generation has no digest, so the next daemon adopts no
 * answers of these zones if this one dies meanwhile. Control's thread calls all functions.
 */
#ifndef VOLLEY_ZONEMGR_WITHDRAW_H
#define VOLLEY_ZONEMGR_WITHDRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/keeper.h"
#include "invalidate/changes.h"
#include "zone/set.h"
#include "zone/zone.h"

/* What the last change of a zone withdrew, for reports. */
struct withdrawn {
	bool is_known;
	const char *all; /* why all answers were withdrawn; NULL: only changed ones. Static. */
	uint64_t n_names;
	uint64_t n_answers;
};

struct withdrawal_zone {
	uint32_t slot;
	const struct zone *old_zone, *new_zone; /* both have to live until run has returned */
	uint64_t from[2], to[2];                /* digests of the content before and after */
	struct withdrawn *told;                 /* not NULL; has to live as long */
	bool is_compared;        /* changes and refusal are set, as by changes_new() */
	struct changes *changes; /* withdrawal_plan() takes it over */
	enum changes_refusal refusal;
};

struct withdrawal;

/* Zones will be served: from now on the cache records the dependencies of answers, beginning with
 * those that it has. May be called again. */
void withdrawal_expect(struct cache *cache);

/* NULL: no memory. */
struct withdrawal *withdrawal_new(struct cache *cache);
void withdrawal_free(struct withdrawal *withdrawal);

/* Returns the generation for answers of the new zone: the present one. 0: all answers have to go,
 * told->all says why, and nothing is planned. */
uint32_t withdrawal_plan(struct withdrawal *withdrawal, const struct withdrawal_zone *zone);

/* True if a planned change touches a cut or a DNAME. Then names below it may now belong to our
 * zones although upstream has answered for them, so with recursion routes have to be planned. */
bool withdrawal_moves_cuts(const struct withdrawal *withdrawal);

/*
 * Makes the walk also withdraw answers that the new `set` would route elsewhere: of zones that have
 * not changed themselves, and from upstream for names that are now in our zones and below no cut.
 * The set has to live until run has returned. 0 or -ENOMEM.
 */
int withdrawal_plan_routes(struct withdrawal *withdrawal, const struct zone_set *set)
	__attribute__((warn_unused_result));

/*
 * The same for a zone that comes, when recursion is off: only answers that depend on names at or
 * below its apex, which the caller keeps until run has returned, are looked at. 0 or -ENOMEM.
 */
int withdrawal_plan_come(struct withdrawal *withdrawal, const struct zone_set *set,
			 const uint8_t *apex) __attribute__((warn_unused_result));
/* After withdrawal_plan_routes(): the zone in this slot has a new generation in the set. */
void withdrawal_note_gen(struct withdrawal *withdrawal, uint32_t slot, uint32_t gen);

/* Gives the plan up: the old zones stay. */
void withdrawal_cancel(struct withdrawal *withdrawal);

/*
 * To be called when the new zones serve, after a grace period of all threads that render. When it
 * returns 0, no changed answer is given any more. If none was in the cache it does not wait. An
 * error is that of `grace`: then all answers of these zones are dead, and if routes were planned,
 * those of all zones of the set.
 */
int withdrawal_run(struct withdrawal *withdrawal, cache_grace_fn *grace, void *grace_user)
	__attribute__((warn_unused_result));

/* To be called instead of run if the first grace period failed: all these answers die. */
void withdrawal_give_up(struct withdrawal *withdrawal);

#endif
