/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What time it is, for a program. */
#ifndef VOLLEY_XDP_CLOCK_H
#define VOLLEY_XDP_CLOCK_H

#include "xdp/abi.h"

/*
 * The coarse clock moves when jiffies do, and these are one load where the clock is a call: so it
 * is asked once a tick.
 */
static __always_inline void read_clock(struct volley_cpu *cpu, const struct volley_state *state)
{
	__u64 jiffies = bpf_jiffies64();
	__u64 now_ns;

	if (cpu->jiffies == jiffies)
		return;
	now_ns = bpf_ktime_get_coarse_ns();
	cpu->now_s = (__u32)(now_ns / 1000000000);
	cpu->now_ms = (__u32)(now_ns / 1000000);
	cpu->wall_s = (__u32)((now_ns + state->wall_ns) / 1000000000);
	cpu->jiffies = jiffies;
}

#endif
