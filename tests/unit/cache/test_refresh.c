/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which entries are to be fetched anew: said once, to one; and found by what the driver says of
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>

#include "ttls.h"

static void test_refresh_is_due(void **state)
{
	static const struct {
		const char *name;
		uint32_t refresh_s, left_s;
		bool is_due;
	} rows[] = {
		{ "a second too early", 6, 7, false },
		{ "at its second", 6, 6, true },
		{ "the last second", 6, 1, true },
		{ "expired", 6, 0, false },
		{ "never", 0, 1, false },
		{ "all its life", 60, 60, true },
	};
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct volley_entry *e = (struct volley_entry *)put_ttls(&w, i);
		const uint32_t now_s = WORLD_NOW_S + TTLS_LEAST - rows[i].left_s;

		e->refresh_s = (uint16_t)rows[i].refresh_s;
		print_message("%s\n", rows[i].name);
		assert_int_equal(cache_refresh_is_due(e, now_s), rows[i].is_due);
		assert_int_equal(e->refreshing, rows[i].is_due);
		assert_false(cache_refresh_is_due(e, now_s)); /* once */
	}
	world_close(&w);
}

#define N_RACES 10000u

static const struct volley_entry *raced[N_RACES];
static uint32_t n_said, n_arrived;

/* Both look at an entry at the same time, as nearly as can be. */
static void meet(uint32_t i)
{
	__atomic_fetch_add(&n_arrived, 1, __ATOMIC_ACQ_REL);
	for (uint32_t n = 1; __atomic_load_n(&n_arrived, __ATOMIC_ACQUIRE) < 2 * (i + 1); n++)
		if (n % 1000 == 0)
			sched_yield();
}

static void *ask_all(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < N_RACES; i++) {
		meet(i);
		if (cache_refresh_is_due(raced[i], WORLD_NOW_S + TTLS_LEAST - 1))
			__atomic_fetch_add(&n_said, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Of threads that ask at once one hears it. */
static void test_refresh_is_due_to_one(void **state)
{
	pthread_t thread;
	struct world w;

	(void)state;
	world_open(&w, 2 * CACHE_BYTES_MIN);
	for (uint32_t i = 0; i < N_RACES; i++)
		raced[i] = put_ttls(&w, i);
	n_said = n_arrived = 0;
	MUST(!pthread_create(&thread, NULL, ask_all, NULL));
	ask_all(NULL);
	pthread_join(thread, NULL);
	assert_int_equal(n_said, N_RACES);
	world_close(&w);
}

static struct volley_refresh refresh_of(const struct world *w, const struct volley_entry *e)
{
	return (struct volley_refresh){ .hash = e->hash,
					.location = (uint32_t)entry_word(w->cache, e),
					.born_s = e->born_s };
}

/* Beside one of the same hash and birth, for everyone, that does not age. */
static void test_refresh_entry_of_one_hash(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint64_t i = 0; i < 32; i++) {
		struct volley_refresh refresh;
		const struct volley_entry *e;

		put(&w, i);
		e = put_ttls(&w, i);
		assert_true(find(&w, i)->hash == e->hash && find(&w, i)->born_s == e->born_s);
		refresh = refresh_of(&w, e);
		assert_ptr_equal(cache_refresh_entry(w.cache, &refresh), e);
	}
	world_close(&w);
}

/* By hash and birth: where the keeper has moved it, but not what took its place. */
static void test_refresh_entry(void **state)
{
	const struct volley_entry *e, *copy;
	struct volley_refresh refresh;
	struct cache_key key;
	struct world w;
	uint64_t n = 10;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	e = put_ttls(&w, 1);
	refresh = refresh_of(&w, e);
	assert_ptr_equal(cache_refresh_entry(w.cache, &refresh), e);
	((struct volley_entry *)e)->freq = VOLLEY_FREQ_MAX;
	do {
		put(&w, n++);
		copy = cache_refresh_entry(w.cache, &refresh);
		assert_non_null(copy);
	} while (copy == e);
	assert_int_equal(copy->key.view, VOLLEY_VIEW_RECURSIVE);
	refresh.born_s--;
	assert_null(cache_refresh_entry(w.cache, &refresh));
	refresh.born_s++;
	refresh.hash ^= 1ull << 20;
	assert_null(cache_refresh_entry(w.cache, &refresh));
	refresh.hash ^= 1ull << 20;
	assert_ptr_equal(cache_refresh_entry(w.cache, &refresh), copy);
	key = key_in_view(w.cache, 1, VOLLEY_VIEW_RECURSIVE);
	assert_int_equal(cache_withdraw(w.cache, &key), 0);
	assert_null(cache_refresh_entry(w.cache, &refresh));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refresh_is_due),
		cmocka_unit_test(test_refresh_is_due_to_one),
		cmocka_unit_test(test_refresh_entry_of_one_hash),
		cmocka_unit_test(test_refresh_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
