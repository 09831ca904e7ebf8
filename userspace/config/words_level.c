/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/fields.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define TEMPLATES "templates[]"
#define ZONES     "zones[]"

/* The rest of KEY's path after PATH and a dot, if it is one word; otherwise NULL. */
static const char *find_leaf(const struct words_key *key, const char *path)
{
	size_t len = strlen(path);
	const char *leaf = key->path;

	if (len && (strncmp(leaf, path, len) != 0 || leaf[len] != '.'))
		return NULL;
	leaf += len ? len + 1 : 0;
	return strchr(leaf, '.') ? NULL : leaf;
}

/* Adds the keys directly below PATH that LEVEL does not have yet. */
static void add_level(struct words_level *level, const char *path)
{
	const struct words_key *key;
	const char *leaf;

	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		leaf = find_leaf(key, path);
		if (!leaf || words_level_find(level, leaf))
			continue;
		assert(level->n < WORDS_LEVEL_CAP);
		level->children[level->n++] = (struct words_child){ key, leaf };
	}
}

void words_level_top(struct words_level *level)
{
	level->n = 0;
	level->path[0] = '\0';
	add_level(level, "");
}

static void remove_child(struct words_level *level, const char *leaf)
{
	const struct words_child *child = words_level_find(level, leaf);
	size_t at = child ? (size_t)(child - level->children) : level->n;

	if (!child)
		return;
	level->n--;
	memmove(&level->children[at], &level->children[at + 1],
		(level->n - at) * sizeof(level->children[0]));
}

void words_level_below(struct words_level *level, const struct words_level *above,
		       const struct words_child *child)
{
	const size_t len = sizeof(TEMPLATES) - 1;
	char zone[WORDS_PATH_CAP];
	int used = snprintf(level->path, sizeof(level->path), "%s%s%s%s", above->path,
			    *above->path ? "." : "", child->leaf,
			    child->key->type == WORDS_MAPS ? "[]" : "");

	assert(used > 0 && (size_t)used < sizeof(level->path));
	level->n = 0;
	add_level(level, level->path);
	if (strncmp(level->path, TEMPLATES, len) != 0)
		return;
	snprintf(zone, sizeof(zone), ZONES "%s", level->path + len);
	add_level(level, zone);
	if (!level->path[len])
		remove_child(level, "template");
}

void words_level_of(struct words_level *level, const char *leaf)
{
	struct words_level top;

	words_level_top(&top);
	words_level_below(level, &top, words_level_find(&top, leaf));
}

const struct words_child *words_level_find(const struct words_level *level, const char *leaf)
{
	for (unsigned int i = 0; i < level->n; i++)
		if (!strcmp(level->children[i].leaf, leaf))
			return &level->children[i];
	return NULL;
}
