/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of userspace; that programs are waited for is shown in tests/bpf/test_concurrent.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <urcu-qsbr.h>

#include "cache/keeper.h"
#include "tests/lib/gracemaps.h"

static bool reading, released;

static void *read_for_a_while(void *arg)
{
	const struct timespec while_ = { .tv_nsec = 50000000 };

	(void)arg;
	urcu_qsbr_register_thread();
	__atomic_store_n(&reading, true, __ATOMIC_SEQ_CST);
	nanosleep(&while_, NULL);
	__atomic_store_n(&released, true, __ATOMIC_SEQ_CST);
	urcu_qsbr_quiescent_state();
	urcu_qsbr_unregister_thread();
	return NULL;
}

static void check_waits(int (*wait)(void *), void *user)
{
	pthread_t thread;

	__atomic_store_n(&reading, false, __ATOMIC_SEQ_CST);
	__atomic_store_n(&released, false, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_create(&thread, NULL, read_for_a_while, NULL), 0);
	while (!__atomic_load_n(&reading, __ATOMIC_SEQ_CST))
		;
	assert_int_equal(wait(user), 0);
	assert_true(__atomic_load_n(&released, __ATOMIC_SEQ_CST));
	pthread_join(thread, NULL);
}

static void test_waits_for_threads(void **state)
{
	struct grace *grace;

	(void)state;
	check_waits(grace_wait_userspace, NULL);
	if (open_grace(&grace))
		skip();
	check_waits(grace_wait, grace);
	grace_close(grace);
	grace_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_for_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
