/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plain items of lists, which libyaml does not see, give the tree that it would make. The same text
 * with CR LF at the ends of its lines means the same to YAML, but has no plain item, so libyaml
 * reads all of it: both trees, or both faults, must be equal.
 */
#include "config/yamlitems.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/yamltree.h"

#define TEXT_CAP 4096
#define N_RANDOM 20000u

/* --- Two trees -------------------------------------------------------------------------------- */

static bool are_same_words(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool are_same_trees(const struct yamltree *a, const struct yamltree *b)
{
	if (!a || !b)
		return a == b;
	if (a->shape != b->shape || a->line != b->line || a->n != b->n || a->file != b->file ||
	    !are_same_words(a->name, b->name) || !are_same_words(a->text, b->text))
		return false;
	a = a->first;
	b = b->first;
	for (; a && b; a = a->next, b = b->next)
		if (!are_same_trees(a, b))
			return false;
	return a == b;
}

static void put_cr_lf(char *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			*out++ = '\r';
		*out++ = *text;
	}
	*out = '\0';
}

static size_t count_runs(const char *text)
{
	struct yamlitems items;
	size_t n;

	assert_int_equal(yamlitems_find(&items, text, strlen(text)), 0);
	n = items.n;
	yamlitems_fini(&items);
	return n;
}

/* True if the text is YAML that a configuration may have. */
static bool assert_same(const char *text)
{
	struct yamltree_error error, other_error;
	struct yamltree *tree, *other;
	char *whole = malloc(2 * strlen(text) + 1);
	int err, other_err;
	bool is_same;

	assert_non_null(whole);
	put_cr_lf(whole, text);
	assert_int_equal(count_runs(whole), 0);
	err = yamltree_read(&tree, text, strlen(text), 3, &error);
	other_err = yamltree_read(&other, whole, strlen(whole), 3, &other_error);
	is_same = err == other_err && (err || are_same_trees(tree, other)) &&
		  error.line == other_error.line && !strcmp(error.path, other_error.path) &&
		  !strcmp(error.text, other_error.text);
	if (!is_same)
		fail_msg("%d %zu %s %s, and by libyaml %d %zu %s %s, for\n%s", err, error.line,
			 error.path, error.text, other_err, other_error.line, other_error.path,
			 other_error.text, text);
	yamltree_free(tree);
	yamltree_free(other);
	free(whole);
	return !err;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t n_runs;
	const char *text;
} rows[] = {
	{ "plain", 1, "zones:\n  - name: a\n    file: zones/a\n  - name: b\n    file: zones/b\n" },
	{ "without indentation", 1,
	  "zones:\n- file: a\n  name: a\n- file: b\n  name: b\nkeys: []\n" },
	{ "quoted", 1, "zones:\n  - name: \"a b # c\"\n    file: 'x: [y]'\n    key: \"\"\n" },
	{ "lists", 1, "zones:\n  - name: a\n    x: [a, \"b c\",d ]\n    y: []\n    z: [ e ]\n" },
	{ "colons", 1, "zones:\n  - name: a:b:c\n    file: /x/y_z.%s@+=~-1\n" },
	{ "comments and empty lines", 1,
	  "# one\nzones: # two\n\n  - name: a\n# three\n      # four\n\n    file: b\n  \n"
	  "  - name: c\n\n# five\nkeys: []\n" },
	{ "below other keys", 1,
	  "recursion:\n  rpz:\n    - name: a\n      file: b\n    - name: c\n" },
	{ "two lists", 2, "zones:\n  - name: a\nkeys:\n      - name: b\n        x: y\n" },
	{ "an item of another form between", 2,
	  "zones:\n  - name: a\n  - {name: b}\n  - name: c\n    file: d\n" },
	{ "a value in the next line", 2,
	  "zones:\n  - name: a\n  - name: b\n    file:\n      c\n  - name: d\n" },
	{ "a list in lines", 2,
	  "zones:\n  - name: a\n  - name: b\n    groups:\n      - template: t\n        group: g\n"
	  "  - name: c\n" },
	{ "an anchor and an alias", 1, "zones:\n  - &x name: a\n  - name: *x\n  - name: b\n" },
	{ "an anchor of an item", 2, "zones:\n  - name: b\n  - &x\n    name: a\n  - name: c\n" },
	{ "a tag", 1, "zones:\n  - !!map\n    name: a\n  - name: b\n" },
	{ "a merge key", 1, "zones:\n  - name: b\n    <<: c\n  - name: d\n" },
	{ "the last value goes on", 1, "zones:\n  - name: a\n  - name: b\n    file: c\n      d\n" },
	{ "the only value goes on", 0, "zones:\n  - name: a\n      b\n" },
	{ "it goes on after an empty line", 0, "zones:\n  - name: a\n\n      b\n" },
	{ "it goes on after blanks", 0, "zones:\n  - name: a\n  \n      b\n" },
	{ "it does not after a comment", 0, "zones:\n  - name: a\n# c\n      b\n" },
	{ "less indentation in an item", 0, "zones:\n  - name: a\n   file: b\n" },
	{ "more indentation in an item", 0, "zones:\n  - name: a\n     file: b\n" },
	{ "another indentation of an item", 1, "zones:\n  - name: a\n - name: b\n" },
	{ "another key after a list", 1, "zones:\n  - name: a\n  keys: b\n" },
	{ "a tab before a key", 0, "zones:\n  - name: a\n\tfile: b\n" },
	{ "a tab behind a value", 0, "zones:\n  - name: a\t\n    file: b\n" },
	{ "a tab after blanks", 0, "zones:\n  - name: a\n  \tfile: b\n" },
	{ "a tab after U+2028, which ends a line", 1,
	  "zones:\n  - name: a\n  - name: b\n\xe2\x80\xa8   \t\n" },
	{ "a tab after U+0085, which ends a line", 1,
	  "zones:\n  - name: a\n  - name: b\n    file: c\n\xc2\x85   \t\n" },
	{ "a tab after CR", 1, "zones:\n  - name: a\n  - name: b\n\r   \t\n" },
	{ "a comment behind a value", 0, "zones:\n  - name: a # b\n" },
	{ "a key twice", 0, "zones:\n  - name: a\n    name: b\n" },
	{ "a key twice in a later item", 1, "zones:\n  - name: a\n  - name: b\n    name: b\n" },
	{ "a key that begins as another", 1, "zones:\n  - file: a\n    file-x: b\n    fil: c\n" },
	{ "without a newline at the end", 1, "zones:\n  - name: a\n  - name: b" },
	{ "an escape", 1, "zones:\n  - name: \"a\\x41\"\n  - name: b\n" },
	{ "a quote in quotes", 0, "zones:\n  - name: 'a''b'\n" },
	{ "no value", 0, "zones:\n  - name:\n    file: b\n" },
	{ "null", 1, "zones:\n  - name: ~\n  - name: null\n  - name: true\n" },
	{ "a dash", 0, "zones:\n  - name: - a\n" },
	{ "a list that is not closed", 0, "zones:\n  - name: [a\n" },
	{ "a list with a comma at the end", 0, "zones:\n  - name: [a,]\n" },
	{ "a list in a list", 0, "zones:\n  - name: [[a], b]\n" },
	{ "a pair in a list", 0, "zones:\n  - name: [a: b, c]\n" },
	{ "octets that are no ASCII", 1, "zones:\n  - name: \xc3\xa9\n  - name: a\n" },
	{ "octets that are no UTF-8", 1, "zones:\n  - name: a\n  - name: \xff\n" },
	{ "a control character in a comment", 1, "zones:\n  - name: a\n# \x01\n" },
	/* Texts that look like items, and are none. */
	{ "in a block of text", 1, "a: |\n  zones:\n    - name: a\nzones:\n  - name: b\n" },
	{ "in a block with less indentation", 0, "a: |\n zones:\n  - name: a\n" },
	{ "in quotes", 1, "a: \"\nzones:\n  - name: a\n  \"\nkeys: []\n" },
	{ "in quotes, between items", 3,
	  "zones:\n  - name: a\n  - \"x\n  - name: b\n  \"\n  - name: c\n" },
	{ "in a list with brackets", 1, "a: [\nzones:\n  - name: a\n]\n" },
	{ "in a map with braces", 1, "a: {\nzones:\n  - name: a\n}\n" },
	{ "in a word of lines", 1, "zones:\n  a\n  - name: b\n" },
	{ "in a list of a list", 1, "zones:\n  -\n    - name: a\n    - name: b\n  - name: c\n" },
	{ "the text of the mark", 1, "zones:\n  - volley-items\n  - name: a\n  - volley-items\n" },
	{ "the text of the mark in the line of a run, if CR ends a line", 1,
	  "zones:\n \r- volley-items\n- name: a\n- name: b\n" },
	{ "the mark in quotes", 1, "zones:\n  - name: a\n  - \"volley-items\"\n" },
	{ "a second document", 2, "zones:\n  - name: a\n---\nzones:\n  - name: a\n" },
	{ "a document's end", 1, "zones:\n  - name: a\n...\n" },
	{ "a directive", 1, "%YAML 1.1\n---\nzones:\n  - name: a\n" },
	{ "a mark of UTF-8", 0, "\xef\xbb\xbfzones:\n  - name: a\n" },
	{ "a fault behind", 1, "zones:\n  - name: a\n    file: b\n\nserver: [\n" },
	{ "a fault between", 2, "zones:\n  - name: a\n  - : :\n  - name: b\n" },
};

static void test_rows(void **state)
{
	unsigned int n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t n = count_runs(rows[i].text);

		(void)assert_same(rows[i].text);
		if (n == rows[i].n_runs)
			continue;
		print_error("%s: %zu runs\n", rows[i].name, n);
		n_wrong++;
	}
	assert_int_equal(n_wrong, 0);
}

/* --- Random ----------------------------------------------------------------------------------- */

static uint32_t rolled = 1;

static uint32_t roll(uint32_t n)
{
	rolled = rolled * 1664525u + 1013904223u;
	return (rolled >> 8) % n;
}

static const char *const lines[] = {
	"zones:\n",
	"keys: []\n",
	"server:\n",
	"  - name: a\n",
	"  - name: b\n",
	"    file: c\n",
	"    file: \"d\"\n",
	"    x: [e, 'f']\n",
	"  - name: a\n",
	"    y: 1\n",
	"    z: a:b\n",
	"- name: g\n",
	"  file: h\n",
	"\n",
	"# comment\n",
	"    # comment\n",
	"  - {a: b}\n",
	"  - [c]\n",
	"    q: |\n",
	"      text\n",
	"    - name: i\n",
	"      file: j\n",
	"  \"\n",
	"    r: \"\n",
	"    s: >\n",
	" \n",
	"  t:\n",
	"    u:\n",
	"\tfile: k\n",
	"  - l\n",
	"    name: a # b\n",
	"...\n",
	"---\n",
	"    - - m\n",
	"  ]\n",
	"    v: [\n",
	"    w: &x y\n",
	"  - *x\n",
	"  - volley-items\n",
	"    file: n",
};

/* Mostly plain lines, with all that may come between them. */
static size_t put_random_line(char *out, size_t cap)
{
	/* Three of four lines are of the first, plain ones. */
	const uint32_t n = sizeof(lines) / sizeof(lines[0]);
	const char *line = lines[roll(4) ? roll(16) : roll(n)];
	const size_t len = strlen(line);

	if (len >= cap)
		return 0;
	memcpy(out, line, len + 1);
	return len;
}

static void test_random_texts(void **state)
{
	unsigned int n_good = 0, n_with_runs = 0;
	char text[TEXT_CAP];

	(void)state;
	for (unsigned int i = 0; i < N_RANDOM; i++) {
		size_t used = (size_t)snprintf(text, sizeof(text), "zones:\n");

		for (uint32_t n = roll(14); n; n--)
			used += put_random_line(text + used, sizeof(text) - used);
		n_with_runs += count_runs(text) > 0;
		n_good += assert_same(text);
	}
	print_message("%u good, %u with runs\n", n_good, n_with_runs);
	assert_true(n_good > N_RANDOM / 50 && n_with_runs > N_RANDOM / 3);
}

/* A text of a few plain items in which a few octets are others. */
static void test_random_octets(void **state)
{
	static const char base[] = "zones:\n  - name: a\n    file: \"b\"\n    x: [c, 'd']\n"
				   "  # e\n  - name: f\n    file: g/h\n  - name: i\nkeys: j\n";
	static const char others[] = " \n\t:-#[]{},'\"&*!|>%@`ab0\\\x80";
	unsigned int n_good = 0;
	char text[sizeof(base)];

	(void)state;
	for (unsigned int i = 0; i < N_RANDOM; i++) {
		memcpy(text, base, sizeof(base));
		for (uint32_t n = roll(3) + 1; n; n--)
			text[roll(sizeof(base) - 1)] = others[roll(sizeof(others) - 1)];
		n_good += assert_same(text);
	}
	assert_true(n_good > N_RANDOM / 50);
}

/* More keys than the finder notes, and a text that is longer than libyaml's buffers. */
static void test_large(void **state)
{
	const size_t cap = 1 << 20;
	char *text = malloc(cap);
	size_t used;

	(void)state;
	assert_non_null(text);
	used = (size_t)snprintf(text, cap, "server:\n  x: y\nzones:\n");
	for (unsigned int i = 0; i < 10000; i++)
		used += (size_t)snprintf(text + used, cap - used,
					 "  - name: z%u\n    file: %s%u\n%s", i,
					 i % 1000 == 999 ? "&a " : "", i, i % 77 ? "" : "# x\n");
	snprintf(text + used, cap - used, "keys:\n  - name: last\n");
	assert_true(count_runs(text) > 10);
	assert_true(assert_same(text));
	used = (size_t)snprintf(text, cap, "zones:\n  - k: 0\n");
	for (unsigned int i = 0; i < 100; i++)
		used += (size_t)snprintf(text + used, cap - used, "    k%u: v\n", i);
	assert_true(assert_same(text));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_random_texts),
		cmocka_unit_test(test_random_octets),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
