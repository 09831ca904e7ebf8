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

#include "base/chore.h"

struct job {
	struct chore chore;
	pthread_t by;
	unsigned int ran, ended; /* order; 0: not yet */
	bool waits;              /* until it is cancelled */
};

static unsigned int n_ran, n_ended;
static bool has_begun;

static void run(struct chore *chore)
{
	struct job *job = (struct job *)chore;

	job->by = pthread_self();
	job->ran = ++n_ran;
	__atomic_store_n(&has_begun, true, __ATOMIC_RELEASE);
	while (job->waits && !chore_is_cancelled(chore))
		sched_yield();
}

static void ended(struct chore *chore)
{
	((struct job *)chore)->ended = ++n_ended;
}

static void begin(struct job *jobs, size_t n)
{
	n_ran = n_ended = 0;
	has_begun = false;
	for (size_t i = 0; i < n; i++)
		jobs[i] = (struct job){ .chore = { .run = run, .ended = ended } };
}

static void test_in_order(void **state)
{
	struct job jobs[3];
	struct chores *chores;

	(void)state;
	begin(jobs, 3);
	assert_int_equal(chores_new(&chores), 0);
	chores_poll(chores); /* nothing has ended */
	for (int i = 0; i < 3; i++)
		chores_start(chores, &jobs[i].chore);
	while (n_ended < 3) {
		struct pollfd fd = { .fd = chores_fd(chores), .events = POLLIN };

		assert_int_equal(poll(&fd, 1, 10000), 1);
		chores_poll(chores);
	}
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(jobs[i].ran, i + 1);
		assert_int_equal(jobs[i].ended, i + 1);
		assert_false(pthread_equal(jobs[i].by, pthread_self()));
		assert_false(chore_is_cancelled(&jobs[i].chore));
	}
	chores_free(chores);
}

static void test_stop_cancels(void **state)
{
	struct chores *chores;
	struct job jobs[2];

	(void)state;
	begin(jobs, 2);
	jobs[0].waits = true;
	assert_int_equal(chores_new(&chores), 0);
	chores_start(chores, &jobs[0].chore);
	chores_start(chores, &jobs[1].chore);
	while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE))
		sched_yield();
	chores_free(chores);
	assert_int_equal(jobs[0].ran, 1);
	assert_int_equal(jobs[1].ran, 0);
	assert_int_equal(jobs[1].ended, 2);
	assert_true(chore_is_cancelled(&jobs[1].chore));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_stop_cancels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
