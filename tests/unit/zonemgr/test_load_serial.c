/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serial numbers that volleyd gives: each is newer than the one before. */
#include "zonemgr/load_steps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define NOON 1764417600u /* 2025-11-29, 12:00 UTC */

static const struct row {
	enum config_serial policy;
	uint32_t before;
	uint64_t now_s;
	uint32_t want;
} rows[] = {
	{ CONFIG_SERIAL_INCREMENT, 7, NOON, 8 },
	{ CONFIG_SERIAL_INCREMENT, UINT32_MAX, NOON, 0 },
	{ CONFIG_SERIAL_UNIXTIME, 7, NOON, NOON },
	{ CONFIG_SERIAL_UNIXTIME, NOON - 1, NOON, NOON },
	{ CONFIG_SERIAL_UNIXTIME, NOON, NOON, NOON + 1 },
	{ CONFIG_SERIAL_UNIXTIME, NOON + 5, NOON, NOON + 6 }, /* the clock went back */
	{ CONFIG_SERIAL_UNIXTIME, 2025112901, NOON, 2025112902 },
	{ CONFIG_SERIAL_UNIXTIME, UINT32_MAX - 1, NOON, NOON }, /* RFC 1982: newer */
	{ CONFIG_SERIAL_DATE, 7, NOON, 2025112901 },
	{ CONFIG_SERIAL_DATE, 2025112901, NOON, 2025112902 },
	{ CONFIG_SERIAL_DATE, 2025112999, NOON, 2025113000 },
	{ CONFIG_SERIAL_DATE, 2025112842, NOON, 2025112901 },
	{ CONFIG_SERIAL_DATE, NOON, NOON, 2025112901 },
	{ CONFIG_SERIAL_DATE, 2025112842, NOON + 12 * 3600 - 1, 2025112901 },
	{ CONFIG_SERIAL_DATE, 2025112942, NOON + 12 * 3600, 2025113001 },
};

static void the_next_serial(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t got = load_next_serial(rows[i].policy, rows[i].before, rows[i].now_s);

		if (got != rows[i].want)
			fail_msg("row %zu: %u, not %u", i, got, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_next_serial) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
