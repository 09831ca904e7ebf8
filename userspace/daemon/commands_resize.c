/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_resize.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "daemon/cache_jobs.h"
#include "config/value.h"
#include "config/words.h"

/* A client that waits. */
struct call {
	struct ctl *ctl;
	uint64_t ticket;
};

static json_t *report(const struct resize_result *r)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "size_bytes", (json_int_t)r->to_bytes,
			 "before_bytes", (json_int_t)r->from_bytes, "entries",
			 (json_int_t)r->copied.n_entries, "copied", (json_int_t)r->copied.n_copied,
			 "no_room", (json_int_t)r->copied.n_left_out, "took_ms",
			 (json_int_t)(r->took_ns / CLOCK_NS_PER_MS));
}

static void on_done(void *user, const struct resize_result *r)
{
	json_t *result = r->code ? NULL : report(r);
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

static int begin(struct cache_jobs *jobs, uint64_t bytes, char *err, size_t err_cap)
{
	struct call *call = calloc(1, sizeof(*call));
	int code;

	if (!call)
		return -ENOMEM;
	*call = (struct call){ .ctl = jobs->ctl, .ticket = ctl_defer(jobs->ctl) };
	if (call->ticket) {
		code = resize_start(jobs->resize, bytes, on_done, call, err, err_cap);
	} else {
		snprintf(err, err_cap, "%d clients wait already, try again later", CTL_WAITING_CAP);
		code = -EBUSY;
	}
	if (!code)
		return CTL_LATER;
	free(call);
	return code;
}

int commands_cache_resize(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap)
{
	struct cache_jobs *jobs = user;
	uint64_t bytes;
	int code = read_size(json_string_value(json_array_get(args, 0)), &bytes, err, err_cap);

	(void)result;
	if (code)
		return code;
	if (jobs->resize)
		return begin(jobs, bytes, err, err_cap);
	snprintf(err, err_cap, "volleyd is starting: try again when volleyctl status says ready");
	return -EAGAIN;
}
