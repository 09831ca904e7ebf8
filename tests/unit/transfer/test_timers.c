/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "transfer/timers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/draw.h"

#define N 100

static struct timers all;
static struct timer timers[N];
static size_t fired[4 * N], n_fired;

static void fire(void *user)
{
	fired[n_fired++] = (size_t)((struct timer *)user - timers);
}

static int set_up(void **state)
{
	(void)state;
	n_fired = 0;
	for (size_t i = 0; i < N; i++)
		if (timer_init(&timers[i], &all, fire, &timers[i]))
			return -1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++)
		timer_fini(&timers[i]);
	assert_int_equal(all.n_places, 0);
	assert_int_equal(all.n, 0);
	timers_fini(&all);
	return 0;
}

static void in_their_order(void **state)
{
	(void)state;
	assert_true(timers_due_ns(&all) == UINT64_MAX);
	timer_set(&timers[0], 30);
	timer_set(&timers[1], 10);
	timer_set(&timers[2], 20);
	timer_set(&timers[3], 10);
	assert_true(timers_due_ns(&all) == 10);
	timers_run(&all, 9);
	assert_int_equal(n_fired, 0);
	timers_run(&all, 29);
	assert_int_equal(n_fired, 3);
	assert_true(fired[0] == 1 && fired[1] == 3 && fired[2] == 2);
	assert_true(timers_due_ns(&all) == 30 && timer_is_set(&timers[0]));
	timers_run(&all, UINT64_MAX);
	assert_true(n_fired == 4 && !timer_is_set(&timers[0]));
}

static void set_anew_or_not_at_all(void **state)
{
	(void)state;
	timer_set(&timers[0], 10);
	timer_set(&timers[1], 10);
	timer_set(&timers[0], 40);
	timer_cancel(&timers[1]);
	timer_cancel(&timers[1]);
	timers_run(&all, 39);
	assert_int_equal(n_fired, 0);
	timers_run(&all, 40);
	assert_true(n_fired == 1 && fired[0] == 0);
}

static void set_again(void *user)
{
	fire(user);
	timer_set(user, 5);
}

/* Else one that sets itself would keep the loop from all others. */
static void one_that_sets_itself_waits_for_the_next_call(void **state)
{
	(void)state;
	timers[1].fire = set_again;
	timer_set(&timers[1], 5);
	timer_set(&timers[2], 5);
	timers_run(&all, 5);
	assert_true(n_fired == 2 && fired[0] == 1 && fired[1] == 2);
	timers_run(&all, 5);
	assert_true(n_fired == 3 && fired[2] == 1);
}

static void end_others(void *user)
{
	fire(user);
	timer_fini(user);
	timer_fini(&timers[2]);
}

static void one_may_end_itself_and_others(void **state)
{
	(void)state;
	timers[1].fire = end_others;
	for (size_t i = 1; i < 5; i++)
		timer_set(&timers[i], 5);
	timers_run(&all, 5);
	assert_true(n_fired == 3 && fired[0] == 1 && fired[1] == 3 && fired[2] == 4);
}

/* Beside a model: the one with the least time, and of those the one that was set first. */
static void as_the_model(void **state)
{
	uint64_t due[N], number[N], n_set = 0, now = 0;

	(void)state;
	memset(due, 0xff, sizeof(due));
	for (unsigned int step = 0; step < 20000; step++) {
		size_t i = draw(N), first = N;

		if (draw(4) == 0) {
			timer_cancel(&timers[i]);
			due[i] = UINT64_MAX;
		} else {
			due[i] = now + draw(50);
			number[i] = n_set++;
			timer_set(&timers[i], due[i]);
		}
		if (draw(3))
			continue;
		now += draw(20);
		n_fired = 0;
		timers_run(&all, now);
		for (size_t k = 0; k < n_fired; k++) {
			first = fired[k];
			assert_true(due[first] <= now);
			for (size_t j = 0; j < N; j++)
				assert_false(due[j] < due[first] ||
					     (due[j] == due[first] && due[j] != UINT64_MAX &&
					      number[j] < number[first]));
			due[first] = UINT64_MAX;
		}
		for (size_t j = 0; j < N; j++)
			assert_true(due[j] > now &&
				    timer_is_set(&timers[j]) == (due[j] != UINT64_MAX));
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_their_order),
		TEST(set_anew_or_not_at_all),
		TEST(one_that_sets_itself_waits_for_the_next_call),
		TEST(one_may_end_itself_and_others),
		TEST(as_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
