/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP object that is built into the daemon, and the maps of the cache. The first program that
 * is loaded or adopted brings the maps; all later programs use them.
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
#include "limits/limiter.h"

struct volley_bpf;

/*
 * The maps that all interfaces share, by their descriptors alone: the side that loads programs
 * neither reads nor writes what is in them. Of `fds` these twelve are open: state, index, store,
 * zones, clients, refresh, rrl, loads, blocks, blocked, taps, names.
 */
struct object_shared {
	struct found_maps fds;
	struct cache_sizes sizes;
	bool is_open;
};

/*
 * The same maps as the daemon uses them: descriptors of all twelve, and mappings of the cache's
 * four, the rate limit's two and the filter of names. The others (clients, refresh, blocks,
 * blocked, taps) are read and written by system calls.
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
	int blocks_fd;  /* volley_blocks; bpf/tables.h puts a table into it */
	int blocked_fd;
	int taps_fd;  /* volley_taps; bpf/tap_rings.h puts rings into it */
	int names_fd; /* volley_names */
	struct cache_memory memory;
	struct limiter limiter;
	struct volley_names_line *names; /* names_lines lines: all that the map has */
	uint32_t names_lines;
	bool is_open;
};

/* --- Programs and maps are made: needs the capabilities for loading --------------------------- */

/* Opens the object, with the maps of `maps` if they are open, else with new maps of these sizes. It
 * is not loaded yet. NULL with errno. For volley_bpf__destroy(). */
struct volley_bpf *object_open(const struct object_shared *maps, const struct cache_sizes *sizes);

/* Descriptors of the maps of a loaded object. The object owns them. */
struct found_maps object_fds(const struct volley_bpf *skel);

/* The kernel's tag of our program: a digest of its instructions, which does not depend on the
 * loader. The first call loads the program. 0 or -errno. Control's thread. */
#define OBJECT_TAG_BYTES 8
int object_tag(uint8_t tag[OBJECT_TAG_BYTES]) __attribute__((warn_unused_result));

/* The tag in hexadecimal. Returns `text`. Pure. */
#define OBJECT_TAG_CAP (2 * OBJECT_TAG_BYTES + 1)
const char *object_tag_text(const uint8_t tag[OBJECT_TAG_BYTES], char text[OBJECT_TAG_CAP]);

/* Loads the program with a small cache, without attaching it, and unloads it. 0, or -errno with a
 * message of refusal.h in WHY. Needs volleyd's capabilities for loading. Takes about 100 ms. */
int object_try_load(char *why, size_t cap) __attribute__((warn_unused_result));

/* Opens the object and makes its maps, but loads no program. The shared maps are those of `maps`;
 * the interface's own maps are new. NULL with errno. For volley_bpf__destroy(). */
struct volley_bpf *object_load_maps(const struct object_shared *maps);

/* Makes the shared maps for the next program that is loaded. 0 or -errno. */
int object_shared_make(struct object_shared *maps, const struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

/* Makes the maps of a cache of these sizes that replaces the one of `shared` (cache/copy.h). State,
 * index and store are new; the other maps are those of `shared`. Any thread. 0 or -errno. */
int object_shared_make_beside(struct object_shared *maps, const struct cache_sizes *sizes,
			      const struct object_shared *shared)
	__attribute__((warn_unused_result));

/* Copies the descriptors of the shared maps. 0, or -errno with everything closed again. */
int object_shared_take(struct object_shared *maps, const struct found_maps *found,
		       const struct cache_sizes *sizes) __attribute__((warn_unused_result));

/* Closes the maps, if they are open. */
void object_shared_close(struct object_shared *maps);

/* --- Maps are used: needs no capability since Linux 5.19 -------------------------------------- */

/* Copies the descriptors and maps the memory. 0, or -ENOMEM with everything closed again. */
int object_maps_open(struct object_maps *maps, const struct found_maps *found,
		     const struct cache_sizes *sizes) __attribute__((warn_unused_result));

/* The descriptors of open maps; `maps` owns them. */
struct object_shared object_maps_shared(const struct object_maps *maps);

/* Exchanges the descriptors of shared maps between the two: `maps` gets the numbers that `before`
 * had, because other modules keep these numbers. */
void object_maps_keep_shared(struct object_maps *maps, struct object_maps *before);

/* Unmaps and closes the maps. Close all programs first. */
void object_maps_close(struct object_maps *maps);

#endif
