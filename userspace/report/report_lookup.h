/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains the answer for a name, for `volleyctl resolver lookup`; the cache's answers are added
 * elsewhere. It sends no query upstream and asks no engine, so a rule counts no hit.
 *
 *	name, type ─► answered_by, before_upstream   zones, local data and lists, special names,
 *	           │                                 in the engine's order
 *	           ├─► asks, upstreams or targets    the upstreams, and the state of each
 *	           ├─► validation                    trust anchors, and names without validation
 *	           └─► failures                      the last ones, with the reasons
 */
#ifndef VOLLEY_REPORT_REPORT_LOOKUP_H
#define VOLLEY_REPORT_REPORT_LOOKUP_H

#include <jansson.h>

#include "census/cache_match.h"
#include "report/report_view.h"

/*
 * Adds the explanation to *o, for a match of CACHE_MATCH_NAME. Without a type it is for A, with the
 * failures of all types. Reads the files of trust anchors. Control's thread.
 */
void report_lookup(json_t *o, const struct report_view *v, const struct cache_match *match);

#endif
