/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three steps: find the columns, make the text of each cell, print the lines. */
#include "client/result_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct column {
	char key[64];
	char title[64];
	size_t width;
	bool is_number; /* all values of the column are numbers */
};

struct table {
	int indent;
	unsigned int width;
	struct table_order order;
	struct column columns[TABLE_COLUMNS_CAP];
	size_t n_columns;

	/* The rows that are being written. */
	const json_t *rows;
	size_t n_rows;
	char **cells; /* n_rows * n_columns */
};

int table_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t n = strcspn(list, " ");

		if (n == len && !strncmp(list, word, n))
			return 1;
		list += n + (list[n] == ' ');
	}
	return 0;
}

static const json_t *get_value(const struct table *table, size_t row, const struct column *column)
{
	const json_t *value = json_object_get(json_array_get(table->rows, row), column->key);

	return json_is_null(value) ? NULL : value;
}

static bool has_title(const struct table *table, const char *title)
{
	for (size_t i = 0; i < table->n_columns; i++)
		if (!strcmp(table->columns[i].title, title))
			return true;
	return false;
}

static void to_upper(char *text)
{
	for (; *text; text++)
		*text = (char)toupper((unsigned char)*text);
}

/* The title is the key without its unit, unless another column has that title: rx, rx_bytes. */
static void put_title(const struct table *table, struct column *column)
{
	char name[64];

	snprintf(name, sizeof(name), "%s", column->key);
	units_put_label(name, column->title, sizeof(column->title));
	to_upper(column->title);
	if (!has_title(table, column->title))
		return;
	for (char *c = name; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	units_put_label(name, column->title, sizeof(column->title));
	to_upper(column->title);
}

static bool has_column(const struct table *table, const char *key)
{
	for (size_t i = 0; i < table->n_columns; i++)
		if (!strcmp(table->columns[i].key, key))
			return true;
	return false;
}

/* Adds the column unless the table already has it, or all of its values are missing. */
static void add_column(struct table *table, const char *key, size_t key_len)
{
	struct column column = { .is_number = true };
	bool is_used = false;

	if (key_len >= sizeof(column.key))
		return;
	memcpy(column.key, key, key_len);
	if (has_column(table, column.key))
		return;
	for (size_t row = 0; row < table->n_rows; row++) {
		const json_t *value = get_value(table, row, &column);

		is_used |= value != NULL;
		column.is_number &= !value || json_is_number(value);
	}
	if (!is_used || table->n_columns == TABLE_COLUMNS_CAP)
		return;
	put_title(table, &column);
	column.width = units_width(column.title);
	table->columns[table->n_columns++] = column;
}

static void add_words(struct table *table, const char *words)
{
	while (*words) {
		size_t len = strcspn(words, " ");

		add_column(table, words, len);
		words += len + (words[len] == ' ');
	}
}

static void find_columns(struct table *table)
{
	const struct table_order *order = &table->order;
	size_t row;
	json_t *object, *value;
	const char *key;

	add_words(table, order->first);
	json_array_foreach(table->rows, row, object)
		json_object_foreach(object, key, value)
			if (!table_has_word(order->last, key) &&
			    !table_has_word(order->hidden, key))
				add_column(table, key, strlen(key));
	add_words(table, order->last);
}

static int fill_cell(struct table *table, size_t row, size_t at)
{
	struct column *column = &table->columns[at];
	const json_t *value = get_value(table, row, column);
	char *cell = value ? units_put(column->key, value) : strdup("-");

	if (!cell)
		return -ENOMEM;
	table->cells[row * table->n_columns + at] = cell;
	if (units_width(cell) > column->width)
		column->width = units_width(cell);
	return 0;
}

static void put_padding(FILE *out, size_t width, size_t used)
{
	for (; used < width; used++)
		fputc(' ', out);
}

/* Columns that stand side by side: the first of the table, and those from FROM up to END. */
struct group {
	size_t from, end;
};

/* The last column is not padded: lines must not end in spaces. */
static void put_cell(FILE *out, const struct table *table, const struct group *group, size_t at,
		     const char *text)
{
	const struct column *column = &table->columns[at];

	if (at)
		fputs("  ", out);
	if (column->is_number)
		put_padding(out, column->width, units_width(text));
	fputs(text, out);
	if (!column->is_number && at + 1 < group->end)
		put_padding(out, column->width, units_width(text));
}

static void put_titles(FILE *out, int indent, const struct table *table, const struct group *group)
{
	fprintf(out, "%*s", indent, "");
	put_cell(out, table, group, 0, table->columns[0].title);
	for (size_t at = group->from; at < group->end; at++)
		put_cell(out, table, group, at, table->columns[at].title);
	fputc('\n', out);
}

static void put_cells(FILE *out, int indent, const struct table *table, const struct group *group)
{
	for (size_t row = 0; row < table->n_rows; row++) {
		char *const *cells = &table->cells[row * table->n_columns];

		fprintf(out, "%*s", indent, "");
		put_cell(out, table, group, 0, cells[0]);
		for (size_t at = group->from; at < group->end; at++)
			put_cell(out, table, group, at, cells[at]);
		fputc('\n', out);
	}
}

/* The end of the columns from FROM on that have room, at least one beside the first. */
static size_t find_end(const struct table *table, int indent, unsigned int width, size_t from)
{
	size_t used = (size_t)indent + table->columns[0].width, at;

	for (at = from; at < table->n_columns; at++) {
		used += 2 + table->columns[at].width;
		if (width && used > width && at > from)
			break;
	}
	return at;
}

static void put_groups(FILE *out, const struct table *table, bool has_titles)
{
	struct group group = { .end = 1 };

	do {
		group.from = group.end;
		group.end = find_end(table, table->indent, table->width, group.from);
		if (has_titles)
			put_titles(out, table->indent, table, &group);
		put_cells(out, table->indent, table, &group);
	} while (group.end < table->n_columns);
}

int table_new(struct table **out, int indent, unsigned int width, const struct table_order *order)
{
	struct table *table = calloc(1, sizeof(*table));

	*out = table;
	if (!table)
		return -ENOMEM;
	table->indent = indent;
	table->width = width;
	table->order = *order;
	return 0;
}

void table_free(struct table *table)
{
	free(table);
}

int table_put_rows(struct table *table, FILE *out, const json_t *rows)
{
	const size_t n_before = table->n_columns;
	int ret = 0;

	table->rows = rows;
	table->n_rows = json_array_size(rows);
	find_columns(table);
	if (!table->n_columns)
		return 0;
	table->cells = calloc(table->n_rows * table->n_columns, sizeof(*table->cells));
	if (!table->cells)
		return -ENOMEM;
	for (size_t row = 0; row < table->n_rows && !ret; row++)
		for (size_t at = 0; at < table->n_columns && !ret; at++)
			ret = fill_cell(table, row, at);
	if (!ret)
		put_groups(out, table, table->width || table->n_columns > n_before);
	for (size_t i = 0; i < table->n_rows * table->n_columns; i++)
		free(table->cells[i]);
	free(table->cells);
	return ret;
}

int table_put(FILE *out, int indent, unsigned int width, const json_t *rows,
	      const struct table_order *order)
{
	struct table *table;
	int ret = table_new(&table, indent, width, order);

	if (!ret)
		ret = table_put_rows(table, out, rows);
	table_free(table);
	return ret;
}
