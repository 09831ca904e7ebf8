/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The map in which a table of blocks lies (engine/block_table.h), and its place in volley_blocks,
 * where the programs of all interfaces find it.
 *
 * Control's thread, but block_map_make(): any.
 */
#ifndef VOLLEY_BPF_BLOCK_MAP_H
#define VOLLEY_BPF_BLOCK_MAP_H

#include <stdint.h>

#include "xdp/abi.h"

/* A map of so many chunks, all zero: *memory is where it lies. Its descriptor, or -errno. */
int block_map_make(uint32_t n_chunks, void **memory) __attribute__((warn_unused_result));
/* Its memory; a program that still reads it does so from memory of the kernel. */
void block_map_free(int fd, void *memory, uint32_t n_chunks);

/* Puts it in place. When this returns no program reads the one before any more. 0 or -errno. */
int block_map_put(int blocks_fd, int fd) __attribute__((warn_unused_result));

/* Packets that each list has met in the programs, of all CPUs. 0 or -errno. */
int block_map_met(int blocked_fd, uint64_t met[VOLLEY_BLOCK_LISTS])
	__attribute__((warn_unused_result));

#endif
