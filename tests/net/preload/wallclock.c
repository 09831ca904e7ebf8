// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a process whose clocks a test sets, by a file of int64_t in host order that may
 * change at any time ($WALLCLOCK_FILE). The kernel's own time is as it is.
 *
 *	[0]	seconds that the wall clock is off
 *	[1]	how many ticks of volleyd have begun: written here
 *	[2]	seconds that all clocks are ahead
 *
 * A file may have the first alone. With $WALLCLOCK_TICK_MS a timerfd of a second, which is
 * volleyd's tick, comes each so many milliseconds, and nobody sleeps for longer in epoll_wait(), so
 * that [2] is noticed at once.
 *
 * clock.py and test_recursion_restart.py compile it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *words;
static int tick_ms, tick_fd = -1;

__attribute__((constructor)) static void open_offset(void)
{
	const char *path = getenv("WALLCLOCK_FILE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map =
		fd < 0 ? MAP_FAILED :
			 mmap(NULL, 3 * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		abort(); /* a test that would prove nothing */
	close(fd);
	words = map;
	tick_ms = getenv("WALLCLOCK_TICK_MS") ? atoi(getenv("WALLCLOCK_TICK_MS")) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, out);

	if (!words || ret)
		return ret;
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		out->tv_sec += words[0] + words[2];
	if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)
		out->tv_sec += words[2];
	return ret;
}

int gettimeofday(struct timeval *out, void *zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *old)
{
	int (*real)(int, int, const struct itimerspec *, struct itimerspec *) =
		(int (*)(int, int, const struct itimerspec *,
			 struct itimerspec *))dlsym(RTLD_NEXT, "timerfd_settime");
	struct itimerspec tick;

	if (!tick_ms || value->it_interval.tv_sec != 1)
		return real(fd, flags, value, old);
	tick.it_interval = (struct timespec){ .tv_nsec = tick_ms * 1000000L };
	tick.it_value = tick.it_interval;
	tick_fd = fd;
	return real(fd, flags, &tick, old);
}

ssize_t read(int fd, void *to, size_t n)
{
	ssize_t (*real)(int, void *, size_t) =
		(ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
	ssize_t got = real(fd, to, n);

	if (fd == tick_fd && got == sizeof(uint64_t))
		words[1]++;
	return got;
}

int epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	int (*real)(int, struct epoll_event *, int, int) =
		(int (*)(int, struct epoll_event *, int, int))dlsym(RTLD_NEXT, "epoll_wait");

	return real(fd, events, n, tick_ms && (ms < 0 || ms > tick_ms) ? tick_ms : ms);
}
