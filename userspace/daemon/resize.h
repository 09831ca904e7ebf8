/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes the size of the answer cache while it is in use: by a command, or by another cache.size
 * in the configuration. docs/decisions/0015-resizing-the-cache.md
 *
 *      copying    maps are made beside those in use, answers copied         in the background
 *                 (cache/copy.h)
 *      moving     the workers use the new cache; the programs still read    a grace period
 *                 the old one
 *      late       answers that came to the old cache meanwhile are copied   in the background
 *      switching  each interface's program gets the new maps, in turn       a grace period
 *      freeing    the old maps are given back                               in the background
 *
 * Both caches answer rightly all the time. Until the end both take memory. Before "moving" a resize
 * is given up if volleyd stops or if a step fails; from "moving" on it goes on to its end.
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_DAEMON_RESIZE_H
#define VOLLEY_DAEMON_RESIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/background.h"
#include "cache/copy.h"
#include "daemon/answer_cache.h"
#include "daemon/heartbeat.h"
#include "daemon/interfaces.h"
#include "daemon/names_filter.h"
#include "daemon/snapshots.h"

struct resize;

/* The parts that it works with; they outlive it. */
struct resize_env {
	struct answer_cache *cache; /* its content is exchanged */
	struct interfaces *interfaces;
	struct heartbeat *heartbeat;
	struct names_filter *names;
	struct snapshots *snapshots;
	struct background *background; /* every walk over the cache is one of its jobs */
	/*
	 * "Moving" is over: all parts of the daemon must use env->cache. Programs still read `old`,
	 * the state of the earlier cache, so changes from now on go to both states.
	 */
	void (*moved)(void *user, struct volley_state *old);
	void *user;
};

/* The result of a resize. */
struct resize_result {
	int code;
	uint64_t from_bytes, to_bytes;
	struct cache_copied copied;
	uint64_t took_ns;
};

typedef void resize_done_fn(void *user, const struct resize_result *result);

/* Once there are workers. 0 or -errno. */
int resize_new(struct resize **out, const struct resize_env *env)
	__attribute__((warn_unused_result));

/*
 * Gives up a resize before "moving", carries a later one to its end, and calls its done(). The old
 * cache is freed before env->background ends; call resize_free() after that. NULL is allowed.
 */
void resize_stop(struct resize *resize);
void resize_free(struct resize *resize);

/* Readable when resize_poll() has work to do; for epoll. */
int resize_fd(const struct resize *resize);
void resize_poll(struct resize *resize);

/*
 * Begins to resize the cache to `bytes`. 0: done() follows, unless it is NULL, perhaps before this
 * returns. Otherwise a code with a sentence in err: -EBUSY (a resize or a snapshot is under way),
 * -ERANGE or -E2BIG, -ENOMEM (not enough memory for both caches). If the kernel refuses the new
 * maps, done() gets its error.
 */
int resize_start(struct resize *resize, uint64_t bytes, resize_done_fn *done, void *user, char *err,
		 size_t err_cap) __attribute__((warn_unused_result));

/* For cache.size of the configuration: begins as soon as no other job runs. Failures are logged. */
void resize_want(struct resize *resize, uint64_t bytes);
/* To be called once a second. */
void resize_tick(struct resize *resize);

/* Why the cache does not have the configured size; "": it has, or will have. NULL is allowed. */
const char *resize_problem(const struct resize *resize);

/* True while a resize is under way: its stage, the stage's progress in percent, the new size. */
bool resize_is_running(const struct resize *resize, const char **stage, unsigned int *percent,
		       uint64_t *to_bytes);

#endif
