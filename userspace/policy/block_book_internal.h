/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by blocks.c (changes) and blocks_report.c (reports of them). */
#ifndef VOLLEY_POLICY_BLOCK_BOOK_INTERNAL_H
#define VOLLEY_POLICY_BLOCK_BOOK_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/block_env.h"
#include "policy/block_journal.h"
#include "policy/block_lists.h"
#include "policy/block_records.h"

struct block_book {
	struct block_env env;
	struct volley_block_head secrets;
	struct block_memory *now; /* the table in place; NULL: none */
	struct block_records records;
	struct block_journal journal;
	int journal_code; /* of the last write */
	struct block_list *lists;
	uint32_t n_lists;
	char error[704]; /* of the last reading of the lists; "" */
	bool lacks_list; /* block_book_lacks_list() */
	/*
	 * Packets that engines have met, by list; programs count theirs in a map, and never from 0
	 * on. So for each list base is the count under its number when it got that number, and
	 * carry is its own count from before.
	 */
	struct blocks_met met;
	uint64_t base[VOLLEY_BLOCK_LISTS];
	uint64_t carry[VOLLEY_BLOCK_LISTS];
};

/* Before these lists take the place of b->lists: a list of the same file keeps its count. */
void block_book_move_met(struct block_book *b, const struct block_list *lists, uint32_t n);

json_t *block_book_describe(const struct block_book *b, const struct block_record *record);

#endif
