/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain items of YAML lists, found and split without a YAML parser: a large configuration is a list
 * of a million zones, and nearly all of them are written so:
 *
 *	zones:
 *	  - name: example.com            a run: items of the same indentation, one after the other
 *	    file: zones/example.com
 *	  - name: "example.net"
 *	    primaries: [a, b]            values: words, texts in quotes, lists of these in one line
 *	  # a comment
 *	  - name: example.org
 *
 * A line that is not exactly of these forms belongs to no run: no tab, no escape, no anchor, no
 * octet outside of printable ASCII. Whether a run stands where YAML sees items of a list is not
 * known here: yamltree_read() puts one item in its place, and asks the parser. Pure; any thread.
 */
#ifndef VOLLEY_CONFIG_YAMLITEMS_H
#define VOLLEY_CONFIG_YAMLITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YAMLITEMS_INDENT_MAX 32u
#define YAMLITEMS_KEYS_MAX   48u /* of an item */
#define YAMLITEMS_NAME_MAX   63u /* octets of a key */

/* Whole items. */
struct yamlitems_run {
	size_t at, end;  /* octets of the text */
	size_t line;     /* the first one, from 1 */
	size_t n_lines;  /* with empty lines and comments between and after items */
	unsigned indent; /* of the "-" of each item */
};

struct yamlitems {
	struct yamlitems_run *runs; /* in the order of the text */
	size_t n, cap;
};

/* A key and its value. */
struct yamlitems_pair {
	const char *name;
	size_t n_name;
	const char *value; /* without quotes; of a list: between the brackets */
	size_t n_value;
	bool is_list;
	bool is_first; /* of its item */
};

/* Fills *ITEMS; yamlitems_fini() frees it, also after an error. 0 or -ENOMEM. */
int yamlitems_find(struct yamlitems *items, const char *text, size_t len)
	__attribute__((warn_unused_result));
void yamlitems_fini(struct yamlitems *items);

/* The next pair of a run, whose rest is from *AT to END; *LINE counts its lines. False: no more. */
bool yamlitems_next(const char **at, const char *end, size_t *line, struct yamlitems_pair *pair);

/* The next value in a pair that is a list, from *AT to END. False: no more. */
bool yamlitems_next_value(const char **at, const char *end, const char **value, size_t *n);

#endif
