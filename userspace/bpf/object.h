/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP object that is built into the daemon, and the maps of the cache: made by the first
 * program that is loaded (or adopted with it), used by all the next ones.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_BPF_OBJECT_H
#define VOLLEY_BPF_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "bpf/found.h"
#include "engine/limiter.h"

struct volley_bpf;

/*
 * The maps that all interfaces share: descriptors of all twelve, and where the four of the cache,
 * the two of the rate limit and the filter of names are mapped. Who may read which view, the ring
 * of answers to be fetched anew, and blocks go by system calls.
 */
struct object_maps {
	int state_fd;
	int index_fd;
	int store_fd;
	int zones_fd;
	int clients_fd; /* volley_clients */
	int refresh_fd; /* volley_refresh */
	int rrl_fd;     /* volley_rrl */
	int loads_fd;   /* volley_loads */
	int blocks_fd;  /* volley_blocks, in which a table is put by bpf/block_map.h */
	int blocked_fd;
	int taps_fd;  /* volley_taps, in which rings are put by bpf/tap_rings.h */
	int names_fd; /* volley_names */
	struct cache_memory memory;
	struct limiter limiter;
	struct volley_names_line *names; /* names_lines of them, as many as the map has */
	uint32_t names_lines;
	bool is_open;
};

/*
 * The object with its maps sized as said, or taken from `maps` where these are open; not yet
 * loaded. NULL with errno. For volley_bpf__destroy().
 */
struct volley_bpf *object_open(const struct object_maps *maps, const struct cache_sizes *sizes);

/* The descriptors of a loaded object's maps, which stay the object's. */
struct found_maps object_fds(const struct volley_bpf *skel);

/* Takes and maps them from copies of the descriptors. 0, or -ENOMEM and nothing stays. */
int object_maps_open(struct object_maps *maps, const struct found_maps *found,
		     const struct cache_sizes *sizes) __attribute__((warn_unused_result));

/*
 * The kernel's tag of our program: a digest of its instructions, whatever loads them. Loads it,
 * once. 0 or -errno. Control's thread.
 */
#define OBJECT_TAG_BYTES 8
int object_tag(uint8_t tag[OBJECT_TAG_BYTES]) __attribute__((warn_unused_result));

/*
 * Loads the program with a small cache, attaches it nowhere, and lets it go. 0, or -errno and in
 * WHY a sentence of refusal.h. Needs what volleyd needs to load it. Takes some 100 ms.
 */
int object_try_load(char *why, size_t cap) __attribute__((warn_unused_result));

/*
 * An object with its maps made, and no program loaded: those of the cache are `maps`, the
 * interface's own are new. NULL with errno. For volley_bpf__destroy().
 */
struct volley_bpf *object_load_maps(const struct object_maps *maps);

/* Makes these maps and loads no program: the next one gets them. 0 or -errno. */
int object_maps_make(struct object_maps *maps, const struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

/*
 * Maps for a cache of these sizes that takes the place of that of `shared` (cache/copy.h): state,
 * index and store are new, the others are those of `shared`. Any thread. 0 or -errno.
 */
int object_maps_make_beside(struct object_maps *maps, const struct cache_sizes *sizes,
			    const struct object_maps *shared) __attribute__((warn_unused_result));

/*
 * Descriptors of what both share stay those that `before` had, since others know them by number:
 * the maps change these with each other.
 */
void object_maps_keep_shared(struct object_maps *maps, struct object_maps *before);

/* Unmaps and closes them; after all programs. */
void object_maps_close(struct object_maps *maps);

#endif
