/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps that the broker makes and the daemon uses, and what else only loaded programs can find out.
 * Errors: those of the function that the broker calls, or ERR_BROKER. Any thread, but for
 * maps_clock_offset() and maps_wake_veth(), which are for control's thread.
 */
#ifndef VOLLEY_BROKER_MAPS_H
#define VOLLEY_BROKER_MAPS_H

#include "bpf/object.h"
#include "bpf/tap_rings.h"
#include "cache/keeper.h"

/* Makes and maps the shared maps for the next program that is loaded. 0 or an error. */
int maps_make(struct object_maps *maps, const struct cache_sizes *sizes)
	__attribute__((warn_unused_result));

/* The same for a cache that replaces the one of `shared`: object_shared_make_beside(). */
int maps_make_beside(struct object_maps *maps, const struct cache_sizes *sizes,
		     const struct object_maps *shared) __attribute__((warn_unused_result));

/* A map for a table of blocks, for block_map_free(); *memory points to its chunks. The descriptor
 * or an error. */
int maps_make_blocks(uint32_t n_chunks, void **memory) __attribute__((warn_unused_result));

/* Makes the rings of answers and puts them into the map (bpf/tap_rings.h). 0 or an error. Control's
 * thread. */
int maps_make_rings(struct tap_rings **out, int taps_fd) __attribute__((warn_unused_result));

/* For grace_wait(). 0 or an error, as grace_open(). */
int maps_make_grace(struct grace **out) __attribute__((warn_unused_result));

/* ktime_offset() of bpf/tiny_programs.h. */
int maps_clock_offset(int64_t *ahead_ns) __attribute__((warn_unused_result));

/* vethring_wake() of bpf/tiny_programs.h. */
int maps_wake_veth(const char *ifname, const uint8_t mac[6]) __attribute__((warn_unused_result));

#endif
