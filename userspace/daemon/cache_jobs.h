/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs on the whole cache, one at a time: resizing it, writing or loading its snapshot. */
#ifndef VOLLEY_DAEMON_CACHE_JOBS_H
#define VOLLEY_DAEMON_CACHE_JOBS_H

#include <jansson.h>
#include <stddef.h>

#include "control/ctl.h"
#include "daemon/resize.h"
#include "daemon/snapshots.h"

struct cache_jobs {
	struct resize *resize; /* NULL until the workers are there, as `snapshots` */
	struct snapshots *snapshots;
	struct ctl *ctl; /* where clients wait for the end of a job */
};

/* `cache resize`, `cache dump`, `cache load`: the run() of a command; user: a struct cache_jobs. */
int cache_jobs_resize(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int cache_jobs_dump(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);
int cache_jobs_load(void *user, const json_t *args, json_t **result, char *err, size_t err_cap);

#endif
