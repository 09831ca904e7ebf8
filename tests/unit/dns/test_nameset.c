/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"
#include "dns/nameset.h"

static const char *const names[] = { "b.a.", "C.b.a.", "x.",   "under.long-label.net.",
				     "z.x.", "m.z.x.", "b.a.", "k.c.b.a." };
static const char *const with_root[] = { "b.a.", "." };

static void make(struct nameset *s, const char *const *list, size_t n)
{
	assert_int_equal(nameset_init(s, n), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(nameset_add(s, list[i]), 0);
	nameset_sort(s);
}

static void fold(uint8_t *name, const char *text)
{
	int n = name_from_text(name, DNS_NAME_MAX, text, strlen(text));

	assert_true(n > 0);
	name_fold(name, name, (size_t)n);
}

/* The member that was found, as text; "": none. */
static const char *found(const struct nameset *s, const char *text)
{
	static char buf[NAME_TEXT_MAX];
	uint8_t name[NAME_FOLDED_BYTES] = { 0 };
	const uint8_t *at;

	fold(name, text);
	at = nameset_find(s, name);
	if (!at)
		return "";
	assert_true(at >= name && at < name + name_bytes(name));
	assert_true(name_to_text(buf, sizeof(buf), at) > 0);
	return buf;
}

/* A place tells the member. */
static void test_places(void **state)
{
	static const char *const rows[] = { "b.a.",     "y.b.a.", "c.b.a.", "x.",
					    "n.m.z.x.", "z.x.",   "q.",     "a." };
	uint8_t name[NAME_FOLDED_BYTES];
	struct nameset s;

	(void)state;
	make(&s, names, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t place;
		const uint8_t *at;

		memset(name, 0, sizeof(name));
		fold(name, rows[i]);
		place = nameset_place(&s, name);
		at = nameset_find(&s, name);
		assert_int_equal(place != 0, at != NULL);
		assert_true(!place || name_equal(s.members[place - 1].name, at));
	}
	nameset_fini(&s);
}

static void test_the_deepest_above(void **state)
{
	static const char *const rows[][2] = {
		{ "b.a.", "b.a." },
		{ "y.b.a.", "b.a." },
		{ "y.C.B.A.", "c.b.a." },
		{ "cc.b.a.", "b.a." },
		{ "l.c.b.a.", "c.b.a." },
		{ "n.m.z.x.", "m.z.x." },
		{ "n.z.x.", "z.x." },
		{ "zz.x.", "x." },
		{ "a.", "" },
		{ "bb.a.", "" },
		{ "x.", "x." },
		{ "q.w.e.x.", "x." },
		{ "z.x.", "z.x." },
		{ "x.y.", "" },
		{ ".", "" },
		{ "long-label.net.", "" },
		{ "1.under.long-label.net.", "under.long-label.net." },
	};
	struct nameset s;

	(void)state;
	make(&s, names, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(found(&s, rows[i][0]), rows[i][1]);
	nameset_fini(&s);
	make(&s, with_root, 2);
	assert_string_equal(found(&s, "com."), ".");
	assert_string_equal(found(&s, "."), ".");
	assert_string_equal(found(&s, "w.b.a."), "b.a.");
	nameset_fini(&s);
	make(&s, NULL, 0);
	assert_string_equal(found(&s, "com."), "");
	nameset_fini(&s);
}

static void test_whether_one_is_under(void **state)
{
	static const struct {
		const char *name;
		bool has;
	} rows[] = {
		{ ".", true },           { "a.", true },
		{ "b.a.", true },        { "c.b.a.", true },
		{ "d.b.a.", false },     { "x.c.b.a.", false },
		{ "net.", true },        { "long-label.net.", true },
		{ "label.net.", false }, { "zz.", false },
		{ "z.x.", true },        { "0.", false },
	};
	uint8_t name[NAME_FOLDED_BYTES];
	struct nameset s;

	(void)state;
	make(&s, names, sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fold(name, rows[i].name);
		if (nameset_has_under(&s, name) != rows[i].has)
			fail_msg("%s", rows[i].name);
	}
	nameset_fini(&s);
}

static void test_what_is_no_name(void **state)
{
	struct nameset s;

	(void)state;
	assert_int_equal(nameset_init(&s, 2), 0);
	assert_int_equal(nameset_add(&s, "a..b"), ERR_LABEL_EMPTY);
	assert_int_equal(nameset_add(&s, "a.b"), 0);
	nameset_sort(&s);
	assert_string_equal(found(&s, "a.b."), "a.b.");
	nameset_fini(&s);
}

/* The special names have the promised form, and none is at or above another. */
static void test_special_names(void **state)
{
	char text[NAME_TEXT_MAX];
	uint8_t name[NAME_FOLDED_BYTES];
	struct nameset s;

	(void)state;
	make(&s, special_names, SPECIAL_NAMES_N);
	assert_null(special_names[SPECIAL_NAMES_N]);
	for (size_t i = 0; i < SPECIAL_NAMES_N; i++) {
		fold(name, special_names[i]);
		assert_true(name_to_text(text, sizeof(text), name) > 0);
		assert_string_equal(text, special_names[i]);
		assert_null(nameset_find(&s, name_parent(name)));
		assert_true(!i || name_canonical_cmp(s.members[i - 1].name, s.members[i].name) < 0);
	}
	for (unsigned int i = 0; i < 256; i++) {
		snprintf(text, sizeof(text), "%u.172.in-addr.arpa.", i);
		assert_int_equal(!*found(&s, text), i < 16 || i > 31);
		snprintf(text, sizeof(text), "%u.100.in-addr.arpa.", i);
		assert_int_equal(!*found(&s, text), i < 64 || i > 127);
	}
	nameset_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_the_deepest_above),
		cmocka_unit_test(test_whether_one_is_under),
		cmocka_unit_test(test_what_is_no_name),
		cmocka_unit_test(test_special_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
