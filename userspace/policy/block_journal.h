/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file in which blocks of commands are kept: text, a line for each change.
 *
 *      volley blocks 1
 *      + 1764086400 drop 192.0.2.0/24 why it was blocked      until this second of wall time; 0: for good
 *      - 192.0.2.0/24
 *
 * The file of a process that was killed is read up to its last whole line. Control's thread.
 */
#ifndef VOLLEY_POLICY_BLOCK_JOURNAL_H
#define VOLLEY_POLICY_BLOCK_JOURNAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct block_journal {
	char *path; /* NULL: nothing is kept */
	int fd;     /* -1: not open */
	size_t n_lines;
};

/* Calls fn for each line that is whole. 0, or -errno of reading; where there is no file that is
 * none. */
typedef void block_journal_fn(void *user, char sign, uint64_t wall_expires_s, const char *action,
			      const char *what, const char *why);
int block_journal_open(struct block_journal *j, const char *folder, block_journal_fn *fn,
		       void *user) __attribute__((warn_unused_result));
void block_journal_close(struct block_journal *j);

/* One line more. 0 or -errno. */
int block_journal_add(struct block_journal *j, uint64_t wall_expires_s, const char *action,
		      const char *what, const char *why) __attribute__((warn_unused_result));
int block_journal_remove(struct block_journal *j, const char *what)
	__attribute__((warn_unused_result));

/*
 * All anew: begin() opens the file beside it, to which the caller puts its lines, and end() puts it
 * in place. 0 or -errno; then the one before is in place.
 */
FILE *block_journal_begin(struct block_journal *j);
void block_journal_put(FILE *f, uint64_t wall_expires_s, const char *action, const char *what,
		       const char *why);
int block_journal_end(struct block_journal *j, FILE *f, size_t n_lines)
	__attribute__((warn_unused_result));

#endif
