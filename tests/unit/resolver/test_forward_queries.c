/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/forward_queries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define N_QUERIES 4096

static struct forward_queries queries;
static struct forward_query all[N_QUERIES];
static struct forward_channel channels[2];
static struct random rnd;

static int begin(void **state)
{
	(void)state;
	random_init(&rnd);
	forward_channel_init(&channels[0], 0, false);
	forward_channel_init(&channels[1], 1, true);
	return forward_queries_init(&queries, 64); /* crowded */
}

static int end(void **state)
{
	(void)state;
	forward_queries_fini(&queries);
	return 0;
}

static void ids_are_unique_on_a_channel_and_found(void **state)
{
	static uint8_t n_seen[2][65536];

	(void)state;
	for (unsigned int i = 0; i < N_QUERIES; i++) {
		forward_queries_add(&queries, &all[i], &channels[i % 2], &rnd);
		assert_int_equal(n_seen[i % 2][all[i].id]++, 0);
	}
	assert_int_equal(channels[0].n_queries, N_QUERIES / 2);
	for (unsigned int i = 0; i < N_QUERIES; i++) {
		const struct forward_channel *other = &channels[1 - i % 2];

		assert_ptr_equal(forward_queries_find(&queries, &channels[i % 2], all[i].id),
				 &all[i]);
		if (!n_seen[1 - i % 2][all[i].id])
			assert_null(forward_queries_find(&queries, other, all[i].id));
	}
}

static void what_was_taken_off_is_not_found(void **state)
{
	(void)state;
	forward_queries_add(&queries, &all[0], &channels[0], &rnd);
	forward_queries_add(&queries, &all[1], &channels[0], &rnd);
	assert_ptr_equal(channels[0].queries.next, &all[0].on_channel);
	forward_queries_remove(&all[0]);
	assert_null(all[0].channel);
	assert_null(forward_queries_find(&queries, &channels[0], all[0].id));
	assert_non_null(forward_queries_find(&queries, &channels[0], all[1].id));
	assert_int_equal(channels[0].n_queries, 1);
	forward_queries_remove(&all[1]);
	assert_true(cds_list_empty(&channels[0].queries));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ids_are_unique_on_a_channel_and_found, begin, end),
		cmocka_unit_test_setup_teardown(what_was_taken_off_is_not_found, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
