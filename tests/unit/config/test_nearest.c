/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config/help.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LONG "a-word-that-is-longer-than-any-key-or-command-of-volley"

static const char *const known[] = { "listen", "workers",     "control-cores", "tls",
				     "any",    "zone reload", "dnstap",        LONG };

static const struct {
	const char *name, *word, *found;
} rows[] = {
	{ "a letter too few", "lisen", "listen" },
	{ "a letter too many", "listten", "listen" },
	{ "another letter", "listan", "listen" },
	{ "two letters in the wrong order", "litsen", "listen" },
	{ "two edits of seven letters", "wrokrs", "workers" },
	{ "two edits of five letters are too many", "lsten-", "listen" },
	{ "a short word", "tsl", "tls" },
	{ "a short word with another letter", "all", NULL },
	{ "half of it is another word", "worlds-end", NULL },
	{ "a space counts as a letter", "zone-reload", "zone reload" },
	{ "the same word", "dnstap", "dnstap" },
	{ "one letter", "a", NULL },
	{ "no letter", "", NULL },
	{ "a word that is too long", LONG, NULL },
};

static void test_nearest(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nearest n;

		nearest_begin(&n, rows[i].word);
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			nearest_offer(&n, known[k]);
		if (!n.found != !rows[i].found || (n.found && strcmp(n.found, rows[i].found) != 0))
			fail_msg("%s: %s, not %s", rows[i].name, n.found ? n.found : "none",
				 rows[i].found ? rows[i].found : "none");
	}
}

/* Of words that are as near, the first one is taken: a table has the usual one first. */
static void test_first_of_equals(void **state)
{
	struct nearest n;

	(void)state;
	nearest_begin(&n, "rac");
	nearest_offer(&n, "rack");
	nearest_offer(&n, "race");
	assert_string_equal(n.found, "rack");
	nearest_offer(&n, "rac");
	assert_string_equal(n.found, "rac");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_first_of_equals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
