/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table that is wider than its terminal: the exact lines at each width. */
#include "client/result_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const json =
	"[{\"name\":\"eth0\",\"state\":\"serving\",\"queues\":8,\"note\":\"a long sentence\"},"
	"{\"name\":\"lan\",\"state\":\"waits\",\"queues\":16,\"note\":\"-\"}]";

#define WHOLE                                      \
	"NAME  STATE    QUEUES  NOTE\n"            \
	"eth0  serving       8  a long sentence\n" \
	"lan   waits        16  -\n"

static const struct {
	const char *name;
	unsigned int width;
	const char *text;
} rows[] = {
	{ "no bound", 0, WHOLE },
	{ "as wide as the table", 38, WHOLE },
	{ "the last column has no room", 37,
	  "NAME  STATE    QUEUES\n"
	  "eth0  serving       8\n"
	  "lan   waits        16\n"
	  "NAME  NOTE\n"
	  "eth0  a long sentence\n"
	  "lan   -\n" },
	{ "no two columns beside the first have room", 1,
	  "NAME  STATE\n"
	  "eth0  serving\n"
	  "lan   waits\n"
	  "NAME  QUEUES\n"
	  "eth0       8\n"
	  "lan       16\n"
	  "NAME  NOTE\n"
	  "eth0  a long sentence\n"
	  "lan   -\n" },
};

static void put_table(char *text, size_t cap, unsigned int width, const char *of)
{
	const struct table_order order = { "name", "note", "" };
	json_t *list = json_loads(of, 0, NULL);
	FILE *out = fmemopen(text, cap, "w");

	assert_non_null(list);
	assert_non_null(out);
	assert_int_equal(table_put(out, 0, width, list, &order), 0);
	assert_int_equal(fclose(out), 0);
	json_decref(list);
}

static void test_widths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];

		put_table(text, sizeof(text), rows[i].width, json);
		if (strcmp(text, rows[i].text) != 0)
			fail_msg("%s:\n%s", rows[i].name, text);
	}
}

static void test_one_column(void **state)
{
	char text[64];

	(void)state;
	put_table(text, sizeof(text), 1, "[{\"name\":\"eth0\"}]");
	assert_string_equal(text, "NAME\neth0\n");
}

/* Rows that come in pieces: titles again only for a new column, and no column gets narrower. */
static void test_pieces(void **state)
{
	static const char *const pieces[] = {
		"[{\"name\":\"long.example.\",\"serial\":7}]",
		"[{\"name\":\"a.\",\"serial\":12}]",
		"[{\"name\":\"b.\",\"serial\":3,\"error\":\"it is gone\"}]",
		"[{\"name\":\"c.\",\"serial\":1234567}]",
	};
	const struct table_order order = { "name serial", "error", "" };
	char text[512];
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct table *table;

	(void)state;
	assert_non_null(out);
	assert_int_equal(table_new(&table, 0, 0, &order), 0);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		json_t *list = json_loads(pieces[i], 0, NULL);

		assert_int_equal(table_put_rows(table, out, list), 0);
		json_decref(list); /* the table keeps nothing of it */
	}
	table_free(table);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, "NAME           SERIAL\n"
				  "long.example.       7\n"
				  "a.                 12\n"
				  "NAME           SERIAL  ERROR\n"
				  "b.                  3  it is gone\n"
				  "c.             1234567  -\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_one_column),
		cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
