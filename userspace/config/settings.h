/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A configuration for operators to read: its YAML as a tree of JSON, completed by the defaults of
 * the table of keys (config/words.h), written as YAML again, and compared with another one.
 *
 *	text ─► settings_read() ─► tree ─► settings_fill()    every key, with the place it is from
 *	                             │  └► settings_put_yaml() as a file that volleyd would read
 *	                             └───► settings_compare()  key by key
 *
 * All values are strings, as written in the file. No function here knows a single key, so a new row
 * of the table needs no change. Only for text that config_load() has accepted. Pure; any thread.
 */
#ifndef VOLLEY_CONFIG_SETTINGS_H
#define VOLLEY_CONFIG_SETTINGS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/siphash.h"

/* Replaces the value of a secret key (words_key.is_secret). */
#define SETTINGS_SECRET "(secret)"

/*
 * The tree of LEN octets of YAML: objects, arrays, strings; *OUT is a new reference. Each secret is
 * SETTINGS_SECRET; with a KEY, followed by a hash under KEY: only for settings_compare(), which
 * does not show the hash. 0, -ENOMEM, or -EINVAL for text that is no configuration.
 */
int settings_read(json_t **out, const char *text, size_t len, const uint8_t key[SIPHASH_KEY_BYTES])
	__attribute__((warn_unused_result));

/*
 * Adds missing keys to TREE: a zone gets the keys of its template, then defaults are added. The
 * keys of each level are then in the order of the man page. *ORIGINS is a new object of the added
 * keys: "zones[0].ixfr" is "default" or "template NAME". 0 or -ENOMEM.
 */
int settings_fill(json_t *tree, json_t **origins) __attribute__((warn_unused_result));

/* The length of the longest list at TREE's top level. */
size_t settings_n_items(const json_t *tree);

/* Writes TREE as YAML, with the origin of each added key in a comment; ORIGINS may be NULL. */
void settings_put_yaml(FILE *out, const json_t *tree, const json_t *origins);

enum settings_which { SETTINGS_BY_RELOAD, SETTINGS_BY_START };

/*
 * Appends the differences between two trees, whose hashes have the same key, to CHANGES: either of
 * the keys that a reload puts in place, or of the keys that need a start. An item is
 *
 *	{key: "zones[example.com.].file", change: "changed|added|removed|order", was, becomes,
 *	needs_start}
 *
 * Items of lists are named by the first key that the table has below the list, not by their place.
 * A default that is written out is no change; nor is a number in another unit. 0 or -ENOMEM.
 */
int settings_compare(json_t *changes, const json_t *before, const json_t *after,
		     enum settings_which which) __attribute__((warn_unused_result));

/*
 * The table of keys as a JSON schema (draft 2020-12). With it an editor completes volley.yaml and
 * marks mistakes in it.
 *
 * The schema accepts each file that volleyd accepts, also as one of several files: so no key of the
 * top level is required. It checks single keys only. volleyd --check also finds keys that do not
 * fit together, and numbers with a unit ("7M") that are out of bounds. Values may be YAML's numbers
 * and booleans, or texts.
 */

/* A new reference; NULL: no memory. Pure; any thread. */
json_t *schema_make(void);

#endif
