/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/fields.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"

void *fields_at(const struct words_key *key, void *object)
{
	return (char *)object + key->at;
}

size_t fields_n_bytes(const struct words_key *key)
{
	return key->field == WORDS_FIELD_OCTETS ? 1 : key->type == WORDS_BITS ? 2 : key->n_bytes;
}

static uint32_t *count_at(const struct words_key *key, void *object)
{
	return key->n_at ? (uint32_t *)(void *)((char *)object + key->n_at) : NULL;
}

void fields_set_n(const struct words_key *key, void *object, uint32_t n)
{
	uint32_t *count = count_at(key, object);

	if (count)
		*count = n;
}

/* The number of an array's elements; if no field has it, the key's maximum. */
static uint32_t get_n(const struct words_key *key, void *object)
{
	const uint32_t *count = count_at(key, object);

	return count ? *count : (uint32_t)key->max;
}

void fields_free_texts(char **texts)
{
	for (char **at = texts; at && *at; at++)
		free(*at);
	free(texts);
}

static void free_rules(struct config_rules *rules)
{
	for (uint32_t i = 0; i < rules->n; i++)
		free(rules->rules[i].key);
	free(rules->rules);
	*rules = (struct config_rules){ 0 };
}

static void free_structs(const struct words_level *level, const struct words_child *child,
			 void *object)
{
	const struct words_key *key = child->key;
	char **items = fields_at(key, object);
	struct words_level below;

	if (key->type == WORDS_MAPS && !*items)
		return;
	words_level_below(&below, level, child);
	if (key->type == WORDS_MAP) {
		fields_free(&below, items);
		return;
	}
	for (uint32_t i = 0; i < get_n(key, object); i++)
		fields_free(&below, *items + (size_t)i * key->n_bytes);
	free(*items);
	*items = NULL;
	fields_set_n(key, object, 0);
}

void fields_free_one(const struct words_level *level, const struct words_child *child, void *object)
{
	const struct words_key *key = child->key;
	void **pointer = fields_at(key, object);

	switch (key->field) {
	case WORDS_FIELD_TEXTS:
		fields_free_texts((char **)*pointer);
		*pointer = NULL;
		break;
	case WORDS_FIELD_RULES:
		free_rules((struct config_rules *)(void *)pointer);
		break;
	case WORDS_FIELD_STRUCTS:
		free_structs(level, child, object);
		break;
	case WORDS_FIELD_OCTETS:
		if (*pointer)
			explicit_bzero(*pointer, get_n(key, object));
		/* fall through */
	case WORDS_FIELD_TEXT:
	case WORDS_FIELD_ADDRESSES:
	case WORDS_FIELD_PREFIXES:
	case WORDS_FIELD_CORES:
		free(*pointer);
		*pointer = NULL;
		fields_set_n(key, object, 0);
		break;
	default:
		break;
	}
}

void fields_free(const struct words_level *level, void *object)
{
	struct words_level below;

	for (unsigned int i = 0; i < level->n; i++) {
		const struct words_child *child = &level->children[i];

		if (child->key->type == WORDS_MAP && child->key->field == WORDS_NO_FIELD) {
			words_level_below(&below, level, child);
			fields_free(&below, object);
		} else {
			fields_free_one(level, child, object);
		}
	}
}

/* --- Texts ------------------------------------------------------------------------------------ */

/* The structs of a key: one, or an array. */
static int visit_structs(const struct words_level *level, const struct words_child *child,
			 void *object, fields_text_fn *fn, void *user)
{
	const struct words_key *key = child->key;
	char *items = key->type == WORDS_MAP ? fields_at(key, object) :
					       *(char **)fields_at(key, object);
	const uint32_t n = key->type == WORDS_MAP ? 1 : items ? get_n(key, object) : 0;
	struct words_level below;
	int err = 0;

	if (!n)
		return 0;
	words_level_below(&below, level, child);
	for (uint32_t i = 0; i < n && !err; i++)
		err = fields_each_text(&below, items + (size_t)i * key->n_bytes, fn, user);
	return err;
}

static int visit_field(const struct words_level *level, const struct words_child *child,
		       void *object, fields_text_fn *fn, void *user)
{
	const struct words_key *key = child->key;
	struct words_level below;
	int err = 0;

	if (key->field == WORDS_FIELD_STRUCTS)
		return visit_structs(level, child, object, fn, user);
	if (key->field == WORDS_FIELD_TEXT && *(char **)fields_at(key, object))
		return fn(user, key, *(char **)fields_at(key, object));
	if (key->field == WORDS_FIELD_TEXTS)
		for (char **at = *(char ***)fields_at(key, object); at && *at && !err; at++)
			err = fn(user, key, *at);
	if (key->field != WORDS_NO_FIELD || key->type != WORDS_MAP)
		return err;
	words_level_below(&below, level, child);
	return fields_each_text(&below, object, fn, user);
}

int fields_each_text(const struct words_level *level, void *object, fields_text_fn *fn, void *user)
{
	int err = 0;

	for (unsigned int i = 0; i < level->n && !err; i++)
		err = visit_field(level, &level->children[i], object, fn, user);
	return err;
}

/* --- Copies ----------------------------------------------------------------------------------- */

static bool copy_field_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

static bool copy_texts(char ***to, char *const *from)
{
	size_t n = 0;

	*to = NULL;
	if (!from)
		return true;
	while (from[n])
		n++;
	*to = calloc(n + 1, sizeof(char *));
	for (size_t i = 0; *to && i < n; i++)
		if (!copy_field_text(&(*to)[i], from[i]))
			return false;
	return *to;
}

static bool copy_rules(struct config_rules *to, const struct config_rules *from)
{
	*to = (struct config_rules){ 0 };
	if (!from->n)
		return true;
	to->rules = calloc(from->n, sizeof(*to->rules));
	for (; to->rules && to->n < from->n; to->n++) {
		to->rules[to->n] = from->rules[to->n];
		if (!copy_field_text(&to->rules[to->n].key, from->rules[to->n].key)) {
			to->n++;
			return false;
		}
	}
	return to->rules;
}

/* Copies flat elements. For structs it only makes the memory for their fields. */
static bool copy_array(const struct words_key *key, void **to, const void *from, uint32_t n)
{
	*to = n ? calloc(n, fields_n_bytes(key)) : NULL;
	if (*to && key->field != WORDS_FIELD_STRUCTS)
		memcpy(*to, from, n * fields_n_bytes(key));
	return *to || !n;
}

static bool copy_items(const struct words_level *level, const struct words_child *child, char *to,
		       char *from, uint32_t n)
{
	struct words_level below;
	bool is_whole = true;

	if (n) /* the search for its keys takes longer than all else of a zone */
		words_level_below(&below, level, child);
	for (uint32_t i = 0; i < n && is_whole; i++)
		for (unsigned int k = 0; k < below.n && is_whole; k++)
			is_whole = fields_copy_one(&below, &below.children[k],
						   to + (size_t)i * child->key->n_bytes,
						   from + (size_t)i * child->key->n_bytes);
	return is_whole;
}

static bool copy_all(const struct words_level *level, const struct words_child *child, void *to,
		     void *from)
{
	const struct words_key *key = child->key;
	void *const *source = fields_at(key, from);
	void **target = fields_at(key, to);
	uint32_t n = *source ? get_n(key, from) : 0;

	fields_set_n(key, to, 0);
	if (!copy_array(key, target, *source, n))
		return false;
	fields_set_n(key, to, n);
	return key->field != WORDS_FIELD_STRUCTS || copy_items(level, child, *target, *source, n);
}

bool fields_copy_one(const struct words_level *level, const struct words_child *child, void *to,
		     void *from)
{
	const struct words_key *key = child->key;
	void *source = fields_at(key, from), *target = fields_at(key, to);

	switch (key->field) {
	case WORDS_NO_FIELD:
		return true;
	case WORDS_FIELD_TEXT:
		return copy_field_text(target, *(char **)source);
	case WORDS_FIELD_TEXTS:
		return copy_texts(target, *(char ***)source);
	case WORDS_FIELD_RULES:
		return copy_rules(target, source);
	case WORDS_FIELD_NUMBER:
	case WORDS_FIELD_ADDRESS:
	case WORDS_FIELD_NAME:
		memcpy(target, source, fields_n_bytes(key));
		return true;
	default:
		return copy_all(level, child, to, from);
	}
}

/* --- Octets ----------------------------------------------------------------------------------- */

#define OCTETS_FIRST 512u

void fields_put_octets(struct fields_octets *out, const void *bytes, size_t n)
{
	size_t cap = out->cap ? out->cap : OCTETS_FIRST;
	uint8_t *grown;

	while (cap - out->n < n)
		cap *= 2;
	if (cap != out->cap) {
		grown = realloc(out->bytes, cap);
		out->failed |= !grown;
		if (!grown)
			return;
		out->bytes = grown;
		out->cap = cap;
	}
	if (n)
		memcpy(out->bytes + out->n, bytes, n);
	out->n += n;
}

static void put_field_count(struct fields_octets *out, size_t number)
{
	fields_put_octets(out, &number, sizeof(number));
}

void fields_put_text(struct fields_octets *out, const char *text)
{
	const size_t n = text ? strlen(text) : SIZE_MAX;

	put_field_count(out, n);
	if (text)
		fields_put_octets(out, text, n);
}

static void put_field_texts(struct fields_octets *out, char *const *texts)
{
	put_field_count(out, texts != NULL);
	for (; texts && *texts; texts++)
		fields_put_text(out, *texts);
	fields_put_text(out, NULL);
}

/* Field by field, since padding has no value. */
static void put_field_rules(struct fields_octets *out, const struct config_rules *rules)
{
	put_field_count(out, rules->n);
	for (uint32_t i = 0; i < rules->n; i++) {
		const struct config_rule *rule = &rules->rules[i];

		fields_put_octets(out, &rule->has_prefix, sizeof(rule->has_prefix));
		fields_put_octets(out, &rule->has_tls, sizeof(rule->has_tls));
		fields_put_octets(out, &rule->prefix, sizeof(rule->prefix));
		fields_put_text(out, rule->key);
	}
}
_Static_assert(sizeof(struct config_prefix) == 18, "a prefix has no padding");
_Static_assert(sizeof(struct config_addr) == 24, "an address has no padding");

static void put_field_structs(const struct words_level *level, const struct words_child *child,
			      void *object, struct fields_octets *out)
{
	const struct words_key *key = child->key;
	char *items = key->type == WORDS_MAP ? fields_at(key, object) :
					       *(char **)fields_at(key, object);
	const uint32_t n = key->type == WORDS_MAP ? 1 : items ? get_n(key, object) : 0;
	struct words_level below;

	put_field_count(out, n);
	if (!n)
		return;
	words_level_below(&below, level, child);
	for (uint32_t i = 0; i < n; i++)
		fields_put(&below, items + (size_t)i * key->n_bytes, out);
}

static void put_field_array(const struct words_key *key, void *object, struct fields_octets *out)
{
	void *const *array = fields_at(key, object);
	const uint32_t n = *array ? get_n(key, object) : 0;

	put_field_count(out, n);
	if (n)
		fields_put_octets(out, *array, n * fields_n_bytes(key));
}

static void put_field_value(const struct words_level *level, const struct words_child *child,
			    void *object, struct fields_octets *out)
{
	const struct words_key *key = child->key;
	void *field = fields_at(key, object);
	struct words_level below;

	switch (key->field) {
	case WORDS_NO_FIELD:
		if (key->type != WORDS_MAP)
			break;
		words_level_below(&below, level, child);
		fields_put(&below, object, out);
		break;
	case WORDS_FIELD_TEXT:
		fields_put_text(out, *(char **)field);
		break;
	case WORDS_FIELD_TEXTS:
		put_field_texts(out, *(char ***)field);
		break;
	case WORDS_FIELD_RULES:
		put_field_rules(out, field);
		break;
	case WORDS_FIELD_NUMBER:
	case WORDS_FIELD_ADDRESS:
	case WORDS_FIELD_NAME:
		fields_put_octets(out, field, fields_n_bytes(key));
		break;
	case WORDS_FIELD_STRUCTS:
		put_field_structs(level, child, object, out);
		break;
	default:
		put_field_array(key, object, out);
		break;
	}
}

void fields_put(const struct words_level *level, void *object, struct fields_octets *out)
{
	for (unsigned int i = 0; i < level->n; i++)
		put_field_value(level, &level->children[i], object, out);
}
