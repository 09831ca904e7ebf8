/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "world.h"

static bool is_zero(const void *data, size_t n)
{
	const uint8_t *octets = data;

	for (size_t i = 0; i < n; i++)
		if (octets[i])
			return false;
	return true;
}

static void test_parts(void **state)
{
	static const uint64_t budgets[] = { CACHE_BYTES_MIN, 5 << 20, 32 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
		struct cache_sizes s;
		struct cache_memory m;
		size_t index_bytes, store_bytes;

		assert_int_equal(cache_sizes_plan(&s, budgets[i], 0), 0);
		assert_int_equal(cache_memory_anonymous(&m, &s), 0);
		index_bytes = s.n_buckets * 64ul;
		store_bytes = (size_t)s.n_segments * VOLLEY_SEGMENT_BYTES;
		assert_int_equal((uintptr_t)m.store % (2 << 20), 0);
		assert_int_equal((uintptr_t)m.index % 64, 0);
		assert_int_equal((uintptr_t)m.zones % 64, 0);
		assert_true(is_zero(m.store, store_bytes));
		assert_true(is_zero(m.index, index_bytes));
		assert_true(is_zero(m.zones, s.n_zones * sizeof(*m.zones)));
		assert_true(is_zero(m.state, sizeof(*m.state)));
		memset(m.store, 1, store_bytes); /* to each one's end, without touching the next */
		assert_true(is_zero(m.index, index_bytes));
		memset(m.index, 2, index_bytes);
		assert_true(is_zero(m.zones, s.n_zones * sizeof(*m.zones)));
		memset(m.zones, 3, s.n_zones * sizeof(*m.zones));
		assert_true(is_zero(m.state, sizeof(*m.state)));
		cache_memory_release(&m);
		assert_null(m.store);
		cache_memory_release(&m);
	}
}

/* Zones that two share outlive whichever goes first. */
static void test_beside(void **state)
{
	struct cache_memory old, new;
	struct cache_sizes s;

	(void)state;
	assert_int_equal(cache_sizes_plan(&s, 5 << 20, 0), 0);
	assert_int_equal(cache_memory_anonymous(&old, &s), 0);
	assert_int_equal(cache_sizes_plan_beside(&s, 8 << 20, s.n_zones), 0);
	assert_int_equal(cache_memory_anonymous_beside(&new, &s, &old), 0);
	assert_ptr_equal(new.zones, old.zones);
	new.zones[1].gen = 7;
	cache_memory_release_beside(&old);
	assert_null(old.store);
	assert_int_equal(new.zones[1].gen, 7);
	cache_memory_release(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_beside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
