/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentences about files, without the words of the files. */
#include "control/rights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/zone/zone_text.h"

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

#define SECRET "k7q3z"

/* Files with a mistake, and no mistake may tell a name or a word that the file has. */
static const char *const broken[] = {
	ZONE_HEAD SECRET " CNAME x\n" SECRET " A 192.0.2.1\n",
	ZONE_HEAD SECRET " CNAME x\n" SECRET " CNAME y\n",
	ZONE_HEAD SECRET " DNAME x\n" SECRET " DNAME y\n",
	ZONE_HEAD SECRET " DNAME x\n" SECRET " CNAME y\n",
	ZONE_HEAD SECRET " DNAME x\n" SECRET " NS ns\n",
	ZONE_HEAD SECRET " DNAME x\na." SECRET " A 192.0.2.1\n",
	ZONE_HEAD SECRET ".other. A 192.0.2.1\n",
	ZONE_HEAD SECRET " SOA ns host 7 2 3 4 60\n",
	ZONE_HEAD SECRET " AXFR \\# 0\n",
	"$ORIGIN " SECRET ".other.\n" ZONE_HEAD,
	"@ 300 SOA ns." SECRET " host 7 2 3 4 60\n" SECRET " 300 A 192.0.2.1\n",
	ZONE_HEAD SECRET "\n",
	ZONE_HEAD "a A " SECRET "\n",
	ZONE_HEAD "a " SECRET " 192.0.2.1\n",
	ZONE_HEAD "a A 192.0.2.1 " SECRET "\n",
	ZONE_HEAD "a TXT \"" SECRET "\n",
	ZONE_HEAD "$" SECRET " x\n",
	ZONE_HEAD "$TTL " SECRET "\n",
	ZONE_HEAD "$INCLUDE " SECRET "\n",
	ZONE_HEAD "$GENERATE 1-2 " SECRET "$ A x\n",
};

static void test_mistakes_of_zones(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		char text[2048];
		struct zone_error err;
		struct zone *z;

		if (!load_text(&z, "a.test", broken[i], &err))
			fail_msg("row %zu has no mistake", i);
		snprintf(text, sizeof(text), "zone a.test.: %s:%u: %s", err.file, err.line,
			 err.sentence);
		quoted_hide_text(text);
		if (strstr(text, SECRET))
			fail_msg("%s", text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_mistakes_of_zones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
