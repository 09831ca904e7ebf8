/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The XDP program, loaded but not attached, and its maps as memory of this process. A test puts a
 * cache into them and sends packets by bpf_prog_test_run_opts.
 *
 *   volley.bpf.o ─► skeleton ─► load ─► mmap of the mmapable maps ─► struct cache_memory
 *
 * Needs root. The memory is all zero, like a new map, until cache_new() sets it up.
 */
#ifndef VOLLEY_TESTS_LIB_BPFMAPS_H
#define VOLLEY_TESTS_LIB_BPFMAPS_H

#include "cache/cache.h"
#include "limits/limiter.h"

struct volley_bpf; /* volley.skel.h */

struct bpfmaps {
	struct volley_bpf *skel;
	struct cache_memory memory;  /* of the four maps that all interfaces share */
	struct volley_link *link;    /* of this load; driver_answers is 1 */
	struct volley_queue *queues; /* an array of VOLLEY_QUEUES */
	struct limiter limiter;
	struct volley_names_line *names; /* an array of names_lines */
	uint32_t names_lines;
	int prog_fd;
};

/*
 * Loads with maps of these sizes (n_segments, n_buckets, n_zones and, unless 0, n_names_lines are
 * used); NULL: with those of the object file. 0, -EPERM without the privilege, or another negative
 * errno; then nothing stays.
 */
int bpfmaps_open(struct bpfmaps *maps, const struct cache_sizes *sizes);
/* The same, with flags BPF_F_* for the program. */
int bpfmaps_open_flags(struct bpfmaps *maps, const struct cache_sizes *sizes, uint32_t flags);
void bpfmaps_close(struct bpfmaps *maps);

/* The map of this name, or -ENOENT. */
int bpfmaps_map_fd(const struct bpfmaps *maps, const char *name);

/* Sums the program's counters over all CPUs and rooms; other fields are not set. */
int bpfmaps_counters(const struct bpfmaps *maps, struct volley_cpu *sum);

/*
 * Adds a service address to `state`: 4 words as on the wire and family 4 or 6, port in host order.
 * It takes the next free slot of its probe sequence. The cache must be set up.
 */
void bpfmaps_serve(struct volley_state *state, const uint32_t address[4], uint8_t family,
		   uint16_t port);

#endif
