/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configurations of several files: `include` at the top level of one names others.
 *
 *	volley.yaml ──► tree ◄── conf.d/a.yaml     maps and lists are joined, a value that is there
 *	                 │   ◄── conf.d/b.yaml     twice is refused
 *	                 ▼
 *	             one tree, in which each node knows the file and the line that it is from
 *
 * The text of the document becomes that of the whole tree. A configuration without include stays
 * as it is.
 */
#ifndef VOLLEY_CONFIG_INCLUDE_H
#define VOLLEY_CONFIG_INCLUDE_H

struct document;

#define INCLUDE_DEPTH_MAX 8     /* files above the one that is included */
#define INCLUDE_FILES_MAX 10000 /* in all */

/*
 * Behind document_read(), which has read the first file: joins the trees of all files. Patterns
 * start at the folder of the file that has them, of the first one at that of .base, and their files
 * come in the order of their names.
 */
void include_run(struct document *document);

#endif
