/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of struct config, and of the items of its lists, as the rows of the table describe
 * them (words_key.field): freed, copied, counted. No function here knows a key.
 */
#ifndef VOLLEY_CONFIG_FIELDS_H
#define VOLLEY_CONFIG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/words_level.h"

/* Where the value of KEY is in OBJECT. */
void *fields_at(const struct words_key *key, void *object);

/* Octets of the field, or of an element of the array. Two lengths of prefixes are two fields. */
size_t fields_n_bytes(const struct words_key *key);

/* Sets how many elements the array of KEY has. Without a field for that it does nothing. */
void fields_set_n(const struct words_key *key, void *object, uint32_t n);

/* Frees what the field of KEY holds, of LEVEL in OBJECT, and makes it zeros. Secrets are wiped. */
void fields_free_one(const struct words_level *level, const struct words_child *child,
		     void *object);

/* The same of all keys of LEVEL, and of those below it. */
void fields_free(const struct words_level *level, void *object);

/*
 * Makes the field of CHILD in TO a deep copy of that in FROM. What TO has there is lost, not freed.
 * False: no memory; what is in TO may be freed then.
 */
bool fields_copy_one(const struct words_level *level, const struct words_child *child, void *to,
		     void *from) __attribute__((warn_unused_result));

/* Frees a list of texts, NULL behind the last. NULL is allowed. */
void fields_free_texts(char **texts);

#endif
