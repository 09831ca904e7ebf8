/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kind of this kernel, and the rights that it gives to this process.
 *
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

/*
 * The capabilities of the processes. Each gives up all that its parts do not use, before it has
 * threads; they cannot come back.
 *
 *      capability            volleyd  broker
 *      CAP_SYS_ADMIN                  yes     open a program or map by its number
 *      CAP_BPF, CAP_PERFMON           yes     load programs, make maps
 *      CAP_NET_ADMIN                  yes     attach programs; buffers, busy polling, neighbours
 *      CAP_NET_RAW                    yes     open an AF_XDP socket
 *      CAP_NET_BIND_SERVICE           yes     port 53
 *      CAP_IPC_LOCK                   yes     memory of AF_XDP beyond RLIMIT_MEMLOCK
 *      CAP_DAC_READ_SEARCH            yes     pins in bpffs
 *
 * volleyd has none. volley-runner has CAP_DAC_READ_SEARCH, for files of other owners
 * (config/runner.h).
 *
 * A volleyd without a broker (`port: dpdk`) has those of the broker. Before Linux 5.19, where
 * kernel.unprivileged_bpf_disabled is set, reading and writing a map needs CAP_BPF: there volleyd
 * keeps that one. The bounding set shrinks to the same, where the process has CAP_SETPCAP.
 */

/* For a daemon that has a broker. 0 or -EPERM. Before any thread. */
int privilege_drop(void) __attribute__((warn_unused_result));
/* For the broker, and for a daemon that has none. Also raises RLIMIT_MEMLOCK as far as it may. */
int privilege_drop_broker(void) __attribute__((warn_unused_result));

/* For the runner; and for threads of a daemon that has more than it has: CAP_DAC_READ_SEARCH stays.
 * 0 or -EPERM. */
int privilege_drop_thread(void) __attribute__((warn_unused_result));

/* Gives up all capabilities of the calling thread for good, and of all that it executes. 0 or
 * -errno. */
int privilege_drop_all(void) __attribute__((warn_unused_result));

/* True if the calling thread may load and attach an XDP program: it has CAP_NET_ADMIN, and CAP_BPF
 * and CAP_PERFMON or CAP_SYS_ADMIN instead. */
bool privilege_has_xdp(void);

#endif
