/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A configuration as people read it back: the text of its YAML as a tree of JSON, with the defaults
 * of the table of keys (config/words.h), as YAML again, and two of them compared.
 *
 *	text ─► settings_read() ─► tree ─► settings_fill()    every key, with the place it is from
 *	                             │  └► settings_put_yaml() as a file that volleyd would read
 *	                             └───► settings_compare()  key by key
 *
 * All values are strings, as they are written. Nothing here knows a key: a new row of the table
 * needs nothing more. Text that config_load() has taken only. Pure; any thread.
 */
#ifndef VOLLEY_CONFIG_SETTINGS_H
#define VOLLEY_CONFIG_SETTINGS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/siphash.h"

/* What stands for the value of a key that is secret (words_key.is_secret). */
#define SETTINGS_SECRET "(secret)"

/*
 * The tree of LEN octets of YAML: objects, arrays, strings; *OUT is a new reference. Each secret is
 * SETTINGS_SECRET or, where there is a KEY, that with a hash under KEY behind it: for
 * settings_compare() alone, which does not give the hash away. 0, -ENOMEM, or -EINVAL for text that
 * is no configuration.
 */
int settings_read(json_t **out, const char *text, size_t len, const uint8_t key[SIPHASH_KEY_BYTES])
	__attribute__((warn_unused_result));

/*
 * Puts each key that has a default, and is not there, into TREE; zones get what their template says
 * first. The keys of each level are then in the order of the man page. *ORIGINS is a new object:
 * "zones[0].ixfr" is "default" or "template NAME"; what the file says itself is not in it. 0 or
 * -ENOMEM.
 */
int settings_fill(json_t *tree, json_t **origins) __attribute__((warn_unused_result));

/* How many items the longest list of TREE's top level has. */
size_t settings_n_items(const json_t *tree);

/* Writes TREE as YAML, with the origin of a key in a comment behind it; ORIGINS may be NULL. */
void settings_put_yaml(FILE *out, const json_t *tree, const json_t *origins);

enum settings_which { SETTINGS_BY_RELOAD, SETTINGS_BY_START };

/*
 * Appends what differs between two trees with hashes of the same key to CHANGES: of the keys that a
 * reload puts in place, or of those that need a start. An item is
 *
 *	{key: "zones[example.com.].file", change: "changed|added|removed|order", was, becomes,
 *	needs_start}
 *
 * Items of lists are named by the first key that the table has below the list, not by their place.
 * A default that is written out, and a number in another unit, are no change. 0 or -ENOMEM.
 */
int settings_compare(json_t *changes, const json_t *before, const json_t *after,
		     enum settings_which which) __attribute__((warn_unused_result));

#endif
