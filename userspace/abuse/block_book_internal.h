/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by block_book.c (changes) and block_book_report.c (reports). */
#ifndef VOLLEY_ABUSE_BLOCK_BOOK_INTERNAL_H
#define VOLLEY_ABUSE_BLOCK_BOOK_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "abuse/block_env.h"
#include "abuse/block_journal.h"
#include "abuse/block_lists.h"
#include "abuse/block_records.h"

struct block_book {
	struct block_env env;
	struct volley_block_head secrets;
	struct block_memory *now; /* the table in use; NULL: none */
	struct block_records records;
	struct block_journal journal;
	int journal_code; /* why the journal lacks changes, or was not read; 0: neither */
	uint32_t journal_due_s, journal_wait_s; /* the next try to write it anew */
	char journal_error[512];                /* the sentence for it; "": none */
	struct block_list *lists;
	uint32_t n_lists;
	char error[704]; /* of the last reading of the lists; "": none */
	bool lacks_list; /* block_book_lacks_list() */
	/*
	 * Packets that engines have blocked, by list. Programs count theirs in a map, which is
	 * never reset. So base is the count under a list's number at the time when the list got it,
	 * and carry is the list's own count from before.
	 */
	struct blocks_met met;
	uint64_t base[VOLLEY_BLOCK_LISTS];
	uint64_t carry[VOLLEY_BLOCK_LISTS];
};

/* Call it before these lists replace b->lists: a list of the same file keeps its count. */
void block_book_move_met(struct block_book *b, const struct block_list *lists, uint32_t n);

json_t *block_book_describe(const struct block_book *b, const struct block_record *record);

#endif
