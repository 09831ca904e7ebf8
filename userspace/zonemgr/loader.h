/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loader: threads that make zones in the background, from files, from what a transfer brought,
 * or from a version with many changes, so that neither answers nor commands wait for it.
 *
 *      control's thread                         loader's threads
 *      loader_start ──► load ──► queue ───────► read, check, build, compare, verify
 *           load->ended ◄── loader_poll ◄────── eventfd
 *      loader_discard ──► load ───────────────► free, which takes long for a large zone
 *
 * A load is control's, but for what says otherwise below; between loader_start() and its end the
 * threads work on it. They touch nothing that is served: what a load has made is published by
 * control's thread.
 *
 * Of privileges the threads have only that of reading files of other owners. From loader_limit() on
 * they stand behind the workers (SCHED_BATCH, a niceness of 10), which matters where they share
 * their processors (base/affinity.h): a worker that wakes goes first, and one that never sleeps
 * (busy-poll) leaves them a tenth of its processor, so that a load ends some time.
 */
#ifndef VOLLEY_ZONEMGR_LOADER_H
#define VOLLEY_ZONEMGR_LOADER_H

#include <stdbool.h>

#include "zonemgr/load.h"

#define LOADER_THREADS_MAX 32

struct loader;

/*
 * Makes a loader of `n` threads, 1 to LOADER_THREADS_MAX. 0 or -errno. All functions here are for
 * control's thread.
 */
int loader_new(struct loader **out, unsigned int n) __attribute__((warn_unused_result));

/*
 * As many threads as `n` take new loads from now on, and all run with less priority than others;
 * for good, since it takes privileges to get that back.
 */
void loader_limit(struct loader *loader, unsigned int n);

/*
 * Cancels every load and waits until the threads have ended, which takes them a small part of the
 * time of a load. loader_poll() then gives the loads back. A second call does nothing.
 */
void loader_stop(struct loader *loader);
/* After loader_stop() and loader_poll(). NULL is allowed. */
void loader_free(struct loader *loader);

/* Readable when loader_poll() has work to do; for poll() or epoll. */
int loader_fd(const struct loader *loader);
/* Calls ended() of each load that has ended. */
void loader_poll(struct loader *loader);
/* Makes loader_fd() readable. */
void loader_wake(struct loader *loader);

/* load_free() in the background, soon. */
void loader_discard(struct loader *loader, struct load *load);

/* Queues it: those that were queued before begin before. */
void loader_start(struct loader *loader, struct load *load);
/* It ends soon, if it has not yet; ended() is called all the same. */
void loader_cancel(struct loader *loader, struct load *load);
/* False: the file will be opened after this call has returned. */
bool loader_has_begun(struct loader *loader, const struct load *load);

#endif
