/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/page.h"
#include "cache/cache_state.h"

/* Every budget from 5 MB to 1 GB in steps of 0.7 %: never passed, and at least 97 % of it used. */
static void test_plan_fills_the_budget(void **state)
{
	struct cache_sizes s, measured;
	uint64_t bytes;

	(void)state;
	for (bytes = 5000000; bytes <= 1000000000; bytes += bytes / 143) {
		assert_int_equal(cache_sizes_plan(&s, bytes, 100), 0);
		assert_true(s.total_bytes <= bytes);
		assert_true(s.total_bytes >= bytes / 100 * 97);
		assert_int_equal(s.bytes, bytes);
		measured = s;
		measured.total_bytes = 0;
		cache_sizes_measure(&measured);
		assert_int_equal(measured.total_bytes, s.total_bytes);
	}
}

/* Counted anew from what each part is, not by the code under test. */
static void test_total_is_the_sum_of_all_parts(void **state)
{
	struct cache_sizes s;
	uint64_t parts;

	(void)state;
	assert_int_equal(cache_sizes_plan(&s, 64 << 20, 100), 0);
	parts = sizeof(struct volley_state) + 64ull * s.n_buckets + 262144ull * s.n_segments +
		64ull * s.n_zones + 8ull * s.n_buckets + 4 * 4ull * s.n_segments +
		sizeof(struct cache);
	assert_true(s.total_bytes >= parts);
	assert_true(s.total_bytes <= parts + 16 * page_bytes()); /* rounding, headers of the maps */
}

static void test_zone_slots(void **state)
{
	static const struct {
		uint32_t n_zones;
		uint32_t slots;
	} rows[] = { { 0, 4096 }, { 2047, 4096 }, { 2048, 8192 }, { 100000, 262144 } };
	struct cache_sizes s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(cache_sizes_plan(&s, 256 << 20, rows[i].n_zones), 0);
		assert_int_equal(s.n_zones, rows[i].slots);
	}
}

static void test_bounds(void **state)
{
	struct cache_sizes s;

	(void)state;
	assert_int_equal(cache_sizes_plan(&s, 0, 1), -ERANGE);
	assert_int_equal(cache_sizes_plan(&s, 1 << 20, 1), -ERANGE);
	assert_int_equal(cache_sizes_plan(&s, CACHE_BYTES_MIN, 1), 0);
	assert_true(s.n_segments >= 8);
	assert_int_equal(cache_sizes_plan(&s, CACHE_BYTES_MIN, 1u << 20), -ERANGE);
	assert_int_equal(cache_sizes_plan(&s, 60ull << 30, 1), 0);
	assert_true((uint64_t)s.n_segments * VOLLEY_SEGMENT_UNITS <= UINT32_MAX);
	assert_int_equal(cache_sizes_plan(&s, 80ull << 30, 1), -E2BIG);
}

/* What `ip link` loads is what volleyd would have planned for the same budget. */
static void test_object_defaults(void **state)
{
	struct cache_sizes s;

	(void)state;
	assert_int_equal(cache_sizes_plan(&s, VOLLEY_DEFAULT_BYTES, 0), 0);
	assert_int_equal(s.n_segments, VOLLEY_DEFAULT_SEGMENTS);
	assert_int_equal(s.n_buckets, VOLLEY_DEFAULT_BUCKETS);
	assert_int_equal(s.n_zones, VOLLEY_DEFAULT_ZONES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_fills_the_budget),
		cmocka_unit_test(test_total_is_the_sum_of_all_parts),
		cmocka_unit_test(test_zone_slots),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_object_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
