/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits with epoll_pwait2(), and without it, as on Linux 5.10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

static int injected, n_calls;

/* Replaces libc's function. */
int epoll_pwait2(int fd, struct epoll_event *events, int cap, const struct timespec *timeout,
		 const sigset_t *mask)
{
	(void)mask;
	n_calls++;
	if (!injected)
		return (int)syscall(SYS_epoll_pwait2, fd, events, cap, timeout, NULL, 0);
	errno = injected;
	return -1;
}

static int open_empty(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static uint64_t wait_empty(uint64_t timeout_ns)
{
	struct epoll_event event;
	uint64_t before_ns = clock_ns();
	int fd = open_empty();

	assert_int_equal(epoll_ns_wait(fd, &event, 1, timeout_ns), 0);
	close(fd);
	return clock_ns() - before_ns;
}

static void check_wait(void)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 7 };
	int fd = open_empty(), ready = eventfd(1, EFD_CLOEXEC);

	/* A timeout of less than a millisecond must not become 0. */
	assert_true(wait_empty(1) >= 1);
	assert_true(wait_empty(300000) >= 300000);
	assert_true(wait_empty(2 * CLOCK_NS_PER_MS + 1) > 2 * CLOCK_NS_PER_MS);
	assert_int_equal(epoll_ctl(fd, EPOLL_CTL_ADD, ready, &event), 0);
	event.data.u64 = 0;
	assert_int_equal(epoll_ns_wait(fd, &event, 1, 100 * CLOCK_NS_PER_S), 1);
	assert_int_equal(event.data.u64, 7);
	close(ready);
	close(fd);
}

static void test_with_the_call(void **state)
{
	(void)state;
	injected = n_calls = 0;
	check_wait();
	assert_int_equal(n_calls, 4);
}

static void test_other_errors_are_told(void **state)
{
	struct epoll_event event;

	(void)state;
	injected = EINTR;
	assert_int_equal(epoll_ns_wait(-1, &event, 1, 0), -1);
	assert_int_equal(errno, EINTR);
}

/* Must run last: after a refusal the kernel is not asked again. */
static void test_without_the_call(void **state)
{
	(void)state;
	injected = ENOSYS;
	n_calls = 0;
	check_wait();
	assert_int_equal(n_calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with_the_call),
		cmocka_unit_test(test_other_errors_are_told),
		cmocka_unit_test(test_without_the_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
