/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The zones that are served, with the parts that load, store, sign and transfer them (zonemgr):
 *
 *	loader ─► store ─► maintenance, catalogs, added ─► transfer bridge ─► zones
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_ZONE_SERVICE_H
#define VOLLEY_DAEMON_ZONE_SERVICE_H

#include <stdbool.h>

#include "base/background.h"
#include "config/config.h"
#include "control/ctl.h"
#include "recursion/rpz_manager.h"
#include "report/progress.h"
#include "store/store.h"
#include "zonemgr/added.h"
#include "zonemgr/catalogs.h"
#include "zonemgr/loader.h"
#include "zonemgr/signing.h"
#include "zonemgr/transfer_bridge.h"
#include "zonemgr/maintenance.h"
#include "zonemgr/zonemgr.h"

#define ZONE_SERVICE_LOADERS_MIN 2u /* so that a small zone need not wait for a large one */

struct zone_service {
	struct config *config;   /* as the start has read it */
	struct rpz_manager *rpz; /* learn of versions that are served; opened before zones */
	struct ctl *ctl;         /* where clients wait for changes of zones */
	struct runner *runner;   /* opened before all others */
	struct loader *loader;
	struct store *store;     /* NULL: there is no server.storage, or it cannot be opened */
	char storage_error[640]; /* why it cannot be opened or written to; "": it can */
	struct maintenance *maintenance;
	struct catalogs *catalogs;
	struct added *added; /* zones that commands have added */
	struct signing_policies signing;
	struct transfer_bridge *transfer_bridge;
	struct zones *zones;
	struct progress progress;
	bool is_loaded; /* the zones of the start are in place */
};

/* The configuration that is in force. */
const struct config *zone_service_config(const struct zone_service *s);

/* With n threads, at least ZONE_SERVICE_LOADERS_MIN. 0 or -errno, logged. */
int zone_service_open_loader(struct zone_service *s, unsigned int n)
	__attribute__((warn_unused_result));

/*
 * Opens server.storage, and the transfers from and to other name servers. If the disk fails, there
 * is no store, and s->storage_error says why. The caller does not set env.store and
 * env.maintenance. 0 or a negative code, logged: an operator must deal with a store that is damaged
 * or in use.
 */
int zone_service_open_transfers(struct zone_service *s, struct transfer_bridge_env env,
				struct background *background) __attribute__((warn_unused_result));

/*
 * Begins to load the zones of the configuration. The caller does not set loader, store and
 * functions in env. 0 or a negative code, logged.
 */
int zone_service_open_zones(struct zone_service *s, struct zones_env env)
	__attribute__((warn_unused_result));

/* Ends the loads that run; their results are dropped. */
void zone_service_stop_loading(struct zone_service *s);
/*
 * The workers and the transfer thread have ended. Closes all but the loader, which
 * zone_service_free_loader() frees.
 */
void zone_service_close(struct zone_service *s);
void zone_service_free_loader(struct zone_service *s);

/* Once a second. */
void zone_service_tick(struct zone_service *s);

/* True if volleyd serves without a store after opening it gave this code. Pure. */
bool zone_service_does_without_store(int code);

#endif
