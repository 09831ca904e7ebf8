/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/zone_service.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

const struct config *zone_service_config(const struct zone_service *s)
{
	return s->catalogs ? catalogs_config(s->catalogs) : s->config;
}

int zone_service_open_loader(struct zone_service *s, unsigned int n)
{
	int err =
		loader_new(&s->loader, n > ZONE_SERVICE_LOADERS_MIN ? n : ZONE_SERVICE_LOADERS_MIN);

	if (err)
		log_error("start: threads that read zones: %s", err_text(err));
	return err;
}

/* --- The store -------------------------------------------------------------------------------- */

/*
 * If the disk fails, volleyd serves on: zones of files need no store. All other faults need an
 * operator, and end the start.
 */
bool zone_service_does_without_store(int code)
{
	return code == -EROFS || code == -EACCES || code == -EPERM || code == -ENOSPC ||
	       code == -EDQUOT || code == -EIO;
}

static int open_store(struct zone_service *s)
{
	const struct config *config = s->config;
	char err[384];
	int code;

	if (!config->storage)
		return 0;
	code = store_open(&s->store, config->storage, config->storage_bytes, err, sizeof(err));
	if (!*err)
		return 0;
	log_error("%s", err);
	if (code && !zone_service_does_without_store(code))
		return code;
	snprintf(s->storage_error, sizeof(s->storage_error),
		 "%s: zones are served, but no change is stored or accepted until it can "
		 "be written to and volleyd is restarted",
		 err);
	return 0;
}

/* --- Other name servers ----------------------------------------------------------------------- */

static void on_reset(void *user, const struct zones_entry *entry)
{
	struct zone_service *s = user;

	if (!transfer_refresh(transfer_bridge_thread(s->transfer_bridge), entry->apex, true))
		return;
	log_warn("zone %s: its catalog resets it, but %s", entry->name,
		 zones_is_secondary(entry) ? "its transfers have not begun" :
					     "it has no primaries");
}

int zone_service_open_transfers(struct zone_service *s, struct transfer_bridge_env env,
				struct background *background)
{
	char err[512];
	int code = open_store(s);

	if (code)
		return code;
	s->maintenance = maintenance_new(s->store, background);
	s->catalogs = catalogs_new(s->config, s->store);
	if (s->maintenance && s->catalogs)
		s->added = added_new(s->store, s->maintenance, s->catalogs);
	if (!s->added)
		return -ENOMEM;
	catalogs_on_reset(s->catalogs, on_reset, s);
	env.store = s->store;
	env.maintenance = s->maintenance;
	code = transfer_bridge_new(&s->transfer_bridge, &env);
	snprintf(err, sizeof(err), "transfers: %s", err_text(code ? code : -ENOMEM));
	if (!code)
		code = transfer_bridge_configure(s->transfer_bridge, s->config, err, sizeof(err));
	if (code)
		log_error("%s", err);
	return code;
}

/* --- Zones ------------------------------------------------------------------------------------ */

static void on_zone_service_loaded(void *user, int code)
{
	struct zone_service *s = user;

	(void)code; /* a zone that does not load is logged, and is SERVFAIL */
	s->is_loaded = true;
}

static void on_served(void *user, struct zones_entry *entry, const struct load *fresh)
{
	struct zone_service *s = user;

	maintenance_served(s->maintenance, entry, fresh);
	transfer_bridge_served(s->transfer_bridge, entry);
	catalogs_served(s->catalogs, entry);
	rpz_manager_zone_served(s->rpz, entry->name);
}

static void on_served_together(void *user)
{
	struct zone_service *s = user;

	maintenance_served_together(s->maintenance);
}

static void on_sign(void *user, struct zones_entry *entry)
{
	const struct zone_service *s = user;

	signing_apply(&s->signing, s->config->storage, entry);
}

static void on_configured(void *user, struct zones_entry *entry)
{
	struct zone_service *s = user;

	transfer_bridge_configured(s->transfer_bridge, entry);
	catalogs_configured(s->catalogs, entry);
}

static void on_gone(void *user, struct zones_entry *entry)
{
	struct zone_service *s = user;

	catalogs_gone(s->catalogs, entry);
	added_gone(s->added, entry);
	transfer_bridge_gone(s->transfer_bridge, entry);
	rpz_manager_zone_served(s->rpz, entry->name);
	maintenance_gone(s->maintenance, entry);
}

static void on_gone_together(void *user)
{
	struct zone_service *s = user;

	added_gone_together(s->added, maintenance_gone_together(s->maintenance));
}

int zone_service_open_zones(struct zone_service *s, struct zones_env env)
{
	int err = signing_policies_set(&s->signing, s->config);
	struct clock_now now;

	env.loader = s->loader;
	env.store = s->store;
	env.sign = on_sign;
	env.served = on_served;
	env.served_together = on_served_together;
	env.configured = on_configured;
	env.gone = on_gone;
	env.gone_together = on_gone_together;
	env.user = s;
	if (!err)
		err = zones_new(&s->zones, &env);
	if (!err) {
		clock_read(&now);
		zones_set_time(s->zones, &now);
		maintenance_set_zones(s->maintenance, s->zones);
		transfer_bridge_set_zones(s->transfer_bridge, s->zones);
		catalogs_set_zones(s->catalogs, s->zones);
		added_set_zones(s->added, s->zones);
		err = added_recall(s->added);
	}
	if (!err)
		err = zones_configure(s->zones, s->config, on_zone_service_loaded, s);
	if (err)
		log_error("zones: %s", err_text(err));
	return err;
}

void zone_service_tick(struct zone_service *s)
{
	if (s->maintenance)
		maintenance_tick(s->maintenance);
	if (s->catalogs)
		catalogs_tick(s->catalogs);
	if (s->zones)
		progress_tick(&s->progress, s->zones, clock_ns());
}

/* --- The end ---------------------------------------------------------------------------------- */

void zone_service_stop_loading(struct zone_service *s)
{
	if (!s->loader)
		return;
	loader_stop(s->loader);
	if (s->zones)
		zones_cancel(s->zones);
	added_cancel(s->added);
	loader_poll(s->loader);
}

void zone_service_close(struct zone_service *s)
{
	zones_free(s->zones);
	maintenance_free(s->maintenance);
	added_free(s->added);
	catalogs_free(s->catalogs);
	signing_policies_fini(&s->signing);
	store_close(s->store);
}

void zone_service_free_loader(struct zone_service *s)
{
	loader_free(s->loader);
}
