/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The filter of names that exist (engine/name_filter.h), as the daemon has it: begun or adopted at
 * the start, rebuilt when much in it has gone, and stopped for a zone of which a worker has found a
 * wrong denial.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_NAMES_FILTER_H
#define VOLLEY_DAEMON_NAMES_FILTER_H

#include "config/config.h"
#include "daemon/answer_cache.h"
#include "engine/engine.h"
#include "engine/name_filter.h"
#include "engine/shield.h"
#include "report/report_view.h"
#include "zonemgr/zonemgr.h"

struct names_filter {
	struct names memory;
	struct names *names; /* &memory; or NULL: there is no filter */
	struct shield shield;
	struct names_care care;
};

/*
 * The filter of an earlier daemon goes on, or a new one begins, or there is none. When the maps
 * and the cache are open, before any zone is loaded. 0 or a negative code, logged.
 */
int names_filter_open(struct names_filter *f, struct answer_cache *cache,
		      const struct config *config, struct engine_data *published)
	__attribute__((warn_unused_result));

/*
 * During a resize: programs read these, the second one unless it is NULL. Before any of them is
 * used.
 */
void names_filter_tell(struct names_filter *f, struct volley_state *first,
		       struct volley_state *second);

/* Reads the state of the filter into f->care. O(lines) of it. With a filter only. */
void names_filter_look(struct names_filter *f, const struct zones *zones);

/*
 * A new filter, with the names that are served, takes the place of the present one; logged.
 * is_asked: by a person, and zones whose denials were stopped have them again. 0 or a negative
 * code. With a filter only.
 */
int names_filter_rebuild(struct names_filter *f, struct zones *zones, bool is_asked)
	__attribute__((warn_unused_result));

/*
 * Once a second, when the daemon is ready: the driver denies no more names of zones of which a
 * worker has found that the filter lacks a name; and once a minute a filter in which much has
 * gone is rebuilt.
 */
void names_filter_tick(struct names_filter *f, struct zones *zones);

#endif
