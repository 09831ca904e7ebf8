/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts of a querier that fail. */
#include "querier/querier.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A start that fails closes no file of others, above all not the file 0. */
static void a_failed_start_closes_nothing_else(void **state)
{
	static const unsigned int rows[] = { 0, RESOLVER_THREADS_MAX + 1 };
	const struct executable program = { .fd = -1 };
	const struct querier_env env = { .program = &program };
	struct querier *q;
	char err[64];

	(void)state;
	assert_true(fcntl(0, F_GETFD) >= 0 || open("/dev/null", O_RDONLY) == 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct resolver_config config = { .n_threads = rows[i] };

		assert_true(querier_start(&q, &config, &env, err, sizeof(err)) < 0);
		assert_true(fcntl(0, F_GETFD) >= 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_start_closes_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
