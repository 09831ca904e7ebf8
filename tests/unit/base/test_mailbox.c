/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/mailbox.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define N_POSTS 20000

struct numbered {
	struct post post;
	uint32_t number;
};

static struct mailbox box;
static struct numbered posts[N_POSTS];

static bool is_readable(int wait_ms)
{
	struct pollfd fd = { .fd = box.fd, .events = POLLIN };

	return poll(&fd, 1, wait_ms) == 1;
}

static int open_box(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < N_POSTS; i++)
		posts[i].number = i;
	return mailbox_open(&box);
}

static int close_box(void **state)
{
	(void)state;
	mailbox_close(&box);
	mailbox_close(&box);
	return 0;
}

static void an_empty_one_is_quiet(void **state)
{
	(void)state;
	assert_false(is_readable(0));
	assert_null(mailbox_take(&box));
	mailbox_wake(&box);
	assert_true(is_readable(0));
	assert_null(mailbox_take(&box));
	assert_false(is_readable(0));
}

static void all_come_in_order(void **state)
{
	struct post *post;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		mailbox_put(&box, &posts[i].post);
	assert_true(is_readable(0));
	post = mailbox_take(&box);
	for (unsigned int i = 0; i < 3; i++, post = post->next)
		assert_ptr_equal(post, &posts[i].post);
	assert_null(post);
	assert_false(is_readable(0));
	assert_null(mailbox_take(&box));
}

static void *put_all(void *unused)
{
	for (uint32_t i = 0; i < N_POSTS; i++)
		mailbox_put(&box, &posts[i].post);
	return unused;
}

/* Nobody sleeps while there is something: a lost wake-up would end the wait. */
static void another_thread_loses_none(void **state)
{
	uint32_t n = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, put_all, NULL), 0);
	while (n < N_POSTS) {
		struct post *post;

		assert_true(is_readable(20000));
		for (post = mailbox_take(&box); post; post = post->next)
			assert_int_equal(((struct numbered *)post)->number, n++);
	}
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_empty_one_is_quiet, open_box, close_box),
		cmocka_unit_test_setup_teardown(all_come_in_order, open_box, close_box),
		cmocka_unit_test_setup_teardown(another_thread_loses_none, open_box, close_box),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
