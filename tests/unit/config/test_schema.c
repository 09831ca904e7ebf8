/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the JSON schema says of keys of each kind. A validator holds it against volleyd:
 * tests/net/test_schema.py.
 */
#include "config/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *path; /* of properties and items, with / */
	const char *want; /* without description */
} rows[] = {
	{ "server/workers", "{\"type\":[\"integer\",\"string\"],\"minimum\":1,\"maximum\":1024,"
			    "\"pattern\":\"^(auto|[0-9]+)$\",\"default\":\"auto\"}" },
	{ "server/minimal-responses",
	  "{\"enum\":[true,false,\"true\",\"false\"],\"default\":false}" },
	{ "log/level",
	  "{\"enum\":[\"error\",\"warning\",\"notice\",\"info\",\"debug\"],\"default\":\"info\"}" },
	{ "server/allow",
	  "{\"type\":\"array\",\"items\":{\"type\":\"string\","
	  "\"pattern\":\"^[0-9A-Fa-f:.]+(/[0-9]+)?$\"},\"uniqueItems\":true,\"minItems\":1}" },
	{ "recursion/query-timeout",
	  "{\"type\":[\"integer\",\"string\"],\"minimum\":1,\"maximum\":60,"
	  "\"pattern\":\"^[0-9]+(ms|s|m|h|d)?$\",\"default\":\"5s\"}" },
	{ "recursion/forward",
	  "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":"
	  "\"^[0-9A-Fa-f:.]+(%[^/: \\\\t@#%]{1,15})?(@[0-9]+)?(#.+)?$\"},\"default\":[]}" },
	{ "rrl/slip", "{\"type\":[\"integer\",\"string\"],\"minimum\":0,\"maximum\":100,"
		      "\"pattern\":\"^[0-9]+$\",\"default\":2}" },
	{ "templates//ixfr", "{\"enum\":[true,false,\"true\",\"false\"],\"default\":true}" },
};

/* "templates//ixfr": the property ixfr of the items of templates. */
static json_t *find(json_t *at, const char *path)
{
	char word[64];

	while (at && *path) {
		size_t len = strcspn(path, "/");

		snprintf(word, sizeof(word), "%.*s", (int)len, path);
		at = len ? json_object_get(json_object_get(at, "properties"), word) :
			   json_object_get(at, "items");
		path += len + (path[len] == '/');
	}
	return at;
}

static void test_keys(void **state)
{
	json_t *schema = schema_make();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *key = find(schema, rows[i].path);
		char *text;

		assert_non_null(key);
		assert_true(json_string_length(json_object_get(key, "description")));
		json_object_del(key, "description");
		text = json_dumps(key, JSON_COMPACT);
		assert_string_equal(text, rows[i].want);
		free(text);
	}
	json_decref(schema);
}

static void test_items(void **state)
{
	json_t *schema = schema_make(), *item = find(schema, "zones//");

	(void)state;
	assert_true(json_is_false(json_object_get(item, "additionalProperties")));
	assert_string_equal(json_string_value(json_array_get(json_object_get(item, "required"), 0)),
			    "name");
	assert_null(find(schema, "templates//template"));
	assert_non_null(find(schema, "templates//groups//template"));
	assert_null(json_object_get(find(schema, "server"), "required"));
	assert_string_equal(json_string_value(json_object_get(schema, "$schema")),
			    "https://json-schema.org/draft/2020-12/schema");
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
