/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processors belong to whom: by tables, and by threads of this process, one of them pinned.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/affinity.h"

#define N_WORKERS_MAX 4

static cpu_set_t set_of(const char *cpus)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (; *cpus; cpus++)
		CPU_SET((size_t)(*cpus - '0'), &set);
	return set;
}

static void check_text(const cpu_set_t *cpus, const char *expected)
{
	char text[64];

	assert_string_equal(affinity_text(cpus, text, sizeof(text)), expected);
}

/* Processors 0 to 9, a digit each. */
static const struct row {
	const char *name, *allowed, *wanted;
	int workers[N_WORKERS_MAX]; /* the processor of each of n_workers */
	size_t n_workers;
	const char *for_workers, *control;
	unsigned int n_own;
} rows[] = {
	{ "what workers leave", "0123", "", { 1, 2 }, 2, "0-3", "0,3", 2 },
	{ "workers on all", "01", "", { 0, 1 }, 2, "0-1", "0-1", 0 },
	{ "one worker, one processor", "3", "", { 3 }, 1, "3", "3", 0 },
	{ "a worker that is not pinned", "01", "", { -1 }, 1, "0-1", "0-1", 2 },
	{ "wanted", "0123", "03", { 1, 2 }, 2, "1-2", "0,3", 2 },
	{ "fewer wanted than left", "01234", "0", { 1, 2 }, 2, "1-4", "0", 1 },
	{ "wanted, and a worker's", "0123", "01", { 1, 2 }, 2, "2-3", "0-1", 1 },
	{ "all wanted", "01", "01", { 0, 1 }, 2, "0-1", "0-1", 0 },
	{ "two workers on one", "012", "", { 2, 2 }, 2, "0-2", "0-1", 2 },
	{ "not beginning with 0", "5789", "7", { 5, 8 }, 2, "5,8-9", "7", 1 },
};

static void test_whose(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct affinity affinity = { .allowed = set_of(rows[i].allowed),
					     .wanted = set_of(rows[i].wanted) };
		cpu_set_t cpus;

		print_message("%s\n", rows[i].name);
		affinity_for_workers(&affinity, &cpus);
		check_text(&cpus, rows[i].for_workers);
		affinity_settle(&affinity, rows[i].workers, rows[i].n_workers);
		check_text(&affinity.control, rows[i].control);
		assert_int_equal(affinity.n_own, rows[i].n_own);
	}
}

struct text_row {
	const char *text;
	int cpus[9]; /* ended by -1 */
};

static const struct text_row text_rows[] = {
	{ "", { -1 } },
	{ "0", { 0, -1 } },
	{ "0-1", { 0, 1, -1 } },
	{ "1-3,7,9", { 1, 2, 3, 7, 9, -1 } },
	{ "0-3,5,7,9", { 0, 1, 2, 3, 5, 7, 9, -1 } },
	{ "1022-1023", { 1022, 1023, -1 } },
};

static void test_text(void **state)
{
	cpu_set_t set;

	(void)state;
	for (size_t i = 0; i < sizeof(text_rows) / sizeof(text_rows[0]); i++) {
		CPU_ZERO(&set);
		for (size_t k = 0; text_rows[i].cpus[k] >= 0; k++)
			CPU_SET((size_t)text_rows[i].cpus[k], &set);
		check_text(&set, text_rows[i].text);
	}
	memset(&set, 0xff, sizeof(set));
	check_text(&set, "0-1023");
}

/* A list that is too long is cut, and nothing after the buffer is written. */
static void test_text_cut(void **state)
{
	cpu_set_t set = set_of("0123579");
	char text[8] = "xxxxxxx";

	(void)state;
	assert_string_equal(affinity_text(&set, text, 6), "0-3,5");
	assert_int_equal(text[6], 'x');
	set = set_of("02468");
	assert_string_equal(affinity_text(&set, text, 6), "0,2,4");
	assert_int_equal(text[6], 'x');
}

static size_t absent_cpu(const cpu_set_t *allowed)
{
	size_t cpu = 0;

	while (CPU_ISSET(cpu, allowed))
		cpu++;
	return cpu;
}

static void test_init(void **state)
{
	struct affinity affinity;
	char err[512] = "";
	uint16_t cores[1];
	cpu_set_t mine;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
	assert_int_equal(affinity_init(&affinity, NULL, 0, err, sizeof(err)), 0);
	assert_true(CPU_EQUAL(&affinity.allowed, &mine));
	assert_true(CPU_EQUAL(&affinity.control, &mine));
	cores[0] = (uint16_t)absent_cpu(&mine);
	assert_int_equal(affinity_init(&affinity, cores, 1, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "server.control-cores: volleyd may not use processor"));
}

struct thread {
	pthread_t id;
	pthread_barrier_t *barrier;
	const cpu_set_t *pin;
	cpu_set_t before, after;
};

static void *thread_main(void *arg)
{
	struct thread *thread = arg;

	if (thread->pin)
		sched_setaffinity(0, sizeof(*thread->pin), thread->pin);
	sched_getaffinity(0, sizeof(thread->before), &thread->before);
	pthread_barrier_wait(thread->barrier); /* they are there */
	pthread_barrier_wait(thread->barrier); /* they were moved */
	sched_getaffinity(0, sizeof(thread->after), &thread->after);
	return NULL;
}

/* On a machine with one processor no thread can move. */
static void test_threads(void **state)
{
	struct affinity affinity;
	pthread_barrier_t barrier;
	struct thread threads[2] = { { .barrier = &barrier }, { .barrier = &barrier } };
	cpu_set_t mine, last;
	char err[512];
	size_t cpu = CPU_SETSIZE - 1;

	(void)state;
	assert_int_equal(affinity_init(&affinity, NULL, 0, err, sizeof(err)), 0);
	while (!CPU_ISSET(cpu, &affinity.allowed))
		cpu--;
	CPU_ZERO(&last);
	CPU_SET(cpu, &last);
	threads[1].pin = &last;
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i].id, NULL, thread_main, &threads[i]), 0);
	pthread_barrier_wait(&barrier);
	affinity_settle(&affinity, (int[]){ (int)cpu }, 1);
	affinity_move_threads(&affinity);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i].id, NULL);
	sched_getaffinity(0, sizeof(mine), &mine);
	assert_true(CPU_EQUAL(&mine, &affinity.control));
	assert_true(CPU_EQUAL(&threads[0].before, &affinity.allowed));
	assert_true(CPU_EQUAL(&threads[0].after, &affinity.control));
	assert_true(CPU_EQUAL(&threads[1].after, &last));
	pthread_barrier_destroy(&barrier);
	sched_setaffinity(0, sizeof(affinity.allowed), &affinity.allowed);
}

static void *behind_main(void *arg)
{
	int *policy = arg;

	assert_int_equal(affinity_stand_behind(0), 0);
	*policy = sched_getscheduler(0);
	return NULL;
}

static void test_behind(void **state)
{
	int policy = -1;
	pthread_t id;

	(void)state;
	assert_int_equal(pthread_create(&id, NULL, behind_main, &policy), 0);
	pthread_join(id, NULL);
	assert_int_equal(policy, SCHED_BATCH);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	assert_int_equal(affinity_stand_behind(-1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose),    cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_cut), cmocka_unit_test(test_init),
		cmocka_unit_test(test_threads),  cmocka_unit_test(test_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
