/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares two configurations, level by level of the table of keys. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "config/settings.h"
#include "config/value.h"

#define PATH_CAP 512 /* with names of items in it */

struct comparison {
	json_t *changes;
	bool by_start;
	bool failed;
};

static json_t *show(const struct words_key *key, const json_t *value)
{
	return value && key->is_secret ? json_string(SETTINGS_SECRET) : json_deep_copy(value);
}

static void add_settings_compare(struct comparison *c, const struct words_key *key,
				 const char *path, const char *change, const json_t *was,
				 const json_t *becomes)
{
	json_t *o;

	if (key->needs_start != c->by_start)
		return;
	o = json_pack("{s:s, s:s}", "key", path, "change", change);
	if (o && was)
		json_object_set_new(o, "was", show(key, was));
	if (o && becomes)
		json_object_set_new(o, "becomes", show(key, becomes));
	if (o)
		json_object_set_new(o, "needs_start", json_boolean(key->needs_start));
	c->failed |= !o || json_array_append_new(c->changes, o);
}

/* --- Values ----------------------------------------------------------------------------------- */

static bool is_same_domain(const char *a, const char *b)
{
	char *x = NULL, *y = NULL;
	bool is_same = !value_read_domain(a, &x) && !value_read_domain(b, &y) && !strcmp(x, y);

	free(x);
	free(y);
	return is_same;
}

static bool is_change_same(const struct words_key *key, const char *a, const char *b)
{
	uint64_t x, y;

	if (!a || !b)
		return a == b;
	if (!strcmp(a, b))
		return true;
	if (key->type == WORDS_DOMAIN)
		return is_same_domain(a, b);
	return !key->is_secret && !value_read_number(key, a, &x) &&
	       !value_read_number(key, b, &y) && x == y;
}

static void compare_scalars(struct comparison *c, const struct words_key *key, const char *path,
			    const json_t *before, const json_t *after)
{
	const char *a = json_string_value(before), *b = json_string_value(after);
	json_t *fallback = key->fallback ? json_string(key->fallback) : NULL;

	if (!is_change_same(key, a ? a : key->fallback, b ? b : key->fallback))
		add_settings_compare(c, key, path, "changed", before ? before : fallback,
				     after ? after : fallback);
	json_decref(fallback);
}

/* Counts equal texts: {text: n}. */
static json_t *count_texts(const json_t *array)
{
	json_t *counts = json_object(), *item;
	size_t i;

	json_array_foreach((json_t *)array, i, item) {
		const char *text = json_string_value(item);
		json_int_t n = text ? json_integer_value(json_object_get(counts, text)) : 0;

		if (text)
			json_object_set_new(counts, text, json_integer(n + 1));
	}
	return counts;
}

/* Adds the items of ARRAY that are not in COUNTS. */
static unsigned int add_missing(struct comparison *c, const struct words_key *key, const char *path,
				const json_t *array, json_t *counts, bool is_added)
{
	unsigned int n_missing = 0;
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)array, i, item) {
		const char *text = json_string_value(item);
		json_int_t n = text ? json_integer_value(json_object_get(counts, text)) : 1;

		if (n) {
			json_object_set_new(counts, text ? text : "", json_integer(n - 1));
			continue;
		}
		add_settings_compare(c, key, path, is_added ? "added" : "removed",
				     is_added ? NULL : item, is_added ? item : NULL);
		n_missing++;
	}
	return n_missing;
}

static void compare_lists(struct comparison *c, const struct words_key *key, const char *path,
			  const json_t *before, const json_t *after)
{
	json_t *old, *new;

	if (json_equal(before, after) || (!json_array_size(before) && !json_array_size(after)))
		return;
	old = count_texts(before);
	new = count_texts(after);
	c->failed |= !old || !new;
	if (add_missing(c, key, path, before, new, false) +
		    add_missing(c, key, path, after, old, true) ==
	    0)
		add_settings_compare(c, key, path, "order", before, after);
	json_decref(old);
	json_decref(new);
}

/* --- Items ------------------------------------------------------------------------------------ */

/* Names ITEM by the first key of its level. */
static void put_change_name(char *out, size_t cap, const struct words_level *level,
			    const json_t *item, const json_t *known)
{
	const char *text = json_string_value(json_object_get(item, level->children[0].leaf));
	char *domain = NULL;
	int used;

	if (text && level->children[0].key->type == WORDS_DOMAIN &&
	    value_read_domain(text, &domain))
		domain = NULL;
	used = snprintf(out, cap, "%.255s", domain ? domain : text ? text : "");
	free(domain);
	for (unsigned int n = 2; used >= 0 && json_object_get(known, out); n++)
		snprintf(out + used, cap - (size_t)used, "#%u", n);
}

/* {name: item}, in the order of the list. */
static json_t *index_items(const struct words_level *level, const json_t *array)
{
	json_t *items = json_object(), *item;
	char name[300];
	size_t i;

	json_array_foreach((json_t *)array, i, item) {
		put_change_name(name, sizeof(name), level, item, items);
		json_object_set(items, name, item);
	}
	return items;
}

static void compare_level(struct comparison *c, const struct words_level *level, const char *path,
			  const json_t *before, const json_t *after);

/* True if the common items have the same order. */
static bool has_same_order(json_t *old, json_t *new)
{
	void *at = json_object_iter(old);
	const char *name;
	json_t *item;

	json_object_foreach(new, name, item) {
		if (!json_object_get(old, name))
			continue;
		while (at && !json_object_get(new, json_object_iter_key(at)))
			at = json_object_iter_next(old, at);
		if (!at || strcmp(json_object_iter_key(at), name) != 0)
			return false;
		at = json_object_iter_next(old, at);
	}
	return true;
}

/* Cuts a path that is too long. */
static void put_item(char at[PATH_CAP], const char *path, const char *name)
{
	if (snprintf(at, PATH_CAP, "%s[%s]", path, name) >= PATH_CAP)
		at[PATH_CAP - 1] = '\0';
}

static void compare_items(struct comparison *c, const struct words_key *list,
			  const struct words_level *level, const char *path, json_t *old,
			  json_t *new)
{
	const struct words_key *key = level->children[0].key;
	const char *name;
	char at[PATH_CAP];
	json_t *item;

	json_object_foreach(old, name, item) {
		put_item(at, path, name);
		if (json_object_get(new, name))
			compare_level(c, level, at, item, json_object_get(new, name));
		else
			add_settings_compare(c, key, at, "removed", NULL, NULL);
	}
	json_object_foreach(new, name, item) {
		put_item(at, path, name);
		if (!json_object_get(old, name))
			add_settings_compare(c, key, at, "added", NULL, NULL);
	}
	if (!has_same_order(old, new))
		add_settings_compare(c, list, path, "order", NULL, NULL);
}

static void compare_below(struct comparison *c, const struct words_level *above,
			  const struct words_child *child, const char *path, const json_t *before,
			  const json_t *after)
{
	struct words_level level;
	json_t *old, *new;

	words_level_below(&level, above, child);
	if (child->key->type == WORDS_MAP) {
		compare_level(c, &level, path, before, after);
		return;
	}
	old = index_items(&level, before);
	new = index_items(&level, after);
	c->failed |= !old || !new;
	if (old && new)
		compare_items(c, child->key, &level, path, old, new);
	json_decref(old);
	json_decref(new);
}

static void compare_level(struct comparison *c, const struct words_level *level, const char *path,
			  const json_t *before, const json_t *after)
{
	for (unsigned int i = 0; i < level->n; i++) {
		const struct words_child *child = &level->children[i];
		const json_t *a = json_object_get(before, child->leaf);
		const json_t *b = json_object_get(after, child->leaf);
		char at[PATH_CAP];

		if (!a && !b)
			continue;
		snprintf(at, sizeof(at), "%s%s%s", path, *path ? "." : "", child->leaf);
		if (child->key->type == WORDS_MAP || child->key->type == WORDS_MAPS)
			compare_below(c, level, child, at, a, b);
		else if (json_is_array(a) || json_is_array(b))
			compare_lists(c, child->key, at, a, b);
		else
			compare_scalars(c, child->key, at, a, b);
	}
}

int settings_compare(json_t *changes, const json_t *before, const json_t *after,
		     enum settings_which which)
{
	struct comparison c = { .changes = changes, .by_start = which == SETTINGS_BY_START };
	struct words_level top;

	words_level_top(&top);
	compare_level(&c, &top, "", before, after);
	return c.failed ? -ENOMEM : 0;
}
