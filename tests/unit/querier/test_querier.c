/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts that fail. */
#include "querier/querier.h"
#include "querier/session.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"

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

/* The process says why it does not start, and ends with messages that it has not read. */
static void a_reason_is_heard_after_the_end(void **state)
{
	const struct shared_started said = { .code = -EPROTO, .err = "another build" };
	struct shared_started started = { 0 };
	struct session s = { 0 };
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	s.socket_fd = ends[0];
	assert_int_equal(send(ends[0], "", 1, 0), 1);
	assert_int_equal(session_hear(&s, 0, &started), -ETIMEDOUT);
	assert_int_equal(send(ends[1], &said, sizeof(said), 0), sizeof(said));
	close(ends[1]);
	assert_int_equal(session_hear(&s, 10000, &started), -EPROTO);
	assert_string_equal(started.err, "another build");
	assert_int_equal(session_hear(&s, 10000, &started), ERR_CLOSED);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_start_closes_nothing_else),
		cmocka_unit_test(a_reason_is_heard_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
