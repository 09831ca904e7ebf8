/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What commands share: their arguments, the part that they work on, and how they refuse. */
#include "control/ctl_command.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "control/ctl_request.h"

static json_t *make_args(const char *words)
{
	json_t *args = json_loads(words, 0, NULL);

	assert_true(json_is_array(args));
	return args;
}

static void test_arguments(void **state)
{
	json_t *args = make_args("[\"a\", \"b\"]");

	(void)state;
	assert_string_equal(ctl_arg(args, 0), "a");
	assert_string_equal(ctl_arg(args, 1), "b");
	assert_null(ctl_arg(args, 2));
	json_decref(args);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *args;
		int code;
		uint64_t n;
	} rows[] = {
		{ "[]", 0, 7 },
		{ "[\"-n\", \"1\"]", 0, 1 },
		{ "[\"-n\", \"20\"]", 0, 20 },
		{ "[\"-n\", \"0\"]", -EINVAL, 0 },
		{ "[\"-n\", \"21\"]", -EINVAL, 0 },
		{ "[\"-n\", \"1x\"]", -EINVAL, 0 },
		{ "[\"-n\"]", -EINVAL, 0 },
		{ "[\"-m\", \"1\"]", -EINVAL, 0 },
		{ "[\"-n\", \"5\", \"x\"]", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *args = make_args(rows[i].args);
		char err[128] = "";
		uint64_t n = 7;

		print_message("%s\n", rows[i].args);
		assert_int_equal(ctl_read_n(args, 20, &n, err, sizeof(err)), rows[i].code);
		if (rows[i].code)
			assert_string_equal(err, "give -n and a number from 1 to 20");
		else
			assert_int_equal(n, rows[i].n);
		json_decref(args);
	}
}

static void test_not_ready(void **state)
{
	char err[128] = "";

	(void)state;
	assert_int_equal(ctl_not_ready(err, sizeof(err)), -EAGAIN);
	assert_non_null(strstr(err, "volleyd is starting"));
}

struct whole {
	int before;
	int part;
};

static void *part_of(void *user)
{
	return &((struct whole *)user)->part;
}

static int run_part(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	int *part = user;

	(void)args, (void)result, (void)err, (void)err_cap;
	++*part;
	return 0;
}

static int run_whole(void *user, const json_t *args, json_t **result, char *err, size_t err_cap)
{
	struct whole *whole = user;

	(void)args, (void)result, (void)err, (void)err_cap;
	whole->before++;
	return 0;
}

static void run(struct whole *whole, const char *line)
{
	static const struct ctl_command commands[] = {
		{ "status", run_part, CTL_READS, part_of },
		{ "stats", run_whole, CTL_READS, NULL },
		{ NULL, NULL, CTL_READS, NULL },
	};
	struct ctl_request_told told;
	bool is_later;
	char *reply =
		ctl_request_run(commands, whole, CTL_OWNS, line, strlen(line), &is_later, &told);

	assert_non_null(reply);
	assert_non_null(strstr(reply, "\"ok\":true"));
	free(reply);
}

static void test_parts(void **state)
{
	struct whole whole = { 0 };

	(void)state;
	run(&whole, "{\"v\":1,\"command\":\"status\"}");
	assert_int_equal(whole.part, 1);
	assert_int_equal(whole.before, 0);
	run(&whole, "{\"v\":1,\"command\":\"stats\"}");
	assert_int_equal(whole.part, 1);
	assert_int_equal(whole.before, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_not_ready),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
