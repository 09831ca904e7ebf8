/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The environment of zonemgr/zonemgr.h. */
#ifndef VOLLEY_ZONEMGR_ZONES_ENV_H
#define VOLLEY_ZONEMGR_ZONES_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/keeper.h"
#include "engine/engine.h"
#include "zonemgr/entry.h"

/* What the zones need from the daemon. All of it has to outlive them. */
struct zones_env {
	struct cache *cache;
	bool is_adopted; /* the cache has answers of an earlier daemon, perhaps of other zones */
	struct engine_data *published;
	uint64_t settings_digest; /* of all settings outside the zones: zones_set_settings() */
	const uint32_t *others;   /* slots in the cache for other things than zones (0: none) */
	size_t n_others;
	struct names *names;   /* the filter of names that exist; NULL: none */
	cache_grace_fn *grace; /* waits for readers of zones and of the cache */
	void *grace_user;
	cache_grace_fn *grace_userspace; /* only for readers of zones; NULL: use `grace` */
	struct loader *loader;
	struct store *store; /* journals; NULL: none */
	/* Sets entry->signing as the configuration says, when the entry is new or its configuration
	 * has changed. May be NULL. */
	void (*sign)(void *user, struct zones_entry *entry);
	/* Another version is served, or none any more. fresh: the load that made it, or NULL. */
	void (*served)(void *user, struct zones_entry *entry, const struct load *fresh);
	/* After the last zone that one publish serves. May be NULL. */
	void (*served_together)(void *user);
	/*
	 * configured: the zone is new, or its configuration, or that of something it names, has
	 * changed. gone: the zone has gone. gone_together: after the last of the zones that go
	 * together. Each may be NULL.
	 */
	void (*configured)(void *user, struct zones_entry *entry);
	void (*gone)(void *user, struct zones_entry *entry);
	void (*gone_together)(void *user);
	void *user;
};

/*
 * The end of a request: 0: it is published; ERR_NOT_FOUND: the zone was removed from the
 * configuration meanwhile; -ECANCELED: the daemon stops; else the error of the first zone that
 * could not be loaded (its entry has the sentence). For a configuration, members of catalogs do not
 * count.
 */
typedef void zones_done_fn(void *user, int code);

#endif
