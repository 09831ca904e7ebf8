/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk over YAML text that tells every key with its path and its line.
 *
 * libcyaml loads values but cannot say where a value stood once it is loaded, and takes a key given
 * twice. So the configuration is walked first, on libyaml's events, to check its shape, and again
 * when a value turns out to be wrong, to find its line. Nothing is kept between walks.
 *
 *	zones:                    "zones"          "zones"          YAMLWALK_LIST    line 1
 *	  - name: example.com     "zones[0]"       "zones[]"        YAMLWALK_MAP     line 2
 *	                          "zones[0].name"  "zones[].name"   YAMLWALK_SCALAR  line 2
 */
#ifndef VOLLEY_CONFIG_YAMLWALK_H
#define VOLLEY_CONFIG_YAMLWALK_H

#include <stddef.h>

#define YAMLWALK_PATH_CAP 192 /* bytes of a path; a key that does not fit is an error */

enum yamlwalk_shape { YAMLWALK_MAP, YAMLWALK_LIST, YAMLWALK_SCALAR };

struct yamlwalk_node {
	const char *path;    /* "zones[0].name"; "" for the top */
	const char *generic; /* "zones[].name" */
	enum yamlwalk_shape shape;
	size_t line;        /* from 1; of the key, for an item of a list of its value */
	const char *scalar; /* YAMLWALK_SCALAR: its text, as long as the call lasts; else NULL */
};

/*
 * What is wrong with the text itself. PATH is "" where no key is at fault. Control characters in
 * what is quoted from the file are replaced.
 */
struct yamlwalk_error {
	size_t line; /* 0: no line */
	char path[YAMLWALK_PATH_CAP];
	char text[256];
};

/*
 * Calls VISIT for each node of the one document in TEXT, from the top down, in the order of the
 * file. A value other than 0 from VISIT ends the walk and is returned. Returns -EINVAL with
 * *ERR filled for bad syntax, a second document, a key given twice in one map, an alias, a key
 * that is not a word, or more than eight levels; -ENOMEM. An empty text has no nodes: 0.
 */
int yamlwalk(const char *text, size_t len, int (*visit)(void *, const struct yamlwalk_node *),
	     void *user, struct yamlwalk_error *err) __attribute__((warn_unused_result));

/* The line of PATH ("zones[0].name"), or of its closest parent that is there; 1 if none is. */
size_t yamlwalk_find_line(const char *text, size_t len, const char *path);

#endif
