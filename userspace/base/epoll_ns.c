/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <time.h>

/* For all threads: if the kernel has refused the call once, it will always refuse it. */
static bool is_refused;

static int wait_ms(int epoll_fd, struct epoll_event *events, int cap, uint64_t timeout_ns)
{
	uint64_t ms = timeout_ns / CLOCK_NS_PER_MS + (timeout_ns % CLOCK_NS_PER_MS != 0);

	return epoll_wait(epoll_fd, events, cap, ms < INT_MAX ? (int)ms : INT_MAX);
}

int epoll_ns_wait(int epoll_fd, struct epoll_event *events, int cap, uint64_t timeout_ns)
{
	const struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / CLOCK_NS_PER_S),
		.tv_nsec = (long)(timeout_ns % CLOCK_NS_PER_S),
	};
	int n;

	if (__atomic_load_n(&is_refused, __ATOMIC_RELAXED))
		return wait_ms(epoll_fd, events, cap, timeout_ns);
	n = epoll_pwait2(epoll_fd, events, cap, &timeout, NULL);
	if (n >= 0 || (errno != ENOSYS && errno != EPERM))
		return n;
	__atomic_store_n(&is_refused, true, __ATOMIC_RELAXED);
	return wait_ms(epoll_fd, events, cap, timeout_ns);
}
