/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recursion and policies: opened at the start, and configured anew by a reload. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "cache/sweep.h"
#include "control/daemon_internal.h"

uint64_t daemon_settings_digest(const struct daemon *d)
{
	uint64_t others = d->published.recursion ? 2 : 0;

	others += recursion_restricts_zones(d->recursion);
	return engine_config_digest(&d->engine_config) + others;
}

static int settle_zones(struct daemon *d)
{
	d->other_slots[DAEMON_SLOT_RECURSION] = recursion_slot(d->recursion);
	return d->zones ? zones_set_settings(d->zones, daemon_settings_digest(d)) : 0;
}

int daemon_configure_recursion(struct daemon *d, struct config *config, char *err, size_t err_cap)
{
	int code = recursion_configure(d->recursion, config, err, err_cap);

	if (code)
		return code;
	code = settle_zones(d);
	if (!code)
		return 0;
	snprintf(err, err_cap, "%s", err_text(code));
	daemon_take_back_recursion(d, config);
	return code;
}

void daemon_take_back_recursion(struct daemon *d, struct config *config)
{
	/* What the list of clients is made of, too, as it was before. */
	struct config before = *catalogs_config(d->catalogs);
	char err[512];
	int code;

	before.recursion = config->recursion;
	code = recursion_configure(d->recursion, &before, err, sizeof(err));
	config->recursion = before.recursion; /* to be freed with the rest */
	if (!code) {
		code = settle_zones(d);
		snprintf(err, sizeof(err), "%s", err_text(code));
	}
	if (code)
		log_error("recursion as it was before the reload: %s", err);
}

static enum walk_step is_public(void *user, const struct volley_entry *e)
{
	(void)user;
	return e->key.view == VOLLEY_VIEW_PUBLIC ? WALK_WITHDRAW : WALK_ON;
}

/*
 * Where not everyone may ask, no answer is public (engine/engine.c). Those of a daemon that let everyone ask would be
 * given by the driver, to everyone, until their zones are loaded. An earlier program that waits to be replaced has its own
 * cache and its own list of who may ask: it falls silent.
 */
static int withdraw_public(struct daemon *d)
{
	uint64_t n;
	int err;

	if (!recursion_restricts_zones(d->recursion))
		return 0;
	daemon_silence_old(d);
	if (!d->is_adopted)
		return 0;
	err = cache_sweep(d->cache, NULL, is_public, NULL, daemon_grace, d, &n);
	if (n)
		log_info("answer cache: %llu answers were for everyone: withdrawn",
			 (unsigned long long)n);
	if (err)
		log_error("answer cache: the kernel does not say when all readers are done");
	return err;
}

/* Workers that are begun later get it from crew_env. */
static int make_room(void *user, uint32_t n_questions)
{
	const struct daemon *d = user;

	return d->crew ? crew_make_room(d->crew, n_questions) : 0;
}

int daemon_open_recursion(struct daemon *d)
{
	struct recursion_env env = {
		.cache = d->cache,
		.published = &d->published,
		.background = d->background,
		.clients_fd = d->is_anonymous ? -1 : d->maps.clients_fd,
		.engine_digest = engine_config_digest(&d->engine_config),
		.grace = daemon_grace,
		.grace_user = d,
		.make_room = make_room,
		.room_user = d,
		.tap = d->tap,
	};
	char err[512];
	int code = recursion_new(&d->recursion, &env);

	d->published.root_copy = &d->root_data;
	if (!code)
		code = root_copy_new(&d->root_copy, &d->root_data, d->recursion);
	if (code)
		snprintf(err, sizeof(err), "recursion: %s", err_text(code));
	else
		code = daemon_configure_recursion(d, d->config, err, sizeof(err));
	if (code) {
		log_error("%s", err);
		return code;
	}
	return withdraw_public(d);
}

static const struct config_recursion *policies_config(void *user)
{
	const struct daemon *d = user;

	return recursion_config(d->recursion);
}

static int policies_set_apart(void *user, const struct clients_prefix *prefixes, size_t n)
{
	const struct daemon *d = user;

	return recursion_set_apart(d->recursion, prefixes, n);
}

static struct zone *policies_served(void *user, const char *name)
{
	const struct daemon *d = user;
	const struct zones_entry *entry = d->zones ? zones_find(d->zones, name) : NULL;

	return entry && entry->zone ? zone_ref(entry->zone) : NULL;
}

static void on_policies(void *user, int code)
{
	struct daemon *d = user;

	(void)code; /* what does not load has said so */
	d->has_policies = true;
}

/* Before zones, so that theirs are not the only slots that are kept; read at the same time. */
int daemon_open_policies(struct daemon *d)
{
	struct policies_env env = {
		.config = policies_config,
		.config_user = d,
		.set_apart = policies_set_apart,
		.apart_user = d,
		.served = policies_served,
		.served_user = d,
		.cache = d->cache,
		.published = &d->published,
		.settings_digest = engine_config_digest(&d->engine_config),
		.loader = d->loader,
		.background = d->background,
		.grace = daemon_grace,
		.grace_user = d,
	};
	int err = policies_new(&d->policies, &env);

	if (!err)
		d->other_slots[DAEMON_SLOT_POLICIES] = policies_slot(d->policies);
	if (!err)
		err = policies_reload(d->policies, on_policies, d);
	if (err)
		log_error("policies: %s", err_text(err));
	return err;
}
