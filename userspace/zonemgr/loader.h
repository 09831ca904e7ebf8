/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader: threads that make zones in the background (from files, from transfers, or from
 * versions with many changes), so that neither answers nor commands wait for them.
 *
 *      control's thread                         loader's threads
 *      loader_start ──► load ──► queue ───────► read, check, build, compare, verify
 *           load->ended ◄── loader_poll ◄────── eventfd
 *      loader_discard ──► load ───────────────► free, which takes long for a large zone
 *
 * Control owns a load before loader_start() and after its end; in between the threads own it. They
 * change nothing that is served: control's thread publishes the result.
 *
 * The runner starts the commands that verify zones, and opens files of other owners for the threads
 * (config/runner.h). After loader_limit() they have a
 * lower priority than the workers (SCHED_BATCH, niceness 10) on processors that they share
 * (base/affinity.h): a worker that wakes runs first. A worker that never sleeps (busy-poll) leaves
 * them a tenth of its processor, so that a load ends some time.
 */
#ifndef VOLLEY_ZONEMGR_LOADER_H
#define VOLLEY_ZONEMGR_LOADER_H

#include <stdbool.h>

#include "config/runner.h"
#include "zonemgr/load.h"

#define LOADER_THREADS_MAX 32

struct loader;

/* Makes a loader of `n` threads, 1 to LOADER_THREADS_MAX. 0 or -errno. Only control's thread calls
 * the functions here. */
int loader_new(struct loader **out, unsigned int n) __attribute__((warn_unused_result));

/* The runner starts the commands of zones[].verify, and outlives the loader. Before the first
 * loader_start(). */
void loader_set_runner(struct loader *loader, struct runner *runner);

/* From now on only `n` threads take new loads, and all have a lower priority. This cannot be
 * undone, because a higher priority needs privileges. */
void loader_limit(struct loader *loader, unsigned int n);

/* Cancels every load and waits until the threads have ended: a small part of the time of a load.
 * loader_poll() then gives the loads back. A second call does nothing. */
void loader_stop(struct loader *loader);
/* To be called after loader_stop() and loader_poll(). NULL is allowed. */
void loader_free(struct loader *loader);

/* Readable when loader_poll() has work to do; for poll() or epoll. */
int loader_fd(const struct loader *loader);
/* Calls ended() for each load that has ended. */
void loader_poll(struct loader *loader);
/* Makes loader_fd() readable. */
void loader_wake(struct loader *loader);

/* load_free() in the background, soon. */
void loader_discard(struct loader *loader, struct load *load);

/* Appends the load to the queue. */
void loader_start(struct loader *loader, struct load *load);
/* Makes the load end soon; ended() is called nevertheless. */
void loader_cancel(struct loader *loader, struct load *load);
/* False: the load has not begun, so its file will be opened after this call. */
bool loader_has_begun(struct loader *loader, const struct load *load);

#endif
