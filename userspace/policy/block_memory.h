/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of blocks and its memory: a BPF map for programs, or this process's. Any thread. */
#ifndef VOLLEY_POLICY_BLOCK_MEMORY_H
#define VOLLEY_POLICY_BLOCK_MEMORY_H

#include <stdbool.h>

#include "limits/block_table.h"
#include "limits/block_lookup.h"

struct block_memory {
	struct block_table table;
	struct blocks view; /* for engines; its counters are the caller's */
	void *memory;
	uint32_t n_chunks;
	int fd; /* -1: no map */
};

/* Makes an empty table for `cap` blocks. 0 or -errno. */
int block_memory_new(struct block_memory **out, uint32_t cap, bool is_map,
		     const struct volley_block_head *secrets, struct blocks_met *met)
	__attribute__((warn_unused_result));
/* No thread may read it any more. NULL is allowed. */
void block_memory_free(struct block_memory *m);

/* Copies all blocks of `from` to `to`, which is larger. 0, or -ENOSPC. */
int block_memory_copy(struct block_memory *to, const struct block_memory *from)
	__attribute__((warn_unused_result));

#endif
