/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The zones that are served: loaded from files in the background, published to the workers, their
 * old answers withdrawn.
 *
 *      ask ─► load (control/loader.h) ─► new zone set ─► pointer swap ─► withdraw what changed
 *              │ in the background        when all that   (workers)       (control/withdraw.h),
 *              │                          was asked for                    or all: new generation
 *              ▼                          at once has                         │
 *      status says how far               been loaded          free ◄─ wait for all readers ─► done
 *
 * When a reload is done, no CPU gives an answer of the old zone. A file that does not load changes
 * nothing: the old zone keeps serving and the entry says why.
 *
 * Who asks for a zone gets a load that began after the question: if one is under way, another
 * follows it, and all who ask meanwhile share that one. The zones of a configuration are put in
 * place together, so that names which move from one file to another are never missing; while one
 * configuration is loaded the next one waits, and a later one takes its place. A zone that is
 * asked for by itself does not wait for the others.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_CONTROL_ZONES_H
#define VOLLEY_CONTROL_ZONES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/keeper.h"
#include "config/config.h"
#include "control/loader.h"
#include "control/withdraw.h"
#include "engine/engine.h"
#include "zone/zone.h"

enum zones_state {
	ZONES_NEW,     /* not loaded yet, and not answered for */
	ZONES_FAILED,  /* nothing to serve: SERVFAIL */
	ZONES_SERVING, /* what the file holds, or held before the load that runs */
	ZONES_STALE,   /* an earlier version, since the file no longer loads */
};

struct zones;

struct zones_entry {
	char *name; /* "example.com." */
	char *file;
	struct verify verify;
	uint8_t apex[ZONE_NAME_MAX]; /* folded wire form */
	unsigned int apex_len;
	enum zones_state state;
	struct zone *zone; /* that is served, or NULL */
	char error[640];   /* of the last load; "" when it was well */
	char warning[512]; /* likewise */
	uint64_t loaded_wall_s;
	uint64_t load_ns;
	uint32_t cache_slot;
	uint32_t cache_gen;
	struct withdrawn withdrawn; /* by the last change */

	struct load *load;  /* that waits or runs, or NULL */
	struct load *fresh; /* that has ended well and is not published yet, or NULL */

	/* For zones.c, zones_entry.c and zones_publish.c. */
	struct zones *owner;
	bool in_set;      /* answered for, from the next publish on */
	bool is_leaving;  /* not in the configuration that is being loaded */
	bool is_gone;     /* nor in the one that is in place */
	bool is_due;      /* the next publish takes fresh */
	bool is_awaited;  /* by the configuration, until load awaited_number has ended */
	bool again;       /* load once more when the load ends */
	bool is_changed;  /* file or command are not those of the load */
	uint64_t n_begun; /* number of the last load */
	uint64_t n_ended; /* loads up to this number have ended */
	uint64_t awaited_number;
	int code;           /* of the last load */
	uint64_t digest[2]; /* of what is served */
	uint64_t settings;  /* settings_digest of when it was published */
};

/* What the zones need of the daemon; all of it outlives them. */
struct zones_env {
	struct cache *cache;
	bool is_adopted; /* the cache has answers of an earlier daemon, of whatever zones it had */
	struct engine_data *published;
	uint64_t settings_digest; /* of all beside the zones: zones_set_settings() */
	const uint32_t *others; /* slots in the cache that are no zones' (0: none); they may change */
	size_t n_others;
	cache_grace_fn *grace; /* waits for the readers of zones and of the cache */
	void *grace_user;
	struct loader *loader;
};

/*
 * Tells that a reload is over: 0 when it is published; ERR_NOT_FOUND when the zone was taken out of
 * the configuration meanwhile; -ECANCELED when nothing was done for the daemon stops; else the error
 * of the first zone that did not load (the entry tells).
 */
typedef void zones_done_fn(void *user, int code);

int zones_new(struct zones **out, const struct zones_env *env) __attribute__((warn_unused_result));

/*
 * Gives up all that was asked for: done() with -ECANCELED. After loader_stop(), before loader_poll()
 * gives the cancelled loads back.
 */
void zones_cancel(struct zones *zones);

/*
 * Withdraws nothing from the cache: a later daemon may adopt it. After zones_cancel() and after the
 * workers have ended. NULL is allowed.
 */
void zones_free(struct zones *zones);

/*
 * Makes the zones of `config` the ones that are served: reads every file, drops the zones that are
 * gone. A zone whose file does not load is served as it was before, whatever file that came from,
 * or else as far as it can be; its entry tells. Takes the list of zones out of `config`. 0: done()
 * follows, from zones_poll(); or -ENOMEM: what was served before still is, and done() is not
 * called.
 */
int zones_configure(struct zones *zones, struct config *config, zones_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/*
 * Reads one zone's file and serves what it holds. 0: done() follows, from zones_poll();
 * ERR_NOT_FOUND for a zone that is not configured, or -ENOMEM.
 */
int zones_reload(struct zones *zones, const char *name, zones_done_fn *done, void *user)
	__attribute__((warn_unused_result));

/*
 * From now on answers depend on other settings: all that are cached are dead when this returns 0. An
 * error is that of zones_publish(); the next publish does it then.
 */
int zones_set_settings(struct zones *zones, uint64_t settings_digest)
	__attribute__((warn_unused_result));

/* From now on it is this cache, with the same slots: cache/copy.h. */
void zones_set_cache(struct zones *zones, struct cache *cache);

/* Publishes what has been loaded and is complete; to be called after each loader_poll(). */
void zones_poll(struct zones *zones);

/* In the order of the configuration; while one is being loaded, those that will go come last. */
size_t zones_n(const struct zones *zones);
const struct zones_entry *zones_at(const struct zones *zones, size_t i);

/* By presentation form, any case, with or without the last dot. NULL: none. */
const struct zones_entry *zones_find(const struct zones *zones, const char *name);

#endif
