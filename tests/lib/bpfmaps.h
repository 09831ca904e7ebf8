/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP program, loaded but attached to nothing, and its maps as memory of this process: a test
 * lays a cache over them and sends packets by bpf_prog_test_run_opts.
 *
 *   volley.bpf.o ─► skeleton ─► load ─► mmap of the mmapable maps ─► struct cache_memory
 *
 * Needs root. The memory is all zero, as a new map is, until cache_new() sets it up.
 */
#ifndef VOLLEY_TESTS_LIB_BPFMAPS_H
#define VOLLEY_TESTS_LIB_BPFMAPS_H

#include "cache/cache.h"
#include "engine/limiter.h"

struct volley_bpf; /* volley.skel.h */

struct bpfmaps {
	struct volley_bpf *skel;
	struct cache_memory memory;  /* of the four maps that all interfaces share */
	struct volley_link *link;    /* of this load; driver_answers is 1 */
	struct volley_queue *queues; /* VOLLEY_QUEUES of them */
	struct limiter limiter;
	struct volley_names_line *names; /* names_lines of them */
	uint32_t names_lines;
	int prog_fd;
};

/*
 * Loads with maps of these sizes (n_segments, n_buckets, n_zones and, unless it is 0, n_names_lines
 * count), or as the object file says when NULL. 0, -EPERM without the privilege, or another
 * negative errno; then nothing stays.
 */
int bpfmaps_open(struct bpfmaps *maps, const struct cache_sizes *sizes);
/* The same, with BPF_F_* for the program. */
int bpfmaps_open_flags(struct bpfmaps *maps, const struct cache_sizes *sizes, uint32_t flags);
void bpfmaps_close(struct bpfmaps *maps);

/* The map of this name, or -ENOENT. */
int bpfmaps_map_fd(const struct bpfmaps *maps, const char *name);

/* The sum over all CPUs and their rooms of what the program counted; nothing else is filled in. */
int bpfmaps_counters(const struct bpfmaps *maps, struct volley_cpu *sum);

/*
 * Makes `state` answer on one address: 4 words as on the wire and family 4 or 6, port in host
 * order. The next free slot of its probe sequence is taken. The cache is set up already.
 */
void bpfmaps_serve(struct volley_state *state, const uint32_t address[4], uint8_t family,
		   uint16_t port);

#endif
