/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The daemon's filter of names that exist (shield/name_filter.h): begun or adopted at the start,
 * rebuilt when many of its names have gone, and stopped for a zone when a worker finds a wrong
 * denial.
 *
 * Control's thread calls all of these.
 *
 * zone_member.names_id says that all names of the served version are in the filter of that id. It
 * is 0 while the driver denies no name of the zone: with driver-denials: off, and after a wrong
 * denial (shield/shield.h), until `volleyctl names rebuild` or a restart. The zone is then
 * published with a new generation, so its old denials are dead.
 *
 * Names that have gone are counted. Once a minute control looks at the filter: if a quarter of its
 * names has gone, or if more than 1 % of unknown names are false positives and a new filter would
 * be better, zones_rebuild_names() begins a new one and adds the names of all served zones, in
 * control's thread, at most once in 10 minutes. Until that publish has ended no zone has the new
 * id, so the driver denies nothing. Intervals begin anew with each daemon, also behind an adopted
 * filter, because it does not know which lines the earlier daemon has used.
 */
#ifndef VOLLEY_DAEMON_NAMES_FILTER_H
#define VOLLEY_DAEMON_NAMES_FILTER_H

#include "config/config.h"
#include "daemon/answer_cache.h"
#include "engine/engine.h"
#include "shield/name_filter.h"
#include "shield/shield.h"
#include "report/report_view.h"
#include "zonemgr/zonemgr.h"

struct names_filter {
	struct names memory;
	struct names *names; /* &memory; or NULL: there is no filter */
	struct shield shield;
	struct names_care care;
};

/*
 * Adopts the filter of an earlier daemon or begins a new one, if the configuration wants one. The
 * maps and the cache are open, and no zone is loaded yet. 0 or a negative code, logged.
 */
int names_filter_open(struct names_filter *f, struct answer_cache *cache,
		      const struct config *config, struct engine_data *published)
	__attribute__((warn_unused_result));

/* During a resize: programs read these states; second may be NULL. Called before their use. */
void names_filter_tell(struct names_filter *f, struct volley_state *first,
		       struct volley_state *second);

/* Reads the filter's state into f->care, in O(lines of the filter). Only if there is a filter. */
void names_filter_look(struct names_filter *f, const struct zones *zones);

/*
 * Replaces the filter by a new one of the names that are served; logged. is_asked: an operator
 * asked for it, so denials that were stopped for a zone begin again. 0 or a negative code. Only if
 * there is a filter.
 */
int names_filter_rebuild(struct names_filter *f, struct zones *zones, bool is_asked)
	__attribute__((warn_unused_result));

/*
 * Once a second, when the daemon is ready. If a worker has found that the filter lacks a name of a
 * zone, the driver stops denying names of that zone. Once a minute, a filter of which many names
 * have gone is rebuilt.
 */
void names_filter_tick(struct names_filter *f, struct zones *zones);

#endif
