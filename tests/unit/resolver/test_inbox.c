/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/inbox.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define N_THREADS 4
#define N_EACH    20000

struct item {
	struct inbox_link link;
	uint32_t thread;
	uint32_t number;
};

static struct inbox box;
static struct item items[N_THREADS][N_EACH];

static bool is_readable(void)
{
	struct pollfd fd = { .fd = box.fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void put(struct item *item, unsigned int n)
{
	struct inbox_chain chain = { 0 };

	for (unsigned int i = 0; i < n; i++)
		inbox_chain_add(&chain, &item[i].link);
	inbox_put(&box, &chain);
	assert_null(chain.first);
}

static int open_box(void **state)
{
	(void)state;
	return inbox_open(&box);
}

static int close_box(void **state)
{
	(void)state;
	inbox_close(&box);
	return 0;
}

static void chains_come_out_oldest_first(void **state)
{
	struct inbox_link *link;

	(void)state;
	assert_null(inbox_take(&box));
	put(&items[0][0], 3);
	put(&items[0][3], 1);
	put(&items[0][4], 2);
	link = inbox_take(&box);
	for (unsigned int i = 0; i < 6; i++, link = link->next)
		assert_ptr_equal(link, &items[0][i].link);
	assert_null(link);
	assert_null(inbox_take(&box));
}

static void the_owner_is_woken_once(void **state)
{
	struct inbox_chain none = { 0 };
	uint64_t n = 0;

	(void)state;
	inbox_put(&box, &none);
	assert_false(is_readable());
	put(&items[0][0], 2);
	put(&items[0][2], 2);
	assert_true(is_readable());
	assert_int_equal(read(box.fd, &n, sizeof(n)), sizeof(n));
	assert_int_equal(n, 1);
	assert_non_null(inbox_take(&box));
	put(&items[0][0], 1);
	assert_true(is_readable());
	assert_non_null(inbox_take(&box));
	assert_false(is_readable());
}

static void a_quiet_inbox_wakes_nobody(void **state)
{
	(void)state;
	box = (struct inbox)INBOX_QUIET;
	put(&items[0][0], 2);
	put(&items[0][2], 1);
	assert_ptr_equal(inbox_take(&box), &items[0][0].link);
	assert_ptr_equal(items[0][1].link.next, &items[0][2].link);
	assert_null(inbox_take(&box));
}

static void *fill(void *arg)
{
	struct item *mine = arg;

	for (unsigned int i = 0; i < N_EACH; i += 4)
		put(&mine[i], 4);
	return NULL;
}

/* Sleeps in poll(), so a wake-up that is lost would hang it. */
static void nothing_is_lost_between_threads(void **state)
{
	struct pollfd fd = { .fd = box.fd, .events = POLLIN };
	uint32_t next[N_THREADS] = { 0 };
	pthread_t threads[N_THREADS];
	uint32_t n = 0;

	(void)state;
	for (uint32_t t = 0; t < N_THREADS; t++) {
		for (uint32_t i = 0; i < N_EACH; i++)
			items[t][i] = (struct item){ .thread = t, .number = i };
		assert_int_equal(pthread_create(&threads[t], NULL, fill, items[t]), 0);
	}
	while (n < N_THREADS * N_EACH) {
		assert_int_equal(poll(&fd, 1, 20000), 1);
		for (struct inbox_link *l = inbox_take(&box); l; l = l->next, n++) {
			const struct item *item = (const struct item *)l;

			assert_int_equal(item->number, next[item->thread]++);
		}
	}
	for (unsigned int t = 0; t < N_THREADS; t++)
		pthread_join(threads[t], NULL);
	assert_null(inbox_take(&box));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(chains_come_out_oldest_first, open_box, close_box),
		cmocka_unit_test_setup_teardown(the_owner_is_woken_once, open_box, close_box),
		cmocka_unit_test(a_quiet_inbox_wakes_nobody),
		cmocka_unit_test_setup_teardown(nothing_is_lost_between_threads, open_box,
						close_box),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
