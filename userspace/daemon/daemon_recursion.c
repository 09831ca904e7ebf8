/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/daemon_recursion.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "cache/entry_walk.h"

#define WALL_DRIFT_S 2 /* a larger difference within a second: the clock was set */

uint64_t daemon_recursion_settings_digest(const struct daemon_recursion *r)
{
	uint64_t others = r->published->recursion ? 2 : 0;

	others += recursion_restricts_zones(r->recursion);
	return engine_config_digest(r->engine_config) + others;
}

static int settle_zones(struct daemon_recursion *r)
{
	r->other_slots[OTHER_SLOT_RECURSION] = recursion_slot(r->recursion);
	return r->zones->zones ?
		       zones_set_settings(r->zones->zones, daemon_recursion_settings_digest(r)) :
		       0;
}

int daemon_recursion_configure(struct daemon_recursion *r, struct config *config, char *err,
			       size_t err_cap)
{
	int code = recursion_configure(r->recursion, config, err, err_cap);

	if (code)
		return code;
	code = settle_zones(r);
	if (!code)
		return 0;
	snprintf(err, err_cap, "%s", err_text(code));
	daemon_recursion_take_back(r, config);
	return code;
}

void daemon_recursion_take_back(struct daemon_recursion *r, struct config *config)
{
	/* The list of clients is made from other keys as well, in their earlier values. */
	struct config before = *zone_service_config(r->zones);
	char err[512];
	int code;

	before.recursion = config->recursion;
	code = recursion_configure(r->recursion, &before, err, sizeof(err));
	config->recursion = before.recursion; /* to be freed with the rest */
	if (!code) {
		code = settle_zones(r);
		snprintf(err, sizeof(err), "%s", err_text(code));
	}
	if (code)
		log_error("the reload was refused, and recursion cannot be restored: %s", err);
}

static enum walk_step is_public(void *user, const struct volley_entry *e)
{
	(void)user;
	return e->key.view == VOLLEY_VIEW_PUBLIC ? WALK_WITHDRAW : WALK_ON;
}

/*
 * If not every client may ask, no answer is public (engine/engine.c). But an earlier daemon may
 * have let every client ask, and the driver would give its public answers to all clients until the
 * zones are loaded. So they are withdrawn. An earlier program that waits to be replaced has its own
 * cache and its own list of clients, so it is silenced.
 */
static int withdraw_public(struct daemon_recursion *r)
{
	uint64_t n;
	int err;

	if (!recursion_restricts_zones(r->recursion))
		return 0;
	heartbeat_silence_old(r->heartbeat);
	if (!r->cache->is_adopted)
		return 0;
	err = cache_sweep(r->cache->cache, NULL, is_public, NULL, answer_cache_grace, r->cache, &n);
	if (n)
		log_info("answer cache: %llu answers withdrawn, since not every client may have "
			 "them now",
			 (unsigned long long)n);
	if (err)
		log_error("answer cache: the kernel gives no grace period, so a reader may still "
			  "use the old data");
	return err;
}

/* Workers that start later get it from workers_env. */
static int make_recursion_room(void *user, uint32_t n_questions)
{
	const struct daemon_recursion *r = user;

	return r->interfaces->workers ? workers_make_room(r->interfaces->workers, n_questions) : 0;
}

static int64_t wall_ahead_s(void)
{
	return (int64_t)clock_wall_s() - (int64_t)(clock_ns() / CLOCK_NS_PER_S);
}

/* Workers are opened later, on some of the processors that this thread may use now. */
static unsigned int most_workers(const struct config *config)
{
	cpu_set_t cpus;

	if (config->n_workers)
		return config->n_workers;
	return sched_getaffinity(0, sizeof(cpus), &cpus) ? CPU_SETSIZE :
							   (unsigned int)CPU_COUNT(&cpus);
}

int daemon_recursion_open(struct daemon_recursion *r, struct config *config,
			  struct background *background, struct tap *tap)
{
	struct recursion_env env = {
		.cache = r->cache->cache,
		.published = r->published,
		.background = background,
		.clients_fd = answer_cache_fd(r->cache, r->cache->maps.clients_fd),
		.engine_digest = engine_config_digest(r->engine_config),
		.grace = answer_cache_grace,
		.grace_user = r->cache,
		.make_room = make_recursion_room,
		.room_user = r,
		.tap = tap,
		.n_workers = most_workers(config),
	};
	char err[512];
	int code = recursion_new(&r->recursion, &env);

	r->wall_ahead_s = wall_ahead_s();
	r->published->root_copy = &r->root_data;
	if (!code)
		code = root_copy_new(&r->root_copy, &r->root_data, r->recursion);
	if (code)
		snprintf(err, sizeof(err), "recursion: %s", err_text(code));
	else
		code = daemon_recursion_configure(r, config, err, sizeof(err));
	if (code) {
		log_error("%s", err);
		return code;
	}
	return withdraw_public(r);
}

static const struct config_recursion *rpz_config(void *user)
{
	const struct daemon_recursion *r = user;

	return recursion_config(r->recursion);
}

static int set_rpz_clients_apart(void *user, const struct clients_prefix *prefixes, size_t n)
{
	const struct daemon_recursion *r = user;

	return recursion_set_apart(r->recursion, prefixes, n);
}

static struct zone *rpz_zone_of(void *user, const char *name)
{
	const struct daemon_recursion *r = user;
	const struct zones_entry *entry = r->zones->zones ? zones_find(r->zones->zones, name) :
							    NULL;

	return entry && entry->zone ? zone_ref(entry->zone) : NULL;
}

static void on_rpz(void *user, int code)
{
	struct daemon_recursion *r = user;

	(void)code; /* load errors are logged elsewhere */
	r->has_rpz = true;
}

/*
 * Called before the zones are opened, since zones keep only slots that they know. Lists and zones
 * are read at the same time.
 */
int daemon_recursion_open_rpz(struct daemon_recursion *r, struct background *background)
{
	struct rpz_manager_env env = {
		.config = rpz_config,
		.config_user = r,
		.set_apart = set_rpz_clients_apart,
		.apart_user = r,
		.served = rpz_zone_of,
		.served_user = r,
		.cache = r->cache->cache,
		.published = r->published,
		.settings_digest = engine_config_digest(r->engine_config),
		.loader = r->zones->loader,
		.background = background,
		.grace = answer_cache_grace,
		.grace_user = r->cache,
	};
	int err = rpz_manager_new(&r->rpz, &env);

	if (!err)
		r->other_slots[OTHER_SLOT_RPZ] = rpz_manager_slot(r->rpz);
	if (!err)
		err = rpz_manager_reload(r->rpz, on_rpz, r);
	if (err)
		log_error("policies: %s", err_text(err));
	return err;
}

/* --- The clock -------------------------------------------------------------------------------- */

/*
 * libunbound uses the wall clock for the expiry of its cache. So if that clock was set, another
 * resolver with an empty cache takes its place. Volley itself uses the monotonic clock.
 */
void daemon_recursion_check_clock(struct daemon_recursion *r)
{
	int64_t ahead_s = wall_ahead_s(), step_s = ahead_s - r->wall_ahead_s;
	char err[512];

	r->wall_ahead_s = ahead_s;
	if (step_s >= -WALL_DRIFT_S && step_s <= WALL_DRIFT_S)
		return;
	log_notice("the wall clock was set by %+lld s", (long long)step_s);
	if (recursion_forget(r->recursion, err, sizeof(err)))
		log_error("the resolver may keep answers for too long or too short a time now: %s",
			  err);
}

/* --- The end ---------------------------------------------------------------------------------- */

void daemon_recursion_stop(struct daemon_recursion *r)
{
	recursion_stop(r->recursion);
	root_copy_free(r->root_copy);
	r->root_copy = NULL;
}

void daemon_recursion_close(struct daemon_recursion *r)
{
	rpz_manager_free(r->rpz);
	recursion_free(r->recursion);
}
