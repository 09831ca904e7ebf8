/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hit ratios beside an exact LRU, and what is left of them in a flood: tests/perf/hitratio.c in
 * small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "replay.h"

static const struct row {
	uint32_t n_names;
	uint32_t percent; /* of them, for which the budget is */
	double exponent;
} rows[] = {
	{ 300000, 10, 0.8 },
	{ 300000, 10, 1.0 },
	{ 300000, 10, 1.2 },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* Counted in so many queries as the budget has entries: `before` without a flood, then
 * `counted`. */
static struct replay_ratios run(const struct row *row, uint32_t before, uint32_t counted,
				enum replay_flood kind, uint32_t floods)
{
	uint64_t held = (uint64_t)row->n_names * row->percent / 100;
	struct replay_plan plan = {
		.bytes = replay_all_bytes(row->n_names) * row->percent / 100,
		.n_names = row->n_names,
		.exponent = row->exponent,
		.n_before = before * held,
		.n_counted = counted * held,
		.kind = kind,
		.floods = floods,
	};
	struct replay_ratios ratios = replay(&plan);

	print_message("%u names, %u %%, Zipf %.1f, %u floods: %.4f, exact LRU without %.4f\n",
		      row->n_names, row->percent, row->exponent, floods, ratios.ours, ratios.lru);
	return ratios;
}

static void test_as_good_as_lru(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct replay_ratios r = run(&rows[i], 12, 4, REPLAY_DENIALS, 0);

		assert_true(r.ours >= 0.98 * r.lru);
	}
}

static void test_flood_of_a_warm_cache(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct replay_ratios calm = run(&rows[i], 12, 2, REPLAY_DENIALS, 0);
		struct replay_ratios denials = run(&rows[i], 12, 2, REPLAY_DENIALS, 10);
		struct replay_ratios positive = run(&rows[i], 12, 2, REPLAY_POSITIVE, 10);

		assert_true(denials.ours >= calm.ours - 0.02);
		assert_true(positive.ours >= calm.ours - 0.02);
	}
}

/* Names that do not exist keep to their share also before the others have filled the rest. */
static void test_flood_of_a_cold_cache(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct replay_ratios calm = run(&rows[i], 0, 4, REPLAY_DENIALS, 0);
		struct replay_ratios denials = run(&rows[i], 0, 4, REPLAY_DENIALS, 10);

		assert_true(denials.ours >= calm.ours - 0.02);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_good_as_lru),
		cmocka_unit_test(test_flood_of_a_warm_cache),
		cmocka_unit_test(test_flood_of_a_cold_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
