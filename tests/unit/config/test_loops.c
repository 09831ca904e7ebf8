/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which addresses are volleyd's own. */
#include "config/addresses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/value.h"

static const struct {
	const char *listen;
	const char *to;
	bool loops;
} rows[] = {
	{ "192.0.2.1", "192.0.2.1", true },
	{ "192.0.2.1", "192.0.2.1@5353", false },
	{ "192.0.2.1", "192.0.2.2", false },
	{ "192.0.2.1@5353", "192.0.2.1@5353", true },
	{ "2001:db8::1", "2001:DB8:0::1", true },
	{ "2001:db8::1", "2001:db8::2", false },
	{ "127.0.0.1", "127.0.0.2", false },
	{ "0.0.0.0", "127.0.0.1", true },
	{ "0.0.0.0", "127.0.0.1@54", false },
	{ "0.0.0.0", "192.0.2.1", false },
	{ "0.0.0.0", "::1", false },
	{ "::", "::1", true },
	{ "::", "2001:db8::1", false },
	{ "::", "127.0.0.1", false },
	{ "127.0.0.1", "0.0.0.0", true },
	{ "192.0.2.1", "0.0.0.0", false },
	{ "::1", "::", true },
};

static void test_loops(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct config_addr both[2], to;

		print_message("%s, %s\n", rows[i].listen, rows[i].to);
		assert_int_equal(value_read_addr("198.51.100.1", 53, &both[0]), 0);
		assert_int_equal(value_read_addr(rows[i].listen, 53, &both[1]), 0);
		assert_int_equal(value_read_addr(rows[i].to, 53, &to), 0);
		assert_ptr_equal(loops_find(both, 2, &to), rows[i].loops ? &both[1] : NULL);
		assert_null(loops_find(both, 1, &to));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_loops) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
