/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drivers that are not to be asked for what they say they can. */
#include "iface/quirks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
	struct quirks_pairs pairs; /* in use, at most, CPUs */
	bool is_fatal;
	uint32_t wanted;
} rows[] = {
	{ { 1, 1, 1 }, false, 1 }, { { 1, 1, 4 }, false, 1 },
	{ { 2, 2, 2 }, false, 2 },                           /* they share, with locks */
	{ { 2, 4, 2 }, false, 2 },                           /* two for each CPU's answers */
	{ { 3, 4, 2 }, true, 2 },  { { 4, 4, 2 }, true, 2 }, /* seen: a panic */
	{ { 2, 3, 2 }, false, 2 }, { { 3, 3, 2 }, true, 2 },
	{ { 6, 8, 2 }, false, 6 }, { { 7, 8, 2 }, true, 6 },
	{ { 8, 8, 8 }, false, 8 }, { { 8, 16, 8 }, false, 8 },
};

static void test_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct quirks_pairs *pairs = &rows[i].pairs;
		struct quirks_pairs after = *pairs;

		print_message("%u of %u, %u CPUs\n", pairs->n, pairs->n_max, pairs->n_cpus);
		assert_int_equal(quirks_native_is_fatal("virtio_net", pairs), rows[i].is_fatal);
		assert_false(quirks_native_is_fatal("igb", pairs));
		assert_int_equal(quirks_pairs_wanted(pairs), rows[i].wanted);
		after.n = rows[i].wanted;
		assert_false(quirks_native_is_fatal("virtio_net", &after));
	}
}

/* What was in use is found again behind the program, as far as it can be told. */
static void test_pairs_beside(void **state)
{
	(void)state;
	assert_int_equal(quirks_pairs_beside(2 + 2, 2), 2);
	assert_int_equal(quirks_pairs_beside(1 + 2, 2), 1);
	assert_int_equal(quirks_pairs_beside(6 + 2, 2), 6);
	assert_int_equal(quirks_pairs_beside(1, 2), 1);
	assert_int_equal(quirks_pairs_beside(2, 2), 2);
}

static void test_zerocopy(void **state)
{
	(void)state;
	assert_non_null(quirks_zerocopy("virtio_net"));
	assert_null(quirks_zerocopy("igb"));
	assert_null(quirks_zerocopy(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_pairs_beside),
		cmocka_unit_test(test_zerocopy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
