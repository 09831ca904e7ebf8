/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of other servers: times, prefixes, and texts as YAML. */
#include "import/peers.h"
#include "import/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_seconds(void **state)
{
	static const struct {
		const char *text;
		long long seconds;
	} rows[] = {
		{ "90", 90 },    { "1h30m", 5400 }, { "P1DT2H", 93600 }, { "2w", 1209600 },
		{ "PT5M", 300 }, { "", -1 },        { "P", -1 },         { "x", -1 },
		{ "1x", -1 },    { "-1", -1 },      { "30M", 77760000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(import_seconds(rows[i].text), rows[i].seconds);
}

static void test_prefixes(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "192.0.2.1", "192.0.2.1" },
		{ "192.0.2.1/24", "192.0.2.0/24" },
		{ "10/8", "10.0.0.0/8" },
		{ "192.0.2.7&255.255.255.0", "192.0.2.0/24" },
		{ "2001:db8::1/32", "2001:db8::/32" },
		{ "::1/128", "::1" },
		{ "any", "any" },
		{ "192.0.2.7&255.0.255.0", NULL },
		{ "192.0.2.1/33", NULL },
		{ "192.0.2.1/x", NULL },
		{ "inside", NULL },
		{ "", NULL },
	};
	char buf[IMPORT_TEXT_CAP];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(import_prefix(rows[i].text, buf), rows[i].wanted != NULL);
		if (rows[i].wanted)
			assert_string_equal(buf, rows[i].wanted);
	}
	assert_true(import_prefix_meets("192.0.2.0/24", "192.0.2.7"));
	assert_true(import_prefix_meets("any", "::1"));
	assert_false(import_prefix_meets("192.0.2.0/24", "192.0.3.0/24"));
	assert_false(import_prefix_meets("0.0.0.0/0", "::/0"));
}

static void test_yaml(void **state)
{
	json_t *root = json_pack("{s:{s:[s,s],s:s,s:s},s:[{s:s,s:s},{s:s}]}", "server", "listen",
				 "::", "192.0.2.1@53", "version", "a \"b\" \\ \n", "nsid", "null",
				 "zones", "name", "a.", "file", "/a/%s", "name", "b.");
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_non_null(root);
	assert_non_null(out);
	import_yaml_put(out, root);
	fclose(out);
	assert_string_equal(
		text,
		"server:\n  listen: [\"::\", 192.0.2.1@53]\n  version: \"a \\\"b\\\" \\\\ \\x0A\"\n"
		"  nsid: \"null\"\nzones:\n  - name: a.\n    file: /a/%s\n  - name: b.\n");
	free(text);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_yaml),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
