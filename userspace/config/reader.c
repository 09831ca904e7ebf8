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
#include "config/textset.h"
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

const struct yamltree *reader_nth(const struct yamltree *list, uint32_t n)
{
	const struct yamltree *item = list->first;

	while (n--)
		item = item->next;
	return item;
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
static void fill_child(struct reader *reader, const struct words_level *level,
		       const struct words_child *child, const struct yamltree *map,
		       const struct yamltree *node, void *object);

/* The texts of a unique key in all items. */
struct unique {
	const struct words_key *key;
	char *array;
	size_t n_bytes; /* of an item */
};

static const char *text_of_unique(const void *user, uint32_t at)
{
	const struct unique *unique = user;
	void *field = fields_at(unique->key, unique->array + at * unique->n_bytes);

	return unique->key->field == WORDS_FIELD_NAME ? field : *(char **)field;
}

/* Refuses the first text that is there before. */
static void check_unique(struct reader *reader, const struct words_child *child,
			 const struct yamltree *list, const struct words_key *items, char *array)
{
	const struct unique unique = { child->key, array, items->n_bytes };
	struct textset set;
	uint32_t first = TEXTSET_NEW, i;

	if (textset_init(&set, list->n, text_of_unique, &unique)) {
		document_fail_memory(&reader->document);
		return;
	}
	for (i = 0; i < list->n && first == TEXTSET_NEW; i++)
		first = textset_put(&set, i);
	textset_fini(&set);
	if (first == TEXTSET_NEW)
		return;
	document_refuse_twice(&reader->document,
			      yamltree_child(reader_nth(list, i - 1), child->leaf), "",
			      text_of_unique(&unique, i - 1),
			      yamltree_child(reader_nth(list, first), child->leaf));
}

/*
 * Items of lists are many, and most of them have few of their keys. So the numbers by default are
 * parsed once, and an item visits the keys that it has.
 */
struct items {
	const struct words_level *level;
	size_t n_bytes;
	char *defaults;                        /* NULL: each item visits each key */
	const struct words_child *without[16]; /* to visit in items that do not have them */
	unsigned int n_without;
};

static bool is_defaults_number(const struct words_key *key)
{
	return key->field == WORDS_FIELD_NUMBER && key->type != WORDS_MAP && !key->is_required;
}

/* Digests of keys that need a start are made of each item's value, by default or not. */
static bool note_without(struct items *items, const struct words_child *child)
{
	const struct words_key *key = child->key;

	if (key->needs_start)
		return false;
	if (!key->is_required && key->type != WORDS_MAP && !key->fallback)
		return true;
	if (items->n_without == sizeof(items->without) / sizeof(items->without[0]))
		return false;
	items->without[items->n_without++] = child;
	return true;
}

static void prepare_items(struct reader *reader, struct items *items,
			  const struct words_level *level, size_t n_bytes)
{
	bool is_possible = true;

	*items = (struct items){ .level = level, .n_bytes = n_bytes };
	items->defaults = reader_memory(reader, 1, n_bytes);
	for (unsigned int i = 0; items->defaults && is_possible && i < level->n; i++) {
		const struct words_child *child = &level->children[i];

		if (is_defaults_number(child->key) && !child->key->needs_start)
			reader_fill_field(reader, child->key, NULL, items->defaults);
		else
			is_possible = note_without(items, child);
	}
	if (is_possible)
		return;
	free(items->defaults);
	items->defaults = NULL;
}

static const struct words_child *child_of_key(const struct words_level *level,
					      const struct words_key *key)
{
	unsigned int i = 0;

	while (level->children[i].key != key)
		i++;
	return &level->children[i];
}

static void fill_item_keys(struct reader *reader, const struct items *items,
			   const struct yamltree *item, void *object)
{
	memcpy(object, items->defaults, items->n_bytes);
	for (const struct yamltree *node = item->first; node && !reader->document.failed;
	     node = node->next)
		fill_child(reader, items->level, child_of_key(items->level, node->key), item, node,
			   object);
	for (unsigned int i = 0; i < items->n_without && !reader->document.failed; i++)
		if (!yamltree_child(item, items->without[i]->leaf))
			fill_child(reader, items->level, items->without[i], item, NULL, object);
}

/* If there are faults, the first one in the order of the table is reported. */
static void fill_item(struct reader *reader, const struct items *items, const struct yamltree *item,
		      void *object)
{
	if (items->defaults) {
		fill_item_keys(reader, items, item, object);
		if (reader->document.failed != ERR_CONFIG)
			return;
		reader->document.failed = 0;
		fields_free(items->level, object);
		memset(object, 0, items->n_bytes);
	}
	fill_map(reader, items->level, item, object);
}

/* One struct for each item of the list. */
static void fill_structs(struct reader *reader, const struct words_level *level,
			 const struct words_child *child, const struct yamltree *list, void *object)
{
	const struct words_key *key = child->key;
	const struct yamltree *item = list->first;
	struct words_level below;
	struct items items;
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
	prepare_items(reader, &items, &below, key->n_bytes);
	for (uint32_t i = 0; item && !reader->document.failed; i++, item = item->next)
		fill_item(reader, &items, item, array + (size_t)i * key->n_bytes);
	free(items.defaults);
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

/* NODE is the value in MAP, or NULL. */
static void fill_child(struct reader *reader, const struct words_level *level,
		       const struct words_child *child, const struct yamltree *map,
		       const struct yamltree *node, void *object)
{
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
		fill_child(reader, level, &level->children[i], map,
			   yamltree_child(map, level->children[i].leaf), object);
}

void reader_fill(struct reader *reader)
{
	struct words_level level;

	words_level_top(&level);
	fill_map(reader, &level, reader->document.top, reader->config);
}
