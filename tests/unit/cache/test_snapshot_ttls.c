/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that age, through a file: they are as old behind it as they would be without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cache/entry_walk.h"
#include "snapshots.h"
#include "ttls.h"

/* Born 3 s before WORLD_NOW_S, when the file is written; the wall clock is at 1000000 then. */
#define BORN_AGO_S 3u

static void put_older(struct world *w, uint64_t number)
{
	struct cache_key key = key_in_view(w->cache, number, VOLLEY_VIEW_RECURSIVE);
	struct cache_answer a = ttls_answer(w);

	a.expires_s -= BORN_AGO_S;
	MUST(!cache_publish(w->writer, &key, &a, WORLD_NOW_S - BORN_AGO_S));
}

static const struct clock_case {
	const char *name;
	struct snapshot_times times;
	uint32_t age_s;
} clock_cases[] = {
	{ "at once", { WORLD_NOW_S, 1000000, "this boot......" }, BORN_AGO_S },
	{ "same boot, later", { WORLD_NOW_S + 20, 1000020, "this boot......" }, BORN_AGO_S + 20 },
	{ "same boot, wall clock set back",
	  { WORLD_NOW_S + 20, 5, "this boot......" },
	  BORN_AGO_S + 20 },
	{ "rebooted", { 10, 1000030, "another boot..." }, BORN_AGO_S + 30 },
	{ "rebooted long ago", { 40000, 1000030, "another boot..." }, BORN_AGO_S + 30 },
	{ "rebooted, the last second", { 1, 1000056, "another boot..." }, BORN_AGO_S + 56 },
};

static void check_loaded(const struct world *w, const struct clock_case *c)
{
	const uint32_t left_s = TTLS_LEAST - c->age_s;
	const struct volley_entry *e = find_ttls(w, 1, c->times.now_s);

	assert_non_null(e);
	assert_int_equal(e->n_ttls, TTLS_N);
	assert_int_equal(e->refresh_s, 6);
	assert_int_equal(e->refreshing, 0); /* it was, but who did is gone */
	assert_int_equal(e->expires_s, c->times.now_s + left_s);
	assert_true(entry_is_sound(e, e->bytes));
	for (uint32_t s = 0; s < left_s; s++) {
		assert_true(is_aged(e, c->times.now_s + s, TTLS_FULL, c->age_s + s));
		assert_true(is_aged(e, c->times.now_s + s, TTLS_SHORT, c->age_s + s));
	}
	assert_null(find_ttls(w, 1, c->times.now_s + left_s));
}

static void test_clocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(clock_cases) / sizeof(clock_cases[0]); i++) {
		const struct clock_case *c = &clock_cases[i];
		struct snapshot_read told;
		struct pair p;

		pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
		put_older(&p.a, 1);
		assert_true(cache_refresh_is_due(find_ttls(&p.a, 1, WORLD_NOW_S),
						 WORLD_NOW_S + TTLS_LEAST - BORN_AGO_S - 1));
		save(&p.a, p.fd);
		print_message("%s\n", c->name);
		assert_int_equal(load_at(&p.b, p.fd, &c->times, &told), 0);
		assert_int_equal(told.n_loaded, 1);
		check_loaded(&p.b, c);
		pair_close(&p);
	}
}

/* Two reboots: of what the clock could not tell after the first, nothing is counted twice or
 * lost. */
static void test_twice(void **state)
{
	const struct snapshot_times second = { 10, 1000030, "second boot...." };
	const struct snapshot_times written = { 15, 1000035, "second boot...." };
	const struct clock_case third = { "twice",
					  { 2, 1000040, "third boot....." },
					  BORN_AGO_S + 40 };
	struct snapshot_read told;
	struct pair p;
	struct world c;
	int fd = make_file();

	(void)state;
	pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	world_open(&c, CACHE_BYTES_MIN);
	put_older(&p.a, 1);
	save(&p.a, p.fd);
	assert_int_equal(load_at(&p.b, p.fd, &second, &told), 0);
	assert_int_equal(save_at(&p.b, fd, &written).n_entries, 1);
	assert_int_equal(load_at(&c, fd, &third.times, &told), 0);
	assert_int_equal(told.n_loaded, 1);
	check_loaded(&c, &third);
	world_close(&c);
	pair_close(&p);
	close(fd);
}

/* Where it was fetched and in which queue it was share an octet. */
static void test_memories(void **state)
{
	struct snapshot_read told;
	struct pair p;

	(void)state;
	pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	for (uint8_t n = 0; n < 2; n++)
		((struct volley_entry *)put_ttls(&p.a, n))->memory = n;
	save(&p.a, p.fd);
	assert_int_equal(load(&p.b, p.fd, &told), 0);
	for (uint8_t n = 0; n < 2; n++) {
		const struct volley_entry *e = find_ttls(&p.b, n, WORLD_NOW_S);

		assert_int_equal(e->memory, n);
		assert_false(cache_entry_is_main(p.b.cache, e));
	}
	pair_close(&p);
}

static void test_views(void **state)
{
	struct snapshot_read told;
	struct pair p;

	(void)state;
	pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	put(&p.a, 1); /* public */
	put_ttls(&p.a, 1);
	save(&p.a, p.fd);
	assert_int_equal(load(&p.b, p.fd, &told), 0);
	assert_int_equal(told.n_loaded, 2);
	assert_true(get(&p.b, 1));
	assert_true(is_aged(find_ttls(&p.b, 1, WORLD_NOW_S), WORLD_NOW_S, TTLS_FULL, 0));
	pair_close(&p);
}

/* As long as they can be. */
static void test_largest(void **state)
{
	static uint8_t body[65535];
	static uint16_t ttls[65535 / 4];
	struct snapshot_read told;
	struct cache_answer a;
	struct cache_key key;
	struct pair p;

	(void)state;
	for (size_t i = 0; i < sizeof(ttls) / sizeof(ttls[0]); i++)
		ttls[i] = (uint16_t)(i * 4);
	pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	for (uint64_t i = 0; i < 16; i++) {
		key = key_in_view(p.a.cache, i, VOLLEY_VIEW_RECURSIVE);
		a = ttls_answer(&p.a);
		a.body = body;
		a.full_bytes = sizeof(body);
		a.ttls = ttls;
		a.n_ttls = sizeof(ttls) / sizeof(ttls[0]);
		a.short_bytes = 0;
		MUST(!cache_publish(p.a.writer, &key, &a, WORLD_NOW_S));
	}
	save(&p.a, p.fd);
	assert_int_equal(load(&p.b, p.fd, &told), 0);
	assert_int_equal(told.n_loaded, 16);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clocks),   cmocka_unit_test(test_twice),
		cmocka_unit_test(test_memories), cmocka_unit_test(test_views),
		cmocka_unit_test(test_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
