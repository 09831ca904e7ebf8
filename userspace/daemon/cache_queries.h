/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands that walk over the whole cache: cache stats, lookup and flush. The walk is a
 * background job (base/background.h) in parts, and the reply comes when it is over. So neither
 * control's thread nor an answer waits for it. Each function is the run() of a struct ctl_command;
 * the user is a struct cache_queries.
 */
#ifndef VOLLEY_DAEMON_CACHE_QUERIES_H
#define VOLLEY_DAEMON_CACHE_QUERIES_H

#include <jansson.h>
#include <stddef.h>

#include "census/cache_match.h"
#include "base/background.h"
#include "control/ctl.h"
#include "daemon/answer_cache.h"
#include "recursion/recursion_service.h"
#include "report/report_view.h"

struct cache_queries {
	unsigned int n_walks; /* that wait or run, also for clients that have hung up */

	/* The parts that it works with; they outlive it. */
	struct answer_cache *cache;
	struct recursion *recursion; /* forgets what is flushed */
	struct background *background;
	struct ctl *ctl;
	struct report_source reports;
};

/* [-n N]: report_cache(), and the census with the N zones that take most memory. */
int cache_queries_stats(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

/* NAME [TYPE] */
int cache_queries_lookup(void *user, const json_t *args, json_t **result, char *err,
			 size_t err_cap);

/*
 * For a command of another file: adds the answers that match a name to the object o as "cache"; o
 * is the reply. Takes the reference to o. CTL_LATER, or a negative code with a sentence in err.
 */
int cache_queries_add(struct cache_queries *queries, const struct cache_match *match, json_t *o,
		      char *err, size_t err_cap);

/* See cache_match_read(). When the reply comes, neither driver nor workers give a withdrawn
 * answer. */
int cache_queries_flush(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
