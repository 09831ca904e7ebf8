/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recursion.local-data and recursion.rpz are read in the background and put in place together. Then
 * the cached answers for names in them are withdrawn.
 *
 *      rpz_manager_reload ─► loads (zonemgr/loader.h) ─► struct rpz ─► pointer swap ─► grace ─► new
 *                             all of them have ended      (workers)      generation ─► walk ─► done
 *
 * Each list has a state, which status, health, metrics and `volleyctl policy list` show:
 *
 *               it loads                 it does not load
 *      start ──────────────► SERVING ◄────────────► STALE: the last loaded version is in force
 *        │                      ▲      it loads
 *        └───► FAILED ──────────┘
 *      no version was ever loaded: this list filters nothing
 *
 * If a list does not load, the others are put in place all the same. Local data with a bad record
 * makes the whole configuration invalid (config/local_data.h), so a reload changes nothing. After a
 * start an empty set is put in place, too: the cache may come from an earlier daemon that had
 * lists.
 *
 * An answer in the cache does not show if a rule for name servers applies to it. So if a list with
 * such rules, or a list before it, has changed, the walk withdraws all answers from upstream, but
 * keeps what is known of name servers. After a restart it does so, too, unless the cache was
 * checked by the same lists.
 *
 * A list may be a zone served here (recursion.rpz[].zone). It is not read: it refers to the served
 * version of the zone, and changes with it. So primaries, keys, NOTIFY, journals and expiry are
 * those of the zone.
 *
 * Control's thread calls all of these.
 *
 * A client that a rule names by its address loses the view RECURSIVE in the driver's map
 * (clients_list_without()), so its questions come to a worker; its rights in the engine's table
 * stay. The map is changed before the rules are put in place. At a start no client has this view in
 * the driver until the lists are loaded.
 */
#ifndef VOLLEY_RECURSION_RPZ_MANAGER_H
#define VOLLEY_RECURSION_RPZ_MANAGER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/background.h"
#include "cache/cache.h"
#include "cache/keeper.h"
#include "config/config.h"
#include "control/metrics_text.h"
#include "limits/clients.h"
#include "engine/engine.h"
#include "zonemgr/loader.h"

struct rpz_manager;

/* The parts of the daemon that rules and their loading use. All must outlive the manager. */
struct rpz_manager_env {
	/* Returns the configuration; called when lists are read. */
	const struct config_recursion *(*config)(void *user);
	void *config_user;
	struct cache *cache;
	struct engine_data *published;
	uint64_t settings_digest; /* engine_config_digest() */
	/*
	 * Gets the n prefixes of clients that the next rules name, before these are put in
	 * place. 0 or -ENOMEM. NULL: not called.
	 */
	int (*set_apart)(void *user, const struct clients_prefix *prefixes, size_t n);
	void *apart_user;
	/*
	 * Returns a new reference to the served zone of this name; NULL: it is not served. `served`
	 * is NULL if there are no zones.
	 */
	struct zone *(*served)(void *user, const char *name);
	void *served_user;
	struct loader *loader;
	struct background *background;
	cache_grace_fn *grace;
	void *grace_user;
};

enum rpz_manager_state {
	RPZ_MANAGER_SERVING, /* the version that was read last is in force */
	RPZ_MANAGER_STALE,   /* the last version did not load: an earlier one is in force */
	/* the last version did not load, and there is no earlier one: nothing is in force */
	RPZ_MANAGER_FAILED,
	RPZ_MANAGER_N_STATES,
};

#define RPZ_MANAGER_TEXT_CAP 1024

/* A list, or the local data (which comes first). */
struct rpz_manager_entry {
	char *name;             /* "list.rpz.", or RPZ_MANAGER_LOCAL */
	char *file;             /* NULL for local data, and for a list that is a zone served here */
	bool is_list;           /* false for local data */
	uint16_t ede_code;      /* of a list: RFC 8914 */
	struct zone *zone;      /* the version in force, or NULL; the members below are of it */
	uint32_t n_rules;       /* rpz/rpz.h */
	uint32_t n_ignored;     /* rules whose trigger or action is not supported */
	uint64_t loaded_wall_s; /* seconds since 1970 */
	/* of a list: how often its rules have changed a worker's answer since the start */
	uint64_t *hits;
	char error[640];   /* of the last load; "": none */
	char warning[600]; /* of the load of the version in force; "": none */
};

#define RPZ_MANAGER_LOCAL "local-data"

/* 0 or -ENOMEM. There are no lists before rpz_manager_reload(). */
int rpz_manager_new(struct rpz_manager **out, const struct rpz_manager_env *env)
	__attribute__((warn_unused_result));

/*
 * From now on no load is put in place, and rpz_manager_reload() must not follow. Call it before
 * background_free() and loader_stop(). NULL is allowed.
 */
void rpz_manager_cancel(struct rpz_manager *rpz);

/* After loader_stop(), loader_poll(), background_free() and the workers' end. NULL is allowed. */
void rpz_manager_free(struct rpz_manager *rpz);

/*
 * Reads everything that the configuration names, even if it has not changed. If a reading is under
 * way, this one follows it. done() gets 0, or the error of the first list that does not load, or
 * -ECANCELED. It may be called before this returns. 0, or -ENOMEM: done() is not called.
 */
typedef void rpz_manager_done_fn(void *user, int code);
int rpz_manager_reload(struct rpz_manager *rpz, rpz_manager_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/*
 * Call it when another version of this zone is served, or none any more. If a list is this zone,
 * the next rpz_manager_poll() updates it. The other lists and local data stay as they are.
 */
void rpz_manager_zone_served(struct rpz_manager *rpz, const char *name);
void rpz_manager_poll(struct rpz_manager *rpz);
/*
 * Calls done() when the next rpz_manager_poll() has put the served versions of all lists that are
 * zones in place. As rpz_manager_reload(), but no list is read. -ECANCELED after
 * rpz_manager_cancel().
 */
int rpz_manager_await_zones(struct rpz_manager *rpz, rpz_manager_done_fn *done, void *user)
	__attribute__((warn_unused_result));
/* True if no reading, walk or update is under way or due. */
bool rpz_manager_is_idle(const struct rpz_manager *rpz);

/* From now on `cache` is in use. It has the same slots (cache/copy.h). */
void rpz_manager_set_cache(struct rpz_manager *rpz, struct cache *cache);

/* The slot in the cache of the answers of rules; 0: none. */
uint32_t rpz_manager_slot(const struct rpz_manager *rpz);

size_t rpz_manager_n(const struct rpz_manager *rpz);
const struct rpz_manager_entry *rpz_manager_at(const struct rpz_manager *rpz, size_t i);
/* Why the last reading is not in force (the one before still is); "": it is. */
const char *rpz_manager_error(const struct rpz_manager *rpz);

/* ---- For people (rpz_manager_report.c) ---- */

enum rpz_manager_state rpz_manager_entry_state(const struct rpz_manager_entry *entry);
/* "serving", "stale", "failed". Static. */
const char *rpz_manager_state_text(enum rpz_manager_state state);
/* Writes the entry's fault as a sentence to TEXT. False: it has none. */
bool rpz_manager_entry_tell(const struct rpz_manager_entry *entry, char text[RPZ_MANAGER_TEXT_CAP]);
/* For `volleyctl policy list`. A new object, or NULL. */
json_t *rpz_manager_report(const struct rpz_manager *rpz);
/* Writes gauges of each entry, and the number of entries in each state. */
void rpz_manager_metrics(const struct rpz_manager *rpz, struct metrics_text *out);

#endif
