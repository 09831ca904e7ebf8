/* SPDX-License-Identifier: GPL-2.0-only */
#include "base/clock.h"

#include <time.h>

static struct timespec now(clockid_t clock)
{
	struct timespec ts = { 0 };

	/* These clocks exist on every Linux that we run on, so this cannot fail. */
	(void)clock_gettime(clock, &ts);
	return ts;
}

uint64_t clock_ns(void)
{
	struct timespec ts = now(CLOCK_MONOTONIC);

	return (uint64_t)ts.tv_sec * CLOCK_NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint32_t clock_coarse_s(void)
{
	return (uint32_t)now(CLOCK_MONOTONIC_COARSE).tv_sec;
}

uint64_t clock_wall_s(void)
{
	return (uint64_t)now(CLOCK_REALTIME).tv_sec;
}

void clock_read(struct clock_now *now)
{
	*now = (struct clock_now){
		.ns = clock_ns(),
		.wall_s = clock_wall_s(),
		.coarse_s = clock_coarse_s(),
	};
}
