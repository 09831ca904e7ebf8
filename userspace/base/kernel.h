/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether this kernel is a real-time one (PREEMPT_RT). There, softirqs are preemptible, and since
 * Linux 6.18 the kernel does not keep those of one CPU apart either, unless it was built with
 * CONFIG_PREEMPT_RT_NEEDS_BH_LOCK: see docs/decisions/0027-preempt-rt.md. Any thread.
 */
#ifndef VOLLEY_BASE_KERNEL_H
#define VOLLEY_BASE_KERNEL_H

#include <stdbool.h>

/*
 * Each kernel tells of PREEMPT_RT in its version (uname -v), some in /sys/kernel/realtime as well.
 * Nothing says whether it keeps softirqs apart: it has no file for that, and its configuration is
 * often not there.
 */
bool kernel_is_realtime(void);

/* The same of these facts: the version, and what stands in that file ("": there is none). */
bool kernel_tells_realtime(const char *version, const char *realtime);

#endif
