/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which zones lose their places to which: the quietest to the busiest, and only where the
 * difference is large. */
#include "daemon/zone_places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ROW_MAX 4

static const struct {
	const char *name;
	double with[ROW_MAX], without[ROW_MAX]; /* 0 ends without; with has n_with */
	size_t n_with, expected;
} rows[] = {
	{ "nobody waits", { 0, 1 }, { 0 }, 2, 0 },
	{ "nobody has one", { 0 }, { 100 }, 0, 0 },
	{ "a few questions move nothing", { 0 }, { 16 }, 1, 0 },
	{ "a busy one beside a quiet one", { 0 }, { 17 }, 1, 1 },
	{ "not twice as busy", { 1000 }, { 2000 }, 1, 0 },
	{ "more than twice", { 1000 }, { 2017 }, 1, 1 },
	{ "the quietest goes first", { 500, 0, 900 }, { 100, 50 }, 3, 1 },
	{ "two of three", { 500, 3, 0 }, { 20, 100, 30 }, 3, 2 },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct zone_load with[ROW_MAX], without[ROW_MAX];
		size_t n_without = 0, n;

		for (size_t k = 0; k < rows[i].n_with; k++)
			with[k] = (struct zone_load){ (uint32_t)k, rows[i].with[k] };
		for (; n_without < ROW_MAX && rows[i].without[n_without] > 0; n_without++)
			without[n_without] = (struct zone_load){ (uint32_t)n_without,
								 rows[i].without[n_without] };
		n = zone_places_plan(with, rows[i].n_with, without, n_without);
		if (n != rows[i].expected)
			fail_msg("%s: %zu", rows[i].name, n);
		for (size_t k = 1; k < rows[i].n_with; k++)
			assert_true(with[k - 1].answers <= with[k].answers);
		for (size_t k = 1; k < n_without; k++)
			assert_true(without[k - 1].answers >= without[k].answers);
	}
}

static void test_no_more_than_a_round_takes(void **state)
{
	struct zone_load with[ZONE_PLACES_SWAPS + 9] = { 0 }, without[ZONE_PLACES_SWAPS + 9];

	(void)state;
	for (size_t i = 0; i < ZONE_PLACES_SWAPS + 9; i++)
		without[i] = (struct zone_load){ 1, 1e9 };
	assert_int_equal(zone_places_plan(with, ZONE_PLACES_SWAPS + 9, without,
					  ZONE_PLACES_SWAPS + 9),
			 ZONE_PLACES_SWAPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_no_more_than_a_round_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
