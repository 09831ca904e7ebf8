/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/cache_queries.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "cache/entry_walk.h"
#include "census/cache_match.h"
#include "report/report.h"
#include "census/denial_query.h"
#include "base/background.h"
#include "base/json_put.h"

#define FOUND_MAX 256u /* answers that a lookup shows */

#define ZONES_DEFAULT 10u
#define ZONES_MAX     1000u

struct cache_query {
	struct background_job job; /* first: job and query have one address */
	struct cache_queries *queries;
	struct cache
		*cache; /* in use when this began; it lives until all jobs like this have ended */
	uint64_t ticket;
	walk_visit *visit;
	json_t *(*report)(struct cache_query *q);
	bool is_flush;
	int code;

	struct cache_match match;
	struct denial_query denial;
	uint64_t n_withdrawn;
	struct census *census;
	size_t n_zones;
	struct cache_found found[FOUND_MAX];
	size_t n_found; /* of all answers, also those beyond FOUND_MAX */
	json_t *reply;  /* the object to add the answers to; or NULL */
};

/* --- In the background ------------------------------------------------------------------------ */

static void run_cache_query(struct background_job *job)
{
	struct cache_query *q = (struct cache_query *)job;
	const bool *cancel = &job->is_cancelled;

	if (q->is_flush)
		q->code = cache_sweep(q->cache, cancel, q->visit, q, answer_cache_grace,
				      q->queries->cache, &q->n_withdrawn);
	else
		cache_walk_offline(q->cache, cancel, q->visit, q);
}

static enum walk_step take_census(void *user, const struct volley_entry *e)
{
	struct cache_query *q = user;
	uint32_t now_s = clock_coarse_s();

	census_add(q->census, e, cache_entry_verdict(q->cache, e, now_s), now_s);
	return WALK_ON;
}

static enum walk_step take_copy(void *user, const struct volley_entry *e)
{
	struct cache_query *q = user;
	struct cache_found *found;

	if (denial_query_is_denial(&q->denial, e) &&
	    cache_entry_verdict(q->cache, e, clock_coarse_s()) == CACHE_HIT)
		q->denial.has_denial = true;
	if (!cache_match_has(&q->match, e) || q->n_found++ >= FOUND_MAX)
		return WALK_ON;
	found = &q->found[q->n_found - 1];
	found->verdict = cache_entry_verdict(q->cache, e, clock_coarse_s());
	found->queue = cache_entry_queue(q->cache, e);
	found->entry = malloc(e->bytes);
	if (found->entry)
		memcpy(found->entry, e, e->bytes);
	else
		q->n_found--;
	return WALK_ON;
}

static enum walk_step withdraw_cache_query(void *user, const struct volley_entry *e)
{
	const struct cache_query *q = user;

	return cache_match_has(&q->match, e) ? WALK_WITHDRAW : WALK_ON;
}

/* --- The reply -------------------------------------------------------------------------------- */

static json_t *report_stats_of(struct cache_query *q)
{
	json_t *o = report_cache(report_view_now(&q->queries->reports));

	cache_report_census(o, report_view_now(&q->queries->reports), q->census, q->n_zones);
	return o;
}

static size_t n_shown(const struct cache_query *q)
{
	return q->n_found < FOUND_MAX ? q->n_found : FOUND_MAX;
}

static json_t *list_found(const struct cache_query *q)
{
	const struct report_view *v = report_view_now(&q->queries->reports);
	json_t *list = json_array();

	for (size_t i = 0; i < n_shown(q); i++)
		json_array_append_new(list, cache_report_entry(v, &q->found[i]));
	return list;
}

static json_t *report_added(struct cache_query *q)
{
	json_object_set_new(q->reply, "cache", list_found(q));
	if (q->n_found > FOUND_MAX)
		json_put_int(q->reply, "cache_not_shown", q->n_found - FOUND_MAX);
	return json_incref(q->reply);
}

/* True if the filter denies the name and the driver may deny names of its zone. */
static bool is_zone_denied(const struct cache_query *q)
{
	const struct zones_entry *entry;
	unsigned int bytes;
	const uint8_t *apex = denial_query_apex(&q->denial, &bytes);

	entry = apex ? zones_get_apex(report_view_now(&q->queries->reports)->zones, apex, bytes) :
		       NULL;
	return entry && entry->published.names_id && !entry->denials_fault &&
	       entry->config->driver_denials != CONFIG_DENIALS_OFF;
}

static json_t *report_found(struct cache_query *q)
{
	json_t *o = json_object();
	char text[2 * NAME_TEXT_MAX + 64];

	json_put_bool(o, "found", q->n_found != 0);
	if (!q->n_found) {
		denial_query_text(&q->denial, is_zone_denied(q), text, sizeof(text));
		json_put_text(o, "driver", text);
	}
	if (q->n_found > FOUND_MAX)
		json_put_int(o, "not_shown", q->n_found - FOUND_MAX);
	json_object_set_new(o, "entries", list_found(q));
	return o;
}

static json_t *report_flush(struct cache_query *q)
{
	return json_pack("{s:I}", "withdrawn", (json_int_t)q->n_withdrawn);
}

static void query_free(struct cache_query *q)
{
	for (size_t i = 0; i < n_shown(q); i++)
		free(q->found[i].entry);
	census_free(q->census);
	json_decref(q->reply);
	q->queries->n_walks--;
	free(q);
}

static void cache_query_ended(struct background_job *job)
{
	struct cache_query *q = (struct cache_query *)job;
	const char *err = "";
	json_t *result = NULL;

	if (background_is_cancelled(job)) {
		q->code = -ECANCELED;
		err = "volleyd stops: the walk over the cache is given up";
	} else if (q->code) {
		err = "withdrawn, but the kernel gives no grace period, so a reader may still use "
		      "the old data";
	} else {
		result = q->report(q);
		q->code = result ? 0 : -ENOMEM;
	}
	ctl_answer(q->queries->ctl, q->ticket, clock_ns(), q->code, result, err);
	query_free(q);
}

/* --- The commands ----------------------------------------------------------------------------- */

static int query_new(struct cache_query **out, struct cache_queries *queries, char *err,
		     size_t err_cap)
{
	struct cache_query *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->job = (struct background_job){ .run = run_cache_query, .ended = cache_query_ended };
	q->queries = queries;
	q->cache = queries->cache->cache;
	/* A walk goes on after its client hangs up, so the limit of clients is not enough. */
	if (queries->n_walks < ctl_waiting_cap(queries->ctl))
		q->ticket = ctl_defer(queries->ctl);
	if (q->ticket) {
		queries->n_walks++;
		*out = q;
		return 0;
	}
	snprintf(err, err_cap, "too many walks over the cache wait already, try again later");
	free(q);
	return -EBUSY;
}

static int start_cache_query(struct cache_query *q, walk_visit *visit,
			     json_t *(*report)(struct cache_query *))
{
	q->visit = visit;
	q->report = report;
	background_start(q->queries->background, &q->job);
	return CTL_LATER;
}

int cache_queries_stats(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct cache_queries *queries = user;
	struct cache_query *q;
	uint64_t n_zones = ZONES_DEFAULT;
	int code = ctl_read_n(args, ZONES_MAX, &n_zones, err, err_cap);

	(void)result;
	if (!code)
		code = query_new(&q, queries, err, err_cap);
	if (code)
		return code;
	q->n_zones = n_zones;
	q->census = census_new(cache_state(queries->cache->cache)->n_zones);
	if (q->census)
		return start_cache_query(q, take_census, report_stats_of);
	query_free(q);
	return -ENOMEM;
}

/* Takes the reference to reply, which may be NULL. */
static int look_up_cache_query(struct cache_queries *queries, const struct cache_match *match,
			       json_t *reply, char *err, size_t err_cap)
{
	struct cache_query *q;
	int code = query_new(&q, queries, err, err_cap);

	if (code) {
		json_decref(reply);
		return code;
	}
	q->match = *match;
	q->reply = reply;
	denial_query_begin(&q->denial, report_view_now(&queries->reports)->names, &q->match);
	return start_cache_query(q, take_copy, reply ? report_added : report_found);
}

int cache_queries_lookup(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct cache_match match;
	int code = cache_match_read_name(&match, ctl_arg(args, 0), ctl_arg(args, 1), err, err_cap);

	(void)result;
	return code ? code : look_up_cache_query(user, &match, NULL, err, err_cap);
}

int cache_queries_add(struct cache_queries *queries, const struct cache_match *match, json_t *o,
		      char *err, size_t err_cap)
{
	return look_up_cache_query(queries, match, o, err, err_cap);
}

static int find_cache_query_zone(const struct zones *zones, const char *name, uint32_t *slot,
				 char *err, size_t err_cap)
{
	const struct zones_entry *entry = zones_find(zones, name);

	if (!entry) {
		snprintf(err, err_cap, "%s: no such zone is configured", name);
		return ERR_NOT_FOUND;
	}
	*slot = entry->published.slot;
	return 0;
}

/* Without this the resolver, or an outstanding question, would bring back a flushed answer. */
static int forget_upstream(struct recursion *recursion, bool is_all, char *err, size_t err_cap)
{
	int code = recursion_forget(recursion, err, err_cap);

	if (code || !is_all)
		return code;
	code = recursion_flush(recursion);
	if (code)
		snprintf(err, err_cap, "%s", err_text(code));
	return code;
}

int cache_queries_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct cache_queries *queries = user;
	struct cache_match match;
	const char *zone;
	struct cache_query *q;
	int code = cache_match_read(&match, args, &zone, err, err_cap);

	(void)result;
	if (!code && zone)
		code = find_cache_query_zone(report_view_now(&queries->reports)->zones, zone,
					     &match.zone_slot, err, err_cap);
	if (!code && !zone)
		code = forget_upstream(queries->recursion, match.by == CACHE_MATCH_ALL, err,
				       err_cap);
	if (!code)
		code = query_new(&q, queries, err, err_cap);
	if (code)
		return code;
	q->match = match;
	q->is_flush = true;
	return start_cache_query(q, withdraw_cache_query, report_flush);
}
