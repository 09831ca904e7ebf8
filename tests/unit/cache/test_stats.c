/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The estimate of what is in the cache: exact where that is small, near where it is large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "world.h"

static void test_small_is_exact(void **state)
{
	struct cache_stats exact, estimate;
	struct world w;

	(void)state;
	world_open(&w, 16 << 20);
	for (uint64_t i = 0; i < 5; i++)
		put(&w, i);
	cache_stats_read(w.cache, &exact);
	cache_stats_estimate(w.cache, &estimate);
	assert_int_equal(exact.n_entries, 5);
	assert_memory_equal(&estimate, &exact, sizeof(exact));
	world_close(&w);
}

static void test_large_is_near(void **state)
{
	struct cache_stats exact, estimate;
	struct world w;
	double off;

	(void)state;
	world_open(&w, 128 << 20);
	for (uint64_t i = 0; i < 400000; i++)
		put(&w, i);
	cache_stats_read(w.cache, &exact);
	cache_stats_estimate(w.cache, &estimate);
	assert_true(exact.n_entries > 300000);
	assert_int_not_equal(estimate.n_entries, exact.n_entries);
	off = ((double)estimate.n_entries - (double)exact.n_entries) / (double)exact.n_entries;
	print_message("%.2f %% off\n", 100 * off);
	assert_true(fabs(off) < 0.02);
	estimate.n_entries = exact.n_entries;
	assert_memory_equal(&estimate, &exact, sizeof(exact));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_is_exact),
		cmocka_unit_test(test_large_is_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
