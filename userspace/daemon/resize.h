/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer cache gets another size while it is in use: by command, or because the configuration
 * says another one. docs/decisions/0015-resizing-the-cache.md
 *
 *      copying    maps are made beside those in use, answers copied (cache/copy.h)    in the background
 *      moving     the workers use the new cache; the programs still read the old one  a grace period
 *      late       answers that came to the old cache meanwhile are copied             in the background
 *      switching  each interface's program gets the new maps, one after the other     a grace period
 *      freeing    the old maps are given back                                         in the background
 *
 * Both caches answer rightly all the time, and both budgets are in use until the end. Before
 * "moving" a resize can be given up, and is when volleyd stops or when anything fails; from there
 * on it goes on to its end. Control's thread calls all of these.
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
	struct answer_cache *cache; /* whose content is exchanged */
	struct interfaces *interfaces;
	struct heartbeat *heartbeat;
	struct names_filter *names;
	struct snapshots *snapshots;
	struct background *background; /* every walk over the cache is one of these */
	/*
	 * "Moving" is over: all parts of the daemon are to use env->cache. Programs still read
	 * `old`, the state of the cache before, so both are told what changes from now on.
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
 * cache is given back when env->background are freed; resize_free() comes behind that. NULL is
 * allowed.
 */
void resize_stop(struct resize *resize);
void resize_free(struct resize *resize);

/* Readable when resize_poll() has work to do; for epoll. */
int resize_fd(const struct resize *resize);
void resize_poll(struct resize *resize);

/*
 * Begins to resize the cache to `bytes`. 0: done() follows, unless it is NULL, perhaps before this
 * returns. Else a code with a sentence in err: -EBUSY (a resize or a snapshot is under way),
 * -ERANGE or -E2BIG, -ENOMEM (not enough memory for both). done() gets the kernel's error about the
 * new maps.
 */
int resize_start(struct resize *resize, uint64_t bytes, resize_done_fn *done, void *user, char *err,
		 size_t err_cap) __attribute__((warn_unused_result));

/* For cache.size of the configuration: begins as soon as no other job runs; failures are logged. */
void resize_want(struct resize *resize, uint64_t bytes);
/* To be called once a second. */
void resize_tick(struct resize *resize);

/* Why the cache is not of the size that the configuration says; "": nothing is wrong. NULL is
 * allowed. */
const char *resize_problem(const struct resize *resize);

/* Of a resize that is under way: its stage, how far that is in percent, and to which size. */
bool resize_is_running(const struct resize *resize, const char **stage, unsigned int *percent,
		       uint64_t *to_bytes);

#endif
