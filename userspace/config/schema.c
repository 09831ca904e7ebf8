/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function for each kind of value; a list's function wraps that of its items. */
#include "config/settings.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config/fields.h"

#define ADDRESS "[0-9A-Fa-f:.]+"
#define ZONE    "(%[^/: \\t@#%]{1,15})?" /* RFC 4007 section 11 */

/* The pattern of a text, or of an item in a list of texts; NULL: any text that is not empty. */
static const char *find_pattern(enum words_type type)
{
	static const char *const patterns[] = {
		[WORDS_ADDRESSES] = "^" ADDRESS ZONE "(@[0-9]+)?$",
		[WORDS_PEERS] = "^" ADDRESS ZONE "(@[0-9]+)?$",
		[WORDS_PREFIXES] = "^" ADDRESS "(/[0-9]+)?$",
		[WORDS_UPSTREAMS] = "^" ADDRESS ZONE "(@[0-9]+)?(#.+)?$",
		[WORDS_HOSTS] = "^" ADDRESS ZONE "$",
		[WORDS_DOMAINS] = "^[^ \\t]+$",
		[WORDS_USERS] = "^(group:)?[^:, \\t]+$",
		[WORDS_COUNT] = "^[0-9]+$",
		[WORDS_PORT] = "^[0-9]+$",
		[WORDS_CORES] = "^[0-9]+$",
		[WORDS_POWER] = "^[0-9]+$",
		[WORDS_AUTO_COUNT] = "^(auto|[0-9]+)$",
		[WORDS_BUDGET] = "^(true|false|[0-9]+)$",
		[WORDS_SIZE] = "^[0-9]+[KMGT]?$",
		[WORDS_SECONDS] = "^[0-9]+[smhd]?$",
		[WORDS_MS] = "^[0-9]+(ms|s|m|h|d)?$",
		[WORDS_MODE] = "^0[67][0-7][0-7]$",
		[WORDS_BITS] = "^[0-9]+/[0-9]+$",
		[WORDS_NAME] = "^[A-Za-z0-9._-]+$",
		[WORDS_DOMAIN] = "^[^ \\t]+$",
		[WORDS_UPSTREAM] = "^" ADDRESS ZONE "(@[0-9]+)?$",
		[WORDS_UPSTREAM_NAMED] = "^" ADDRESS ZONE "(@[0-9]+)?(#.+)?$",
		[WORDS_LISTEN] = "^" ADDRESS ZONE "@[0-9]+$",
		[WORDS_INTERFACE] = "^[^/: \\t]{1,15}$",
		[WORDS_SECRET] = "^[0-9A-Fa-f]{32}$",
		[WORDS_BASE64] = "^[A-Za-z0-9+/]+={0,2}$",
	};

	return type < sizeof(patterns) / sizeof(patterns[0]) ? patterns[type] : NULL;
}

static void put_config_schema(json_t *object, const char *name, json_t *value)
{
	(void)json_object_set_new(object, name, value); /* no memory: it is left out */
}

/* True for an address or a text that begins with one: YAML does not read it as a number. */
static bool is_schema_address(enum words_type type)
{
	const char *pattern = find_pattern(type);

	return type == WORDS_RULES || type == WORDS_RECORDS ||
	       (pattern && !strncmp(pattern, "^" ADDRESS, sizeof(ADDRESS)));
}

/* Other texts may look like numbers, so YAML gives them another type; volleyd reads the text. */
static json_t *make_schema_text(const struct words_key *key)
{
	const char *pattern = find_pattern(key->type);
	bool has_length = key->type == WORDS_TEXT || key->type == WORDS_NAME;
	json_t *text = is_schema_address(key->type) ?
			       json_pack("{s:s}", "type", "string") :
			       json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");

	if (pattern)
		put_config_schema(text, "pattern", json_string(pattern));
	else if (key->type != WORDS_COMMAND && key->type != WORDS_WORDS)
		put_config_schema(text, "minLength", json_integer(1));
	if (has_length)
		put_config_schema(text, "maxLength", json_integer((json_int_t)key->max));
	return text;
}

/* For WORDS_MS a number without a unit is in seconds. */
static json_t *make_number(const struct words_key *key)
{
	uint64_t unit = key->type == WORDS_MS ? 1000 : 1;
	json_t *number = json_pack("{s:[s,s], s:I, s:I, s:s}", "type", "integer", "string",
				   "minimum", (json_int_t)((key->min + unit - 1) / unit), "maximum",
				   (json_int_t)(key->max / unit), "pattern",
				   find_pattern(key->type));

	if (key->type == WORDS_BUDGET)
		(void)json_array_append_new(json_object_get(number, "type"),
					    json_string("boolean"));
	return number;
}

/* A reader of YAML 1.1 makes booleans of the words on and off. */
static json_t *make_choices(const char *choices)
{
	json_t *words = json_array();

	for (size_t len; *choices; choices += len + (choices[len] == '|')) {
		len = strcspn(choices, "|");
		(void)json_array_append_new(words, json_stringn(choices, len));
		if (len == strlen("off") && !memcmp(choices, "off", len))
			(void)json_array_append_new(words, json_false());
		if (len == strlen("on") && !memcmp(choices, "on", len))
			(void)json_array_append_new(words, json_true());
	}
	return json_pack("{s:o}", "enum", words);
}

static json_t *make_scalar(const struct words_key *key)
{
	switch (key->type) {
	case WORDS_BOOL:
		return json_pack("{s:[b,b,s,s]}", "enum", 1, 0, "true", "false");
	case WORDS_CHOICE:
	case WORDS_CHOICES:
		return make_choices(key->choices);
	case WORDS_COUNT:
	case WORDS_PORT:
	case WORDS_CORES:
	case WORDS_AUTO_COUNT:
	case WORDS_POWER:
	case WORDS_BUDGET:
	case WORDS_SIZE:
	case WORDS_SECONDS:
	case WORDS_MS:
		return make_number(key);
	case WORDS_MODE: /* YAML 1.2 reads 0660 as a decimal number; patterns are for texts */
		return json_pack("{s:[s,s], s:s}", "type", "string", "integer", "pattern",
				 find_pattern(key->type));
	default:
		return make_schema_text(key);
	}
}

static json_t *make_schema_map(const struct words_level *level);

/* True for lists in which an item must not be there twice. */
static bool is_set(const struct words_key *key)
{
	return key->type == WORDS_CHOICES || key->type == WORDS_REMOTES ||
	       key->type == WORDS_USERS ||
	       (key->field >= WORDS_FIELD_ADDRESSES && key->field <= WORDS_FIELD_CORES);
}

static json_t *make_schema_list(const struct words_key *key, json_t *items)
{
	json_t *list = json_pack("{s:s, s:o}", "type", "array", "items", items);
	bool has_most = key->type == WORDS_MAPS || key->type == WORDS_PREFIXES ||
			key->type == WORDS_PATHS;

	if (is_set(key))
		put_config_schema(list, "uniqueItems", json_true());
	if (key->is_required || key->if_empty)
		put_config_schema(list, "minItems", json_integer(1));
	if (has_most && key->max)
		put_config_schema(list, "maxItems", json_integer((json_int_t)key->max));
	return list;
}

static json_t *make_schema_value(const struct words_level *level, const struct words_child *child)
{
	const struct words_key *key = child->key;
	struct words_level below;

	if (key->type == WORDS_MAP || key->type == WORDS_MAPS) {
		words_level_below(&below, level, child);
		return key->type == WORDS_MAP ? make_schema_map(&below) :
						make_schema_list(key, make_schema_map(&below));
	}
	if (key->type == WORDS_PATTERNS)
		return json_pack("{s:[o,o]}", "anyOf", make_schema_text(key),
				 make_schema_list(key, make_schema_text(key)));
	if (key->type > WORDS_MAPS && key->type <= WORDS_LISTS_END)
		return make_schema_list(key, make_scalar(key));
	return make_scalar(key);
}

static json_t *make_default(const struct words_key *key)
{
	if (key->type == WORDS_BOOL || key->type == WORDS_COUNT || !strcmp(key->fallback, "[]"))
		return json_loads(key->fallback, JSON_DECODE_ANY, NULL);
	return json_string(key->fallback);
}

static json_t *make_description(const struct words_key *key)
{
	char accepts[200];

	if (key->type == WORDS_MAP || key->type == WORDS_MAPS)
		return json_string(key->text);
	words_accepts(key, accepts, sizeof(accepts));
	return json_sprintf("%s Accepts: %s.%s", key->text, accepts,
			    key->needs_start ? " A change needs a new start." : "");
}

static json_t *make_schema_map(const struct words_level *level)
{
	json_t *properties = json_object(), *required = json_array(), *map;
	bool is_item = strstr(level->path, "[]");

	for (unsigned int i = 0; i < level->n; i++) {
		const struct words_child *child = &level->children[i];
		json_t *value = make_schema_value(level, child);

		put_config_schema(value, "description", make_description(child->key));
		if (child->key->fallback)
			put_config_schema(value, "default", make_default(child->key));
		put_config_schema(properties, child->leaf, value);
		if (is_item && child->key->is_required)
			(void)json_array_append_new(required, json_string(child->leaf));
	}
	map = json_pack("{s:s, s:b, s:o}", "type", "object", "additionalProperties", 0,
			"properties", properties);
	if (json_array_size(required))
		put_config_schema(map, "required", json_incref(required));
	json_decref(required);
	return map;
}

json_t *schema_make(void)
{
	struct words_level top;
	json_t *schema;

	words_level_top(&top);
	schema = make_schema_map(&top);
	put_config_schema(schema, "$schema",
			  json_string("https://json-schema.org/draft/2020-12/schema"));
	put_config_schema(schema, "title", json_string("volley.yaml"));
	return schema;
}
