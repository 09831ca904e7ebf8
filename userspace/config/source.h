/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a configuration file, and the sentences that name a place in it.
 *
 * A source is read, checked for shape, and then asked for one thing only: to say what is wrong with
 * the key at some path. The first failure is kept, with its code in .failed; every later one is
 * ignored, so that the steps of a load can follow each other without a check between them. One
 * thread; the storage is the caller's, and so is all that it points to, but for .text.
 */
#ifndef VOLLEY_CONFIG_SOURCE_H
#define VOLLEY_CONFIG_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/words.h"
#include "config/yamlwalk.h"

/* Where a line of the text was written. */
struct source_line {
	uint32_t file; /* place in .files */
	uint32_t line;
};

struct source {
	const char *path;
	const char *base; /* relative paths start at its folder; mostly .path */
	char *text;       /* set by source_read(), ends in a zero byte behind len */
	size_t len;
	char *err; /* "FILE:LINE: key: sentence", set by the first failure */
	size_t err_cap;
	int failed;               /* 0, or the code of the first failure */
	bool has[WORDS_KEYS_MAX]; /* which keys were given, by number, after source_check_shape() */
	void *empty;              /* paths of lists of no item, a tree of tsearch() */
	struct source_line *
		lines; /* of each line of the text; NULL: it is that of one file (config/include.h) */
	size_t n_lines;
	char **secret_files; /* that have a secret, after source_check_shape(); NULL behind the last, or NULL */
	uint32_t n_secret_files;
	char **files; /* what was read, .path first; NULL likewise */
	uint32_t n_files;
	char list[YAMLWALK_PATH_CAP]; /* the last one that was opened */
};

/* Reads the file at .path. Fails with the -errno of open() or read(), -EFBIG past 256 MiB. */
void source_read(struct source *source);

/* Frees the text after wiping it, for it may hold a secret. */
void source_fini(struct source *source);

/* Holds the text against the tables of words.h: fails on bad YAML, unknown and repeated keys, wrong shapes. */
void source_check_shape(struct source *source);

/* The table's key for a path with indices: "zones[7].file" and "server.listen[0]" are found. */
const struct words_key *source_find_key(const char *path);

/* The file and the line of a line of the text; false: of no line of it. */
bool source_find_line(const struct source *source, size_t line, const char **file, size_t *at);

/* Whether a key of that path was given, in any item where there are lists. After source_check_shape(). */
bool source_has(const struct source *source, const char *path);

/* Whether there is a list of no item at that very path, "zones[7].notify". */
bool source_has_empty(const struct source *source, const char *path);

/* Fails with a sentence about the key at PATH ("": about none) in LINE (0: where PATH stands). */
__attribute__((format(printf, 4, 5))) void source_fail(struct source *source, size_t line,
						       const char *path, const char *format, ...);
void source_fail_memory(struct source *source);

/* Fails with what the key at PATH accepts; TEXT is what was given instead. */
void source_refuse_value(struct source *source, const char *path, const char *text);
void source_refuse_missing(struct source *source, const char *path);

/* Fails because TEXT at PATH was given at FIRST already. */
void source_refuse_twice(struct source *source, const char *path, const char *text,
			 const char *first);

#endif
