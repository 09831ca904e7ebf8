/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/ctl_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/value.h"
#include "config/words.h"

const char *ctl_arg(const json_t *args, size_t i)
{
	return json_string_value(json_array_get(args, i));
}

int ctl_read_n(const json_t *args, uint64_t max, uint64_t *n, char *err, size_t err_cap)
{
	const struct words_key key = { .type = WORDS_COUNT, .min = 1, .max = max };
	const char *option = ctl_arg(args, 0), *text = ctl_arg(args, 1);

	if (!option || (!strcmp(option, "-n") && text && json_array_size(args) == 2 &&
			!value_read_number(&key, text, n)))
		return 0;
	snprintf(err, err_cap, "give -n and a number from 1 to %llu", (unsigned long long)max);
	return -EINVAL;
}

int ctl_not_ready(char *err, size_t err_cap)
{
	snprintf(err, err_cap, "volleyd is starting: try again when volleyctl status says ready");
	return -EAGAIN;
}
