/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recursion and RPZ: opened at the start, and configured anew by a reload.
 *
 *	recursion/           the clients that may recurse, and the resolver
 *	recursion/rpz_manager.h    lists and local data
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_DAEMON_RECURSION_H
#define VOLLEY_DAEMON_DAEMON_RECURSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/background.h"
#include "config/config.h"
#include "daemon/answer_cache.h"
#include "daemon/heartbeat.h"
#include "daemon/interfaces.h"
#include "daemon/zone_service.h"
#include "engine/engine.h"
#include "recursion/rpz_manager.h"
#include "recursion/recursion_service.h"
#include "recursion/root_copy.h"
#include "report/report_view.h"

struct daemon_recursion {
	struct recursion *recursion;
	struct root_copy *root_copy;
	struct engine_data root_data; /* published->root_copy */
	struct rpz_manager *rpz;
	uint32_t other_slots[N_OTHER_SLOTS]; /* in the cache; 0: none */
	bool has_rpz;                        /* lists and local data of the start are in place */
	int64_t wall_ahead_s; /* the wall clock less the monotonic clock, at the last check */

	/* The parts that it works with; they outlive it. */
	struct engine_data *published;
	const struct engine_config *engine_config;
	struct answer_cache *cache;
	struct zone_service *zones;
	struct interfaces *interfaces;
	struct heartbeat *heartbeat;
};

/*
 * Opens the lists of clients and the resolver at the start, before any zone is loaded. Afterwards
 * config->recursion is all zeros. 0 or a negative code, logged.
 */
int daemon_recursion_open(struct daemon_recursion *r, struct config *config,
			  struct background *background, struct tap *tap)
	__attribute__((warn_unused_result));
/*
 * After daemon_recursion_open(): begins to load lists and local data. 0 or a negative code, logged.
 */
int daemon_recursion_open_rpz(struct daemon_recursion *r, struct background *background)
	__attribute__((warn_unused_result));

/*
 * Puts the lists of clients and the settings for upstreams in place: at the start and by a reload.
 * As with recursion_configure(), config->recursion is afterwards the earlier settings. 0; or a
 * negative code with a sentence in err, and nothing has changed.
 */
int daemon_recursion_configure(struct daemon_recursion *r, struct config *config, char *err,
			       size_t err_cap) __attribute__((warn_unused_result));
/*
 * A later part of a reload was refused: undoes daemon_recursion_configure() with this
 * configuration, which gets its own config->recursion back. An error is logged, and then the
 * refused settings stay in force.
 */
void daemon_recursion_take_back(struct daemon_recursion *r, struct config *config);

/*
 * A digest of everything besides the zones that answers from our zones depend on: the engine's
 * settings, the view of these answers, and whether volleyd asks parents for the DS records of the
 * zones.
 */
uint64_t daemon_recursion_settings_digest(const struct daemon_recursion *r);

/* Once a second: if the wall clock was set, libunbound starts again with an empty cache. */
void daemon_recursion_check_clock(struct daemon_recursion *r);

/* From now on nothing is asked upstream. Called while the workers still run. */
void daemon_recursion_stop(struct daemon_recursion *r);
/* Called after daemon_recursion_stop(), when the workers and the background have ended. */
void daemon_recursion_close(struct daemon_recursion *r);

#endif
