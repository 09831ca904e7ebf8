/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The zones that are served: loaded from files, published to the workers, their old answers
 * withdrawn.
 *
 *      load file ─► new zone set ─► pointer swap ─► new generation ─► wait for all readers ─► free
 *                                   (workers)       (every cached      (workers, XDP programs)
 *                                                    answer is dead)
 *
 * When a reload returns, no CPU gives an answer of the old zone. A file that does not load changes
 * nothing: the old zone keeps serving and the entry says why.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_CONTROL_ZONES_H
#define VOLLEY_CONTROL_ZONES_H

#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/keeper.h"
#include "control/config.h"
#include "engine/engine.h"
#include "zone/zone.h"

enum zones_state {
	ZONES_FAILED,  /* nothing to serve: SERVFAIL */
	ZONES_SERVING, /* what the file holds */
	ZONES_STALE,   /* an earlier version, since the file no longer loads */
};

struct zones_entry {
	char *name; /* "example.com." */
	char *file;
	uint8_t apex[ZONE_NAME_MAX]; /* folded wire form */
	unsigned int apex_len;
	uint64_t below; /* stands for the zones below it that are served by themselves */
	enum zones_state state;
	struct zone *zone;
	char error[640];   /* of the last load; "" when it was well */
	char warning[512]; /* likewise */
	uint64_t loaded_wall_s;
	uint64_t load_ns;
	uint32_t cache_slot;
	uint32_t cache_gen;
};

struct zones;

/* What the zones need of the daemon; all of it outlives them. */
struct zones_env {
	struct cache *cache;
	struct engine_zones *published;
	uint64_t settings_digest; /* engine_config_digest() */
	cache_grace_fn *grace;    /* waits for the readers of zones and of the cache */
	void *grace_user;
};

int zones_new(struct zones **out, const struct zones_env *env) __attribute__((warn_unused_result));

/* Withdraws nothing from the cache: a later daemon may adopt it. After the workers have ended. */
void zones_free(struct zones *zones);

/*
 * Makes the zones of `config` the ones that are served: reads every file, drops the zones that are
 * gone. A zone whose file does not load is served as it was before, whatever file that came from,
 * or else as far as it can be; its entry tells. 0, or -errno: what was served before still is.
 */
int zones_configure(struct zones *zones, const struct config *config)
	__attribute__((warn_unused_result));

/*
 * Reads one zone's file (NULL: every zone's) and serves what it holds. 0, ERR_NOT_FOUND for a zone
 * that is not configured, or the error of the first file that did not load (the entry tells).
 */
int zones_reload(struct zones *zones, const char *name) __attribute__((warn_unused_result));

/* Withdraws the cached answers of one zone (NULL: of all). 0 or ERR_NOT_FOUND. */
int zones_flush(struct zones *zones, const char *name) __attribute__((warn_unused_result));

size_t zones_n(const struct zones *zones);
const struct zones_entry *zones_at(const struct zones *zones, size_t i);

/* By presentation form, any case, with or without the last dot. NULL: none. */
const struct zones_entry *zones_find(const struct zones *zones, const char *name);

#endif
