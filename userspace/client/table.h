/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes an array of objects as a table: a column for each key, numbers to the right. */
#ifndef VOLLEY_CLIENT_TABLE_H
#define VOLLEY_CLIENT_TABLE_H

#include <jansson.h>
#include <stdio.h>

#define TABLE_COLUMNS_CAP 48 /* further keys are not shown */

/* Lists of keys with spaces between them. A key in no list comes between first and last. */
struct table_order {
	const char *first;
	const char *last;
	const char *hidden;
};

/*
 * Writes ROWS, an array of objects with at least one, each line after INDENT spaces. A column
 * without any value is left out. Columns beyond WIDTH characters follow in a further table, which
 * has the first column again; 0: there is no bound. Returns 0 or -ENOMEM.
 */
int table_put(FILE *out, int indent, unsigned int width, const json_t *rows,
	      const struct table_order *order) __attribute__((warn_unused_result));

/* True if WORD is in LIST, which has spaces between its words. */
int table_has_word(const char *list, const char *word);

#endif
