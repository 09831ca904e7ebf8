/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: the one thread that makes room.
 *
 * It keeps a reserve of free segments, so that publishing never waits. When fewer are free, it
 * takes the oldest segments, copies the entries that are worth keeping, withdraws the others, waits
 * once for the readers of all these segments, and frees them. At least a quarter of each segment is
 * withdrawn, so the work of copying is bounded by what is published.
 */
#ifndef VOLLEY_CACHE_KEEPER_H
#define VOLLEY_CACHE_KEEPER_H

#include "cache/cache.h"

/*
 * Waits until no reader, in userspace or BPF, holds an entry that was withdrawn before the call. 0:
 * done. Another value: not known; the memory of these entries is not reused until a later call
 * succeeds.
 */
typedef int cache_grace_fn(void *user);

/* One round: fills the reserve if it can. Returns the segments freed. Keeper thread only. */
uint32_t cache_keep(struct cache *cache, uint32_t now_s, cache_grace_fn *grace, void *user);

/*
 * The keeper's other work: adds published entries to the filter (dependency_filter.h). It takes its
 * time, unless an invalidation waits for the filter, as after a start. Returns the ms from now_ns
 * until there is more to do. *next_ns, 0 at first, is when the next unhurried step is due. Keeper
 * thread only.
 */
int cache_keep_filter(struct cache *cache, uint64_t now_ns, uint64_t *next_ns);

/* Sleeps until the cache needs room, or for timeout_ms. For a keeper thread. */
void cache_keeper_wait(struct cache *cache, int timeout_ms);

/* Starts the keeper as a thread. It calls `grace` as a QSBR thread that is offline. */
struct cache_keeper;
int cache_keeper_start(struct cache_keeper **out, struct cache *cache, cache_grace_fn *grace,
		       void *user);
void cache_keeper_stop(struct cache_keeper *keeper);

/*
 * Grace periods: after one, no reader holds an entry that was withdrawn before it.
 *
 *   XDP programs   the update of a map-in-map returns when all programs that ran at its beginning
 *                  have ended; else membarrier(MEMBARRIER_CMD_GLOBAL) does the same
 *   userspace      liburcu QSBR: every registered, online thread has passed a quiescent state
 *
 * This is what the kernel guarantees, by its source from 5.18 to 6.18. maybe_wait_bpf_programs() in
 * kernel/bpf/syscall.c calls synchronize_rcu() after a successful BPF_MAP_UPDATE_ELEM on an
 * ARRAY_OF_MAPS, and waits for all but sleepable programs; XDP has no sleepable ones.
 * MEMBARRIER_CMD_GLOBAL calls synchronize_rcu() too (kernel/sched/membarrier.c), but fails with
 * EINVAL under nohz_full, and does nothing with one CPU online, where userspace does not run while
 * a softirq does. PREEMPT_RT is an exception, so membarrier is the second choice.
 *
 * A driver runs an XDP program within one NAPI poll with bottom halves disabled, be it in softirq,
 * a NAPI thread or busy polling. For synchronize_rcu() that is a read-side critical section: since
 * 4.20 it waits for regions with bottom halves or preemption disabled as for rcu_read_lock(), and
 * under PREEMPT_RT local_bh_disable() takes rcu_read_lock() itself (__local_bh_disable_ip() in
 * kernel/softirq.c). Since 5.14 drivers rely on that without an rcu_read_lock() of their own.
 * Generic XDP and BPF_PROG_RUN hold rcu_read_lock(). A packet that leaves by XDP_TX or XDP_REDIRECT
 * has a copy of the body, so the program stops reading the entry when it ends.
 */

struct grace;

/* Makes the two maps of a wait. It needs CAP_BPF, so the broker calls it. fds: -1, -1 after an
 * error. */
int grace_make_maps(int fds[2]) __attribute__((warn_unused_result));

/*
 * Takes the two maps, also after an error; grace_close() closes them. Waits once as a trial.
 * Without maps (-1, -1) membarrier() has to do. -EOPNOTSUPP: this kernel has no way to wait; then
 * no XDP program may share the cache.
 */
int grace_open(struct grace **out, const int fds[2]);
void grace_close(struct grace *grace);

/*
 * A cache_grace_fn; `grace` is a struct grace. Waits for XDP programs, then for userspace: some ten
 * milliseconds. A negative errno if the kernel refuses (although it did not in grace_open()): then
 * readers may still hold withdrawn entries. A QSBR thread that calls this must hold no reference.
 */
int grace_wait(void *grace);

/* The same when no XDP program shares the cache; `unused` may be NULL. Always 0. */
int grace_wait_userspace(void *unused);

#endif
