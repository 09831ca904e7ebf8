/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks: by commands, each until a time or for good, and by lists in files (policy.block). All of
 * them are in one table (engine/block_table.h), which driver, workers and the transfer thread read.
 *
 *      block add, remove ─► records, journal ─► the table in place
 *      policy.block ─► a table beside it, made in the background, with the records ─► takes its place
 *
 * A command's block hides that of a list for the same prefix, name or type until it is removed or
 * expires; of two lists the first one holds. A table that is full is replaced by one of twice the
 * size. With nothing blocked there is no table.
 *
 * Where there is server.storage, commands' blocks are kept there in the file `blocks`: a line for
 * each change, written before the command returns, and written anew when it is long. Expiry is kept
 * in wall time; while volleyd runs the monotonic clock counts.
 *
 * Control's thread calls all of these.
 */
#ifndef VOLLEY_POLICY_BLOCK_BOOK_H
#define VOLLEY_POLICY_BLOCK_BOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "control/metrics_text.h"
#include "engine/block_table.h"
#include "policy/block_env.h"

struct block_book;

/*
 * Loads the stored blocks, and reads the lists of `config` before it returns: nothing is answered
 * yet. A file that cannot be read is logged. 0 or -errno.
 */
int block_book_open(struct block_book **out, const struct block_env *env,
		    const struct config *config) __attribute__((warn_unused_result));
/* The workers have ended, and the background jobs. NULL is allowed. */
void block_book_close(struct block_book *b);

struct block_order {
	const char *what;
	enum volley_block_action action;
	uint32_t for_s;  /* 0: for good */
	const char *why; /* or NULL */
};

/*
 * A block of a command; one that is there gets another action, time and reason. *result tells of
 * it. 0, or a negative code with a sentence.
 */
int block_book_add(struct block_book *b, const struct block_order *order, json_t **result,
		   char *err, size_t err_cap) __attribute__((warn_unused_result));
int block_book_remove(struct block_book *b, const char *what, char *err, size_t err_cap)
	__attribute__((warn_unused_result));

/* All lists, and at most n of the commands' blocks. */
json_t *block_book_report(struct block_book *b, uint32_t n);
void block_book_metrics(struct block_book *b, struct metrics_text *out);

/* Removes expired blocks; once a second. */
void block_book_tick(struct block_book *b);

/*
 * Reads the lists of `config` again, in the background. done() is told 0, or the code of the first
 * file that cannot be read: then that list is as it was. Perhaps before this returns. 0 or -ENOMEM:
 * done() is not called.
 */
typedef void block_done_fn(void *user, int code);
int block_book_reload(struct block_book *b, const struct config *config, block_done_fn *done,
		      void *user) __attribute__((warn_unused_result));
/*
 * Reads the lists as block_book_open() would, and forgets them. 0, and a sentence in err where a
 * list cannot be read ("": all can); or a negative code, with a sentence too: a start would end.
 */
int block_book_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* Why the last reload did not read a list; "": it did. */
const char *block_book_error(const struct block_book *b);
/* A list could not be read when there was no earlier version of it, so nothing that it names is
 * blocked. */
bool block_book_lacks_list(const struct block_book *b);

#endif
