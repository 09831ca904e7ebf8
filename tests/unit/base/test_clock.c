/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

#include "base/clock.h"

static void test_ns_never_goes_back(void **state)
{
	uint64_t before = clock_ns();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t now = clock_ns();

		assert_true(now >= before);
		before = now;
	}
}

/* The coarse clock is behind the fine one by a tick, which is 10 ms at HZ 100. On a virtual machine
 * it is further behind while the processor that moves it is stopped. */
static void test_coarse_is_the_same_clock(void **state)
{
	uint64_t before_s = (clock_ns() - 5 * CLOCK_NS_PER_S) / CLOCK_NS_PER_S;
	struct timespec before;
	uint32_t coarse_s;

	(void)state;
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC_COARSE, &before), 0);
	coarse_s = clock_coarse_s();
	assert_in_range(coarse_s, before.tv_sec, clock_ns() / CLOCK_NS_PER_S);
	assert_true(coarse_s >= before_s);
}

/* As in a time namespace: a day ahead, a little behind, and so far ahead that the clock would be
 * below 0. */
static void test_an_offset_is_left_out(void **state)
{
	const int64_t day_ns = 86400 * (int64_t)CLOCK_NS_PER_S;
	const uint32_t before_s = clock_coarse_s();

	(void)state;
	clock_set_offset(-day_ns);
	assert_in_range(clock_coarse_s(), before_s + 86400, before_s + 86400 + 60);
	clock_set_offset(-(int64_t)CLOCK_NS_PER_S / 2);
	assert_in_range(clock_coarse_s(), before_s, before_s + 60);
	clock_set_offset(((int64_t)before_s + 3600) * (int64_t)CLOCK_NS_PER_S);
	assert_int_equal(clock_coarse_s(), 0);
	clock_set_offset(0);
	assert_in_range(clock_coarse_s(), before_s, before_s + 60);
}

static void test_wall_is_the_time_of_day(void **state)
{
	uint64_t before_s = (uint64_t)time(NULL);
	uint64_t wall_s = clock_wall_s();

	(void)state;
	/* time() reads the coarse clock, which may still be in the second before wall's. */
	assert_in_range(wall_s, before_s, (uint64_t)time(NULL) + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ns_never_goes_back),
		cmocka_unit_test(test_coarse_is_the_same_clock),
		cmocka_unit_test(test_an_offset_is_left_out),
		cmocka_unit_test(test_wall_is_the_time_of_day),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
