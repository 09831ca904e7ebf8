/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the daemon that reports may read.
 *
 *	daemon/daemon_view.c ─► struct report_view ─► report/: JSON for commands, text for metrics
 *
 * The daemon fills the view before each report, so a report does not keep it. A part that makes
 * reports again and again has a struct report_source. Pointers are to const, unless reading takes a
 * lock or asks a thread (cache, transfers, blocks, tap). NULL: the part does not exist yet, or is
 * not configured.
 */
#ifndef VOLLEY_REPORT_REPORT_VIEW_H
#define VOLLEY_REPORT_REPORT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/affinity.h"
#include "cache/cache.h"
#include "config/config.h"
#include "config/fault_list.h"
#include "control/drain.h"
#include "engine/engine.h"
#include "shield/name_filter.h"
#include "iface/workers.h"
#include "iface/iface.h"
#include "abuse/block_book.h"
#include "recursion/rpz_manager.h"
#include "abuse/rate_limits.h"
#include "recursion/recursion_service.h"
#include "recursion/root_copy.h"
#include "report/health.h"
#include "tap/tap.h"
#include "zonemgr/transfer_bridge.h"
#include "zonemgr/zonemgr.h"

struct answers;
struct top_names;

/* Answers from no zone have slots in the cache, as zones have. */
enum other_slot { OTHER_SLOT_RECURSION, OTHER_SLOT_RPZ, N_OTHER_SLOTS };

enum report_state { REPORT_STARTING, REPORT_SERVING, REPORT_STOPPING };

/* The state of the filter of names, and when it was rebuilt. */
struct names_care {
	uint64_t looked_ns;  /* the last check whether a rebuild is due; 0: none yet */
	uint64_t rebuilt_ns; /* the last attempt of a rebuild; 0: none yet */
	uint64_t took_ns;    /* the duration of that rebuild */
	uint64_t n_rebuilds; /* successful ones */
	struct names_use use;
	uint64_t n_live; /* names that are served */
};

/* The service addresses in the driver's table. */
struct report_services {
	uint32_t n;
	bool has_overflow;
	bool ends_overflow; /* of addresses where tunnels end */
};

/* A resize of the cache. */
struct report_resize {
	const char *stage; /* NULL: there is no resize */
	unsigned int percent;
	uint64_t to_bytes;
};

struct report_view {
	const struct config *config;     /* as the start has read it */
	const struct config *configured; /* in force */
	uint64_t started_ns;
	enum report_state state;
	bool is_ready; /* zones are loaded, and workers answer */
	bool is_anonymous;
	bool is_adopted;
	bool has_rpz; /* lists and local data were read once */

	fault_texts faults; /* of the whole daemon */

	const struct drain *drain;
	const struct affinity *affinity;
	const struct iface *ifaces;
	size_t n_ifaces;
	struct report_services services;
	const struct workers *workers;

	struct cache *cache;
	const uint32_t *other_slots; /* by enum other_slot; 0: no slot */
	struct report_resize resize;
	const struct names *names; /* the filter of names */
	const struct names_care *names_care;

	const struct engine_data *published;
	struct zones *zones;
	struct transfer_bridge *transfer_bridge;
	const struct recursion *recursion;
	const struct root_copy *root_copy;
	const struct rpz_manager *rpz;
	struct block_book *blocks;
	const struct rate_limits *rate_limits;
	struct tap *tap;

	struct health_watch *health; /* health notes here that all zones have come */
	struct answers *answers;     /* each report of them reads the counters */
	struct top_names *top_names; /* each report of them reads the samples */
};

/* Gives the view as it is now, valid until the next call. */
struct report_source {
	const struct report_view *(*view)(void *user);
	void *user;
};

static inline const struct report_view *report_view_now(const struct report_source *source)
{
	return source->view(source->user);
}

#endif
