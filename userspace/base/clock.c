/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include <time.h>

static struct timespec now(clockid_t clock)
{
	struct timespec ts = { 0 };

	/* These clocks exist on every Linux that we support, so this cannot fail. */
	(void)clock_gettime(clock, &ts);
	return ts;
}

uint64_t clock_ns(void)
{
	struct timespec ts = now(CLOCK_MONOTONIC);

	return (uint64_t)ts.tv_sec * CLOCK_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int64_t offset_ns; /* of the process; set before there are threads */

uint32_t clock_coarse_s(void)
{
	const struct timespec ts = now(CLOCK_MONOTONIC_COARSE);
	int64_t ns;

	if (!offset_ns)
		return (uint32_t)ts.tv_sec;
	ns = (int64_t)ts.tv_sec * (int64_t)CLOCK_NS_PER_S + ts.tv_nsec - offset_ns;
	return ns < 0 ? 0 : (uint32_t)((uint64_t)ns / CLOCK_NS_PER_S);
}

void clock_set_offset(int64_t ahead_ns)
{
	offset_ns = ahead_ns;
}

uint64_t clock_kernel_ns(uint64_t ns)
{
	return ns - (uint64_t)offset_ns;
}

uint64_t clock_wall_s(void)
{
	return (uint64_t)now(CLOCK_REALTIME).tv_sec;
}

uint64_t clock_wall_ahead_ns(void)
{
	struct timespec wall = now(CLOCK_REALTIME);
	uint64_t wall_ns = (uint64_t)wall.tv_sec * CLOCK_NS_PER_S + (uint64_t)wall.tv_nsec;

	return wall_ns - (clock_ns() - (uint64_t)offset_ns);
}

void clock_read(struct clock_now *now)
{
	*now = (struct clock_now){
		.ns = clock_ns(),
		.wall_s = clock_wall_s(),
		.coarse_s = clock_coarse_s(),
	};
}
