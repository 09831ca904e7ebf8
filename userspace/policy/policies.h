/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recursion.local-data and recursion.rpz: they are read in the background and put in place
 * together; then the cached answers for the names in them are withdrawn.
 *
 *      policies_reload ─► loads (zonemgr/loader.h) ─► struct policy ─► pointer swap ─► grace ─► new
 *                             all of them have ended      (workers)      generation ─► walk ─► done
 *
 * Each list has a state, told by status, health, metrics and `volleyctl policy list`:
 *
 *               it loads                 it does not load
 *      start ──────────────► SERVING ◄────────────► STALE: the last version that loaded is in force
 *        │                      ▲      it loads
 *        └───► FAILED ──────────┘
 *      no version was ever loaded: nothing is filtered by this list
 *
 * The other lists are put in place all the same. Local data with a bad record is refused with the
 * whole configuration (config/local_data.h), so at a reload all stays as it was. The first time
 * also "none at all" is put in place: the cache may be an earlier daemon's, which had some.
 *
 * An answer in the cache does not show whether a rule for name servers holds. So if such a list, or
 * one that stands before it, has another content, the walk withdraws all answers from upstream:
 * each name is asked for once more, the name servers are not. After a restart it does so unless the
 * cache was judged by the same lists.
 *
 * A list that is a zone served here (recursion.rpz[].zone) is not read: it is a reference to the
 * version that is served, and a new reference whenever another version is. So primaries, keys,
 * NOTIFY, journals and expiry are those of the zone.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_POLICY_POLICIES_H
#define VOLLEY_POLICY_POLICIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/background.h"
#include "cache/cache.h"
#include "cache/keeper.h"
#include "config/config.h"
#include "control/metrics_text.h"
#include "engine/clients.h"
#include "engine/engine.h"
#include "zonemgr/loader.h"

struct policies;

/* The parts of the daemon that they use; all of them outlive them. */
struct policies_env {
	/* The configuration, asked for when lists are read. */
	const struct config_recursion *(*config)(void *user);
	void *config_user;
	struct cache *cache;
	struct engine_data *published;
	uint64_t settings_digest; /* engine_config_digest() */
	/* Told before they are put in place: the n prefixes of clients that they name. 0 or
	 * -ENOMEM. NULL: not called. */
	int (*set_apart)(void *user, const struct clients_prefix *prefixes, size_t n);
	void *apart_user;
	/* A reference, the caller's, to the zone of this name that is served; NULL: none is. NULL:
	 * there are no zones. */
	struct zone *(*served)(void *user, const char *name);
	void *served_user;
	struct loader *loader;
	struct background *background;
	cache_grace_fn *grace;
	void *grace_user;
};

enum policies_state {
	POLICIES_SERVING, /* the version that was read last is in force */
	POLICIES_STALE,   /* the last version did not load: an earlier one is in force */
	POLICIES_FAILED,  /* likewise, and there is no earlier version: nothing is in force */
	POLICIES_N_STATES,
};

#define POLICIES_TEXT_CAP 1024

/* A list, or (first, where there is any) the local data. */
struct policies_entry {
	char *name;             /* "list.rpz.", or POLICIES_LOCAL */
	char *file;             /* NULL for local data, and for a list that is a zone served here */
	bool is_list;           /* not local data */
	uint16_t ede_code;      /* of a list: RFC 8914 */
	struct zone *zone;      /* that is in force, or NULL; the members below are of it */
	uint32_t n_rules;       /* engine/policy.h */
	uint32_t n_ignored;     /* rules that no question triggers */
	uint64_t loaded_wall_s; /* seconds since 1970 */
	/* of a list: how often a rule of it changed a worker's answer, since the start */
	uint64_t *hits;
	char error[640]; /* of the last load; "" when it was well */
};

#define POLICIES_LOCAL "local-data"

/* 0 or -ENOMEM. There are none yet. */
int policies_new(struct policies **out, const struct policies_env *env)
	__attribute__((warn_unused_result));

/*
 * From now on no load is put in place, and no policies_reload() follows. Call it before
 * background_free() and loader_stop(). NULL is allowed.
 */
void policies_cancel(struct policies *policies);

/* After loader_stop() and loader_poll(), background_free(), and the end of the workers. NULL is
 * allowed. */
void policies_free(struct policies *policies);

/*
 * Reads all that the configuration names, also if it has not changed; if a reading is under way,
 * another one follows it. done() gets 0, or the error of the first list that does not load, or
 * -ECANCELED; perhaps before this returns. 0, or -ENOMEM: done() is not called.
 */
typedef void policies_done_fn(void *user, int code);
int policies_reload(struct policies *policies, policies_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/*
 * Another version of this zone is served, or none any more: a list that is the zone is put in place
 * with the next policies_poll(). The other lists and local data stay as they are.
 */
void policies_zone_served(struct policies *policies, const char *name);
void policies_poll(struct policies *policies);
/* Whether nothing of this is under way or due. */
bool policies_is_idle(const struct policies *policies);

/* From now on it is this one, with the same slots: cache/copy.h. */
void policies_set_cache(struct policies *policies, struct cache *cache);

/* The slot in the cache of its answers; 0: it has none. */
uint32_t policies_slot(const struct policies *policies);

size_t policies_n(const struct policies *policies);
const struct policies_entry *policies_at(const struct policies *policies, size_t i);
/* Why the last reading could not be put in place as a whole, so that the one before is still in
 * force; "": it could. */
const char *policies_error(const struct policies *policies);

/* ---- For people (policies_report.c) ---- */

enum policies_state policies_entry_state(const struct policies_entry *entry);
/* "serving", "stale", "failed". Static. */
const char *policies_state_text(enum policies_state state);
/* Its fault as a sentence in TEXT; false: it has none. */
bool policies_entry_tell(const struct policies_entry *entry, char text[POLICIES_TEXT_CAP]);
/* For `volleyctl policy list`. A new object, or NULL. */
json_t *policies_report(const struct policies *policies);
/* Gauges of each, and of how many are in which state. */
void policies_metrics(const struct policies *policies, struct metrics_text *out);

#endif
