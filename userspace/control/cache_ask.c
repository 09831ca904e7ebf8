/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/cache_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "cache/sweep.h"
#include "control/cache_match.h"
#include "control/cache_report.h"
#include "control/denial_ask.h"
#include "base/background.h"
#include "base/json_put.h"
#include "control/report.h"
#include "config/value.h"

#define FOUND_MAX 256u /* answers that a lookup shows */

#define ZONES_DEFAULT 10u
#define ZONES_MAX     1000u

struct ask {
	struct background_job job; /* first: job and ask have one address */
	struct daemon *daemon;
	struct cache *
		cache; /* the daemon's when this began: it lives until all such background jobs have ended */
	uint64_t ticket;
	walk_visit *visit;
	json_t *(*report)(struct ask *ask);
	bool is_flush;
	int code;

	struct cache_match match;
	struct denial_ask denial;
	uint64_t n_withdrawn;
	struct census *census;
	size_t n_zones;
	struct cache_found found[FOUND_MAX];
	size_t n_found; /* of all, with those that had no place */
	json_t *reply;  /* what they are added to; or NULL */
};

/* --- In the background --------------------------------------------------------------------------- */

static void run(struct background_job *job)
{
	struct ask *ask = (struct ask *)job;
	const bool *cancel = &job->is_cancelled;

	if (ask->is_flush)
		ask->code = cache_sweep(ask->cache, cancel, ask->visit, ask, daemon_grace,
					ask->daemon, &ask->n_withdrawn);
	else
		cache_walk_offline(ask->cache, cancel, ask->visit, ask);
}

static enum walk_step take_census(void *user, const struct volley_entry *e)
{
	struct ask *ask = user;
	uint32_t now_s = clock_coarse_s();

	census_add(ask->census, e, cache_entry_verdict(ask->cache, e, now_s), now_s);
	return WALK_ON;
}

static enum walk_step take_copy(void *user, const struct volley_entry *e)
{
	struct ask *ask = user;
	struct cache_found *found;

	if (denial_ask_is_denial(&ask->denial, e) &&
	    cache_entry_verdict(ask->cache, e, clock_coarse_s()) == CACHE_HIT)
		ask->denial.has_denial = true;
	if (!cache_match_has(&ask->match, e) || ask->n_found++ >= FOUND_MAX)
		return WALK_ON;
	found = &ask->found[ask->n_found - 1];
	found->verdict = cache_entry_verdict(ask->cache, e, clock_coarse_s());
	found->queue = cache_entry_queue(ask->cache, e);
	found->entry = malloc(e->bytes);
	if (found->entry)
		memcpy(found->entry, e, e->bytes);
	else
		ask->n_found--;
	return WALK_ON;
}

static enum walk_step withdraw(void *user, const struct volley_entry *e)
{
	const struct ask *ask = user;

	return cache_match_has(&ask->match, e) ? WALK_WITHDRAW : WALK_ON;
}

/* --- The reply ----------------------------------------------------------------------------------- */

static json_t *report_stats_of(struct ask *ask)
{
	json_t *o = report_cache(ask->daemon);

	cache_report_census(o, ask->daemon, ask->census, ask->n_zones);
	return o;
}

static size_t n_shown(const struct ask *ask)
{
	return ask->n_found < FOUND_MAX ? ask->n_found : FOUND_MAX;
}

static json_t *list_found(const struct ask *ask)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n_shown(ask); i++)
		json_array_append_new(list, cache_report_entry(ask->daemon, &ask->found[i]));
	return list;
}

static json_t *report_added(struct ask *ask)
{
	json_object_set_new(ask->reply, "cache", list_found(ask));
	if (ask->n_found > FOUND_MAX)
		json_put_int(ask->reply, "cache_not_shown", ask->n_found - FOUND_MAX);
	return json_incref(ask->reply);
}

static json_t *report_found(struct ask *ask)
{
	json_t *o = json_object();
	char text[2 * NAME_TEXT_MAX + 64];

	json_put_bool(o, "found", ask->n_found != 0);
	if (!ask->n_found) {
		denial_ask_text(&ask->denial, ask->daemon->zones, text, sizeof(text));
		json_put_text(o, "driver", text);
	}
	if (ask->n_found > FOUND_MAX)
		json_put_int(o, "not_shown", ask->n_found - FOUND_MAX);
	json_object_set_new(o, "entries", list_found(ask));
	return o;
}

static json_t *report_flush(struct ask *ask)
{
	return json_pack("{s:I}", "withdrawn", (json_int_t)ask->n_withdrawn);
}

static void ask_free(struct ask *ask)
{
	for (size_t i = 0; i < n_shown(ask); i++)
		free(ask->found[i].entry);
	census_free(ask->census);
	json_decref(ask->reply);
	ask->daemon->n_walks--;
	free(ask);
}

static void ended(struct background_job *job)
{
	struct ask *ask = (struct ask *)job;
	const char *err = "";
	json_t *result = NULL;

	if (background_is_cancelled(job)) {
		ask->code = -ECANCELED;
		err = "volleyd stops: the walk over the cache is given up";
	} else if (ask->code) {
		err = "withdrawn, but the kernel does not say when all readers are done";
	} else {
		result = ask->report(ask);
		ask->code = result ? 0 : -ENOMEM;
	}
	ctl_answer(ask->daemon->ctl, ask->ticket, clock_ns(), ask->code, result, err);
	ask_free(ask);
}

/* --- The commands -------------------------------------------------------------------------------- */

static int ask_new(struct ask **out, struct daemon *d, char *err, size_t err_cap)
{
	struct ask *ask = calloc(1, sizeof(*ask));

	if (!ask)
		return -ENOMEM;
	ask->job = (struct background_job){ .run = run, .ended = ended };
	ask->daemon = d;
	ask->cache = d->cache;
	/* A client that hangs up leaves its walk behind, so clients alone are no bound. */
	if (d->n_walks < CTL_WAITING_CAP)
		ask->ticket = ctl_defer(d->ctl);
	if (ask->ticket) {
		d->n_walks++;
		*out = ask;
		return 0;
	}
	snprintf(err, err_cap, "%d walks over the cache wait already, try again later",
		 CTL_WAITING_CAP);
	free(ask);
	return -EBUSY;
}

static int start(struct ask *ask, walk_visit *visit, json_t *(*report)(struct ask *))
{
	ask->visit = visit;
	ask->report = report;
	background_start(ask->daemon->background, &ask->job);
	return CTL_LATER;
}

static const char *arg(const json_t *args, size_t i)
{
	return json_string_value(json_array_get(args, i));
}

static int read_n(const json_t *args, uint64_t *n, char *err, size_t err_cap)
{
	static const struct words_key key = { .type = WORDS_COUNT, .min = 1, .max = ZONES_MAX };
	const char *option = arg(args, 0), *text = arg(args, 1);

	*n = ZONES_DEFAULT;
	if (!option || (!strcmp(option, "-n") && text && !value_read_number(&key, text, n)))
		return 0;
	snprintf(err, err_cap, "it takes -n and a number from 1 to %u", ZONES_MAX);
	return -EINVAL;
}

int cache_ask_stats(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct daemon *d = user;
	struct ask *ask;
	uint64_t n_zones;
	int code = read_n(args, &n_zones, err, err_cap);

	(void)result;
	if (!code)
		code = ask_new(&ask, d, err, err_cap);
	if (code)
		return code;
	ask->n_zones = n_zones;
	ask->census = census_new(cache_state(d->cache)->n_zones);
	if (ask->census)
		return start(ask, take_census, report_stats_of);
	ask_free(ask);
	return -ENOMEM;
}

/* reply: a reference that is taken; or NULL. */
static int look_up(struct daemon *d, const struct cache_match *match, json_t *reply, char *err,
		   size_t err_cap)
{
	struct ask *ask;
	int code = ask_new(&ask, d, err, err_cap);

	if (code) {
		json_decref(reply);
		return code;
	}
	ask->match = *match;
	ask->reply = reply;
	denial_ask_begin(&ask->denial, ask->daemon->names, &ask->match);
	return start(ask, take_copy, reply ? report_added : report_found);
}

int cache_ask_lookup(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct cache_match match;
	int code = cache_match_read_name(&match, arg(args, 0), arg(args, 1), err, err_cap);

	(void)result;
	return code ? code : look_up(user, &match, NULL, err, err_cap);
}

int cache_ask_add(struct daemon *d, const struct cache_match *match, json_t *o, char *err,
		  size_t err_cap)
{
	return look_up(d, match, o, err, err_cap);
}

static int find_zone(const struct daemon *d, const char *name, uint32_t *slot, char *err,
		     size_t err_cap)
{
	const struct zones_entry *entry = zones_find(d->zones, name);

	if (!entry) {
		snprintf(err, err_cap, "%s: no such zone is configured", name);
		return ERR_NOT_FOUND;
	}
	*slot = entry->published.slot;
	return 0;
}

/* Else the resolver would give again what is flushed, and questions on their way would bring it. */
static int forget_upstream(struct daemon *d, bool is_all, char *err, size_t err_cap)
{
	int code = recursion_forget(d->recursion, err, err_cap);

	if (code || !is_all)
		return code;
	code = recursion_flush(d->recursion);
	if (code)
		snprintf(err, err_cap, "%s", err_text(code));
	return code;
}

int cache_ask_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct cache_match match;
	const char *zone;
	struct ask *ask;
	int code = cache_match_read(&match, args, &zone, err, err_cap);

	(void)result;
	if (!code && zone)
		code = find_zone(user, zone, &match.zone_slot, err, err_cap);
	if (!code && !zone)
		code = forget_upstream(user, match.by == CACHE_MATCH_ALL, err, err_cap);
	if (!code)
		code = ask_new(&ask, user, err, err_cap);
	if (code)
		return code;
	ask->match = match;
	ask->is_flush = true;
	return start(ask, withdraw, report_flush);
}
