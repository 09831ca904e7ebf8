/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a name is answered as it is, for `volleyctl resolver lookup`: everything but the cache's
 * answers. It sends no query upstream and asks no engine, so a rule counts no hit.
 *
 *	name, type ─► answered_by, before_upstream   zones, local data and lists, special names, in the engine's order
 *	           ├─► asks, upstreams or targets    where upstream is asked, and the state of each
 *	           ├─► validation                    trust anchors, and names below which nothing is validated
 *	           └─► failures                      the last ones, with the reasons
 */
#ifndef VOLLEY_REPORT_REPORT_LOOKUP_H
#define VOLLEY_REPORT_REPORT_LOOKUP_H

#include <jansson.h>

#include "census/cache_match.h"
#include "report/report_view.h"

/*
 * Adds it to *o, for a match of CACHE_MATCH_NAME. Without a type it is told for A, and failures of
 * all types are. The files of trust anchors are read. Control's thread.
 */
void report_lookup(json_t *o, const struct report_view *v, const struct cache_match *match);

#endif
