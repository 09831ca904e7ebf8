/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/upstream_cookie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW    1000ULL
#define CLIENT "CLIENT-8"
#define SERVER "server-cookie-16"

static struct upstream_cookie fresh(void)
{
	struct upstream_cookie c;
	uint64_t client;

	memcpy(&client, CLIENT, sizeof(client));
	upstream_cookie_init(&c, client);
	return c;
}

static enum upstream_cookie_verdict judge(struct upstream_cookie *c, const char *option, size_t n)
{
	return upstream_cookie_judge(c, (const uint8_t *)option, n, false, NOW);
}

struct row {
	const char *name;
	const char *option;
	size_t n;
	enum upstream_cookie_verdict verdict;
	size_t n_kept;
};

static const struct row rows[] = {
	{ "none", NULL, 0, UPSTREAM_COOKIE_GOOD, 8 },
	{ "empty", "", 0, UPSTREAM_COOKIE_FOREIGN, 8 },
	{ "cut", CLIENT, 7, UPSTREAM_COOKIE_FOREIGN, 8 },
	{ "the client's alone", CLIENT, 8, UPSTREAM_COOKIE_GOOD, 8 },
	{ "a server cookie of 1", CLIENT SERVER, 9, UPSTREAM_COOKIE_FOREIGN, 8 },
	{ "a server cookie of 7", CLIENT SERVER, 15, UPSTREAM_COOKIE_FOREIGN, 8 },
	{ "a server cookie of 8", CLIENT SERVER, 16, UPSTREAM_COOKIE_GOOD, 16 },
	{ "a server cookie of 32", CLIENT SERVER SERVER, 40, UPSTREAM_COOKIE_GOOD, 40 },
	{ "a server cookie of 33", CLIENT SERVER SERVER "!", 41, UPSTREAM_COOKIE_FOREIGN, 8 },
	{ "another client's", "CLIENT-9" SERVER, 24, UPSTREAM_COOKIE_FOREIGN, 8 },
};

static void options_are_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct upstream_cookie c = fresh();

		if (judge(&c, rows[i].option, rows[i].n) != rows[i].verdict ||
		    c.n_bytes != rows[i].n_kept)
			fail_msg("%s", rows[i].name);
		if (rows[i].n_kept > 8)
			assert_memory_equal(c.bytes, rows[i].option, rows[i].n_kept);
	}
}

static void a_cookie_that_was_given_is_expected(void **state)
{
	struct upstream_cookie c = fresh();

	(void)state;
	assert_int_equal(judge(&c, CLIENT SERVER, 24), UPSTREAM_COOKIE_GOOD);
	assert_int_equal(judge(&c, NULL, 0), UPSTREAM_COOKIE_MISSING);
	assert_int_equal(c.n_bytes, 24);
}

static void a_wrong_one_is_a_guess_once_the_right_one_has_come(void **state)
{
	struct upstream_cookie c = fresh();

	(void)state;
	assert_int_equal(judge(&c, CLIENT SERVER, 24), UPSTREAM_COOKIE_GOOD);
	assert_int_equal(judge(&c, "CLIENT-9" SERVER, 24), UPSTREAM_COOKIE_WRONG);
	assert_true(upstream_cookie_is_on(&c, NOW));
}

static void a_wrong_one_over_tcp_ends_the_cookies(void **state)
{
	struct upstream_cookie c = fresh();

	(void)state;
	assert_int_equal(judge(&c, CLIENT SERVER, 24), UPSTREAM_COOKIE_GOOD);
	assert_int_equal(upstream_cookie_judge(&c, (const uint8_t *)"CLIENT-9" SERVER, 24, true,
					       NOW),
			 UPSTREAM_COOKIE_GOOD);
	assert_int_equal(c.n_bytes, 8);
	assert_false(upstream_cookie_is_on(&c, NOW + UPSTREAM_COOKIE_LAX_NS - 1));
	assert_true(upstream_cookie_is_on(&c, NOW + UPSTREAM_COOKIE_LAX_NS));
}

static void tcp_says_that_there_are_none_any_more(void **state)
{
	struct upstream_cookie c = fresh();
	uint64_t end = NOW + UPSTREAM_COOKIE_LAX_NS;

	(void)state;
	assert_int_equal(judge(&c, CLIENT SERVER, 24), UPSTREAM_COOKIE_GOOD);
	assert_int_equal(upstream_cookie_judge(&c, NULL, 0, true, NOW), UPSTREAM_COOKIE_GOOD);
	assert_int_equal(c.n_bytes, 8);
	/* One server of several behind the address has cookies: the others are still taken. */
	assert_int_equal(judge(&c, CLIENT SERVER, 24), UPSTREAM_COOKIE_GOOD);
	assert_int_equal(judge(&c, NULL, 0), UPSTREAM_COOKIE_GOOD);
	assert_int_equal(upstream_cookie_judge(&c, NULL, 0, false, end), UPSTREAM_COOKIE_MISSING);
}

static void a_refused_option_is_left_out_for_a_while(void **state)
{
	struct upstream_cookie c = fresh();

	(void)state;
	assert_true(upstream_cookie_is_on(&c, NOW));
	upstream_cookie_refused(&c, NOW);
	assert_false(upstream_cookie_is_on(&c, NOW + UPSTREAM_COOKIE_OFF_NS - 1));
	assert_true(upstream_cookie_is_on(&c, NOW + UPSTREAM_COOKIE_OFF_NS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_are_judged),
		cmocka_unit_test(a_cookie_that_was_given_is_expected),
		cmocka_unit_test(a_wrong_one_is_a_guess_once_the_right_one_has_come),
		cmocka_unit_test(a_wrong_one_over_tcp_ends_the_cookies),
		cmocka_unit_test(tcp_says_that_there_are_none_any_more),
		cmocka_unit_test(a_refused_option_is_left_out_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
