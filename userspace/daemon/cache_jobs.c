/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/cache_jobs.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "config/value.h"
#include "config/words.h"

/* A client that waits. */
struct call {
	struct ctl *ctl;
	uint64_t ticket;
};

static int call_new_cache_job(struct call **out, struct ctl *ctl, char *err, size_t err_cap)
{
	struct call *call = calloc(1, sizeof(*call));
	int code = -ENOMEM;

	if (call) {
		call->ctl = ctl;
		code = ctl_defer_or_tell(ctl, &call->ticket, err, err_cap);
	}
	if (code)
		free(call);
	else
		*out = call;
	return code;
}

static int wait_for_cache_job(struct call *call, int code)
{
	if (!code)
		return CTL_LATER;
	free(call);
	return code;
}

/* --- Resizes ---------------------------------------------------------------------------------- */

static json_t *report_resize(const struct resize_result *r)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "size_bytes", (json_int_t)r->to_bytes,
			 "before_bytes", (json_int_t)r->from_bytes, "entries",
			 (json_int_t)r->copied.n_entries, "copied", (json_int_t)r->copied.n_copied,
			 "no_room", (json_int_t)r->copied.n_left_out, "took_ms",
			 (json_int_t)(r->took_ns / CLOCK_NS_PER_MS));
}

static void on_resized(void *user, const struct resize_result *r)
{
	json_t *result = r->code ? NULL : report_resize(r);
	struct call *call = user;
	char err[256] = "";

	if (r->code == -ECANCELED)
		snprintf(err, sizeof(err), "volleyd stops: the cache keeps its size");
	else if (r->code)
		snprintf(err, sizeof(err), "%s: the cache keeps its size", err_text(r->code));
	ctl_answer(call->ctl, call->ticket, clock_ns(), !r->code && !result ? -ENOMEM : r->code,
		   result, err);
	free(call);
}

static int read_size(const char *text, uint64_t *bytes, char *err, size_t err_cap)
{
	const struct words_key *key = words_find_key("cache.size");
	char accepts[128];

	if (!value_read_number(key, text, bytes))
		return 0;
	words_accepts(key, accepts, sizeof(accepts));
	snprintf(err, err_cap, "%s: give %s", text, accepts);
	return -EINVAL;
}

int cache_jobs_resize(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct cache_jobs *jobs = user;
	struct call *call = NULL;
	uint64_t bytes;
	int code = read_size(ctl_arg(args, 0), &bytes, err, err_cap);

	(void)result;
	if (!code && !jobs->resize)
		code = ctl_not_ready(err, err_cap);
	if (!code)
		code = call_new_cache_job(&call, jobs->ctl, err, err_cap);
	if (code)
		return code;
	return wait_for_cache_job(call, resize_start(jobs->resize, bytes, on_resized, call, err,
						     err_cap));
}

/* --- Snapshots -------------------------------------------------------------------------------- */

static json_t *report_snapshot(const struct snapshots_result *r)
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

static void on_snapshot(void *user, const struct snapshots_result *r)
{
	const char *why = r->code == -ECANCELED ? "volleyd stops: it is given up" : r->why;
	struct call *call = user;
	json_t *result = r->code ? NULL : report_snapshot(r);

	ctl_answer(call->ctl, call->ticket, clock_ns(), !r->code && !result ? -ENOMEM : r->code,
		   result, why);
	free(call);
}

static int begin_snapshot(struct cache_jobs *jobs, enum snapshots_kind kind, const json_t *args,
			  char *err, size_t err_cap)
{
	struct call *call = NULL;
	int file = ctl_take_file_or_tell(jobs->ctl, err, err_cap), code = file < 0 ? file : 0;

	if (!code)
		code = jobs->snapshots ? call_new_cache_job(&call, jobs->ctl, err, err_cap) :
					 ctl_not_ready(err, err_cap);
	if (code) {
		if (file >= 0)
			close(file);
		return code;
	}
	code = snapshots_start(jobs->snapshots, kind, ctl_arg(args, 0), file, on_snapshot, call);
	if (code)
		close(file);
	if (code == -EBUSY)
		snprintf(err, err_cap,
			 "another snapshot is being written or loaded, or the cache is being "
			 "resized: try again later");
	return wait_for_cache_job(call, code);
}

int cache_jobs_dump(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)result;
	return begin_snapshot(user, SNAPSHOTS_DUMP, args, err, err_cap);
}

int cache_jobs_load(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	(void)result;
	return begin_snapshot(user, SNAPSHOTS_LOAD, args, err, err_cap);
}
