/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of names, and the domains that they lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dns/name.h"

struct pattern_row {
	const char *pattern;
	const char *name;
	bool is_like;
};

static const struct pattern_row pattern_rows[] = {
	{ "*", "example.com.", true },
	{ "*", ".", true },
	{ ".", ".", true },
	{ ".", "a.", false },
	{ "", "a.", false },
	{ "example.com", "example.com.", true },
	{ "example.com.", "example.com.", true },
	{ "EXAMPLE.com", "eXample.com.", true },
	{ "example.com", "example.org.", false },
	{ "example.com", "an.example.com.", false },
	{ "exam", "example.com.", false },
	{ "exam*", "example.com.", true },
	{ "*.com", "example.com.", true },
	{ "*.com", "com.", false },
	{ "*com", "com.", true },
	{ "*.com.*", "a.com.b.", true },
	{ "*.com.*", "a.com.", false },
	{ "ex?mple.com", "example.com.", true },
	{ "?", "ab.", false },
	{ "??", "ab.", true },
	{ "a?c", "a.c.", true },
	{ "*a*b", "aXbYaZb.", true },
	{ "*a*b", "aXbYaZ.", false },
	{ "a**b", "ab.", true },
	/* a dot of a label is not the last dot */
	{ "a\\.", "a\\..", true },
	{ "a\\.", "a.", false },
	{ "a\\.", "a\\\\.", false },
	{ "a\\\\", "a\\\\.", true },
	{ "a\\\\.", "a\\\\.", true },
	{ "a\\\\\\.", "a\\\\\\..", true },
	{ "*\\\\", "b.a\\\\.", true },
	{ "a[bc]", "ab.", false },
	{ "a[bc]", "a[bc].", true },
};

static void test_pattern(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pattern_rows) / sizeof(pattern_rows[0]); i++) {
		const struct pattern_row *row = &pattern_rows[i];

		if (name_is_like(row->name, row->pattern) != row->is_like)
			fail_msg("%s, %s: not %d", row->pattern, row->name, row->is_like);
	}
}

/* A pattern for which backtracking over all stars would not end in a lifetime. */
static void test_many_stars(void **state)
{
	char text[255], pattern[256];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < sizeof(pattern) - 2; i += 2)
		memcpy(pattern + i, "*a", 2);
	memcpy(pattern + sizeof(pattern) - 2, "b", 2);
	assert_false(name_is_like(text, pattern));
}

static void test_domain(void **state)
{
	static const struct {
		const char *pattern, *domain;
	} rows[] = {
		{ "*", "." },
		{ "exam*", "." },
		{ "*com", "." },
		{ "a.b?", "." },
		{ "*.com", "com." },
		{ "?*.Example.com.", "example.com." },
		{ "a*b.example.com", "example.com." },
		{ "example.com", "example.com." },
		{ "*.a\\.b.c", "." },
		{ "*..c", "." },
		{ ".", "." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t folded[NAME_FOLDED_BYTES];
		char text[NAME_TEXT_MAX];
		unsigned int len = name_of_pattern(folded, rows[i].pattern);

		assert_int_equal(len, name_bytes(folded));
		assert_true(name_to_text(text, sizeof(text), folded) > 0);
		if (strcmp(text, rows[i].domain) != 0)
			fail_msg("%s: %s", rows[i].pattern, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pattern),
		cmocka_unit_test(test_many_stars),
		cmocka_unit_test(test_domain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
