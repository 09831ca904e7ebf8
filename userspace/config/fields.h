/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frees, copies and counts the fields of struct config and of the items of its lists, as the rows
 * of the table describe them (words_key.field). No function here knows a single key.
 */
#ifndef VOLLEY_CONFIG_FIELDS_H
#define VOLLEY_CONFIG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/words.h"

/* The keys of the table that may stand in one map, in the order of the man page. */

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

/* The place of KEY's value in OBJECT. */
void *fields_at(const struct words_key *key, void *object);

/* The size of the field, or of an array's element. Two lengths of prefixes are two fields. */
size_t fields_n_bytes(const struct words_key *key);

/* Sets the number of elements of KEY's array. Does nothing if no field has that number. */
void fields_set_n(const struct words_key *key, void *object, uint32_t n);

/* Frees the field of CHILD, a key of LEVEL, in OBJECT, and makes it zeros. Wipes secrets. */
void fields_free_one(const struct words_level *level, const struct words_child *child,
		     void *object);

/* The same for all keys of LEVEL, and for those below it. */
void fields_free(const struct words_level *level, void *object);

/*
 * Makes the field of CHILD in TO a deep copy of that in FROM. It does not free the earlier value in
 * TO. False: no memory; the field in TO can still be freed.
 */
bool fields_copy_one(const struct words_level *level, const struct words_child *child, void *to,
		     void *from) __attribute__((warn_unused_result));

/* Calls fn() with each text in the fields of LEVEL's keys in OBJECT, and of those below, until it
 * returns an error, which is returned. */
typedef int fields_text_fn(void *user, const struct words_key *key, const char *text);
int fields_each_text(const struct words_level *level, void *object, fields_text_fn *fn, void *user)
	__attribute__((warn_unused_result));

/* Octets that describe values: equal octets, equal values. Zeros are an empty one; the caller frees
 * @bytes. */
struct fields_octets {
	uint8_t *bytes;
	size_t n, cap;
	bool failed; /* no memory: octets are missing */
};

/* Appends the values of LEVEL's keys in OBJECT, and of those below. O(their octets). */
void fields_put(const struct words_level *level, void *object, struct fields_octets *out);
/* Appends a text or NULL, or octets, of a field that has no row. */
void fields_put_text(struct fields_octets *out, const char *text);
void fields_put_octets(struct fields_octets *out, const void *bytes, size_t n);

/* Frees a list of texts that NULL ends. NULL is allowed. */
void fields_free_texts(char **texts);

#endif
