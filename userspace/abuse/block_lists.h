/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the files of policy.block into a table that no thread uses yet. Any thread. */
#ifndef VOLLEY_ABUSE_BLOCK_LISTS_H
#define VOLLEY_ABUSE_BLOCK_LISTS_H

#include <stdbool.h>

#include "limits/block_lookup.h"
#include "limits/block_table.h"

/* A table of blocks and its memory: a BPF map for programs, or this process's. Any thread. */

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

/* A list of the configuration, and the number of blocks that were read from it. */
struct block_list {
	char *file, *why; /* why: NULL if none */
	enum volley_block_action action;
	uint64_t n;       /* lines with a block */
	uint64_t n_wrong; /* lines with something else */
};

struct block_lists {
	struct block_list *lists;
	uint32_t n;
	const struct volley_block_head *secrets;
	bool is_map;
	struct blocks_met *met;
	const bool *is_cancelled;    /* atomic; NULL: never */
	char error[640];             /* of the first file that could not be read, and why */
	struct block_memory *memory; /* with all blocks, and room for at least `spare` more */
	uint32_t spare;
};

/*
 * Reads all lists. If two lists block the same thing, the first one counts. A line is a prefix, a
 * name or a type (block_records.h). Comments after # and empty lines are ignored; any other line is
 * counted in n_wrong and left out. If a file cannot be read, `error` names it and the others are
 * read. 0, -ECANCELED, -E2BIG (there are more than BLOCK_TABLE_MAX), or -errno.
 */
int block_lists_read(struct block_lists *l) __attribute__((warn_unused_result));

#endif
