/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A forwarder for each test, and the names that it is asked for: what the tests of its replies
 * share. */
#ifndef VOLLEY_TESTS_FORWARD_FIXTURES_H
#define VOLLEY_TESTS_FORWARD_FIXTURES_H

#include "forward_lab.h"

#define WWW   "\3www\7example\0"
#define OTHER "\5other\7example\0"
#define THIRD "\5third\7example\0"
/* In random letter case it has no capital with a probability of 1 in 2^38. */
#define LONG   \
	"\x1f" \
	"abcdefghijklmnopqrstuvwxyzabcde\7example\0"

static struct lab lab;

static int begin(void **state)
{
	(void)state;
	lab_open(&lab, false);
	return 0;
}

static int begin_with_case(void **state)
{
	(void)state;
	lab_open(&lab, true);
	return 0;
}

static int end(void **state)
{
	(void)state;
	lab_close(&lab);
	return 0;
}

/* A question, and the query for it that the upstream gets. */
static inline struct lab_message ask_and_take(const char *name)
{
	lab_ask(&lab, name);
	return lab_query(&lab);
}

#define TEST(name)      cmocka_unit_test_setup_teardown(name, begin, end)
#define CASE_TEST(name) cmocka_unit_test_setup_teardown(name, begin_with_case, end)

#endif
