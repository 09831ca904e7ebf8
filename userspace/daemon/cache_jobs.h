/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jobs that work on the whole cache, one at a time: resizing it, and writing or loading a snapshot of it. */
#ifndef VOLLEY_DAEMON_CACHE_JOBS_H
#define VOLLEY_DAEMON_CACHE_JOBS_H

#include "control/ctl.h"
#include "daemon/resize.h"
#include "daemon/snapshots.h"

struct cache_jobs {
	struct resize *resize; /* NULL until the workers are there, as the next one */
	struct snapshots *snapshots;
	struct ctl *ctl; /* where clients wait for the end of a job */
};

#endif
