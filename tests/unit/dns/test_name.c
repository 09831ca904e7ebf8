/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dns/name.h"

/* A string literal's bytes without its NUL. */
#define WIRE(s)       (const uint8_t *)(s), sizeof(s) - 1
#define N_ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* A name of n_bytes octets (3 or more) including its root: labels of 63, the last ones shorter. */
static size_t long_name(uint8_t *dst, size_t n_bytes)
{
	size_t at = 0;

	while (n_bytes - at > 1) {
		size_t n = n_bytes - at - 2;

		/* No label could fill a rest of one octet: leave two. */
		if (n > DNS_LABEL_MAX)
			n = n == DNS_LABEL_MAX + 1 ? DNS_LABEL_MAX - 1 : DNS_LABEL_MAX;
		dst[at] = (uint8_t)n;
		memset(dst + at + 1, 'X', n);
		at += 1 + n;
	}
	dst[at++] = 0;
	return at;
}

/* --- name_check ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	const uint8_t *wire;
	size_t cap;
	int want;
} checks[] = {
	{ "root", WIRE("\0"), 1 },
	{ "no byte", WIRE(""), ERR_SHORT },
	{ "www.example", WIRE("\3www\7example\0"), 13 },
	{ "bytes behind it", WIRE("\1a\0\xff\xff"), 3 },
	{ "root octet missing", WIRE("\3www\7example"), ERR_SHORT },
	{ "in the middle of a label", WIRE("\3www\7exa"), ERR_SHORT },
	{ "pointer", WIRE("\xc0\x0c"), ERR_NAME },
	{ "label, pointer", WIRE("\1a\xc0\x0c"), ERR_NAME },
	{ "bit label (RFC 2673)", WIRE("\x41\x01\0"), ERR_NAME },
	{ "label type 10", WIRE("\x80\0"), ERR_NAME },
	{ "zero and capital octets in a label", WIRE("\3\0A\xff\0"), 5 },
};

static void test_check(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(checks); i++)
		if (name_check(checks[i].wire, checks[i].cap) != checks[i].want)
			fail_msg("%s", checks[i].name);
}

static void test_check_every_name_length(void **state)
{
	uint8_t wire[300];

	(void)state;
	for (size_t n = 3; n <= 290; n++) {
		assert_int_equal(long_name(wire, n), n);
		assert_int_equal(name_check(wire, sizeof(wire)), n <= 255 ? (int)n : ERR_NAME_LONG);
		if (n <= 255)
			assert_int_equal(name_bytes(wire), n);
	}
}

static void test_check_every_label_length(void **state)
{
	(void)state;
	for (unsigned int n = 0; n <= 255; n++) {
		uint8_t wire[300] = { (uint8_t)n };
		int want = n == 0 ? 1 : n <= 63 ? (int)n + 2 : ERR_NAME;

		assert_int_equal(name_check(wire, sizeof(wire)), want);
	}
}

/* In a block of its own length, so that a sanitizer sees the first byte read beyond it. */
static void test_check_every_truncation(void **state)
{
	uint8_t wire[255];

	(void)state;
	long_name(wire, sizeof(wire));
	for (size_t n = 0; n < sizeof(wire); n++) {
		uint8_t *cut = malloc(n + !n);

		memcpy(cut, wire, n);
		assert_int_equal(name_check(cut, n), ERR_SHORT);
		free(cut);
	}
}

/* --- name_fold -------------------------------------------------------------------------------- */

static void test_fold_every_octet_at_every_place(void **state)
{
	(void)state;
	for (unsigned int c = 0; c <= 255; c++) {
		for (size_t place = 0; place < 16; place++) {
			uint8_t src[16], dst[16];

			memset(src, 0xff, sizeof(src));
			src[place] = (uint8_t)c;
			name_fold(dst, src, sizeof(src));
			for (size_t i = 0; i < 16; i++)
				assert_int_equal(dst[i], i != place           ? 0xff :
							 c >= 'A' && c <= 'Z' ? c + 32 :
										c);
		}
	}
}

static void test_fold_pads_to_eight(void **state)
{
	(void)state;
	for (size_t n = 0; n <= 255; n++) {
		uint8_t *src = malloc(n + !n), dst[264];
		size_t padded = (n + 7) / 8 * 8;

		memset(src, 'Q', n);
		memset(dst, 0xee, sizeof(dst));
		name_fold(dst, src, n);
		for (size_t i = 0; i < sizeof(dst); i++)
			assert_int_equal(dst[i], i < n ? 'q' : i < padded ? 0 : 0xee);
		free(src);
	}
}

/* --- Comparisons ------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	const char *a, *b;
	bool equal, under; /* a == b; a is b or below it */
} pairs[] = {
	{ "roots", "\0", "\0", true, true },
	{ "same", "\3www\2de\0", "\3www\2de\0", true, true },
	{ "letter case", "\3WwW\2De\0", "\3wWw\2dE\0", true, true },
	{ "child", "\3www\2de\0", "\2de\0", false, true },
	{ "child in other case", "\3www\2DE\0", "\2de\0", false, true },
	{ "all is under the root", "\3www\2de\0", "\0", false, true },
	{ "the root is not under de", "\0", "\2de\0", false, false },
	{ "parent", "\2de\0", "\3www\2de\0", false, false },
	{ "sibling", "\3www\2de\0", "\3ftp\2de\0", false, false },
	{ "octets match, labels do not", "\6abc\2de\0", "\2de\0", false, false },
	{ "other end", "\2de\3www\0", "\2de\0", false, false },
	{ "[ and { differ though 0x20 apart", "\1[\0", "\1{\0", false, false },
	{ "@ and ` too", "\1@\0", "\1`\0", false, false },
	{ "octets above 127 have no case", "\1\xc1\0", "\1\xe1\0", false, false },
};

static void test_equal_and_under(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(pairs); i++) {
		const uint8_t *a = (const uint8_t *)pairs[i].a, *b = (const uint8_t *)pairs[i].b;

		if (name_equal(a, b) != pairs[i].equal || name_is_under(a, b) != pairs[i].under)
			fail_msg("%s", pairs[i].name);
	}
}

static void test_labels_and_parents(void **state)
{
	const uint8_t *name = (const uint8_t *)"\1a\2bc\3def\0";

	(void)state;
	for (unsigned int n = 3; n; n--) {
		assert_int_equal(name_n_labels(name), n);
		assert_ptr_equal(name_skip_labels(name, 1), name_parent(name));
		name = name_parent(name);
	}
	assert_int_equal(name_n_labels(name), 0);
	assert_null(name_parent(name));
}

static void test_most_labels(void **state)
{
	uint8_t wire[255];

	(void)state;
	for (size_t i = 0; i < 254; i += 2)
		memcpy(wire + i, "\1x", 2);
	wire[254] = 0;
	assert_int_equal(name_check(wire, sizeof(wire)), 255);
	assert_int_equal(name_n_labels(wire), DNS_LABELS_MAX);
	assert_int_equal(name_canonical_cmp(wire, wire), 0);
	assert_true(name_is_under(wire, wire + 252));
}

/* The order of the example in RFC 4034 section 6.1, and more. */
static const char *const ordered[] = {
	"\0",
	"\7example\0",
	"\1a\7example\0",
	"\x08yljkjljk\1a\7example\0",
	"\1Z\1a\7example\0",
	"\4zABC\1a\7EXAMPLE\0",
	"\1z\7example\0",
	"\1\1\1z\7example\0",
	"\1*\1z\7example\0",
	"\1\xc8\1z\7example\0",
	"\2z\0\7example\0",
	"\2zz\7example\0",
	"\7examplf\0",
};

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void test_canonical_order(void **state)
{
	(void)state;
	for (int i = 0; i < (int)N_ROWS(ordered); i++)
		for (int j = 0; j < (int)N_ROWS(ordered); j++)
			assert_int_equal(sign(name_canonical_cmp((const uint8_t *)ordered[i],
								 (const uint8_t *)ordered[j])),
					 sign(i - j));
}

/* --- Text ------------------------------------------------------------------------------------- */

static const struct {
	const char *name, *text;
	const uint8_t *wire;
	size_t n_bytes;
	const char *back; /* NULL: the text itself */
} texts[] = {
	{ "root", ".", WIRE("\0"), NULL },
	{ "absolute", "www.example.", WIRE("\3www\7example\0"), NULL },
	{ "without the last dot", "www.example", WIRE("\3www\7example\0"), "www.example." },
	{ "letter case stays", "wWw.", WIRE("\3wWw\0"), NULL },
	{ "escaped dot", "a\\.b.", WIRE("\3a.b\0"), NULL },
	{ "escaped backslash", "\\\\.", WIRE("\1\\\0"), NULL },
	{ "escaped digit by number", "\\049.", WIRE("\0011\0"), "1." },
	{ "escaped letter", "\\a.", WIRE("\1a\0"), "a." },
	{ "zero octet", "a\\000b.", WIRE("\3a\0b\0"), NULL },
	{ "255", "\\255.", WIRE("\1\xff\0"), NULL },
	{ "space", "a\\ b.", WIRE("\3a b\0"), "a\\032b." },
	{ "zone file's own characters", "\\@\\$\\(\\)\\;\\\".", WIRE("\6@$();\"\0"), NULL },
	{ "underscore, star, slash", "_x.*.0/25.", WIRE("\2_x\1*\0040/25\0"), NULL },
	{ "raw octets above 127", "\xc3\xa4.", WIRE("\2\xc3\xa4\0"), "\\195\\164." },
};

static void test_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(texts); i++) {
		uint8_t wire[DNS_NAME_MAX];
		char back[NAME_TEXT_MAX];
		const char *want = texts[i].back ? texts[i].back : texts[i].text;
		int n = name_from_text(wire, sizeof(wire), texts[i].text, strlen(texts[i].text));

		if (n != (int)texts[i].n_bytes || memcmp(wire, texts[i].wire, texts[i].n_bytes))
			fail_msg("%s: from text", texts[i].name);
		if (name_to_text(back, sizeof(back), wire) != (int)strlen(want) ||
		    strcmp(back, want))
			fail_msg("%s: to text", texts[i].name);
	}
}

#define L62 "12345678901234567890123456789012345678901234567890123456789012"

static const struct {
	const char *name, *text;
	int want;
} bad_texts[] = {
	{ "nothing", "", ERR_LABEL_EMPTY },
	{ "two dots", "a..b", ERR_LABEL_EMPTY },
	{ "dot in front", ".a", ERR_LABEL_EMPTY },
	{ "only dots", "..", ERR_LABEL_EMPTY },
	{ "label of 63", L62 "3", 65 },
	{ "label of 64", L62 "34", ERR_LABEL_LONG },
	{ "\\ at the end", "a\\", ERR_ESCAPE },
	{ "two digits", "a\\12", ERR_ESCAPE },
	{ "two digits and a letter", "a\\12b", ERR_ESCAPE },
	{ "256", "\\256", ERR_ESCAPE },
	{ "999", "\\999", ERR_ESCAPE },
	{ "a space", "a b", ERR_ESCAPE },
	{ "a line end left on", "example.\n", ERR_ESCAPE },
	{ "256 octets", L62 "3." L62 "3." L62 "3." L62, ERR_NAME_LONG },
	{ "192 and 3 octets", L62 "3." L62 "3." L62 "3.a", 195 },
};

static void test_bad_text(void **state)
{
	uint8_t wire[DNS_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < N_ROWS(bad_texts); i++)
		if (name_from_text(wire, sizeof(wire), bad_texts[i].text,
				   strlen(bad_texts[i].text)) != bad_texts[i].want)
			fail_msg("%s", bad_texts[i].name);
}

/* Every octet value to text and back. */
static void test_text_of_every_octet(void **state)
{
	(void)state;
	for (unsigned int c = 0; c <= 255; c++) {
		uint8_t wire[] = { 1, (uint8_t)c, 0 }, back[3];
		char text[8];
		int n = name_to_text(text, sizeof(text), wire);

		assert_int_equal(name_from_text(back, sizeof(back), text, (size_t)n), 3);
		assert_memory_equal(back, wire, 3);
	}
}

static void test_every_capacity(void **state)
{
	const uint8_t *wire = (const uint8_t *)"\3a\0b\2c.\0";
	const char *text = "a\\000b.c\\..";
	uint8_t back[9];
	char buf[16];

	(void)state;
	for (size_t cap = 0; cap <= sizeof(buf); cap++)
		assert_int_equal(name_to_text(buf, cap, wire), cap < 12 ? ERR_SPACE : 11);
	assert_string_equal(buf, text);
	for (size_t cap = 0; cap <= sizeof(back); cap++)
		assert_int_equal(name_from_text(back, cap, text, 11), cap < 8 ? ERR_SPACE : 8);
	assert_int_equal(name_from_text(back, 0, ".", 1), ERR_SPACE);
	assert_int_equal(name_to_text(buf, 1, (const uint8_t *)"\0"), ERR_SPACE);
}

static void test_longest_text(void **state)
{
	uint8_t wire[255], back[255];
	char text[NAME_TEXT_MAX];
	int n;

	(void)state;
	long_name(wire, sizeof(wire));
	for (size_t i = 0; i < 255; i++)
		wire[i] = wire[i] == 'X' ? 0xff : wire[i];
	n = name_to_text(text, sizeof(text), wire);
	assert_int_equal(n, NAME_TEXT_MAX - 1);
	assert_int_equal(name_from_text(back, sizeof(back), text, (size_t)n), 255);
	assert_memory_equal(back, wire, 255);
	assert_int_equal(name_to_text(text, NAME_TEXT_MAX - 1, wire), ERR_SPACE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_check_every_name_length),
		cmocka_unit_test(test_check_every_label_length),
		cmocka_unit_test(test_check_every_truncation),
		cmocka_unit_test(test_fold_every_octet_at_every_place),
		cmocka_unit_test(test_fold_pads_to_eight),
		cmocka_unit_test(test_equal_and_under),
		cmocka_unit_test(test_labels_and_parents),
		cmocka_unit_test(test_most_labels),
		cmocka_unit_test(test_canonical_order),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_bad_text),
		cmocka_unit_test(test_text_of_every_octet),
		cmocka_unit_test(test_every_capacity),
		cmocka_unit_test(test_longest_text),
	};

	return cmocka_run_group_tests_name("name", tests, NULL, NULL);
}
