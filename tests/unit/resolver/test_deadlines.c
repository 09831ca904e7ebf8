/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/deadlines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS    1000000ULL
#define START (1000 * 1000 * MS + 12345)

static struct deadlines deadlines;
static struct cds_list_head over;

static unsigned int expire(uint64_t now_ns)
{
	struct deadline *entry;
	unsigned int n = 0;

	CDS_INIT_LIST_HEAD(&over);
	deadlines_expire(&deadlines, now_ns, &over);
	cds_list_for_each_entry(entry, &over, node)
		n++;
	return n;
}

/* After `at`, and at most two ticks after, whichever turn of the wheel it is. */
static void each_fires_in_its_time(void **state)
{
	static const int64_t rows_ms[] = { -5000, -1, 0, 1, 8, 9, 100, 8191, 8192, 8200, 20000 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows_ms) / sizeof(rows_ms[0]); i++) {
		uint64_t at = START + (uint64_t)(rows_ms[i] * (int64_t)MS);
		uint64_t due = at > START ? at : START;
		struct deadline entry;
		uint64_t now = START;

		deadlines_init(&deadlines, START);
		deadlines_add(&deadlines, &entry, at);
		while (!expire(now))
			now += MS;
		assert_in_range(now, at, due + 2 * DEADLINES_TICK_NS);
		assert_int_equal(expire(now + 100 * MS), 0);
	}
}

static void a_removed_one_does_not_fire(void **state)
{
	struct deadline a, b;

	(void)state;
	deadlines_init(&deadlines, START);
	deadlines_add(&deadlines, &a, START + MS);
	deadlines_add(&deadlines, &b, START + MS);
	deadlines_remove(&a);
	assert_int_equal(expire(START + 50 * MS), 1);
	assert_ptr_equal(over.next, &b.node);
}

static void all_fire_after_a_long_sleep(void **state)
{
	static struct deadline many[5000];

	(void)state;
	deadlines_init(&deadlines, START);
	for (unsigned int i = 0; i < 5000; i++)
		deadlines_add(&deadlines, &many[i], START + i * 7 * MS);
	assert_int_equal(expire(START + 100000 * MS), 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fires_in_its_time),
		cmocka_unit_test(a_removed_one_does_not_fire),
		cmocka_unit_test(all_fire_after_a_long_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
