/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/volleyctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json_put.h"
#include "zone/zone.h"

static json_t *tell_zone_check(const struct zone *zone, const struct zone_error *why)
{
	json_t *o = json_object();

	json_put_bool(o, "valid", true);
	json_put_int(o, "serial", zone_serial(zone));
	json_put_int(o, "records", zone_n_records(zone));
	json_put_int(o, "warnings", why->n_warnings);
	if (*why->warning)
		json_put_text(o, "warning", why->warning);
	return o;
}

/* Writes each mistake on a line of its own. */
static void put_error(const struct zone_error *why, const char *file, char *err, size_t err_cap)
{
	int more_bytes = (int)strlen(why->more) - (*why->more != 0); /* without the last line end */
	const char *between = *why->more ? "\n" : "";

	if (why->line)
		snprintf(err, err_cap, "%s:%u: %s%s%.*s", why->file, why->line, why->sentence,
			 between, more_bytes, why->more);
	else
		snprintf(err, err_cap, "%s: %s", file, why->sentence);
}

int zone_check_file(const char *name, const char *file, json_t **result, char *err, size_t err_cap)
{
	struct zone_error why;
	struct zone *zone;
	int code = zone_load(&zone, name, file, NULL, &why);

	*result = NULL;
	if (code) {
		put_error(&why, file, err, err_cap);
		return code;
	}
	*result = tell_zone_check(zone, &why);
	zone_unref(zone);
	if (*result)
		return 0;
	snprintf(err, err_cap, "%s: there is no memory for the result", file);
	return -ENOMEM;
}
