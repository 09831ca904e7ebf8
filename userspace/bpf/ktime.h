/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of BPF programs, CLOCK_MONOTONIC_COARSE of the kernel, as a program reads it. In a time
 * namespace the clocks of a process are shifted (time_namespaces(7)), and /proc gives the offsets
 * of a namespace that the process may not be in.
 *
 * Needs CAP_BPF and CAP_NET_ADMIN, as loading the XDP program does. Any thread.
 */
#ifndef VOLLEY_BPF_KTIME_H
#define VOLLEY_BPF_KTIME_H

#include <stdint.h>

/*
 * *ahead_ns: by how much CLOCK_MONOTONIC of this process is ahead of the clock of BPF programs;
 * negative: behind. Less than a second counts as 0: without a time namespace they differ by a tick.
 * 0 or -errno; then *ahead_ns is 0.
 */
int ktime_offset(int64_t *ahead_ns) __attribute__((warn_unused_result));

#endif
