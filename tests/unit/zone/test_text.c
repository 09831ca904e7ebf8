/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries, tokens, numbers and periods of master files.
 */
#include "zone/text.h"
#include "zone_text.h"

struct entry {
	const char *name, *input;
	const char *entries; /* "LINE[b]:text|" for each; '!' and the line for a fault */
};

static const struct entry entries[] = {
	{ "nothing", "", "" },
	{ "blank lines and comments", "\n \t\n; c\n ; c\n", "" },
	{ "two lines", "a b\nc\n", "1:a b|2:c|" },
	{ "no line end", "a", "1:a|" },
	{ "a blank start", " a\nb\n", "1b:a|2:b|" },
	{ "a tab start behind a comment", ";x\n\ta\n", "2b:a|" },
	{ "a comment behind", "a;b\nc ;d\n", "1:a|2:c |" },
	{ "lines in parentheses", "a ( b ; c )\n\nd) e\nf\n", "1:a   b   d  e|4:f|" },
	{ "an entry after empty lines", "\n\na (\n) b\n", "3:a     b|" },
	{ "specials in quotes", "a \"(;)\" b\n", "1:a \"(;)\" b|" },
	{ "specials escaped", "a\\; \\( \\\" \\\\\n", "1:a\\; \\( \\\" \\\\|" },
	{ "carriage return", "a\r\nb\r\n", "1:a |2:b |" },
	{ "an open quote", "a\nb \"c\nd\"\n", "1:a|!2" },
	{ "an open quote at the end", "\"", "!1" },
	{ "an open parenthesis", "a\nb (\n\n", "1:a|!2" },
	{ "a parenthesis too much", "a )\n", "!1" },
	{ "nested parentheses", "( a\n(", "!2" },
	{ "a backslash before the line end", "a\\\n", "!1" },
	{ "a backslash at the end", "a\\", "!1" },
};

static void reads_entries(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const char *why = NULL, *input = entries[i].input;
		FILE *fp = *input ? fmemopen((void *)(uintptr_t)input, strlen(input), "r") :
				    fopen("/dev/null", "r");
		struct text_reader r;
		char got[256] = "";
		int rc;

		print_message("  %s\n", entries[i].name);
		assert_non_null(fp);
		text_reader_init(&r, fp);
		while ((rc = text_read(&r, &why)) > 0)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%u%s:%s|",
				 r.entry_line, r.blank_start ? "b" : "", r.text);
		if (rc < 0)
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "!%u", r.entry_line);
		assert_string_equal(got, entries[i].entries);
		assert_int_equal(rc < 0, why != NULL);
		text_reader_fini(&r);
		fclose(fp);
	}
}

/* Files that are larger than they were expected to be, so that lines do not fit in the buffer. */
static void reads_more_than_expected(void **state)
{
	static const uint64_t expected[] = { 0, 1, 4096, 9999, 10000, 1u << 20 };
	char line[5001], want[5001];

	(void)state;
	memset(want, 'x', sizeof(want));
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const char *why = NULL;
		struct text_reader r;
		FILE *fp = tmpfile();

		assert_non_null(fp);
		for (int n = 0; n < 40; n++)
			fprintf(fp, "%.*s%s\n", n % 4 ? n : 5000, want, n % 3 ? "" : " ; c");
		rewind(fp);
		text_reader_init(&r, fp);
		text_reader_expect(&r, expected[i]);
		for (int n = 0; n < 40; n++) {
			snprintf(line, sizeof(line), "%.*s", n % 4 ? n : 5000, want);
			assert_int_equal(text_read(&r, &why), 1);
			assert_int_equal(strcspn(r.text, " "), strlen(line));
			assert_int_equal(r.entry_line, n + 1);
		}
		assert_int_equal(text_read(&r, &why), 0);
		text_reader_fini(&r);
		fclose(fp);
	}
}

static void bounds_entries(void **state)
{
	FILE *fp = tmpfile();
	struct text_reader r;
	const char *why = "";

	(void)state;
	assert_non_null(fp);
	fputs("a\n", fp);
	for (int i = 0; i <= TEXT_ENTRY_MAX; i++)
		fputc('x', fp);
	rewind(fp);
	text_reader_init(&r, fp);
	assert_int_equal(text_read(&r, &why), 1);
	assert_int_equal(text_read(&r, &why), ERR_ZONE);
	assert_int_equal(r.entry_line, 2);
	assert_non_null(strstr(why, "too long"));
	text_reader_fini(&r);
	fclose(fp);
}

struct tokens {
	const char *text, *tokens; /* each in <>, quoted ones in [] */
};

static const struct tokens token_rows[] = {
	{ "", "" },
	{ "  ", "" },
	{ "a", "<a>" },
	{ " a  b\tc ", "<a><b><c>" },
	{ "\"a b\" c", "[a b]<c>" },
	{ "\"\"", "[]" },
	{ "\"a\"\"b\"", "[a][b]" },
	{ "a\"b\"c", "<a>[b]<c>" },
	{ "a\\ b \"c\\\"d\"", "<a\\ b>[c\\\"d]" },
	{ "a\\", "<a\\>" },
	{ "\"open", "[open]" },
};

static void splits_tokens(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(token_rows) / sizeof(token_rows[0]); i++) {
		const char *cursor = token_rows[i].text;
		struct text_token t;
		char got[64] = "";

		while (text_next(&cursor, &t))
			snprintf(got + strlen(got), sizeof(got) - strlen(got),
				 t.quoted ? "[%.*s]" : "<%.*s>", (int)t.n, t.at);
		assert_string_equal(got, token_rows[i].tokens);
	}
}

struct period {
	const char *text;
	int64_t seconds; /* -1: refused */
};

static const struct period periods[] = {
	{ "0", 0 },
	{ "300", 300 },
	{ "1s", 1 },
	{ "2M", 120 },
	{ "1h", 3600 },
	{ "1D", 86400 },
	{ "1w", 604800 },
	{ "1h30m", 5400 },
	{ "1h30", 3630 },
	{ "", -1 },
	{ "h", -1 },
	{ "1hh", -1 },
	{ "1x", -1 },
	{ "-1", -1 },
	{ "2147483647", 2147483647 },
	{ "2147483648", 0 }, /* the top bit: RFC 2181 section 8 */
	{ "4294967295", 0 },
	{ "4294967296", -1 },
	{ "3551w", 0 },
	{ "7102w", -1 },
	{ "3550w", 2147040000 },
	{ "99999999999999999999", -1 },
	{ "2147483647s1", 0 },
	{ "4294967295s1", -1 },
};

static void reads_periods(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		struct text_token t = { periods[i].text, strlen(periods[i].text), false };
		uint32_t seconds = 0;
		int rc = text_to_ttl(&t, &seconds);

		print_message("  '%s'\n", periods[i].text);
		assert_int_equal(rc ? -1 : (int64_t)seconds, periods[i].seconds);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_entries),  cmocka_unit_test(reads_more_than_expected),
		cmocka_unit_test(bounds_entries), cmocka_unit_test(splits_tokens),
		cmocka_unit_test(reads_periods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
