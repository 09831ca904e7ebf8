/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The map that holds a table of blocks (limits/block_table.h), and its place in volley_blocks,
 * where the programs of all interfaces find it.
 *
 * Control's thread calls these; block_map_make() may be called from any thread.
 */
#ifndef VOLLEY_BPF_BLOCK_MAP_H
#define VOLLEY_BPF_BLOCK_MAP_H

#include <stdint.h>

#include "xdp/abi.h"

/* Makes a map of n_chunks zeroed chunks; *memory points to them. The map's descriptor or -errno. */
int block_map_make(uint32_t n_chunks, void **memory) __attribute__((warn_unused_result));
/* Unmaps and closes the map. A program that still reads it keeps the kernel's memory alive. */
void block_map_free(int fd, void *memory, uint32_t n_chunks);

/* Makes this table current. When it returns, no program reads the previous one. 0 or -errno. */
int block_map_put(int blocks_fd, int fd) __attribute__((warn_unused_result));

/* met[i]: the packets that matched list i in the programs, summed over all CPUs. 0 or -errno. */
int block_map_met(int blocked_fd, uint64_t met[VOLLEY_BLOCK_LISTS])
	__attribute__((warn_unused_result));

#endif
