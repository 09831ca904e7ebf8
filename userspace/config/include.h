/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configurations of several files: `include` at the top level of one names others.
 *
 *	volley.yaml ──► tree ◄── conf.d/a.yaml     maps and lists are joined, a value that is there twice is refused
 *	                 │   ◄── conf.d/b.yaml
 *	                 ▼
 *	            one YAML text, a node in each line, and for each line the file and the line that it is from
 *
 * What reads a configuration sees that text and nothing of the files; source_fail() names the file and line that somebody has
 * written. A configuration without include stays as it is.
 */
#ifndef VOLLEY_CONFIG_INCLUDE_H
#define VOLLEY_CONFIG_INCLUDE_H

#include "config/source.h"

#define INCLUDE_DEPTH_MAX 8     /* files above the one that is included */
#define INCLUDE_FILES_MAX 10000 /* in all */

/*
 * Behind source_read(): puts the text of all files in the place of the first one's, and fills .lines and .files. Patterns
 * start at the folder of the file that has them, of the first one at that of .base, and their files come in the order of their names.
 */
void include_run(struct source *source);

#endif
