/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processors are whose. Each worker has one; all other threads of the process, the control
 * processors, where there are any left.
 *
 *      volleyd may use     0 1 2 3 4 5
 *      workers             . . 2 3 4 5
 *      control             0 1 . . . .      main thread, loader, keeper, chores, snapshots,
 *                                           heartbeat, resolver, metrics, TLS handshakes
 *
 * So what control does (reads zones, walks over the cache, writes text) takes no time from a
 * worker, and nothing out of the caches of its core. Where no processor is left, all share, and
 * what is long work and can wait (loader, chores, metrics, handshakes) has less priority than
 * workers.
 *
 * A thread that somebody has pinned is left alone, a worker above all. Those that are made later
 * have the processors of the thread that makes them: control's.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_BASE_AFFINITY_H
#define VOLLEY_BASE_AFFINITY_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

struct affinity {
	cpu_set_t allowed; /* what the process might use when it was started */
	cpu_set_t wanted;  /* server.control-cores; none: those that no worker is pinned to */
	/* of all threads but workers; all that are allowed until affinity_settle() */
	cpu_set_t control;
	unsigned int n_own; /* of these, those of no worker; 0: they are shared */
};

/*
 * Asks the kernel what the process may use. `cores` are those of the configuration: -EINVAL with a
 * sentence in err when it may not use one of them.
 */
int affinity_init(struct affinity *affinity, const uint16_t *cores, size_t n_cores, char *err,
		  size_t err_cap) __attribute__((warn_unused_result));

/* Those to choose workers' processors from: without those that are wanted for control, if that
 * leaves any. */
void affinity_for_workers(const struct affinity *affinity, cpu_set_t *cpus);

/* The workers are pinned to `cpus` (WORKER_CPU_ANY: anywhere): what is left is control's. */
void affinity_settle(struct affinity *affinity, const int *cpus, size_t n);

/* Moves the calling thread there, and all others that nobody has pinned. */
void affinity_move_threads(const struct affinity *affinity);

/* Puts the thread `tid` (0: the calling one) behind the workers, for good: it takes privileges to
 * get back. */
int affinity_stand_behind(pid_t tid) __attribute__((warn_unused_result));

/* "0-1,4", cut where it is too long; always with its NUL. */
const char *affinity_text(const cpu_set_t *cpus, char *buf, size_t cap);

#endif
