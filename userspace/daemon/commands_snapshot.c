/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_snapshot.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "daemon/cache_jobs.h"

/* A client that waits. */
struct call {
	struct ctl *ctl;
	uint64_t ticket;
};

static json_t *report(const struct snapshots_result *r)
{
	const struct snapshot_read *n = &r->read;
	json_int_t took_ms = (json_int_t)(r->took_ns / CLOCK_NS_PER_MS);

	if (r->kind == SNAPSHOTS_DUMP)
		return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "file", r->path, "entries",
				 (json_int_t)r->written.n_entries, "written_bytes",
				 (json_int_t)r->written.n_bytes, "zones",
				 (json_int_t)r->written.n_zones, "zones_left_out",
				 (json_int_t)r->written.n_changed, "took_ms", took_ms);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "file", r->path, "entries",
			 (json_int_t)n->n_entries, "loaded", (json_int_t)n->n_loaded, "present",
			 (json_int_t)n->n_present, "other_content", (json_int_t)n->n_foreign,
			 "expired", (json_int_t)n->n_expired, "no_room", (json_int_t)n->n_no_room,
			 "took_ms", took_ms);
}

static void on_done(void *user, const struct snapshots_result *r)
{
	const char *why = r->code == -ECANCELED ? "volleyd stops: it is given up" : r->why;
	struct call *call = user;
	json_t *result = r->code ? NULL : report(r);

	ctl_answer(call->ctl, call->ticket, clock_ns(), !r->code && !result ? -ENOMEM : r->code,
		   result, why);
	free(call);
}

static int begin(struct cache_jobs *jobs, enum snapshots_kind kind, const json_t *args, char *err,
		 size_t err_cap)
{
	struct call *call;
	int code;

	if (!jobs->snapshots) {
		snprintf(err, err_cap,
			 "volleyd is starting: try again when volleyctl status says "
			 "ready");
		return -EAGAIN;
	}
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	*call = (struct call){ .ctl = jobs->ctl, .ticket = ctl_defer(jobs->ctl) };
	code = call->ticket ?
		       snapshots_start(jobs->snapshots, kind,
				       json_string_value(json_array_get(args, 0)), on_done, call) :
		       -EBUSY;
	if (!code)
		return CTL_LATER;
	if (!call->ticket)
		snprintf(err, err_cap, "%d clients wait already, try again later", CTL_WAITING_CAP);
	else if (code == -EBUSY)
		snprintf(err, err_cap,
			 "another snapshot is being written or loaded, or the cache is being "
			 "resized, try again later");
	free(call);
	return code;
}

int commands_cache_dump(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)result;
	return begin(user, SNAPSHOTS_DUMP, args, err, err_cap);
}

int commands_cache_load(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)result;
	return begin(user, SNAPSHOTS_LOAD, args, err, err_cap);
}
