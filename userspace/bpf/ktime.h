/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of BPF programs, as one of them reads it: CLOCK_MONOTONIC_COARSE of the kernel. In a
 * time namespace the clocks of a process are others (time_namespaces(7)), and /proc tells the
 * offsets of a namespace that it may not be in.
 *
 * Needs CAP_BPF (and CAP_NET_ADMIN), as loading the XDP program does. Any thread.
 */
#ifndef VOLLEY_BPF_KTIME_H
#define VOLLEY_BPF_KTIME_H

#include <stdint.h>

/*
 * By how much CLOCK_MONOTONIC of this process is ahead of the clock of BPF programs; negative:
 * behind. 0 for less than a
 * second: without a time namespace they differ by a tick. 0 or -errno, and *ahead_ns is 0.
 */
int ktime_offset(int64_t *ahead_ns) __attribute__((warn_unused_result));

#endif
