/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of the daemon, as JSON objects for the control socket. Units are in the names. Each
 * function returns a new reference, or NULL: no memory. Control's thread.
 */
#ifndef VOLLEY_REPORT_REPORT_H
#define VOLLEY_REPORT_REPORT_H

#include <jansson.h>

#include "census/cache_census.h"
#include "census/cache_match.h"
#include "report/report_view.h"
#include "querier/inspect.h"

/* "starting", "serving" or "stopping". Static. */
const char *report_state_text(enum report_state state);
json_t *report_status(const struct report_view *v);
/* The number of zones in each state: {serving, stale, awaited, expired, failed, loading}. A zone
 * that is loaded anew counts twice: by its present state and as loading. LIST gets the sentences
 * about what is wrong with HEALTH_LISTED_MAX zones, and the number of other such zones: all zones
 * of a host may be wrong at once. One walk over all zones. */
json_t *report_zone_states(const struct zones *zones, json_t *list);
/* The addresses as ["ADDRESS@PORT"...]. */
json_t *report_listen(const struct config_addr *listen, uint32_t n);
json_t *report_stats(const struct report_view *v);
json_t *report_cache(const struct report_view *v);
json_t *report_ports(const struct report_view *v);

/* For `status`: the way in which upstreams are asked. A new reference. */
json_t *report_recursion(const struct report_view *v);

/* For `stats`, while there are workers: adds "resolver" and "responder" to o if recursion is on. */
void report_recursion_counters(json_t *o, const struct report_view *v);

/*
 * Explains the answer for a name, for `volleyctl resolver lookup`; the cache's answers are added
 * elsewhere. It sends no query upstream and asks no engine, so a rule counts no hit.
 *
 *	name, type ─► answered_by, before_upstream   zones, local data and lists, special names,
 *	           │                                 in the engine's order
 *	           ├─► asks, upstreams or targets    the upstreams, and the state of each
 *	           ├─► validation                    trust anchors, and names without validation
 *	           └─► failures                      the last ones, with the reasons
 */

/*
 * Adds the explanation to *o, for a match of CACHE_MATCH_NAME. Without a type it is for A, with the
 * failures of all types. Reads the files of trust anchors. Control's thread.
 */
void report_lookup(json_t *o, const struct report_view *v, const struct cache_match *match);

/*
 * The resolver's state of upstreams, as JSON: querier/inspect.h says which values may not belong
 * together. Units are in the names. Each function returns a new reference, or NULL: no memory.
 * Control's thread.
 */

/*
 * The servers that get a target's questions: an object with way, zone, and, if known, addresses,
 * first, transport or root_hints.
 */
json_t *report_upstreams_way(const struct resolver_config *config, struct querier *r,
			     size_t target);

/* An array with a row for each thread and upstream of the forwarder. Empty if libunbound asks. */
json_t *report_upstreams(struct querier *r);

/* The counts of a target of libunbound. NULL: no memory, or another row has them. */
json_t *report_upstreams_target(const struct resolver_config *config, struct querier *r,
				size_t target);

/* For `volleyctl resolver infra`. resolver NULL: recursion is off. */
json_t *report_upstreams_all(const struct resolver_config *config, struct querier *r);

/* The filter of names that exist, for `volleyctl names`. */

/* A new reference, or NULL: no memory. Control's thread. */
json_t *names_report(const struct report_view *v);

/*
 * The results of a walk over the cache, as JSON for the control socket. Units are in the names.
 * Each function that returns an object returns a new reference, or NULL: no memory. Control's
 * thread.
 */

/* Adds hit ratios, and the census with at most `n_zones` zones, to the result of report_cache(). */
void cache_report_census(json_t *o, const struct report_view *v, const struct census *census,
			 size_t n_zones);

/* A copy of a cached answer, with facts that only its place in the cache shows. */
struct cache_found {
	struct volley_entry *entry;
	enum cache_verdict verdict;
	const char *queue; /* static */
};

json_t *cache_report_entry(const struct report_view *v, const struct cache_found *found);

/*
 * The daemon's side of volleyctl health: collects the facts for report/health.h.
 *
 * {healthy, reasons:[sentence...], warnings:[sentence...], drained, state,
 * services:["ADDRESS@PORT"...]}
 *
 * Control's thread.
 */

/* The run() of the command `health`: the user is a const struct report_view. */
int health_facts_run(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* Once a second, while there are workers: looks at each worker. */
void health_facts_tick(struct health_watch *watch, const struct workers *workers,
		       const struct zones *zones, bool is_ready);

/* True if `health` without options would find no reason. */
bool health_facts_is_well(const struct report_view *v);

#endif
