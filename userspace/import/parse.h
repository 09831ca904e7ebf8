/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three syntaxes, one tree. Each parser reads PATH and the files that it includes (their names may
 * have the wildcards of glob(7), and each file is read at the place of the line that includes it)
 * into a tree of zeros.
 *
 * A relative name starts at the folder of the file that includes it; where nothing is there, at the
 * working directory. A name without wildcards whose file cannot be read is an error.
 *
 * All return 0 or -EINVAL, with tree->error = "FILE:LINE: sentence"; the tree is to be freed in
 * both cases. Whether an option is known, and whether its words are right, the tables of the
 * servers decide.
 */
#ifndef VOLLEY_IMPORT_PARSE_H
#define VOLLEY_IMPORT_PARSE_H

#include "import/tree.h"

/* nsd.conf(5), unbound.conf(5): "server:" begins a section, "port: 53" is an option in it. Line
 * breaks mean little. */
int import_parse_flat(struct import_tree *tree, const char *path)
	__attribute__((warn_unused_result));

/*
 * knot.conf(5): sections, items that begin with "- ", options, lists in brackets. It is no YAML: a
 * section may stand twice, and [127.0.0.1@53, ::1@53] and %s.zone need no quotes, which libyaml
 * refuses; so this reads it by itself.
 */
int import_parse_knot(struct import_tree *tree, const char *path)
	__attribute__((warn_unused_result));

/* named.conf(5): statements that end with a semicolon, blocks in braces, three kinds of comments.
 * An include stays as a node of its own. */
int import_parse_named(struct import_tree *tree, const char *path)
	__attribute__((warn_unused_result));

/* --- What the parsers share: parse_files.c ---------------------------------------------------- */

/* Reads TEXT, LEN octets with a zero behind them, of FILE. 0 or -EINVAL. */
typedef int import_parse_text(void *user, const char *file, const char *text, size_t len);

/* Calls PARSE for PATH. FILE and LINE ask for it, NULL for the first file. */
int import_parse_file(struct import_tree *tree, const char *path, const char *file,
		      unsigned int line, import_parse_text *parse, void *user)
	__attribute__((warn_unused_result));

/* Calls PARSE for each file that PATTERN names; a folder stands for all files in it whose names
 * begin with no dot. */
int import_parse_include(struct import_tree *tree, const char *pattern, const char *file,
			 unsigned int line, import_parse_text *parse, void *user)
	__attribute__((warn_unused_result));

#endif
