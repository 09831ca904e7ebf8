/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "resolver/unbound_version.h"

static const struct row {
	const char *version;
	bool is_sound;
} rows[] = {
	{ "1.17.1", false },
	{ "1.26.1", false },
	{ "1.26", false },
	{ "0.99.99", false },
	{ UNBOUND_VERSION_SOUND, true },
	{ "1.26.2rc1", true },
	{ "1.26.3", true },
	{ "1.26.10", true },
	{ "1.27", true },
	{ "1.100.0", true },
	{ "2.0", true },
	{ "", false },
	{ "unknown", false },
	{ "1", false },
};

static void test_versions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].version);
		assert_int_equal(unbound_version_is_sound(rows[i].version), rows[i].is_sound);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
