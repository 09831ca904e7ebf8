// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: a process whose wall clock is off by the seconds that a file says (an int64_t, host
 * order, that may change at any time; $WALLCLOCK_FILE). CLOCK_MONOTONIC and the kernel's own time are
 * as they are.
 *
 * With $WALLCLOCK_TICK_MS a timerfd of a second, which is volleyd's tick, comes each so many milliseconds, and the
 * file has room for a second int64_t: how many ticks have begun. So a test waits for ticks and not for seconds.
 *
 * test_recursion_restart.py and test_signing.py compile it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset_s; /* and the number of ticks */
static int tick_fd = -1;

__attribute__((constructor)) static void open_offset(void)
{
	const char *path = getenv("WALLCLOCK_FILE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map =
		fd < 0 ? MAP_FAILED :
			 mmap(NULL, 2 * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		abort(); /* a test that would prove nothing */
	close(fd);
	offset_s = map;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, out);

	if (!ret && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && offset_s)
		out->tv_sec += *offset_s;
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
	const char *ms = getenv("WALLCLOCK_TICK_MS");
	struct itimerspec tick;

	if (!ms || value->it_interval.tv_sec != 1)
		return real(fd, flags, value, old);
	tick.it_interval = (struct timespec){ .tv_nsec = atoi(ms) * 1000000L };
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
		offset_s[1]++;
	return got;
}
