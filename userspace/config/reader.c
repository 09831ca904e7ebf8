/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the rows of the table, level by level; reader_fields.c reads single values. */
#include "config/reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "config/fields.h"
#include "config/value.h"

/* --- Functions for checks --------------------------------------------------------------------- */

/* FNV-1a is enough: a collision helps no attacker. */
static uint64_t digest(uint64_t before, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < n; i++)
		before = (before ^ at[i]) * 0x100000001b3;
	return (before ^ n) * 0x100000001b3;
}

/* Includes the key. Items of a list differ by their order. */
void reader_note(struct reader *reader, const struct words_key *key, const void *bytes, size_t n)
{
	uint64_t *at = &reader->config->start_digests[words_key_number(key)];

	if (key->needs_start && !reader->document.failed)
		*at = digest(digest(*at, key->path, strlen(key->path)), bytes, n);
}

const struct yamltree *reader_find(const struct reader *reader, const char *path)
{
	const struct yamltree *node;
	int is_there;

	node = yamltree_find(reader->document.top, path, &is_there);
	return is_there ? node : NULL;
}

uint64_t reader_number(struct reader *reader, const char *path)
{
	const struct words_key *key = words_find_key(path);
	const struct yamltree *node = reader_find(reader, path);
	const char *text = node ? node->text : key->fallback;
	uint64_t value = 0;

	if (!text || reader->document.failed)
		return 0;
	if (value_read_number(key, text, &value))
		document_refuse(&reader->document, node, text);
	reader_note(reader, key, &value, sizeof(value));
	return value;
}

void *reader_memory(struct reader *reader, size_t n, size_t size)
{
	void *memory = n && !reader->document.failed ? calloc(n, size) : NULL;

	if (n && !memory)
		document_fail_memory(&reader->document);
	return memory;
}

char *reader_copy(struct reader *reader, const char *text)
{
	char *copy = reader->document.failed ? NULL : strdup(text);

	if (!copy)
		document_fail_memory(&reader->document);
	return copy;
}

char *reader_path(struct reader *reader, const char *text)
{
	const char *base = reader->document.base, *slash = strrchr(base, '/');
	int folder = slash && *text != '/' ? (int)(slash - base) + 1 : 0;
	char *out = NULL;

	if (reader->document.failed)
		return NULL;
	if (asprintf(&out, "%.*s%s", folder, base, text) >= 0)
		return out;
	document_fail_memory(&reader->document);
	return NULL;
}

/* Reads a file, unless all users can read or write it, and cuts white space at its end. */
static int read_private(const char *file, char *text, size_t cap)
{
	struct stat st;
	ssize_t n = 0;
	int fd = regular_open(file, &st), err = 0;

	if (fd < 0)
		return fd;
	if (st.st_mode & (S_IROTH | S_IWOTH))
		err = -EPERM;
	else if ((n = read(fd, text, cap - 1)) < 0)
		err = -errno;
	close(fd);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	text[n > 0 ? n : 0] = '\0';
	return err;
}

bool reader_private(struct reader *reader, const struct yamltree *node, const char *file,
		    char *text, size_t cap)
{
	int err = read_private(file, text, cap);

	if (err == -EPERM)
		document_fail(&reader->document, node, "",
			      "everyone can read or write %s: chmod o-rw it, and make a new secret",
			      file);
	else if (err)
		document_fail(&reader->document, node, "", "%s cannot be read: %s", file,
			      err_text(err));
	else
		document_note_read(&reader->document, file);
	return !err;
}

/* --- The table -------------------------------------------------------------------------------- */

static void fill_map(struct reader *reader, const struct words_level *level,
		     const struct yamltree *map, void *object);

/* The text of a unique key in one item. */
struct named {
	const char *text;
	const struct yamltree *node;
	uint32_t at; /* the item's place in the list */
};

static int compare_named(const void *a, const void *b)
{
	const struct named *left = a, *right = b;
	int order = strcmp(left->text, right->text);

	return order ? order : (left->at > right->at) - (left->at < right->at);
}

/* Refuses a repeated text; if there are several, the one that is repeated first in the list. */
static void check_unique(struct reader *reader, const struct words_child *child,
			 const struct yamltree *list, const struct words_key *items, char *array)
{
	struct named *all = reader_memory(reader, list->n, sizeof(*all));
	const struct yamltree *item = list->first;
	const struct named *first = NULL, *second = NULL;

	for (uint32_t i = 0; all && i < list->n; i++, item = item->next) {
		void *field = fields_at(child->key, array + (size_t)i * items->n_bytes);

		all[i] = (struct named){ child->key->field == WORDS_FIELD_NAME ? field :
										 *(char **)field,
					 yamltree_child(item, child->leaf), i };
	}
	if (all)
		qsort(all, list->n, sizeof(*all), compare_named);
	for (uint32_t i = 1; all && i < list->n; i++)
		if (!strcmp(all[i - 1].text, all[i].text) && (!second || all[i].at < second->at)) {
			first = &all[i - 1];
			second = &all[i];
		}
	if (second)
		document_refuse_twice(&reader->document, second->node, "", second->text,
				      first->node);
	free(all);
}

/* One struct for each item of the list. */
static void fill_structs(struct reader *reader, const struct words_level *level,
			 const struct words_child *child, const struct yamltree *list, void *object)
{
	const struct words_key *key = child->key;
	const struct yamltree *item = list->first;
	struct words_level below;
	char *array;

	if (key->max && list->n > key->max)
		document_fail(&reader->document, list, "", "has %u items, give at most %u", list->n,
			      (unsigned int)key->max);
	array = reader_memory(reader, list->n, key->n_bytes);
	if (!array)
		return;
	*(void **)fields_at(key, object) = array;
	fields_set_n(key, object, list->n);
	words_level_below(&below, level, child);
	for (uint32_t i = 0; item && !reader->document.failed; i++, item = item->next)
		fill_map(reader, &below, item, array + (size_t)i * key->n_bytes);
	for (unsigned int i = 0; i < below.n && !reader->document.failed; i++)
		if (below.children[i].key->is_unique)
			check_unique(reader, &below.children[i], list, key, array);
}

/* A missing key of an item is reported at the item, any other by its whole path. */
static void refuse_missing(struct reader *reader, const struct words_child *child,
			   const struct yamltree *map)
{
	bool is_of_item = strstr(child->key->path, "[]") != NULL;

	document_refuse_missing(&reader->document, is_of_item ? map : NULL,
				is_of_item ? child->leaf : child->key->path, child->key);
}

static void fill_child(struct reader *reader, const struct words_level *level,
		       const struct words_child *child, const struct yamltree *map, void *object)
{
	const struct yamltree *node = yamltree_child(map, child->leaf);
	const struct words_key *key = child->key;
	struct words_level below;

	if (key->is_required && (!node || (node->shape == YAMLTREE_LIST && !node->n))) {
		refuse_missing(reader, child, map);
	} else if (key->type == WORDS_MAP) {
		words_level_below(&below, level, child);
		fill_map(reader, &below, node, fields_at(key, object));
	} else if (key->if_empty && node && !node->n) {
		document_fail(&reader->document, node, "", "%s", key->if_empty);
	} else if (key->type != WORDS_MAPS) {
		reader_fill_field(reader, key, node, object);
	} else if (node) {
		fill_structs(reader, level, child, node, object);
	}
}

/* MAP is NULL if it is not written: then all keys of the level have their defaults. */
static void fill_map(struct reader *reader, const struct words_level *level,
		     const struct yamltree *map, void *object)
{
	for (unsigned int i = 0; i < level->n && !reader->document.failed; i++)
		fill_child(reader, level, &level->children[i], map, object);
}

void reader_fill(struct reader *reader)
{
	struct words_level level;

	words_level_top(&level);
	fill_map(reader, &level, reader->document.top, reader->config);
}
