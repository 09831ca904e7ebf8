/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three syntaxes, one tree. Each parser reads PATH and the files that it includes into an empty
 * tree. Names of included files may have the wildcards of glob(7). Each file is read at the place
 * of the line that includes it.
 *
 * A relative name is relative to the folder of the file that includes it or, if it does not exist
 * there, to the working directory. If a name without wildcards cannot be read, this is an error.
 *
 * All parsers return 0, or -EINVAL with tree->error = "FILE:LINE: sentence". The caller frees the
 * tree in both cases. The tables of the servers decide whether an option is known and its words are
 * right.
 */
#ifndef VOLLEY_IMPORT_PARSE_H
#define VOLLEY_IMPORT_PARSE_H

#include "import/tree.h"

/* nsd.conf(5), unbound.conf(5): "server:" begins a section, "port: 53" is an option in it. A line
 * may have several options. */
int import_parse_flat(struct import_tree *tree, const char *path)
	__attribute__((warn_unused_result));

/*
 * knot.conf(5): sections, items that begin with "- ", options, lists in brackets. It is not YAML: a
 * section may occur twice, and [127.0.0.1@53, ::1@53] and %s.zone need no quotes. libyaml refuses
 * this, so the parser is our own.
 */
int import_parse_knot(struct import_tree *tree, const char *path)
	__attribute__((warn_unused_result));

/* named.conf(5): statements that end with a semicolon, blocks in braces, three kinds of comments.
 * An include is also a node of its own. */
int import_parse_named(struct import_tree *tree, const char *path)
	__attribute__((warn_unused_result));

/* --- Shared by the parsers: parse_files.c ----------------------------------------------------- */

/* Parses TEXT, the content of FILE: LEN octets and a zero behind them. 0 or -EINVAL. */
typedef int import_parse_text(void *user, const char *file, const char *text, size_t len);

/* Reads PATH and calls PARSE. FILE and LINE include it; FILE is NULL for the first file. */
int import_parse_file(struct import_tree *tree, const char *path, const char *file,
		      unsigned int line, import_parse_text *parse, void *user)
	__attribute__((warn_unused_result));

/* Calls PARSE for each file that PATTERN matches. A folder means all files in it, except those
 * whose names begin with a dot. */
int import_parse_include(struct import_tree *tree, const char *pattern, const char *file,
			 unsigned int line, import_parse_text *parse, void *user)
	__attribute__((warn_unused_result));

#endif
