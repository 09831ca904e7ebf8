/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks come from commands (each until a time or for good) and from lists in files (policy.block).
 * All are in one table (limits/block_table.h), which the driver, the workers and the transfer
 * thread read.
 *
 *      block add, remove ─► records, journal ─► the table in place
 *      policy.block ─► a new table, made in the background, with the records ─► replaces it
 *
 * A command's block hides a list's block for the same prefix, name or type until it is removed or
 * expires. Of two lists the first one counts. A full table is replaced by one of twice the size. If
 * nothing was ever blocked, there is no table.
 *
 * If server.storage is set, its file `blocks` keeps the commands' blocks: a line for each change,
 * written before the command returns. A long file is written anew, and also one that lacks changes,
 * because it could not be written: with the next command, and by the tick. A file that could not be
 * read is never written. The file has wall time; while volleyd runs, blocks expire by the monotonic
 * clock.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_ABUSE_BLOCK_BOOK_H
#define VOLLEY_ABUSE_BLOCK_BOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "control/metrics_text.h"
#include "limits/block_table.h"
#include "abuse/block_env.h"

struct block_book;

/*
 * Loads the stored blocks, and reads the lists of `config` before it returns, since no query is
 * answered yet. A file that cannot be read is logged. 0 or -errno.
 */
int block_book_open(struct block_book **out, const struct block_env *env,
		    const struct config *config) __attribute__((warn_unused_result));
/* Call it after the end of workers and background jobs. NULL is allowed. */
void block_book_close(struct block_book *b);

struct block_order {
	const char *what;
	enum volley_block_action action;
	uint32_t for_s;  /* 0: for good */
	const char *why; /* or NULL */
};

/*
 * Adds a command's block, or changes action, time and reason of an existing one. *result describes
 * it, and whether a restart would keep it. 0, or a negative code with a sentence. A block that is
 * removed and may come back by a restart is an error.
 */
int block_book_add(struct block_book *b, const struct block_order *order, json_t **result,
		   char *err, size_t err_cap) __attribute__((warn_unused_result));
int block_book_remove(struct block_book *b, const char *what, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* A report of all lists and at most n of the commands' blocks. */
json_t *block_book_report(struct block_book *b, uint32_t n);
void block_book_metrics(struct block_book *b, struct metrics_text *out);

/* Removes expired blocks. Call it once a second. */
void block_book_tick(struct block_book *b);

/*
 * Reads the lists of `config` again, in the background. done() gets 0, or a negative code if a file
 * cannot be read: then all lists stay as they are. It may be called before this returns. 0, or
 * -ENOMEM: done() is not called.
 */
typedef void block_done_fn(void *user, int code);
int block_book_reload(struct block_book *b, const struct config *config, block_done_fn *done,
		      void *user) __attribute__((warn_unused_result));
/*
 * Reads the lists as block_book_open() does, and drops them. 0, with a sentence in err if a list
 * cannot be read ("": all can). A negative code, also with a sentence: a start would fail.
 */
int block_book_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* Why a restart would not bring all of the commands' blocks back, or did not; "": it would. */
const char *block_book_journal_error(const struct block_book *b);
/* Why the lists were not read completely the last time; "": they were. */
const char *block_book_error(const struct block_book *b);
/* True if a list could not be read and has no earlier version: it blocks nothing. */
bool block_book_lacks_list(const struct block_book *b);

#endif
