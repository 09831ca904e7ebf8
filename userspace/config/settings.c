/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From YAML to a tree, its defaults, and back to YAML. */
#include "config/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings_level.h"
#include "config/source.h"

#define DEPTH_CAP 10 /* more than yamlwalk() goes down */

/* --- Levels -------------------------------------------------------------------------------------- */

void settings_join(char out[YAMLWALK_PATH_CAP], const char *path, const char *leaf)
{
	size_t len = strlen(path), n = strlen(leaf);

	if (len + n + 2 > YAMLWALK_PATH_CAP)
		len = n = 0; /* no path of a text that was walked */
	memcpy(out, path, len);
	if (len)
		out[len++] = '.';
	memcpy(out + len, leaf, n);
	out[len + n] = '\0';
}

/* A template's keys are rows of zones: what words_find_key() finds under the joined path is a child. */
void settings_level_init(struct settings_level *level, const char *generic)
{
	char path[YAMLWALK_PATH_CAP];
	const struct words_key *key;

	level->n = 0;
	snprintf(level->generic, sizeof(level->generic), "%s", generic);
	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		const char *dot = strrchr(key->path, '.'), *leaf = dot ? dot + 1 : key->path;

		settings_join(path, generic, leaf);
		if (words_find_key(path) == key && level->n < SETTINGS_LEVEL_CAP)
			level->children[level->n++] = (struct settings_child){ key, leaf };
	}
}

/* --- Reading ------------------------------------------------------------------------------------- */

struct reading {
	const uint8_t *hash_key;
	json_t *open[DEPTH_CAP]; /* containers from the top down, borrowed but for the first */
	size_t len[DEPTH_CAP];   /* of their paths, each the begin of the next */
	char path[YAMLWALK_PATH_CAP];
	unsigned int depth;
};

static json_t *make_value(const struct reading *r, const struct yamlwalk_node *node)
{
	const struct words_key *key;

	if (node->shape == YAMLWALK_MAP)
		return json_object();
	if (node->shape == YAMLWALK_LIST)
		return json_array();
	key = source_find_key(node->path);
	if (!key || !key->is_secret)
		return json_string(node->scalar);
	if (!r->hash_key)
		return json_string(SETTINGS_SECRET);
	return json_sprintf(SETTINGS_SECRET "%016" PRIx64,
			    siphash24(r->hash_key, node->scalar, strlen(node->scalar)));
}

/* Goes up to the container that NODE is in. */
static void close_others(struct reading *r, const char *path)
{
	while (r->depth > 1) {
		size_t len = r->len[r->depth - 1];

		if (!strncmp(path, r->path, len) && (path[len] == '.' || path[len] == '['))
			return;
		r->path[r->len[--r->depth - 1]] = '\0';
	}
}

static int put_value(struct reading *r, const char *path, json_t *value)
{
	json_t *parent = r->open[r->depth - 1];
	const char *leaf = path + r->len[r->depth - 1];

	if (json_is_array(parent))
		return json_array_append_new(parent, value);
	return json_object_set_new(parent, leaf + (*leaf == '.'), value);
}

static int read_node(void *user, const struct yamlwalk_node *node)
{
	struct reading *r = user;
	json_t *value = make_value(r, node);

	if (!value)
		return -ENOMEM;
	if (*node->path) {
		close_others(r, node->path);
		if (put_value(r, node->path, value))
			return -ENOMEM;
	} else {
		json_decref(r->open[0]);
		r->depth = 0;
	}
	if (node->shape == YAMLWALK_SCALAR && *node->path)
		return 0;
	if (node->shape == YAMLWALK_SCALAR || r->depth == DEPTH_CAP) {
		r->open[0] = *node->path ? r->open[0] : value;
		return -EINVAL;
	}
	snprintf(r->path, sizeof(r->path), "%s", node->path);
	r->len[r->depth] = strlen(node->path);
	r->open[r->depth++] = value;
	return 0;
}

int settings_read(json_t **out, const char *text, size_t len, const uint8_t key[SIPHASH_KEY_BYTES])
{
	struct reading r = { .hash_key = key, .open = { json_object() }, .depth = 1 };
	struct yamlwalk_error error;
	int err = r.open[0] ? yamlwalk(text, len, read_node, &r, &error) : -ENOMEM;

	*out = r.open[0];
	if (!err)
		return 0;
	json_decref(*out);
	*out = NULL;
	return err;
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

/* --- Defaults ------------------------------------------------------------------------------------ */

struct filling {
	json_t *origins;
	json_t *templates; /* by name, as they were before */
	bool failed;
};

static void note_origin(struct filling *f, const char *path, const json_t *template)
{
	const char *name = json_string_value(json_object_get(template, "name"));
	json_t *origin = name ? json_sprintf("template %s", name) : json_string("default");

	f->failed |= json_object_set_new(f->origins, path, origin) != 0;
}

/* What a key that is not there has; NULL: nothing. A new reference. */
static json_t *make_absent(struct filling *f, const struct settings_child *child, const char *path,
			   const json_t *template)
{
	const char *fallback = child->key->fallback;
	const json_t *said =
		strcmp(child->leaf, "name") != 0 ? json_object_get(template, child->leaf) : NULL;

	if (child->key->type == WORDS_MAP)
		return json_object();
	if (!said && !fallback)
		return NULL;
	note_origin(f, path, said ? template : NULL);
	if (said)
		return json_deep_copy(said);
	return strcmp(fallback, "[]") != 0 ? json_string(fallback) : json_array();
}

static void fill_level(struct filling *f, json_t *object, const struct settings_level *level,
		       const char *path, const json_t *template);

static void fill_below(struct filling *f, json_t *value, enum words_type type, const char *generic,
		       const char *path)
{
	struct settings_level *level = malloc(sizeof(*level));
	char below[YAMLWALK_PATH_CAP + 32];
	json_t *item;
	size_t i;

	f->failed |= !level;
	if (!level)
		return;
	snprintf(below, sizeof(below), "%s%s", generic, type == WORDS_MAPS ? "[]" : "");
	settings_level_init(level, below);
	if (type == WORDS_MAP)
		fill_level(f, value, level, path, NULL);
	else
		json_array_foreach(value, i, item) {
			const char *name = json_string_value(json_object_get(item, "template"));
			const json_t *template = name ? json_object_get(f->templates, name) : NULL;

			snprintf(below, sizeof(below), "%s[%zu]", path, i);
			fill_level(f, item, level, below, template);
		}
	free(level);
}

/* Builds the object anew, so that its keys are in the order of the table. */
static void fill_level(struct filling *f, json_t *object, const struct settings_level *level,
		       const char *path, const json_t *template)
{
	json_t *filled = json_object();

	for (unsigned int i = 0; i < level->n && filled; i++) {
		const struct settings_child *child = &level->children[i];
		char at[YAMLWALK_PATH_CAP], generic[YAMLWALK_PATH_CAP];
		json_t *value = json_incref(json_object_get(object, child->leaf));

		settings_join(at, path, child->leaf);
		settings_join(generic, level->generic, child->leaf);
		if (!value)
			value = make_absent(f, child, at, template);
		if (!value)
			continue;
		if (child->key->type == WORDS_MAP || child->key->type == WORDS_MAPS)
			fill_below(f, value, child->key->type, generic, at);
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

	f.failed = !f.origins || !f.templates;
	if (!f.failed)
		fill_below(&f, tree, WORDS_MAP, "", "");
	json_decref(f.templates);
	*origins = f.origins;
	if (!f.failed)
		return 0;
	json_decref(*origins);
	*origins = NULL;
	return -ENOMEM;
}

/* --- YAML ---------------------------------------------------------------------------------------- */

/* Text that is the same without quotes, for any reader of YAML. */
static bool is_plain(const char *text)
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

	if (text && is_plain(text))
		fputs(text, out);
	else
		json_dumpf(value, out, JSON_ENCODE_ANY);
}

static void put_object(FILE *out, const json_t *object, int indent, bool is_item, const char *path,
		       const json_t *origins);

static void put_items(FILE *out, const json_t *array, int indent, const char *path,
		      const json_t *origins)
{
	char at[YAMLWALK_PATH_CAP + 32];
	json_t *item;
	size_t i;

	json_array_foreach((json_t *)array, i, item) {
		fprintf(out, "%*s- ", indent, "");
		snprintf(at, sizeof(at), "%s[%zu]", path, i);
		if (json_is_object(item) && json_object_size(item)) {
			put_object(out, item, indent + 2, true, at, origins);
			continue;
		}
		put_scalar(out, item);
		fputc('\n', out);
	}
}

static void put_object(FILE *out, const json_t *object, int indent, bool is_item, const char *path,
		       const json_t *origins)
{
	char at[YAMLWALK_PATH_CAP];
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) {
		bool has_more = json_object_size(value) || json_array_size(value);
		const char *origin;

		settings_join(at, path, key);
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
			put_object(out, value, indent + 2, false, at, origins);
	}
}

void settings_put_yaml(FILE *out, const json_t *tree, const json_t *origins)
{
	put_object(out, tree, 0, false, "", origins);
}
