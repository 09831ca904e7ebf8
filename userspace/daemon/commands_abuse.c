/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "config/value.h"
#include "config/words.h"
#include "control/ctl_command.h"
#include "abuse/block_book.h"
#include "abuse/block_records.h"
#include "abuse/cookies.h"
#include "abuse/rate_limits.h"
#include "report/report_view.h"

#define LIST_DEFAULT 1000
#define LIST_MAX     BLOCK_TABLE_MAX
#define TOP_DEFAULT  10
#define TOP_MAX      1024

/* --- Blocks ----------------------------------------------------------------------------------- */

static int read_block_time(const char *text, uint32_t *seconds, char *err, size_t err_cap)
{
	static const struct words_key key = { .type = WORDS_SECONDS, .min = 1, .max = 31536000 };
	uint64_t value;

	if (value_read_number(&key, text, &value)) {
		snprintf(err, err_cap, "--for takes 1s to 365d, such as 10m, not \"%s\"", text);
		return -EINVAL;
	}
	*seconds = (uint32_t)value;
	return 0;
}

static int read_block_option(const char *option, const char *value, struct block_order *order,
			     char *err, size_t err_cap)
{
	int action;

	if (!strcmp(option, "--for"))
		return read_block_time(value, &order->for_s, err, err_cap);
	if (!strcmp(option, "--why")) {
		order->why = value;
		return 0;
	}
	if (strcmp(option, "--action") != 0) {
		snprintf(err, err_cap, "block add takes --for, --action and --why, not \"%s\"",
			 option);
		return -EINVAL;
	}
	action = block_words_read_action(value);
	if (action < 0) {
		snprintf(err, err_cap,
			 "--action takes drop, refuse, truncate, up or allow, not \"%s\"", value);
		return action;
	}
	order->action = (enum volley_block_action)action;
	return 0;
}

/* The prefix, name or type to block may stand anywhere among the options. */
static int read_order(const json_t *args, struct block_order *order, char *err, size_t err_cap)
{
	size_t n = json_array_size(args);
	int code;

	for (size_t i = 0; i < n; i++) {
		const char *word = ctl_arg(args, i);

		if (strncmp(word, "--", 2) != 0) {
			if (order->what) {
				snprintf(err, err_cap,
					 "block add takes one prefix, name or type at a time");
				return -EINVAL;
			}
			order->what = word;
			continue;
		}
		if (i + 1 == n) {
			snprintf(err, err_cap, "%s needs a value", word);
			return -EINVAL;
		}
		code = read_block_option(word, ctl_arg(args, ++i), order, err, err_cap);
		if (code)
			return code;
	}
	if (order->what)
		return 0;
	snprintf(err, err_cap, "block add needs a prefix, a name or a type");
	return -EINVAL;
}

int commands_block_add(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct block_order order = { .action = VOLLEY_BLOCK_DROP };
	struct block_book *book = user;
	int code = read_order(args, &order, err, err_cap);

	if (code)
		return code;
	if (!book)
		return ctl_not_ready(err, err_cap);
	return block_book_add(book, &order, result, err, err_cap);
}

int commands_block_remove(void *user, const json_t *args, json_t **result, char *err,
			  size_t err_cap)
{
	struct block_book *book = user;

	(void)result;
	if (!book)
		return ctl_not_ready(err, err_cap);
	return block_book_remove(book, ctl_arg(args, 0), err, err_cap);
}

int commands_block_list(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	static const struct words_key key = { .type = WORDS_COUNT, .min = 0, .max = LIST_MAX };
	struct block_book *book = user;
	uint64_t n = LIST_DEFAULT;

	if (ctl_arg(args, 0) &&
	    (strcmp(ctl_arg(args, 0), "-n") != 0 || !ctl_arg(args, 1) ||
	     json_array_size(args) != 2 || value_read_number(&key, ctl_arg(args, 1), &n))) {
		snprintf(err, err_cap, "give -n and a number up to %u", LIST_MAX);
		return -EINVAL;
	}
	if (!book)
		return ctl_not_ready(err, err_cap);
	*result = block_book_report(book, (uint32_t)n);
	return *result ? 0 : -ENOMEM;
}

/* --- Rate limits, cookies, lists -------------------------------------------------------------- */

int commands_rrl_status(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct rate_limits *limits = user;

	(void)args, (void)err, (void)err_cap;
	*result = rate_limits_report(limits, clock_coarse_s());
	return *result ? 0 : -ENOMEM;
}

int commands_rrl_top(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct rate_limits *limits = user;
	uint64_t n = TOP_DEFAULT;
	int code = ctl_read_n(args, TOP_MAX, &n, err, err_cap);

	if (code)
		return code;
	*result = rate_limits_report_top(limits, (unsigned int)n, clock_coarse_s());
	return *result ? 0 : -ENOMEM;
}

int commands_cookies(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct cookies *cookies = user;

	(void)args, (void)err, (void)err_cap;
	*result = cookies_report(cookies);
	return *result ? 0 : -ENOMEM;
}

int commands_cookies_rotate(void *user, const json_t *args, json_t **result, char *err,
			    size_t err_cap)
{
	struct cookies *cookies = user;
	int code = cookies_rotate(cookies, clock_wall_s(), err, err_cap);

	return code ? code : commands_cookies(user, args, result, err, err_cap);
}

int commands_policy_list(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	const struct report_view *v = user;

	(void)args;
	if (!v->has_rpz)
		return ctl_not_ready(err, err_cap);
	*result = rpz_manager_report(v->rpz);
	return *result ? 0 : -ENOMEM;
}
