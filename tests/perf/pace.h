/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pace of a generator in BPF: bursts at equal intervals. After a pause longer than PACE_DEBT_NS
 * the missed bursts are not sent; they are counted as late.
 */
#ifndef VOLLEY_TESTS_PERF_PACE_H
#define VOLLEY_TESTS_PERF_PACE_H

#include <linux/types.h>
#ifdef __bpf__
#include <bpf/bpf_helpers.h>
#endif

#define PACE_DEBT_NS 10000000

/* The generator runs on one CPU. */
struct pace {
	__u64 next_ns;
	__u64 let_go_ns; /* when this burst was sent */
	__u32 left;      /* of this burst */
};

#ifdef __bpf__

/* Whether the next burst may go. ns_per_burst is not 0. */
static __always_inline int pace_is_time(struct pace *p, __u64 ns_per_burst, __u64 *late,
					__u64 now_ns)
{
	if (!p->next_ns)
		p->next_ns = now_ns;
	if (now_ns < p->next_ns)
		return 0;
	if (now_ns - p->next_ns > PACE_DEBT_NS) {
		*late += (now_ns - p->next_ns) / ns_per_burst;
		p->next_ns = now_ns;
	}
	p->next_ns += ns_per_burst;
	return 1;
}

/* Whether one more query may go now. ns_per_burst 0: always. */
static __always_inline int pace_is_due(struct pace *p, __u64 ns_per_burst, __u32 burst, __u64 *late)
{
	__u64 now_ns;

	if (p->left) {
		p->left--;
		return 1;
	}
	now_ns = bpf_ktime_get_ns();
	if (ns_per_burst && !pace_is_time(p, ns_per_burst, late, now_ns))
		return 0;
	p->left = burst - 1;
	p->let_go_ns = now_ns;
	return 1;
}

#endif /* __bpf__ */

#endif
