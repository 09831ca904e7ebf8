/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the files of policy.block into a table that no thread uses yet. Any thread. */
#ifndef VOLLEY_POLICY_BLOCK_LISTS_H
#define VOLLEY_POLICY_BLOCK_LISTS_H

#include <stdbool.h>

#include "policy/block_memory.h"

#define BLOCK_LISTS_MAX (VOLLEY_BLOCK_LISTS - 1)

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
 * name or a type (block_words.h). Comments after # and empty lines are ignored; any other line is
 * counted in n_wrong and left out. If a file cannot be read, `error` names it and the others are
 * read. 0, -ECANCELED, -E2BIG (there are more than BLOCK_TABLE_MAX), or -errno.
 */
int block_lists_read(struct block_lists *l) __attribute__((warn_unused_result));

#endif
