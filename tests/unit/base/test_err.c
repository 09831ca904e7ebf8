/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>

#include "base/err.h"

static const struct {
	const char *name; /* as err_name() returns it; NULL: unknown */
	int code;
	const char *text;
} cases[] = {
	{ "ERR_SHORT", ERR_SHORT, "the input ends too early" },
	{ "ERR_SPACE", -1001, "the output buffer is too small" },
	{ "ERR_LIMIT", ERR_LIMIT, "a configured limit is reached" },
	{ "ENOENT", -ENOENT, "No such file or directory" },
	{ "EPERM", EPERM, "Operation not permitted" },
	{ "0", 0, "Success" },
	{ NULL, -999, "unknown error" },
	{ NULL, -1000 - (int)ERR_N_CODES, "unknown error" },
	{ NULL, INT_MIN, "unknown error" },
	{ NULL, INT_MAX, "unknown error" },
};

static void test_text_and_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(err_text(cases[i].code), cases[i].text);
		if (cases[i].name)
			assert_string_equal(err_name(cases[i].code), cases[i].name);
		else
			assert_null(err_name(cases[i].code));
	}
}

static void test_numbers_are_dense_from_minus_1000(void **state)
{
	(void)state;
	assert_int_equal(ERR_SHORT, -1000);
	for (int i = 0; i < (int)ERR_N_CODES; i++)
		assert_non_null(err_name(-1000 - i));
}

static void test_what_has_run_out(void **state)
{
	const int out[] = { -EMFILE, -ENFILE, -ENOBUFS, -ENOMEM };
	const int other[] = { 0, -ENOENT, EMFILE, ENOMEM, ERR_LIMIT, INT_MIN };

	(void)state;
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		assert_true(err_is_exhausted(out[i]));
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_false(err_is_exhausted(other[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_and_name),
		cmocka_unit_test(test_numbers_are_dense_from_minus_1000),
		cmocka_unit_test(test_what_has_run_out),
	};

	return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
