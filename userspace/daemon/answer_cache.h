/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer cache and its memory: the maps of the XDP programs, or memory of this process if BPF
 * maps cannot be made. During a resize there are two caches (daemon/resize.h).
 */
#ifndef VOLLEY_DAEMON_ANSWER_CACHE_H
#define VOLLEY_DAEMON_ANSWER_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/object.h"
#include "cache/cache.h"
#include "cache/keeper.h"
#include "config/config.h"

struct answer_cache {
	struct object_maps maps;
	struct cache_memory memory; /* maps.memory, or anonymous */
	struct cache_sizes sizes;
	struct cache *cache;
	struct cache_keeper *keeper;
	struct grace *grace; /* NULL: no program reads the cache */
	bool is_anonymous;   /* there are no maps */
	bool is_adopted;     /* an earlier daemon has used the maps */
};

/*
 * The caller has set c->sizes. Takes the maps of a program that is attached; if there is none,
 * makes new ones; if that fails, takes anonymous memory and logs it. 0 or a negative code.
 */
int answer_cache_open_memory(struct answer_cache *c) __attribute__((warn_unused_result));

/* Opens the cache in that memory. The caller starts the keeper. 0 or a negative code. */
int answer_cache_open(struct answer_cache *c) __attribute__((warn_unused_result));

/* The keeper has ended, and no other thread reads the cache. Also after a failed open. */
void answer_cache_close(struct answer_cache *c);

/*
 * A cache_grace_fn: waits for all readers of zones and cache. user: a struct answer_cache. Any
 * thread.
 */
int answer_cache_grace(void *user);

/* FD, a map of this cache; -1 if there are no maps. */
static inline int answer_cache_fd(const struct answer_cache *c, int fd)
{
	return c->is_anonymous ? -1 : fd;
}

/* Plans the sizes of the cache for a configuration. */

#define CACHE_PLAN_TEXT_CAP 128

/*
 * Computes the sizes for cache.size, cache.names and cache.intervals, with a slot for each zone of
 * the configuration and for everything else that needs one. 0, or a negative code with a sentence
 * in err: -ENOMEM if cache.size is more than the host's memory; another code if it is too small,
 * and then the sentence names a size that is large enough.
 */
int cache_plan(struct cache_sizes *sizes, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

#endif
