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
 *
 *      open() ─┬─ read ──────► WHOLE ◄── written anew ──┐
 *              │                 └─ a write failed ──► BEHIND
 *              └─ not read ──► UNREAD: never written, since blocks in it would be lost
 */
#ifndef VOLLEY_ABUSE_BLOCK_JOURNAL_H
#define VOLLEY_ABUSE_BLOCK_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BLOCK_JOURNAL_PATH_CAP 4096

enum block_journal_state {
	BLOCK_JOURNAL_NONE,   /* blocks are not kept */
	BLOCK_JOURNAL_WHOLE,  /* the file has all changes */
	BLOCK_JOURNAL_BEHIND, /* it lacks changes, and must be written anew */
	BLOCK_JOURNAL_UNREAD, /* it has blocks that could not be read */
};

struct block_journal {
	enum block_journal_state state;
	char *path; /* NULL: blocks are not kept */
	int fd;     /* -1: not open */
	size_t n_lines;
	size_t wrong_line; /* the number of the line that is not understood; 0: none */
	/* While it is written anew: the temporary file, and the one that it replaces. */
	char tmp[BLOCK_JOURNAL_PATH_CAP + 16], target[BLOCK_JOURNAL_PATH_CAP];
};

/* Calls fn for each whole line; false: the line is not understood, and the reading ends. 0, also if
 * there is no file, -errno, or ERR_FORMAT. After an error the file is never written. */
typedef bool block_journal_fn(void *user, char sign, uint64_t wall_expires_s, const char *action,
			      const char *what, const char *why);
int block_journal_open(struct block_journal *j, const char *folder, block_journal_fn *fn,
		       void *user) __attribute__((warn_unused_result));
void block_journal_close(struct block_journal *j);

/* Appends a line to a file that is WHOLE. 0; or -errno, and the file is BEHIND. */
int block_journal_add(struct block_journal *j, uint64_t wall_expires_s, const char *action,
		      const char *what, const char *why) __attribute__((warn_unused_result));
int block_journal_remove(struct block_journal *j, const char *what)
	__attribute__((warn_unused_result));

/*
 * Writes the file anew: begin() opens a temporary file as *@f, the caller puts the lines, and end()
 * replaces the old file, which is WHOLE then. 0, or a negative code: the old file stays, and is
 * BEHIND. Not while it is UNREAD.
 */
int block_journal_begin(struct block_journal *j, FILE **f) __attribute__((warn_unused_result));
void block_journal_put(FILE *f, uint64_t wall_expires_s, const char *action, const char *what,
		       const char *why);
int block_journal_end(struct block_journal *j, FILE *f, size_t n_lines)
	__attribute__((warn_unused_result));

#endif
