/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What zonemgr/zonemgr.h needs of the daemon, and the end of its work. */
#ifndef VOLLEY_ZONEMGR_ZONES_ENV_H
#define VOLLEY_ZONEMGR_ZONES_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/keeper.h"
#include "engine/engine.h"
#include "zonemgr/entry.h"

/* What the zones need of the daemon; all of it outlives them. */
struct zones_env {
	struct cache *cache;
	bool is_adopted; /* the cache has answers of an earlier daemon, of whatever zones it had */
	struct engine_data *published;
	uint64_t settings_digest; /* of all beside the zones: zones_set_settings() */
	const uint32_t *others;   /* slots in the cache that are not of zones (0: none) */
	size_t n_others;
	struct names *names;   /* the filter of names that exist; NULL: there is none */
	cache_grace_fn *grace; /* waits for the readers of zones and of the cache */
	void *grace_user;
	cache_grace_fn *grace_userspace; /* for those of zones alone; NULL: `grace` does */
	struct loader *loader;
	struct store *store; /* journals; NULL: none are kept */
	/*
	 * For an entry that is new or said anew: entry->signing is to be what its policy says. May
	 * be NULL.
	 */
	void (*sign)(void *user, struct zones_entry *entry);
	/* Another version is served, or none any more; fresh is the load that it is of, or NULL. */
	void (*served)(void *user, struct zones_entry *entry, const struct load *fresh);
	/*
	 * The zone has come, or other things are said of it, or of what it names; it has gone, and
	 * behind those that go together the last of them has. Each may be NULL.
	 */
	void (*configured)(void *user, struct zones_entry *entry);
	void (*gone)(void *user, struct zones_entry *entry);
	void (*gone_together)(void *user);
	void *user;
};

/*
 * Tells that a reload is over: 0 when it is published; ERR_NOT_FOUND when the zone was taken out of
 * the configuration meanwhile; -ECANCELED when nothing was done for the daemon stops; else the
 * error of the first zone that did not load (the entry tells): of a configuration's, not of members
 * of catalogs, which may be there meanwhile.
 */
typedef void zones_done_fn(void *user, int code);

#endif
