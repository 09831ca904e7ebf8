/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cache/entry_walk.h"
#include "tests/lib/wholewalk.h"
#include "world.h"

#define N_NAMES 1000u

struct sight {
	struct world *w;
	unsigned int seen[N_NAMES];
	unsigned int n_seen, stop_at;
};

static enum walk_step see(void *user, const struct volley_entry *e)
{
	struct sight *s = user;
	uint16_t number = ntohs(e->ancount);

	MUST(is_whole(e, number));
	s->seen[number]++;
	if (++s->n_seen == s->stop_at)
		return WALK_STOP;
	return number % 3 ? WALK_ON : WALK_WITHDRAW;
}

static void test_shows_each_and_withdraws(void **state)
{
	struct sight s = { 0 };
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint64_t i = 0; i < N_NAMES; i++)
		put(&w, i);
	assert_int_equal(whole_walk(w.cache, see, &s), (N_NAMES + 2) / 3);
	for (uint64_t i = 0; i < N_NAMES; i++) {
		assert_int_equal(s.seen[i], 1);
		assert_int_equal(get(&w, i), i % 3 != 0);
	}
	s = (struct sight){ .stop_at = 10 };
	whole_walk(w.cache, see, &s);
	assert_int_equal(s.n_seen, 10);
	world_close(&w);
}

static void test_in_parts(void **state)
{
	struct sight s = { 0 };
	uint64_t n = 0;
	struct world w;
	size_t at = 0;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint64_t i = 0; i < N_NAMES; i++)
		put(&w, i);
	while (at < cache_walk_end(w.cache)) {
		size_t before = at;

		n += cache_walk_part(w.cache, &at, 1000, see, &s);
		assert_true(at > before && at - before <= 1000);
	}
	assert_int_equal(at, cache_walk_end(w.cache));
	assert_int_equal(n, (N_NAMES + 2) / 3);
	for (uint64_t i = 0; i < N_NAMES; i++)
		assert_int_equal(s.seen[i], 1);
	s = (struct sight){ .stop_at = 1 };
	at = 0;
	cache_walk_part(w.cache, &at, SIZE_MAX, see, &s);
	assert_int_equal(at, cache_walk_end(w.cache)); /* there is no more to come */
	world_close(&w);
}

/* Replaced between the look and the withdrawal, as when the keeper moves it. */
static enum walk_step replace_once(void *user, const struct volley_entry *e)
{
	struct sight *s = user;

	(void)e;
	if (!s->n_seen++)
		MUST(!put_by(s->w, s->w->writer, 7, 2));
	return WALK_WITHDRAW;
}

static void test_moved_one_is_withdrawn(void **state)
{
	struct world w;
	struct sight s = { .w = &w };

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	put(&w, 7);
	assert_int_equal(whole_walk(w.cache, replace_once, &s), 1);
	assert_int_equal(s.n_seen, 2);
	assert_false(get(&w, 7));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shows_each_and_withdraws),
		cmocka_unit_test(test_in_parts),
		cmocka_unit_test(test_moved_one_is_withdrawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
