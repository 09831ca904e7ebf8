/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TTLs that age: what is stored, what a reader makes of it, and lists that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ttls.h"

/* --- Reading ---------------------------------------------------------------------------------- */

static void test_entry_has_them(void **state)
{
	const struct volley_entry *e;
	struct cache_answer a;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	e = put_ttls(&w, 1);
	assert_int_equal(e->n_ttls, TTLS_N);
	assert_int_equal(e->refresh_s, 6);
	assert_int_equal(e->memory, 1);
	assert_int_equal(e->refreshing, 0);
	assert_true(volley_ttls_offset(e) + sizeof(ttls_at) <= e->bytes);
	assert_int_equal(volley_ttls_offset(e) % 2, 0);
	assert_memory_equal(cache_entry_ttls(e), ttls_at, sizeof(ttls_at));
	assert_memory_equal(cache_entry_body(e), ttls_body(), TTLS_FULL);
	cache_answer_of(&a, e, WORLD_NOW_S + 9);
	assert_ptr_equal(a.body, cache_entry_body(e));
	assert_ptr_equal(a.ttls, cache_entry_ttls(e));
	assert_int_equal(a.n_ttls, TTLS_N);
	assert_int_equal(a.age_s, 9);
	assert_int_equal(a.stale_ttl_s, 0);
	assert_int_equal(a.refresh_s, 6);
	assert_int_equal(a.memory, 1);
	assert_int_equal(a.full_bytes, TTLS_FULL);
	assert_int_equal(a.short_bytes, TTLS_SHORT);
	assert_int_equal(a.flags, 0x8180);
	assert_int_equal(a.expires_s, WORLD_NOW_S + TTLS_LEAST);
	world_close(&w);
}

/* Each second of its life, and beyond it: never below 0. A clock read before its birth: age 0. */
static void test_each_second(void **state)
{
	const struct volley_entry *e;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	e = put_ttls(&w, 1);
	for (uint32_t age_s = 0; age_s < 400; age_s++) {
		assert_true(is_aged(e, WORLD_NOW_S + age_s, TTLS_FULL, age_s));
		assert_true(is_aged(e, WORLD_NOW_S + age_s, TTLS_SHORT, age_s));
	}
	assert_true(is_aged(e, UINT32_MAX, TTLS_FULL, UINT32_MAX - WORLD_NOW_S));
	assert_true(is_aged(e, WORLD_NOW_S - 1, TTLS_FULL, 0));
	assert_true(is_aged(e, 0, TTLS_FULL, 0));
	assert_memory_equal(cache_entry_body(e), ttls_body(), TTLS_FULL); /* the entry stays */
	world_close(&w);
}

/* Of the short form no octet behind it is touched. */
static void test_short_form(void **state)
{
	uint8_t body[TTLS_FULL];
	struct cache_answer a;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	cache_answer_of(&a, put_ttls(&w, 1), WORLD_NOW_S + 5);
	memcpy(body, a.body, sizeof(body));
	cache_answer_age(&a, body, TTLS_SHORT);
	for (uint32_t i = 0; i < TTLS_N; i++)
		assert_int_equal(wire_load_be32(body + ttls_at[i]),
				 ttls_first[i] - (i < TTLS_SHORT_N ? 5 : 0));
	cache_answer_age(&a, body, 0); /* TC=1: there may be no octet at all */
	world_close(&w);
}

static void test_stale(void **state)
{
	uint8_t body[TTLS_FULL];
	struct cache_answer a;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	cache_answer_of(&a, put_ttls(&w, 1), WORLD_NOW_S + TTLS_LEAST + 1);
	a.stale_ttl_s = 30;
	memcpy(body, a.body, sizeof(body));
	cache_answer_age(&a, body, TTLS_FULL);
	for (uint32_t i = 0; i < TTLS_N; i++)
		assert_int_equal(wire_load_be32(body + ttls_at[i]), 30);
	world_close(&w);
}

/* --- Sums ------------------------------------------------------------------------------------- */

/* As of a body with zeros there, wherever it begins, for every end of it that splits none. */
static void test_sums_take_them_as_zero(void **state)
{
	uint8_t zeros[TTLS_FULL];

	(void)state;
	memcpy(zeros, ttls_body(), sizeof(zeros));
	for (uint32_t i = 0; i < TTLS_N; i++)
		memset(zeros + ttls_at[i], 0, 4);
	for (uint32_t n = 0; n <= TTLS_FULL; n++)
		for (uint32_t n_ttls = 0; n_ttls <= TTLS_N; n_ttls++) {
			bool splits = false;
			uint8_t some[TTLS_FULL];

			memcpy(some, ttls_body(), sizeof(some));
			for (uint32_t i = 0; i < n_ttls; i++) {
				memset(some + ttls_at[i], 0, 4);
				splits |= ttls_at[i] < n && ttls_at[i] + 4u > n;
			}
			for (uint32_t offset = 17; offset < 19 && !splits; offset++)
				assert_int_equal(entry_body_sum(ttls_body(), n, offset, ttls_at,
								n_ttls),
						 entry_body_sum(some, n, offset, NULL, 0));
		}
	assert_int_not_equal(entry_body_sum(ttls_body(), TTLS_FULL, 18, NULL, 0),
			     entry_body_sum(zeros, TTLS_FULL, 18, NULL, 0));
}

static void test_sums_of_an_entry(void **state)
{
	const struct volley_entry *e;
	uint8_t zeros[TTLS_FULL];
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	memcpy(zeros, ttls_body(), sizeof(zeros));
	for (uint32_t i = 0; i < TTLS_N; i++)
		memset(zeros + ttls_at[i], 0, 4);
	for (uint64_t number = 1; number < 0x1000;
	     number *= 16) { /* names of odd and even length */
		e = put_ttls(&w, number);
		assert_int_equal(e->full_sum,
				 entry_body_sum(zeros, TTLS_FULL, entry_body_at(&e->key), NULL, 0));
		assert_int_equal(e->short_sum, entry_body_sum(zeros, TTLS_SHORT,
							      entry_body_at(&e->key), NULL, 0));
	}
	world_close(&w);
}

/* --- Lists ------------------------------------------------------------------------------------ */

/* Of an answer of 101 octets, 50 in the short form. */
static const struct list {
	const char *name;
	uint16_t ttls[3];
	uint16_t n;
	int err;
} lists[] = {
	{ "none", { 0 }, 0, 0 },
	{ "first octets", { 0 }, 1, 0 },
	{ "side by side", { 10, 14, 18 }, 3, 0 },
	{ "last octets", { 97 }, 1, 0 },
	{ "on both sides of the short form", { 46, 50 }, 2, 0 },
	{ "beyond the body by one", { 98 }, 1, -EINVAL },
	{ "far beyond the body", { 3, 65535 }, 2, -EINVAL },
	{ "descending", { 10, 30, 20 }, 3, -EINVAL },
	{ "twice the same", { 10, 10 }, 2, -EINVAL },
	{ "over one another", { 10, 13 }, 2, -EINVAL },
	{ "over the end of the short form", { 47 }, 1, -EINVAL },
	{ "last octet behind the short form", { 49 }, 1, -EINVAL },
};

#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static void test_refused(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (size_t i = 0; i < N_LISTS; i++) {
		struct cache_key key = key_in_view(w.cache, i, VOLLEY_VIEW_RECURSIVE);
		struct cache_answer a = ttls_answer(&w);

		a.ttls = lists[i].ttls;
		a.n_ttls = lists[i].n;
		print_message("%s\n", lists[i].name);
		assert_int_equal(cache_publish(w.writer, &key, &a, WORLD_NOW_S), lists[i].err);
		assert_int_equal(find_ttls(&w, i, WORLD_NOW_S) != NULL, !lists[i].err);
	}
	world_close(&w);
}

/* In memory that is adopted; of a body of zeros, whose sums are right by any list. */
static void test_adopted(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_LISTS; i++) {
		struct volley_entry *e;
		struct world w;
		uint16_t *at;

		if (lists[i].n == 0)
			continue;
		world_open(&w, CACHE_BYTES_MIN);
		e = (struct volley_entry *)put_ttls(&w, 1);
		at = (uint16_t *)(void *)((uint8_t *)e + volley_ttls_offset(e));
		memcpy(at, lists[i].ttls, lists[i].n * sizeof(*at));
		e->n_ttls = lists[i].n;
		memset((uint8_t *)e + e->body_offset, 0, TTLS_FULL);
		e->full_sum = e->short_sum = 0;
		world_stop(&w);
		world_start(&w);
		print_message("%s\n", lists[i].name);
		assert_true(w.adopted);
		assert_int_equal(count_words(&w.memory), !lists[i].err);
		world_close(&w);
	}
}

static void hurt_n(struct volley_entry *e)
{
	e->n_ttls = 1000; /* over the end of the entry */
}

static void hurt_n_far(struct volley_entry *e)
{
	e->n_ttls = 65535;
}

static void hurt_n_less(struct volley_entry *e)
{
	e->n_ttls--; /* the sum has it as 0 */
}

static void hurt_view(struct volley_entry *e)
{
	e->key.view = VOLLEY_N_VIEWS;
}

static void hurt_body(struct volley_entry *e)
{
	((uint8_t *)e)[e->body_offset + ttls_at[0] + 4] ^= 1;
}

static void hurt_nothing(struct volley_entry *e)
{
	(void)e;
}

/* What sums do not know. */
static void hurt_ttl(struct volley_entry *e)
{
	((uint8_t *)e)[e->body_offset + ttls_at[0]] ^= 1;
}

static void test_adopted_damaged(void **state)
{
	static const struct {
		const char *name;
		void (*hurt)(struct volley_entry *e);
		uint64_t n_left;
	} rows[] = {
		{ "nothing", hurt_nothing, 1 },
		{ "a TTL", hurt_ttl, 1 },
		{ "octet behind a TTL", hurt_body, 0 },
		{ "list longer than the entry", hurt_n, 0 },
		{ "list longer than the room", hurt_n_far, 0 },
		{ "list too short", hurt_n_less, 0 },
		{ "view that is none", hurt_view, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		world_open(&w, CACHE_BYTES_MIN);
		rows[i].hurt((struct volley_entry *)put_ttls(&w, 1));
		world_stop(&w);
		world_start(&w);
		print_message("%s\n", rows[i].name);
		assert_true(w.adopted);
		assert_int_equal(count_words(&w.memory), rows[i].n_left);
		world_close(&w);
	}
}

/* Whatever it makes of an entry, nobody reads or writes beyond it: for AddressSanitizer to see. */
static void test_each_octet_damaged(void **state)
{
	static const uint8_t flips[] = { 1, 2, 0x10, 0x80, 0xff };
	const struct volley_entry *e;
	unsigned int n_sound = 0;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	e = put_ttls(&w, 1);
	for (uint32_t i = 0; i < e->bytes * sizeof(flips); i++) {
		uint8_t *copy = malloc(e->bytes), *body;
		struct cache_answer a;

		memcpy(copy, e, e->bytes);
		copy[i / sizeof(flips)] ^= flips[i % sizeof(flips)];
		if (entry_is_sound((struct volley_entry *)copy, e->bytes)) {
			cache_answer_of(&a, (struct volley_entry *)copy, WORLD_NOW_S + 1);
			body = malloc(a.full_bytes + 1u);
			memcpy(body, a.body, a.full_bytes);
			cache_answer_age(&a, body, a.full_bytes);
			free(body);
			n_sound++;
		}
		free(copy);
	}
	/* Times, counts, name and TTLs are not its to judge; lengths, list and the rest of the body
	 * are. */
	assert_in_range(n_sound, 100, (e->bytes - TTLS_FULL) * sizeof(flips));
	world_close(&w);
}

/* As large as an entry can be: a body of which every octet belongs to a TTL, to a name of 255. */
static void test_largest(void **state)
{
	static uint8_t body[65535], name[256];
	static uint16_t ttls[65535 / 4];
	const uint16_t n = sizeof(ttls) / sizeof(ttls[0]);
	const struct volley_entry *e;
	struct cache_answer a;
	struct cache_key key;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint32_t i = 0; i < n; i++) {
		ttls[i] = (uint16_t)(i * 4);
		wire_store_be32(body + ttls[i], 1000 + i);
	}
	memset(name, 'a', 255);
	cache_key_init(&key, w.cache, name, 255, 1, 1, 0, VOLLEY_VIEW_RECURSIVE);
	a = ttls_answer(&w);
	a.body = body;
	a.full_bytes = 65535;
	a.short_bytes = 0;
	a.ttls = ttls;
	a.n_ttls = n;
	assert_int_equal(cache_publish(w.writer, &key, &a, WORLD_NOW_S), 0);
	assert_int_equal(cache_lookup(w.cache, &key, WORLD_NOW_S, false, &e), CACHE_HIT);
	assert_memory_equal(cache_entry_ttls(e), ttls, sizeof(ttls));
	assert_true(entry_is_sound(e, e->bytes));
	assert_false(entry_is_sound(e, e->bytes - 1u));
	((struct volley_entry *)e)->bytes -= VOLLEY_UNIT_BYTES; /* the list no longer fits in */
	assert_false(entry_is_sound(e, e->bytes + VOLLEY_UNIT_BYTES));
	cache_answer_of(&a, e, WORLD_NOW_S + 7);
	cache_answer_age(&a, body, sizeof(body));
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(wire_load_be32(body + i * 4), 1000 + i - 7);
	world_close(&w);
}

/* --- The keeper, and an earlier cache --------------------------------------------------------- */

static void test_keeper_keeps_them(void **state)
{
	const struct volley_entry *e, *copy;
	struct cache_stats stats;
	struct world w;
	uint64_t n = 10;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	e = put_ttls(&w, 1);
	assert_true(cache_refresh_is_due(e, WORLD_NOW_S + TTLS_LEAST - 1));
	((struct volley_entry *)e)->freq = VOLLEY_FREQ_MAX;
	do {
		put(&w, n++);
		copy = find_ttls(&w, 1, WORLD_NOW_S);
		assert_non_null(copy);
	} while (copy == e);
	cache_stats_read(w.cache, &stats);
	assert_int_equal(stats.counters.kept, 1);
	assert_int_equal(copy->n_ttls, TTLS_N);
	assert_int_equal(copy->refresh_s, 6);
	assert_int_equal(copy->memory, 1);
	assert_int_equal(copy->refreshing, 1);
	assert_int_equal(copy->born_s, WORLD_NOW_S);
	assert_true(entry_is_sound(copy, copy->bytes));
	assert_true(is_aged(copy, WORLD_NOW_S + 8, TTLS_FULL, 8));
	world_close(&w);
}

static const struct past_case {
	const char *name;
	uint32_t age_s, now_s;
} past_cases[] = {
	{ "young", 5, WORLD_NOW_S },
	{ "as old as the clock", WORLD_NOW_S, WORLD_NOW_S },
	{ "older than the clock by one", WORLD_NOW_S + 1, WORLD_NOW_S },
	{ "older than the clock by far", 50, 10 },
	{ "older than any clock", UINT32_MAX, 10 },
};

/* Of what the clock cannot tell, nothing is forgotten. */
static void test_restored(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(past_cases) / sizeof(past_cases[0]); i++) {
		const struct past_case *c = &past_cases[i];
		const struct cache_past past = { .age_s = c->age_s };
		const struct volley_entry *e;
		struct cache_answer a;
		struct cache_key key;
		struct world w;

		world_open(&w, CACHE_BYTES_MIN);
		key = key_in_view(w.cache, 1, VOLLEY_VIEW_RECURSIVE);
		a = ttls_answer(&w);
		a.expires_s = c->now_s + 3;
		print_message("%s\n", c->name);
		assert_int_equal(cache_restore(w.writer, &key, &a, &past, c->now_s), 0);
		e = find_ttls(&w, 1, c->now_s);
		assert_non_null(e);
		assert_true(entry_is_sound(e, e->bytes));
		assert_true(is_aged(e, c->now_s, TTLS_FULL, c->age_s));
		if (c->age_s < UINT32_MAX)
			assert_true(is_aged(e, c->now_s + 1, TTLS_FULL, c->age_s + 1));
		world_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry_has_them),
		cmocka_unit_test(test_each_second),
		cmocka_unit_test(test_short_form),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_sums_take_them_as_zero),
		cmocka_unit_test(test_sums_of_an_entry),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_adopted),
		cmocka_unit_test(test_adopted_damaged),
		cmocka_unit_test(test_each_octet_damaged),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_keeper_keeps_them),
		cmocka_unit_test(test_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
