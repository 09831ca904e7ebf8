/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Octets written as hexadecimal digits: exactly as many as there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/hex.h"

static const struct {
	const char *name, *text;
	int code;
	uint8_t bytes[2];
} rows[] = {
	{ "digits", "0912", 0, { 0x09, 0x12 } },
	{ "both cases", "aFFa", 0, { 0xaf, 0xfa } },
	{ "too few", "aff", -EINVAL, { 1, 2 } },
	{ "too many", "affaa", -EINVAL, { 1, 2 } },
	{ "none", "", -EINVAL, { 1, 2 } },
	{ "no digit", "af0g", -EINVAL, { 1, 2 } },
	{ "a space", "af 0", -EINVAL, { 1, 2 } },
	{ "beyond ASCII", "af\xc3\xa4", -EINVAL, { 1, 2 } },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t bytes[2] = { 1, 2 };

		print_message("%s\n", rows[i].name);
		assert_int_equal(hex_read(rows[i].text, bytes, sizeof(bytes)), rows[i].code);
		assert_memory_equal(bytes, rows[i].bytes, sizeof(bytes));
	}
}

static void test_all_digits(void **state)
{
	static const char digits[] = "0123456789abcdef";

	(void)state;
	for (int c = 0; c < 256; c++) {
		const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

		assert_int_equal(hex_digit((char)c), at ? at - digits : -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_all_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
