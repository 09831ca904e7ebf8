/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The top of a Zipf mix, with the bounds that are promised, and that what is over fades. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "census/sketch.h"

#define N_KEYS  50000u
#define N_DRAWN 400000u

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

static uint32_t key_of(const struct sketch_counter *c)
{
	uint32_t key;

	assert_int_equal(c->key_bytes, sizeof(key));
	memcpy(&key, c->key, sizeof(key));
	return key;
}

/* Each count is drawn often enough that the first ten stand in their order. */
static void test_zipf(void **state)
{
	const struct sketch_counter *top[SKETCH_COUNTERS];
	struct sketch *s = sketch_new();

	(void)state;
	assert_non_null(s);
	make_zipf();
	for (uint32_t i = 0; i < N_DRAWN; i++) {
		uint32_t key = draw_zipf();

		truth[key]++;
		sketch_add(s, &key, sizeof(key), 1);
	}
	assert_int_equal(sketch_top(s, top, SKETCH_COUNTERS), SKETCH_COUNTERS);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(key_of(top[i]), i);
	for (uint32_t i = 0; i < SKETCH_COUNTERS; i++) {
		uint32_t key = key_of(top[i]);

		assert_true(top[i]->count >= truth[key]);
		assert_true(top[i]->count - top[i]->error <= truth[key]);
		assert_true(top[i]->error <= (double)N_DRAWN / SKETCH_COUNTERS);
	}
	assert_true(fabs(sketch_total(s) - N_DRAWN) < 1e-6);
	sketch_free(s);
}

/* One of 256 is drawn, and stands for 256: the true shares are within the error, most times. */
static void test_samples(void **state)
{
	const struct sketch_counter *top[20];
	struct sketch *s = sketch_new();
	unsigned int n_outside = 0;

	(void)state;
	make_zipf();
	for (uint32_t i = 0; i < N_DRAWN; i++) {
		uint32_t key = draw_zipf();

		if (draw() < 1.0 / 256)
			sketch_add(s, &key, sizeof(key), 256);
	}
	assert_true(fabs(sketch_samples(s) - sketch_total(s) / 256) < 1e-6);
	assert_int_equal(sketch_top(s, top, 20), 20);
	for (uint32_t i = 0; i < 20; i++) {
		double share = 1.0 / (key_of(top[i]) + 1) / sums[N_KEYS - 1];
		double off = fabs(top[i]->count / sketch_total(s) - share);

		n_outside += off > sketch_share_error(s, top[i]);
		assert_true(off < 3 * sketch_share_error(s, top[i]));
	}
	assert_true(n_outside <= 4);
	sketch_free(s);
}

static void test_fades(void **state)
{
	const struct sketch_counter *top[2];
	struct sketch *s = sketch_new();

	(void)state;
	assert_int_equal(sketch_top(s, top, 2), 0);
	sketch_add(s, "", 0, 100);
	sketch_fade(s);
	sketch_add(s, "new", 3, 60);
	assert_int_equal(sketch_top(s, top, 2), 2);
	assert_int_equal(top[0]->key_bytes, 3);
	assert_true(fabs(top[0]->count - 60) < 1e-9 && fabs(top[1]->count - 50) < 1e-9);
	assert_int_equal(sketch_top(s, top, 1), 1);
	assert_int_equal(top[0]->key_bytes, 3);
	assert_true(fabs(sketch_total(s) - 110) < 1e-9);
	sketch_free(s);
}

/* After days without a question there are no shares of nothing. */
static void test_fades_away(void **state)
{
	const struct sketch_counter *top[2];
	struct sketch *s = sketch_new();

	(void)state;
	sketch_add(s, "old", 3, 1e6);
	sketch_add(s, "older", 5, 1);
	for (int i = 0; i < 1200; i++) {
		sketch_fade(s);
		for (size_t n = sketch_top(s, top, 2); n--;) {
			assert_true(isfinite(top[n]->count / sketch_total(s)));
			assert_true(sketch_share_error(s, top[n]) < 1e-2);
		}
	}
	assert_int_equal(sketch_top(s, top, 2), 0);
	assert_true(sketch_total(s) == 0 && sketch_samples(s) == 0);
	sketch_add(s, "", 0, 60);
	assert_int_equal(sketch_top(s, top, 2), 1);
	assert_true(top[0]->key_bytes == 0 && top[0]->error == 0);
	assert_true(fabs(top[0]->count - 60) < 1e-9);
	sketch_free(s);
}

/* Of a key with a counter, of one that has none, and of one that came when all counters were
 * taken. */
static void test_bounds(void **state)
{
	struct sketch *s = sketch_new();
	double least, most;

	(void)state;
	sketch_bounds(s, "a", 1, &least, &most);
	assert_true(least == 0 && most == 0);
	sketch_add(s, "a", 1, 5);
	sketch_bounds(s, "a", 1, &least, &most);
	assert_true(least == 5 && most == 5);
	sketch_bounds(s, "b", 1, &least, &most);
	assert_true(least == 0 && most == 0);
	for (uint32_t i = 1; i < SKETCH_COUNTERS; i++)
		sketch_add(s, &i, sizeof(i), 3);
	sketch_bounds(s, "b", 1, &least, &most);
	assert_true(least == 0 && most == 3);
	sketch_add(s, "b", 1, 4);
	sketch_bounds(s, "b", 1, &least, &most);
	assert_true(least == 4 && most == 7);
	sketch_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zipf),   cmocka_unit_test(test_samples),
		cmocka_unit_test(test_fades),  cmocka_unit_test(test_fades_away),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
