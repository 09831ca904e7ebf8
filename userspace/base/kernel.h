/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds out if this kernel is a real-time one (PREEMPT_RT). On such a kernel softirqs are
 * preemptible. Since Linux 6.18 softirqs of one CPU can even mix, unless it was built with
 * CONFIG_PREEMPT_RT_NEEDS_BH_LOCK: see docs/decisions/0027-preempt-rt.md. Any thread.
 */
#ifndef VOLLEY_BASE_KERNEL_H
#define VOLLEY_BASE_KERNEL_H

#include <stdbool.h>

/*
 * Each such kernel has PREEMPT_RT in its version (uname -v), some also have /sys/kernel/realtime.
 * It cannot be found out if softirqs mix: there is no file for that, and the kernel's configuration
 * is often not there.
 */
bool kernel_is_realtime(void);

/* The same from these facts: the version, and the content of that file ("": there is none). */
bool kernel_tells_realtime(const char *version, const char *realtime);

#endif
