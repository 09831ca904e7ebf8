/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recognizes real-time kernels by the version texts of existing kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/kernel.h"

static const struct row {
	const char *name;
	const char *version;
	const char *realtime;
	bool is_realtime;
} rows[] = {
	{ "Debian 12", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.170-1 (2026-07-20)", "", false },
	{ "Debian 12, real-time", "#1 SMP PREEMPT_RT Debian 6.12.117-1~deb12u1", "", true },
	{ "with the file", "#1 SMP PREEMPT_RT Debian 6.1.170-1", "1\n", true },
	{ "the file alone", "#1 SMP", "1\n", true },
	{ "the file says no", "#1 SMP PREEMPT_DYNAMIC", "0\n", false },
	{ "RHEL 9", "#1 SMP PREEMPT_DYNAMIC Thu Oct 17 16:11:30 EDT 2024", "", false },
	{ "RHEL 8, real-time", "#1 SMP PREEMPT RT Wed Jan 20 11:26:10 EST 2021", "", true },
	{ "a server's", "#1-NixOS SMP Tue Jan 1 00:00:00 UTC 1980", "", false },
	{ "a desktop's", "#1 SMP PREEMPT Fri Feb 2 00:00:00 UTC 2024", "", false },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (kernel_tells_realtime(rows[i].version, rows[i].realtime) != rows[i].is_realtime)
			fail_msg("%s", rows[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
