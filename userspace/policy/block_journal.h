/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file that keeps the blocks of commands: text, a line for each change.
 *
 *      volley blocks 1
 *      + 1764086400 drop 192.0.2.0/24 why it was blocked      until this wall second; 0: for good
 *      - 192.0.2.0/24
 *
 * The last line may be cut, if the process was killed: it is not read. Control's thread.
 */
#ifndef VOLLEY_POLICY_BLOCK_JOURNAL_H
#define VOLLEY_POLICY_BLOCK_JOURNAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct block_journal {
	char *path; /* NULL: blocks are not kept */
	int fd;     /* -1: not open */
	size_t n_lines;
};

/* Calls fn for each whole line. 0, also if there is no file, or -errno. */
typedef void block_journal_fn(void *user, char sign, uint64_t wall_expires_s, const char *action,
			      const char *what, const char *why);
int block_journal_open(struct block_journal *j, const char *folder, block_journal_fn *fn,
		       void *user) __attribute__((warn_unused_result));
void block_journal_close(struct block_journal *j);

/* Appends a line. 0 or -errno. */
int block_journal_add(struct block_journal *j, uint64_t wall_expires_s, const char *action,
		      const char *what, const char *why) __attribute__((warn_unused_result));
int block_journal_remove(struct block_journal *j, const char *what)
	__attribute__((warn_unused_result));

/*
 * Writes the file anew: begin() opens a temporary file, the caller puts the lines, and end()
 * replaces the old file. 0, or -errno: the old file stays, unless only opening the new one failed.
 */
FILE *block_journal_begin(struct block_journal *j);
void block_journal_put(FILE *f, uint64_t wall_expires_s, const char *action, const char *what,
		       const char *why);
int block_journal_end(struct block_journal *j, FILE *f, size_t n_lines)
	__attribute__((warn_unused_result));

#endif
