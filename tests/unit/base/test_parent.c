/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/parenttest.h"
#include "tests/unit/base/capture.h"

#define HOUR_NS (3600 * CLOCK_NS_PER_S)

/* How far the clock of all processes is ahead. */
static volatile uint64_t *ahead_ns, *n_first; /* shared with other processes */

uint64_t __real_clock_ns(void);
uint64_t __wrap_clock_ns(void);

uint64_t __wrap_clock_ns(void)
{
	return __real_clock_ns() + (ahead_ns ? *ahead_ns : 0);
}

static int child_end;

/* Tells that it runs, and crashes when it is told to. */
static int run_until_told(void *user, bool is_next)
{
	char octet = (char)is_next;

	(void)user;
	if (send(child_end, &octet, 1, MSG_NOSIGNAL) != 1)
		return 0;
	return recv(child_end, &octet, 1, 0) == 1;
}

/* Waits for a child that begins to run. */
static void expect_child(int fd, bool is_next)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char octet;

	assert_int_equal(poll(&wait, 1, PARENTTEST_END_MS), 1);
	assert_int_equal(read(fd, &octet, 1), 1);
	assert_int_equal(octet, is_next);
}

/* In the parent: what the first child has read is needed no more. */
static void count_first(void *user)
{
	(void)user;
	++*n_first;
}

/* The pause before the next one does not depend on how long the one before has run. */
static void starts_a_child_again_after_hours(void **state)
{
	struct parent_child child = {
		.name = "volley-test", .run = run_until_told, .on_first = count_first, .n_fds = 1
	};
	int fds[2];

	(void)state;
	ahead_ns = mmap(NULL, 2 * sizeof(*ahead_ns), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(ahead_ns, MAP_FAILED);
	n_first = ahead_ns + 1;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	child_end = child.fds[0] = fds[1];
	parent_add(&child);
	assert_int_equal(parenttest_start(), 0);
	expect_child(fds[0], false);
	for (int i = 0; i < 2; i++) {
		*ahead_ns += HOUR_NS;
		assert_int_equal(send(fds[0], "", 1, MSG_NOSIGNAL), 1);
		expect_child(fds[0], true);
	}
	assert_int_equal(*n_first, 1);
	close(fds[0]);
	parenttest_stop();
	assert_false(parent_is_there());
}

static int end_at_once(void *user, bool is_next)
{
	(void)user, (void)is_next;
	return 0;
}

/* The parent looks around: it starts nothing, since there is no program. */
static void wake_parent(void)
{
	struct started started;

	assert_int_equal(parent_execute(EXECUTABLE_VERSION, STDERR_FILENO, &started), -ENOENT);
}

/* A daemon that stops lets its processes go, too, but does not go on. */
static void tells_that_the_daemon_goes_on_without_a_child(void **state)
{
	struct parent_child child = { .name = "volley-test", .run = end_at_once, .n_fds = 1 };
	static const char told[] = "volley-test: volleyd has closed the connection to it";
	struct pollfd said = { .events = POLLIN };
	char text[4096];
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	child.fds[0] = fds[1];
	parent_add(&child);
	assert_int_equal(capture(state), 0);
	assert_int_equal(parenttest_start(), 0);
	close(fds[0]);
	said.fd = pipe_fd[0];
	for (int i = 0; i < PARENTTEST_END_MS && !poll(&said, 1, 1); i++) {
		wake_parent();
		*ahead_ns += HOUR_NS;
	}
	wake_parent();
	parenttest_stop();
	(void)taken(text, sizeof(text));
	assert_non_null(strstr(text, told));
	assert_null(strstr(strstr(text, told) + 1, told));
	release(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_a_child_again_after_hours),
		cmocka_unit_test(tells_that_the_daemon_goes_on_without_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
