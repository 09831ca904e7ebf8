/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/call.h"

#include <errno.h>
#include <unistd.h>

#define PROGRESS_MS 500 /* between two looks at a load; a shorter load shows no progress */

/* Asks on a second connection while the request waits on the first. A new reference, or NULL. */
static json_t *look_at_load(const struct await_call *call, const char *command, const json_t *args)
{
	int fd = call_open(call->socket);
	json_t *reply = NULL, *result;

	if (fd < 0)
		return NULL;
	if (call_run(fd, command, args, PROGRESS_MS, &reply))
		reply = NULL;
	close(fd);
	result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return result;
}

/* "example.com.: reading, 43 %, 120000 records, 12 s"; "" if there is no progress to show. */
static void put_zone_progress(const json_t *zone, char *buf, size_t cap)
{
	const char *name = json_string_value(json_object_get(zone, "name"));
	const char *stage = json_string_value(json_object_get(zone, "stage"));
	const json_t *percent = json_object_get(zone, "percent");
	char share[16] = "";

	buf[0] = 0;
	if (!name || !stage)
		return;
	if (percent)
		snprintf(share, sizeof(share), ", %d %%", (int)json_integer_value(percent));
	snprintf(buf, cap, "%s: %s%s, %lld records, %lld s", name, stage, share,
		 (long long)json_integer_value(json_object_get(zone, "read_records")),
		 (long long)json_integer_value(json_object_get(zone, "loading_s")));
}

/* Shows it as a line that changes, or as lines of a log. */
static void show_progress(const struct await_call *call)
{
	const bool is_terminal = isatty(STDERR_FILENO);
	json_t *none = json_array();
	json_t *result = look_at_load(call, call->zone ? "zone status" : "status",
				      call->zone ? call->zone : none);
	const char *progress = json_string_value(json_object_get(result, "progress"));
	char text[80] = "";

	if (call->zone)
		put_zone_progress(json_array_get(json_object_get(result, "zones"), 0), text,
				  sizeof(text));
	else if (progress)
		snprintf(text, sizeof(text), "%s", progress);
	if (is_terminal)
		fprintf(stderr, "\r%s\033[K", text);
	else if (*text)
		fprintf(stderr, "%s\n", text);
	json_decref(result);
	json_decref(none);
}

int await_call(const struct await_call *call, int fd)
{
	int left_ms = call->wait_s * 1000, ret;
	bool is_line = false;

	for (;;) {
		ret = call_wait_reply(fd, PROGRESS_MS);
		if (ret != -ETIMEDOUT)
			break;
		if (call->wait_s && (left_ms -= PROGRESS_MS) <= 0)
			break;
		if (call->is_shown)
			show_progress(call);
		is_line = call->is_shown;
	}
	if (is_line && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return ret;
}
