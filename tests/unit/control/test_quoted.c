/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentences about files, without the words of the files. */
#include "control/quoted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static const struct {
	const char *text, *hidden;
} rows[] = {
	{ "", "" },
	{ "zone a.: /srv/a.zone:7: 'secret' is not a TTL",
	  "zone a.: /srv/a.zone:7: '...' is not a TTL" },
	{ "a:1: 'b' is not a TTL", "a:1: '' is not a TTL" },
	{ "a:1: '' is not a TTL", "a:1: '' is not a TTL" },
	/* quotes in the file */
	{ "a:1: 'it's 'secret'' is superfluous", "a:1: '...' is superfluous" },
	{ "a:1: 'root:x:12: rest' is superfluous", "a:1: '...' is superfluous" },
	/* two places */
	{ "a:1: 'secret' is no type; b:2: 'secret' is no type", "a:1: '...' is no type" },
	/* no place: volleyd's own words */
	{ "volleyd's 'word' here", "volleyd's 'word' here" },
	{ "it's port 127.0.0.1:53, 'a' or 'b'", "it's port 127.0.0.1:53, 'a' or 'b'" },
	{ "volleyd's file a:1: 'secret'", "volleyd's file a:1: '...'" },
	{ "a:1: one ' alone", "a:1: one ' alone" },
};

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s", rows[i].text);
		quoted_hide_text(text);
		assert_string_equal(text, rows[i].hidden);
	}
}

static void test_trees(void **state)
{
	json_t *value = json_loads("{\"a\": [{\"b\": \"x:1: 'secret' is bad\"}, 5, null], "
				   "\"c\": \"x:2: 'secret' is bad\", \"d\": \"plain\"}",
				   0, NULL);
	json_t *hidden = json_loads("{\"a\": [{\"b\": \"x:1: '...' is bad\"}, 5, null], "
				    "\"c\": \"x:2: '...' is bad\", \"d\": \"plain\"}",
				    0, NULL);

	(void)state;
	assert_int_equal(quoted_hide(value), 0);
	assert_true(json_equal(value, hidden));
	assert_int_equal(quoted_hide(NULL), 0);
	json_decref(value);
	json_decref(hidden);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
