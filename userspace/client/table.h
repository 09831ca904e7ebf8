/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An array of objects as an aligned table: a column for each key, numbers to the right. */
#ifndef VOLLEY_CLIENT_TABLE_H
#define VOLLEY_CLIENT_TABLE_H

#include <jansson.h>
#include <stdio.h>

#define TABLE_COLUMNS_CAP 48 /* more keys than that are not shown */

/* Words with a space between; a key in none of them comes between first and last. */
struct table_order {
	const char *first;
	const char *last;
	const char *hidden;
};

/*
 * Writes ROWS, an array of objects with at least one, each line after INDENT spaces. A column in
 * which every row has null or nothing is left out. Returns 0 or -ENOMEM.
 */
int table_put(FILE *out, int indent, const json_t *rows, const struct table_order *order)
	__attribute__((warn_unused_result));

/* Is WORD one of LIST, words with a space between? */
int table_has_word(const char *list, const char *word);

#endif
