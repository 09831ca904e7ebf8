/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does the program still see frames? From two counters, look by look. */
#include "iface/unseen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/clock.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* One look, a second after the one before. */
struct look {
	uint64_t n_rx, n_received;
	enum unseen_state state;
};

struct row {
	const char *name;
	struct look looks[8]; /* up to one of zeros */
};

#define NO UNSEEN_UNKNOWN

static const struct row rows[] = {
	{ "all is seen", { { 10, 10, NO }, { 20, 20, UNSEEN_NONE }, { 30, 30, UNSEEN_NONE } } },
	{ "nothing comes", { { 10, 10, NO }, { 10, 10, NO }, { 10, 10, NO }, { 10, 10, NO } } },
	{ "lost at once", { { 10, 10, NO }, { 20, 10, NO }, { 30, 10, UNSEEN_LOST } } },
	{ "few frames do not do",
	  { { 10, 10, NO }, { 11, 10, NO }, { 12, 10, NO }, { 13, 10, NO } } },
	{ "few frames, long enough",
	  { { 10, 10, NO },
	    { 11, 10, NO },
	    { 12, 10, NO },
	    { 13, 10, NO },
	    { 14, 10, UNSEEN_LOST } } },
	{ "pauses between",
	  { { 10, 10, NO },
	    { 20, 10, NO },
	    { 20, 10, NO },
	    { 20, 10, NO },
	    { 30, 10, UNSEEN_LOST } } },
	{ "the card counts later",
	  { { 10, 20, NO }, { 20, 20, NO }, { 20, 30, UNSEEN_NONE }, { 30, 30, NO } } },
	{ "one frame of many is seen",
	  { { 10, 10, NO }, { 90, 10, NO }, { 170, 11, UNSEEN_NONE }, { 250, 11, NO } } },
	{ "helped",
	  { { 10, 10, NO }, { 20, 10, NO }, { 30, 10, UNSEEN_LOST }, { 40, 20, UNSEEN_NONE } } },
	{ "lost again",
	  { { 10, 10, NO },
	    { 20, 10, NO },
	    { 30, 10, UNSEEN_LOST },
	    { 40, 20, UNSEEN_NONE },
	    { 50, 20, NO },
	    { 60, 20, UNSEEN_LOST } } },
	{ "did not help",
	  { { 10, 10, NO },
	    { 20, 10, NO },
	    { 30, 10, UNSEEN_LOST },
	    { 38, 10, NO },
	    { 45, 10, NO },
	    { 46, 10, UNSEEN_STILL },
	    { 46, 10, NO },
	    { 47, 10, UNSEEN_STILL } } },
	{ "counters of another card",
	  { { 10, 10, NO },
	    { 20, 10, NO },
	    { 5, 10, NO },
	    { 15, 10, NO },
	    { 25, 10, UNSEEN_LOST } } },
	{ "counters of another program",
	  { { 10, 10, NO }, { 20, 10, NO }, { 30, 0, NO }, { 40, 0, NO }, { 50, 0, UNSEEN_LOST } } },
};

static void test_looks(void **state)
{
	(void)state;
	for (size_t i = 0; i < N(rows); i++) {
		struct unseen unseen = { 0 };

		for (size_t k = 0; k < N(rows[i].looks) && rows[i].looks[k].n_rx; k++) {
			const struct look *look = &rows[i].looks[k];
			enum unseen_state said = unseen_take(&unseen, look->n_rx, look->n_received,
							     (k + 1) * CLOCK_NS_PER_S);

			if (said != look->state)
				print_error("%s, look %zu\n", rows[i].name, k);
			assert_int_equal(said, look->state);
		}
	}
}

/* News of links comes in bursts: those are no looks. */
static void test_once_a_second(void **state)
{
	struct unseen unseen = { 0 };
	const uint64_t begin_ns = 1000;

	(void)state;
	assert_true(unseen_is_due(&unseen, begin_ns));
	assert_int_equal(unseen_take(&unseen, 1, 1, begin_ns), UNSEEN_UNKNOWN);
	for (uint64_t i = 1; i < 100; i++) {
		assert_false(unseen_is_due(&unseen, begin_ns + i));
		assert_int_equal(unseen_take(&unseen, 1 + 10 * i, 1, begin_ns + i), UNSEEN_UNKNOWN);
	}
	assert_true(unseen_is_due(&unseen, begin_ns + CLOCK_NS_PER_S));
	assert_int_equal(unseen_take(&unseen, 2000, 1, begin_ns + CLOCK_NS_PER_S), UNSEEN_UNKNOWN);
	assert_int_equal(unseen_take(&unseen, 3000, 1, begin_ns + 2 * CLOCK_NS_PER_S), UNSEEN_LOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_once_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
