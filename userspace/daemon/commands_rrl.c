/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands_rrl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "policy/rate_limits.h"

#define TOP_DEFAULT 10
#define TOP_MAX     1024

int commands_rrl_status(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct rate_limits *limits = user;

	(void)args;
	(void)err;
	(void)err_cap;
	*result = rate_limits_report(limits, clock_coarse_s());
	return *result ? 0 : -ENOMEM;
}

/* Nothing, or -n and a number. */
static int read_n(const json_t *args, unsigned long *n)
{
	const char *option = json_string_value(json_array_get(args, 0));
	const char *text = json_string_value(json_array_get(args, 1));
	char *end;

	*n = TOP_DEFAULT;
	if (!option)
		return 0;
	if (strcmp(option, "-n") != 0 || !text || json_array_size(args) != 2)
		return -EINVAL;
	*n = strtoul(text, &end, 10);
	return *end || !*n || *n > TOP_MAX ? -EINVAL : 0;
}

int commands_rrl_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct rate_limits *limits = user;
	unsigned long n;

	if (read_n(args, &n)) {
		snprintf(err, err_cap, "it takes -n and a number from 1 to %u", TOP_MAX);
		return -EINVAL;
	}
	*result = rate_limits_report_top(limits, (unsigned int)n, clock_coarse_s());
	return *result ? 0 : -ENOMEM;
}
