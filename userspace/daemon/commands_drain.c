/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_drain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "control/drain.h"

static void log_change(const struct drain *drain, bool was_on)
{
	char text[DRAIN_WHY_CAP + 16];

	if (drain->is_on)
		log_notice("%s: volleyctl health says so until volleyctl drain off",
			   drain_text(drain, text, sizeof(text)));
	else if (was_on)
		log_notice("drained no more");
}

int commands_drain(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const char *word = json_string_value(json_array_get(args, 0));
	const char *why = json_string_value(json_array_get(args, 1));
	struct drain *drain = user;
	bool was_on = drain->is_on, is_on = word && !strcmp(word, "on");
	int code = 0;

	if (word && ((!is_on && strcmp(word, "off") != 0) || (!is_on && why))) {
		snprintf(err, err_cap, "drain takes on, with a reason if there is one, or off");
		return -EINVAL;
	}
	if (word) {
		code = drain_set(drain, is_on, why);
		log_change(drain, was_on);
	}
	if (code) {
		snprintf(err, err_cap, "it holds until volleyd ends, but %s: %s", drain->path,
			 err_text(code));
		return code;
	}
	*result = json_pack("{s:b, s:s}", "drained", drain->is_on, "why", drain->why);
	return *result ? 0 : -ENOMEM;
}
