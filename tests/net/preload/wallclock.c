// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: a process whose wall clock is off by the seconds that a file says (an int64_t, host
 * order, that may change at any time; $WALLCLOCK_FILE). CLOCK_MONOTONIC and the kernel's own time are
 * as they are. test_recursion_restart.py compiles it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_s;

__attribute__((constructor)) static void open_offset(void)
{
	const char *path = getenv("WALLCLOCK_FILE");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);

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
