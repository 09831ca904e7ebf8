/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configurations of several files: `include` at the top level of a file names other files.
 *
 *	volley.yaml ──► tree ◄── conf.d/a.yaml     maps and lists are joined, a value that is there
 *	                 │   ◄── conf.d/b.yaml     twice is refused
 *	                 ▼
 *	             one tree, in which each node knows the file and the line that it is from
 *
 * The text of the document becomes the text of the whole tree. A configuration without include does
 * not change.
 */
#ifndef VOLLEY_CONFIG_INCLUDE_H
#define VOLLEY_CONFIG_INCLUDE_H

struct document;

#define INCLUDE_DEPTH_MAX 8     /* files above the included file */
#define INCLUDE_FILES_MAX 10000 /* in all */

/*
 * After document_read(), which has read the first file: joins the trees of all files. A pattern
 * starts at the folder of its file; in the first file, at the folder of .base. Its files come in
 * the order of their names.
 */
void include_run(struct document *document);

#endif
