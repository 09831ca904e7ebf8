/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones in the canonical order of their names, from any name on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dns/name.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/zones_state.h"

/* As they may stand in a configuration; the table is sorted like that of zones. */
static const char *const given[] = { "org.", "b.com.", "a.org.", "z.a.com.", "aa.com.",
				     ".",    "a.com.", "com.",   "bb.a.com." };

#define N (sizeof(given) / sizeof(given[0]))

static struct zones zones;
static struct zones_entry *table[N];

static int make_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++) {
		table[i] = zones_entry_new(&zones, given[i]);
		assert_non_null(table[i]);
		table[i]->name = given[i];
	}
	qsort(table, N, sizeof(table[0]), zones_compare);
	zones.by_apex = table;
	zones.n = N;
	return 0;
}

static int free_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++)
		zones_entry_free(table[i]);
	return 0;
}

struct seen {
	char text[128];
	size_t n_left;
};

static bool note_walked(void *user, const struct zones_entry *entry)
{
	struct seen *seen = user;

	strcat(seen->text, *seen->text ? " " : "");
	strcat(seen->text, entry->name);
	return --seen->n_left > 0;
}

static void test_walk(void **state)
{
	static const struct {
		const char *from; /* NULL: all */
		bool is_with;
		size_t n;
		const char *seen;
	} rows[] = {
		{ NULL, false, N, ". com. a.com. bb.a.com. z.a.com. aa.com. b.com. org. a.org." },
		{ NULL, false, 2, ". com." },
		{ ".", false, 1, "com." },
		{ ".", true, 1, "." },
		{ "a.com.", false, 2, "bb.a.com. z.a.com." },
		{ "A.COM.", true, 1, "a.com." },
		{ "az.com.", false, 1, "b.com." }, /* there is no such zone */
		{ "az.com.", true, 1, "b.com." },
		{ "z.z.a.com.", false, 1, "aa.com." },
		{ "a.org.", false, 1, "" },
		{ "a.org.", true, 1, "a.org." },
		{ "zz.", false, 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t wire[DNS_NAME_MAX], from[NAME_FOLDED_BYTES];
		const char *name = rows[i].from ? rows[i].from : ".";
		int len = name_from_text(wire, sizeof(wire), name, strlen(name));
		struct seen seen = { .n_left = rows[i].n };

		assert_true(len > 0);
		name_fold(from, wire, (size_t)len);
		zones_walk(&zones, rows[i].from ? from : NULL, rows[i].is_with, note_walked, &seen);
		if (strcmp(seen.text, rows[i].seen) != 0)
			fail_msg("%s: %s", name, seen.text);
	}
}

/* The same table is searched for a single zone. */
static void test_find(void **state)
{
	(void)state;
	for (size_t i = 0; i < N; i++)
		assert_string_equal(zones_find(&zones, given[i])->name, given[i]);
	assert_string_equal(zones_find(&zones, "Z.a.COM")->name, "z.a.com.");
	assert_null(zones_find(&zones, "y.a.com."));
	assert_null(zones_find(&zones, "c.com."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, make_table, free_table);
}
