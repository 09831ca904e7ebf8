/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program's clock. */
#ifndef VOLLEY_XDP_CLOCK_H
#define VOLLEY_XDP_CLOCK_H

#include "xdp/abi.h"

/*
 * Reads the coarse clock once a tick: it moves when jiffies do, and to read jiffies costs one load,
 * the clock a call.
 */
static __always_inline void read_clock(struct volley_cpu *cpu, const struct volley_state *state)
{
	__u64 jiffies = bpf_jiffies64();
	__u64 now_ns;

	if (cpu->jiffies == jiffies)
		return;
	now_ns = bpf_ktime_get_coarse_ns();
	cpu->now_s = (__u32)(now_ns / 1000000000);
	cpu->now_ms = now_ns / 1000000;
	cpu->wall_s = (__u32)((now_ns + state->wall_ns) / 1000000000);
	cpu->jiffies = jiffies;
}

#endif
