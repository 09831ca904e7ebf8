/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "abuse/block_lists.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "abuse/block_records.h"

#define CAP_FIRST 4096u

/* Moves the blocks to a table of twice the size. */
static int grow_block_list(struct block_lists *l)
{
	uint32_t cap = l->memory->table.cap;
	struct block_memory *larger;
	int err;

	if (cap > BLOCK_TABLE_MAX / 2)
		return -E2BIG;
	err = block_memory_new(&larger, 2 * cap, l->is_map, l->secrets, l->met);
	if (err)
		return err;
	err = block_memory_copy(larger, l->memory);
	if (err) {
		block_memory_free(larger);
		return err;
	}
	block_memory_free(l->memory);
	l->memory = larger;
	return 0;
}

static int put_block_list(struct block_lists *l, const struct volley_block_key *key,
			  uint32_t number)
{
	const uint32_t action = l->lists[number].action;
	int err;

	if (block_table_get(&l->memory->table, key))
		return 0;
	for (;;) {
		err = block_table_set(&l->memory->table, key,
				      volley_block_rule(VOLLEY_NEVER, key->kind_bits, action,
							number + 1));
		if (err != -ENOSPC)
			return err;
		err = grow_block_list(l);
		if (err)
			return err;
	}
}

/* Removes white space around the line, and the comment after #. */
static char *trim_block_list(char *line)
{
	char *end;

	line[strcspn(line, "#\r\n")] = 0;
	line += strspn(line, " \t");
	end = line + strlen(line);
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = 0;
	return line;
}

static bool is_block_list_over(const struct block_lists *l)
{
	return l->is_cancelled && __atomic_load_n(l->is_cancelled, __ATOMIC_RELAXED);
}

static int read_block_list_lines(struct block_lists *l, uint32_t number, FILE *f)
{
	struct block_list *list = &l->lists[number];
	struct volley_block_key key;
	char *line = NULL, *word;
	size_t cap = 0;
	int err = 0;

	while (!err && getline(&line, &cap, f) > 0) {
		word = trim_block_list(line);
		if (!*word)
			continue;
		if (block_words_read(word, l->secrets, &key, NULL)) {
			list->n_wrong++;
			continue;
		}
		list->n++;
		err = is_block_list_over(l) ? -ECANCELED : put_block_list(l, &key, number);
	}
	free(line);
	return err;
}

static void tell_block_list(struct block_lists *l, const char *file, int code)
{
	if (!*l->error)
		snprintf(l->error, sizeof(l->error), "%s: %s", file, err_text(code));
}

static int read_block_list_file(struct block_lists *l, uint32_t number)
{
	struct block_list *list = &l->lists[number];
	FILE *f;
	int err = regular_fopen(&f, list->file, NULL);

	if (err) {
		tell_block_list(l, list->file, err);
		return 0;
	}
	err = read_block_list_lines(l, number, f);
	if (!err && ferror(f))
		tell_block_list(l, list->file, -EIO);
	fclose(f);
	return err;
}

int block_lists_read(struct block_lists *l)
{
	int err = block_memory_new(&l->memory, CAP_FIRST, l->is_map, l->secrets, l->met);

	for (uint32_t i = 0; i < l->n && !err; i++)
		err = read_block_list_file(l, i);
	while (!err && l->memory->table.cap - l->memory->table.n < l->spare)
		err = grow_block_list(l);
	if (err) {
		block_memory_free(l->memory);
		l->memory = NULL;
	}
	return err;
}
