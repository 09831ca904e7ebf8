/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The top 100 of a Zipf mix, the bounds that are promised, floods of keys that come once, and that
 * what is over fades. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "census/frequent.h"

#define N_KEYS  50000u
#define N_DRAWN 400000u
#define TOP     100u

/* A count may be too low by this, if `total` was added. */
#define MISSING_MOST(total) (2.0 * (total) / FREQUENT_COUNTERS)

static double sums[N_KEYS]; /* of 1/i, up to each key */
static unsigned int truth[N_KEYS];
static uint64_t seed = 1;

static double draw(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

static uint32_t draw_zipf(void)
{
	double at = draw() * sums[N_KEYS - 1];
	uint32_t low = 0, high = N_KEYS - 1;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (sums[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void make_zipf(void)
{
	double sum = 0;

	for (uint32_t i = 0; i < N_KEYS; i++) {
		sum += 1.0 / (i + 1);
		sums[i] = sum;
		truth[i] = 0;
	}
}

static uint32_t key_of(const struct frequent_counter *c)
{
	uint32_t key;

	assert_int_equal(c->key_bytes, sizeof(key));
	memcpy(&key, c->key, sizeof(key));
	return key;
}

/* How many keys have come more often than this one. */
static unsigned int n_before(uint32_t key)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < N_KEYS; i++)
		n += truth[i] > truth[key];
	return n;
}

static void test_zipf(void **state)
{
	static const struct frequent_counter *top[FREQUENT_COUNTERS];
	struct frequent *f = frequent_new();
	unsigned int n_right = 0;
	size_t n;

	(void)state;
	assert_non_null(f);
	make_zipf();
	for (uint32_t i = 0; i < N_DRAWN; i++) {
		uint32_t key = draw_zipf();

		truth[key]++;
		frequent_add(f, &key, sizeof(key), 1);
	}
	n = frequent_top(f, top, FREQUENT_COUNTERS);
	assert_in_range(n, TOP, FREQUENT_COUNTERS);
	for (size_t i = 0; i < n; i++) {
		uint32_t key = key_of(top[i]);

		assert_true(top[i]->count <= truth[key]);
		assert_true(top[i]->count + MISSING_MOST(N_DRAWN) >= truth[key]);
		assert_true(!i || top[i]->count <= top[i - 1]->count);
		n_right += i < TOP && n_before(key) < TOP;
	}
	assert_true(n_right >= 95);
	assert_true(fabs(frequent_total(f) - N_DRAWN) < 1e-6);
	frequent_free(f);
}

/* A million keys that come once each push nothing out that comes often. */
static void test_flood_of_keys(void **state)
{
	const struct frequent_counter *top[2];
	struct frequent *f = frequent_new();

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++) {
		frequent_add(f, &i, sizeof(i), 2);
		if (i % 100 == 0)
			frequent_add(f, "often", 5, 2);
	}
	assert_int_equal(frequent_top(f, top, 1), 1);
	assert_int_equal(top[0]->key_bytes, 5);
	assert_true(top[0]->count <= 20000 && top[0]->count + MISSING_MOST(2020000) >= 20000);
	frequent_free(f);
}

/* One of 256 is drawn, and stands for 256: the true shares are within the error, most times. */
static void test_samples(void **state)
{
	const struct frequent_counter *top[20];
	struct frequent *f = frequent_new();
	unsigned int n_outside = 0;

	(void)state;
	make_zipf();
	for (uint32_t i = 0; i < N_DRAWN; i++) {
		uint32_t key = draw_zipf();

		if (draw() < 1.0 / 256)
			frequent_add(f, &key, sizeof(key), 256);
	}
	assert_true(fabs(frequent_samples(f) - frequent_total(f) / 256) < 1e-6);
	assert_int_equal(frequent_top(f, top, 20), 20);
	for (uint32_t i = 0; i < 20; i++) {
		double share = 1.0 / (key_of(top[i]) + 1) / sums[N_KEYS - 1];
		double off = fabs(top[i]->count / frequent_total(f) - share);

		n_outside += off > frequent_share_error(f, top[i]);
		assert_true(off < 3 * frequent_share_error(f, top[i]));
	}
	assert_true(n_outside <= 4);
	frequent_free(f);
}

static void test_fades(void **state)
{
	const struct frequent_counter *top[2];
	struct frequent *f = frequent_new();

	(void)state;
	assert_int_equal(frequent_top(f, top, 2), 0);
	frequent_add(f, "", 0, 100);
	frequent_fade(f, 0.5);
	frequent_add(f, "new", 3, 60);
	assert_int_equal(frequent_top(f, top, 2), 2);
	assert_int_equal(top[0]->key_bytes, 3);
	assert_true(fabs(top[0]->count - 60) < 1e-9 && fabs(top[1]->count - 50) < 1e-9);
	assert_true(fabs(frequent_total(f) - 110) < 1e-9);
	for (int i = 0; i < 1200; i++)
		frequent_fade(f, 0.9);
	assert_int_equal(frequent_top(f, top, 2), 0);
	assert_true(frequent_total(f) == 0 && frequent_samples(f) == 0);
	frequent_add(f, "", 0, 60);
	assert_int_equal(frequent_top(f, top, 2), 1);
	assert_true(fabs(frequent_share_error(f, top[0])) <= 1);
	frequent_free(f);
}

/* Of a key with a counter, of one that has none, and of both after a purge. */
static void test_bounds(void **state)
{
	struct frequent *f = frequent_new();
	double least, most;

	(void)state;
	frequent_bounds(f, "a", 1, &least, &most);
	assert_true(least == 0 && most == 0);
	frequent_add(f, "a", 1, 5);
	frequent_bounds(f, "a", 1, &least, &most);
	assert_true(least == 5 && most == 5);
	frequent_bounds(f, "b", 1, &least, &most);
	assert_true(least == 0 && most == 0);
	for (uint32_t i = 1; i < FREQUENT_COUNTERS; i++)
		frequent_add(f, &i, sizeof(i), 3);
	frequent_add(f, "b", 1, 4);
	frequent_bounds(f, "a", 1, &least, &most);
	assert_true(least == 2 && most == 5);
	frequent_bounds(f, "b", 1, &least, &most);
	assert_true(least == 4 && most == 7);
	frequent_bounds(f, "c", 1, &least, &most);
	assert_true(least == 0 && most == 3);
	frequent_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zipf),    cmocka_unit_test(test_flood_of_keys),
		cmocka_unit_test(test_samples), cmocka_unit_test(test_fades),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests_name("frequent", tests, NULL, NULL);
}
