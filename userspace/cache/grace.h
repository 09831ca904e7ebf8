/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Grace periods: when can no reader hold any more what was withdrawn from the index?
 *
 *   XDP programs   the update of a map-in-map returns when all programs that ran at its beginning
 *                  have ended; else membarrier(MEMBARRIER_CMD_GLOBAL) does the same
 *   userspace      liburcu QSBR: every registered, online thread has passed a quiescent state
 *
 * What the kernel promises, by its source from 5.18 to 6.18. maybe_wait_bpf_programs() in
 * kernel/bpf/syscall.c calls synchronize_rcu() after a successful BPF_MAP_UPDATE_ELEM on an
 * ARRAY_OF_MAPS, and waits for all but sleepable programs; XDP has no sleepable ones.
 * MEMBARRIER_CMD_GLOBAL calls synchronize_rcu() too (kernel/sched/membarrier.c), but fails with
 * EINVAL under nohz_full, and does nothing with one CPU online, where userspace does not run while
 * a softirq does (PREEMPT_RT apart: so this is the second choice).
 *
 * A driver runs an XDP program within one NAPI poll with bottom halves disabled, be it in softirq,
 * a NAPI thread or busy polling. For synchronize_rcu() that is a read-side critical section: since
 * 4.20 it waits for regions with bottom halves or preemption disabled as for rcu_read_lock(), and
 * under PREEMPT_RT local_bh_disable() takes rcu_read_lock() itself (__local_bh_disable_ip() in
 * kernel/softirq.c). Drivers have relied on that without an rcu_read_lock() of their own since
 * 5.14. Generic XDP and BPF_PROG_RUN hold rcu_read_lock(). What leaves by XDP_TX or XDP_REDIRECT
 * holds a copy of the body, so the end of the program is the end of the reader.
 */
#ifndef VOLLEY_CACHE_GRACE_H
#define VOLLEY_CACHE_GRACE_H

struct grace;

/*
 * Makes what is needed to wait, while there is the privilege (CAP_BPF), and tries it once.
 * -EOPNOTSUPP: the kernel gives no way; then no XDP program may share the cache.
 */
int grace_open(struct grace **out);
void grace_close(struct grace *grace);

/*
 * A cache_grace_fn; `grace` is a struct grace. Waits for XDP programs, then for userspace: some ten
 * milliseconds. Negative errno when the kernel refuses (it did not at grace_open): nothing is known
 * then. Any thread that is no QSBR thread, or is one without references of its own.
 */
int grace_wait(void *grace);

/* The same where no XDP program shares the cache; `unused` may be NULL. Always 0. */
int grace_wait_userspace(void *unused);

#endif
