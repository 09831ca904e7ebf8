/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads YAML into a tree, adds defaults, and writes YAML. */
#include "config/settings.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields.h"
#include "config/yamltree.h"

#define PATH_CAP YAMLTREE_PATH_CAP

/* Joins "zones[0]" and "file" to "zones[0].file". A path of an accepted text always fits. */
static void join_settings(char out[PATH_CAP], const char *path, const char *leaf)
{
	if (snprintf(out, PATH_CAP, "%s%s%s", path, *path ? "." : "", leaf) >= PATH_CAP)
		*out = '\0';
}

/* --- Reading ---------------------------------------------------------------------------------- */

static json_t *make_settings_map(const struct yamltree *map, const struct words_level *level,
				 const uint8_t *hash_key);

static json_t *make_settings_text(const struct yamltree *node, const struct words_key *key,
				  const uint8_t *hash_key)
{
	if (!key->is_secret)
		return json_string(node->text);
	if (!hash_key)
		return json_string(SETTINGS_SECRET);
	return json_sprintf(SETTINGS_SECRET "%016" PRIx64,
			    siphash24(hash_key, node->text, strlen(node->text)));
}

static json_t *make_settings_list(const struct yamltree *list, const struct words_key *key,
				  const struct words_level *below, const uint8_t *hash_key)
{
	json_t *array = json_array();

	for (const struct yamltree *item = list->first; item && array; item = item->next) {
		json_t *value = item->shape == YAMLTREE_MAP ?
					make_settings_map(item, below, hash_key) :
					make_settings_text(item, key, hash_key);

		if (json_array_append_new(array, value)) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static json_t *make_settings_value(const struct yamltree *node, const struct words_level *level,
				   const struct words_child *child, const uint8_t *hash_key)
{
	struct words_level below;

	if (node->shape == YAMLTREE_SCALAR)
		return make_settings_text(node, child->key, hash_key);
	if (child->key->type == WORDS_MAP || child->key->type == WORDS_MAPS)
		words_level_below(&below, level, child);
	return node->shape == YAMLTREE_MAP ? make_settings_map(node, &below, hash_key) :
					     make_settings_list(node, child->key, &below, hash_key);
}

static json_t *make_settings_map(const struct yamltree *map, const struct words_level *level,
				 const uint8_t *hash_key)
{
	json_t *object = json_object();

	for (const struct yamltree *node = map->first; node && object; node = node->next) {
		const struct words_child *child = words_level_find(level, node->name);

		assert(child);
		if (json_object_set_new(object, node->name,
					make_settings_value(node, level, child, hash_key))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

int settings_read(json_t **out, const char *text, size_t len, const uint8_t key[SIPHASH_KEY_BYTES])
{
	struct yamltree_error error;
	struct words_level level;
	struct yamltree *top;
	int err = yamltree_read(&top, text, len, 0, &error);

	*out = NULL;
	words_level_top(&level);
	if (!err && top && top->shape != YAMLTREE_MAP)
		err = -EINVAL;
	if (!err)
		*out = top ? make_settings_map(top, &level, key) : json_object();
	yamltree_free(top);
	return err || *out ? err : -ENOMEM;
}

size_t settings_n_items(const json_t *tree)
{
	const char *key;
	json_t *value;
	size_t n = 0;

	json_object_foreach((json_t *)tree, key, value)
		if (json_array_size(value) > n)
			n = json_array_size(value);
	return n;
}

/* --- Defaults --------------------------------------------------------------------------------- */

struct filling {
	json_t *origins;
	json_t *templates; /* by name, before anything was added */
	bool failed;
};

static void note_settings_origin(struct filling *f, const char *path, const json_t *template)
{
	const char *name = json_string_value(json_object_get(template, "name"));
	json_t *origin = name ? json_sprintf("template %s", name) : json_string("default");

	f->failed |= json_object_set_new(f->origins, path, origin) != 0;
}

/* The value of a missing key, from the template or by default; NULL: none. A new reference. */
static json_t *make_absent(struct filling *f, const struct words_child *child, const char *path,
			   const json_t *template)
{
	const char *fallback = child->key->fallback;
	const json_t *said =
		strcmp(child->leaf, "name") != 0 ? json_object_get(template, child->leaf) : NULL;

	if (child->key->type == WORDS_MAP)
		return json_object();
	if (!said && !fallback)
		return NULL;
	note_settings_origin(f, path, said ? template : NULL);
	if (said)
		return json_deep_copy(said);
	return strcmp(fallback, "[]") != 0 ? json_string(fallback) : json_array();
}

static void fill_level(struct filling *f, json_t *object, const struct words_level *level,
		       const char *path, const json_t *template);

/* As reader_check_zones() chooses it. NULL: none. */
static const json_t *template_of(const struct filling *f, const json_t *zone)
{
	const char *name = json_string_value(json_object_get(zone, "template"));

	return json_object_get(f->templates, name ? name : "default");
}

static void fill_below(struct filling *f, json_t *value, const struct words_level *above,
		       const struct words_child *child, const char *path)
{
	struct words_level level;
	char at[PATH_CAP];
	json_t *item;
	size_t i;

	words_level_below(&level, above, child);
	if (child->key->type == WORDS_MAP) {
		fill_level(f, value, &level, path, NULL);
		return;
	}
	json_array_foreach(value, i, item) {
		snprintf(at, sizeof(at), "%.*s[%zu]", PATH_CAP - 32, path, i);
		fill_level(f, item, &level, at,
			   strcmp(child->key->path, "zones") ? NULL : template_of(f, item));
	}
}

/* Builds the object anew, in the order of the table. */
static void fill_level(struct filling *f, json_t *object, const struct words_level *level,
		       const char *path, const json_t *template)
{
	json_t *filled = json_object();

	for (unsigned int i = 0; i < level->n && filled; i++) {
		const struct words_child *child = &level->children[i];
		json_t *value = json_incref(json_object_get(object, child->leaf));
		char at[PATH_CAP];

		join_settings(at, path, child->leaf);
		if (!value)
			value = make_absent(f, child, at, template);
		if (!value)
			continue;
		if (child->key->type == WORDS_MAP || child->key->type == WORDS_MAPS)
			fill_below(f, value, level, child, at);
		if (json_is_object(value) && !json_object_size(value))
			json_decref(value);
		else
			f->failed |= json_object_set_new(filled, child->leaf, value) != 0;
	}
	f->failed |= !filled || json_object_clear(object) || json_object_update(object, filled);
	json_decref(filled);
}

static json_t *index_templates(const json_t *tree)
{
	json_t *templates = json_object(), *item;
	size_t i;

	json_array_foreach(json_object_get(tree, "templates"), i, item) {
		const char *name = json_string_value(json_object_get(item, "name"));

		if (name)
			json_object_set_new(templates, name, json_deep_copy(item));
	}
	return templates;
}

int settings_fill(json_t *tree, json_t **origins)
{
	struct filling f = { .origins = json_object(), .templates = index_templates(tree) };
	struct words_level top;

	f.failed = !f.origins || !f.templates;
	words_level_top(&top);
	if (!f.failed)
		fill_level(&f, tree, &top, "", NULL);
	json_decref(f.templates);
	*origins = f.origins;
	if (!f.failed)
		return 0;
	json_decref(*origins);
	*origins = NULL;
	return -ENOMEM;
}

/* --- YAML ------------------------------------------------------------------------------------- */

/* True if each reader of YAML reads the text as the same without quotes. */
static bool is_settings_plain(const char *text)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				   "._/@:+-";
	size_t len = strlen(text);

	if (!strcmp(text, SETTINGS_SECRET))
		return true;
	return len && !text[strspn(text, safe)] && !strchr("@:+-", *text) && text[len - 1] != ':' &&
	       strcmp(text, "null") != 0;
}

static void put_scalar(FILE *out, const json_t *value)
{
	const char *text = json_string_value(value);

	if (text && is_settings_plain(text))
		fputs(text, out);
	else
		json_dumpf(value, out, JSON_ENCODE_ANY);
}

static void put_settings_object(FILE *out, const json_t *object, int indent, bool is_item,
				const char *path, const json_t *origins);

static void put_items(FILE *out, const json_t *array, int indent, const char *path,
		      const json_t *origins)
{
	char at[PATH_CAP];
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)array, i, item) {
		fprintf(out, "%*s- ", indent, "");
		snprintf(at, sizeof(at), "%.*s[%zu]", PATH_CAP - 32, path, i);
		if (json_is_object(item) && json_object_size(item)) {
			put_settings_object(out, item, indent + 2, true, at, origins);
			continue;
		}
		put_scalar(out, item);
		fputc('\n', out);
	}
}

static void put_settings_object(FILE *out, const json_t *object, int indent, bool is_item,
				const char *path, const json_t *origins)
{
	char at[PATH_CAP];
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) {
		bool has_more = json_object_size(value) || json_array_size(value);
		const char *origin;

		join_settings(at, path, key);
		origin = json_string_value(json_object_get(origins, at));
		fprintf(out, "%*s%s:", is_item ? 0 : indent, "", key);
		is_item = false;
		if (!has_more) {
			fputc(' ', out);
			put_scalar(out, value);
		}
		fprintf(out, "%s%s\n", origin ? " # " : "", origin ? origin : "");
		if (json_is_array(value))
			put_items(out, value, indent + 2, at, origins);
		else if (has_more)
			put_settings_object(out, value, indent + 2, false, at, origins);
	}
}

void settings_put_yaml(FILE *out, const json_t *tree, const json_t *origins)
{
	put_settings_object(out, tree, 0, false, "", origins);
}
