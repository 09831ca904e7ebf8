/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chores run in order on another thread and end on ours. Stopping cancels the waiting ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "base/background.h"

struct job {
	struct background_job job;
	pthread_t by;
	unsigned int ran, ended; /* order; 0: not yet */
	bool waits;              /* until it is cancelled */
};

static unsigned int n_ran, n_ended;
static bool has_begun;

static void run(struct background_job *background)
{
	struct job *job = (struct job *)background;

	job->by = pthread_self();
	job->ran = ++n_ran;
	__atomic_store_n(&has_begun, true, __ATOMIC_RELEASE);
	while (job->waits && !background_is_cancelled(background))
		sched_yield();
}

static void ended(struct background_job *job)
{
	((struct job *)job)->ended = ++n_ended;
}

static void begin(struct job *jobs, size_t n)
{
	n_ran = n_ended = 0;
	has_begun = false;
	for (size_t i = 0; i < n; i++)
		jobs[i] = (struct job){ .job = { .run = run, .ended = ended } };
}

static void test_in_order(void **state)
{
	struct job jobs[3];
	struct background *background;

	(void)state;
	begin(jobs, 3);
	assert_int_equal(background_new(&background), 0);
	background_poll(background); /* nothing has ended */
	for (int i = 0; i < 3; i++)
		background_start(background, &jobs[i].job);
	while (n_ended < 3) {
		struct pollfd fd = { .fd = background_fd(background), .events = POLLIN };

		assert_int_equal(poll(&fd, 1, 10000), 1);
		background_poll(background);
	}
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(jobs[i].ran, i + 1);
		assert_int_equal(jobs[i].ended, i + 1);
		assert_false(pthread_equal(jobs[i].by, pthread_self()));
		assert_false(background_is_cancelled(&jobs[i].job));
	}
	background_free(background);
}

static void test_stop_cancels(void **state)
{
	struct background *background;
	struct job jobs[2];

	(void)state;
	begin(jobs, 2);
	jobs[0].waits = true;
	assert_int_equal(background_new(&background), 0);
	background_start(background, &jobs[0].job);
	background_start(background, &jobs[1].job);
	while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE))
		sched_yield();
	background_free(background);
	assert_int_equal(jobs[0].ran, 1);
	assert_int_equal(jobs[1].ran, 0);
	assert_int_equal(jobs[1].ended, 2);
	assert_true(background_is_cancelled(&jobs[1].job));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_stop_cancels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
