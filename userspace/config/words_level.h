/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the table that may stand in one map, in the order of the man page. */
#ifndef VOLLEY_CONFIG_WORDS_LEVEL_H
#define VOLLEY_CONFIG_WORDS_LEVEL_H

#include "config/words.h"

#define WORDS_LEVEL_CAP 96
#define WORDS_PATH_CAP  64 /* of a key of the table */

struct words_level {
	char path[WORDS_PATH_CAP]; /* "", "server", "zones[]", "templates[]" */
	unsigned int n;
	struct words_child {
		const struct words_key *key;
		const char *leaf; /* "file" */
	} children[WORDS_LEVEL_CAP];
};

/* Fills LEVEL with the keys of the top of a configuration. */
void words_level_top(struct words_level *level);

/* The same with the keys below CHILD of ABOVE, a map or maps. A template has the keys of a zone. */
void words_level_below(struct words_level *level, const struct words_level *above,
		       const struct words_child *child);

/* The same with the keys below the key LEAF of the top: "zones", "recursion". */
void words_level_of(struct words_level *level, const char *leaf);

/* The child of that name; NULL: no key of the table. Valid as long as LEVEL. */
const struct words_child *words_level_find(const struct words_level *level, const char *leaf);

#endif
