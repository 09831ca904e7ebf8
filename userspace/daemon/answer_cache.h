/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer cache with the memory that it lies in: the maps of the XDP programs, or memory of
 * this process where BPF maps cannot be made. During a resize there are two of them
 * (daemon/resize.h).
 */
#ifndef VOLLEY_DAEMON_ANSWER_CACHE_H
#define VOLLEY_DAEMON_ANSWER_CACHE_H

#include <stdbool.h>

#include "bpf/object.h"
#include "cache/cache.h"
#include "cache/grace.h"
#include "cache/keeper.h"

struct answer_cache {
	struct object_maps maps;
	struct cache_memory memory; /* maps.memory, or anonymous */
	struct cache_sizes sizes;
	struct cache *cache;
	struct cache_keeper *keeper;
	struct grace *grace; /* NULL: no program reads the cache */
	bool is_anonymous;   /* there are no maps */
	bool is_adopted;     /* the cache had another daemon before */
};

/*
 * With c->sizes planned: takes the maps of a program that is attached, else makes new ones, else
 * takes anonymous memory, which is logged. 0 or a negative code.
 */
int answer_cache_open_memory(struct answer_cache *c) __attribute__((warn_unused_result));

/* Then: the cache in that memory. The keeper is started by the caller. 0 or a negative code. */
int answer_cache_open(struct answer_cache *c) __attribute__((warn_unused_result));

/*
 * When no other thread reads it any more; the keeper has ended. Also after a failure of the
 * above.
 */
void answer_cache_close(struct answer_cache *c);

/*
 * Waits for all readers of zones and cache; a cache_grace_fn, user is a struct answer_cache. Any
 * thread.
 */
int answer_cache_grace(void *user);

/* The map that FD is of, or -1 where there are no maps. */
static inline int answer_cache_fd(const struct answer_cache *c, int fd)
{
	return c->is_anonymous ? -1 : fd;
}

#endif
