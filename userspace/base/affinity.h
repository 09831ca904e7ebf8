/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assigns processors. Each worker has one. All other threads of the process have the control
 * processors, if any are left.
 *
 *      volleyd may use     0 1 2 3 4 5
 *      workers             . . 2 3 4 5
 *      control             0 1 . . . .      main thread, loader, keeper, background jobs,
 *                                           snapshots, heartbeat, resolver, metrics, TLS handshakes
 *
 * So control's work (reading zones, walking over the cache, formatting text) takes no time from a
 * worker and evicts nothing from the caches of its core. If no processor is left, all threads
 * share. Then long work that can wait (loader, background jobs, metrics, handshakes) has a lower
 * priority than workers.
 *
 * A pinned thread stays where it is, above all a worker. A new thread inherits the processors of
 * the thread that makes it, which are control's.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_BASE_AFFINITY_H
#define VOLLEY_BASE_AFFINITY_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

struct affinity {
	cpu_set_t allowed; /* the processors of the process at its start */
	cpu_set_t wanted;  /* server.control-cores; empty: those that no worker is pinned to */
	/* of all threads but workers; all allowed ones until affinity_settle() */
	cpu_set_t control;
	unsigned int n_own; /* how many of these no worker has; 0: they are shared */
};

/* Asks the kernel for the processors of the process. `cores`: the configured ones; -EINVAL with a
 * message in err if the process may not use one of them. */
int affinity_init(struct affinity *affinity, const uint16_t *cores, size_t n_cores, char *err,
		  size_t err_cap) __attribute__((warn_unused_result));

/* The processors for workers: the allowed ones without those wanted for control; if that leaves
 * none, all allowed ones. */
void affinity_for_workers(const struct affinity *affinity, cpu_set_t *cpus);

/* Workers are pinned to `cpus` (WORKER_CPU_ANY: not pinned); control gets the rest. */
void affinity_settle(struct affinity *affinity, const int *cpus, size_t n);

/* Moves the calling thread, and all threads that are not pinned, to control's processors. */
void affinity_move_threads(const struct affinity *affinity);

/* Gives all threads of another process the processors of the calling thread. task_fd: its
 * /proc/PID/task; stays the caller's. */
void affinity_share(int task_fd);

/* Gives the thread `tid` (0: the calling one) a lower priority than the workers'. Only a privileged
 * process could undo it. */
int affinity_stand_behind(pid_t tid) __attribute__((warn_unused_result));

/* "0-1,4". Cut if it is too long; always ends with a NUL. */
const char *affinity_text(const cpu_set_t *cpus, char *buf, size_t cap);

#endif
