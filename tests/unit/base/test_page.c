/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/page.h"

#define K 1024u

static const struct row {
	const char *name;
	size_t page, at, n, first, inside;
} rows[] = {
	{ "a page", 4 * K, 4 * K, 4 * K, 4 * K, 4 * K },
	{ "a chunk of 8 KiB, 4 KiB pages", 4 * K, 8 * K, 8 * K, 8 * K, 8 * K },
	{ "a chunk of 8 KiB, 16 KiB pages", 16 * K, 16 * K, 8 * K, 0, 0 },
	{ "the other one of that page", 16 * K, 24 * K, 8 * K, 0, 0 },
	{ "begins and ends within pages", 16 * K, 20 * K, 40 * K, 32 * K, 16 * K },
	{ "begins a page, ends within one", 64 * K, 64 * K, 68 * K, 64 * K, 64 * K },
	{ "spans no whole page", 64 * K, 68 * K, 68 * K, 0, 0 },
	{ "ends a page", 64 * K, 100 * K, 92 * K, 128 * K, 64 * K },
	{ "nothing", 4 * K, 4 * K, 0, 0, 0 },
};

static void test_inside(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		uintptr_t first;
		size_t inside = page_inside(row->at, row->n, row->page, &first);

		print_message("%s\n", row->name);
		assert_int_equal(inside, row->inside);
		if (inside)
			assert_int_equal(first, row->first);
	}
}

static void test_neighbours_stay(void **state)
{
	size_t page = page_bytes(), n = 4 * page;
	uint8_t *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(at != MAP_FAILED);
	memset(at, 1, n);
	page_release(at + page / 2, 2 * page); /* one whole page, and two halves */
	for (size_t i = 0; i < n; i++)
		assert_int_equal(at[i], i / page == 1 ? 0 : 1);
	assert_int_equal(munmap(at, n), 0);
}

static void test_round(void **state)
{
	(void)state;
	assert_int_equal(page_round(0), 0);
	assert_int_equal(page_round(1), page_bytes());
	assert_int_equal(page_round(page_bytes()), page_bytes());
	assert_int_equal(page_round((5ull << 32) + 1), (5ull << 32) + page_bytes());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_neighbours_stay),
		cmocka_unit_test(test_round),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
