/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One question in several views: entries of one hash that do not know each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ttls.h"

static int put_in_view(const struct world *w, uint64_t number, uint8_t view, uint64_t version)
{
	static uint8_t body[BODY_MAX + 8];
	struct cache_key key = key_in_view(w->cache, number, view);
	struct cache_answer a = answer_of(w, number, body);

	fill_body(body, number, version, a.full_bytes);
	return cache_publish(w->writer, &key, &a, WORLD_NOW_S);
}

/* The version that is found in the view, 0: none. */
static uint64_t version_in(const struct world *w, uint64_t number, uint8_t view)
{
	struct cache_key key = key_in_view(w->cache, number, view);
	const struct volley_entry *e;

	if (cache_lookup(w->cache, &key, WORLD_NOW_S, true, &e) != CACHE_HIT)
		return 0;
	MUST(e->key.view == view && e->hash == key_of(w->cache, number).hash);
	return version_of(e);
}

static int withdraw_in_view(const struct world *w, uint64_t number, uint8_t view)
{
	struct cache_key key = key_in_view(w->cache, number, view);

	return cache_withdraw(w->cache, &key);
}

/* In each order of publishing: each has a word, and is replaced and withdrawn alone. */
static void test_side_by_side(void **state)
{
	static const uint8_t orders[][VOLLEY_N_VIEWS] = {
		{ 0, 1, 2, 3 }, { 0, 2, 3, 1 }, { 1, 3, 0, 2 },
		{ 3, 1, 2, 0 }, { 2, 0, 1, 3 }, { 2, 3, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const uint8_t *order = orders[i];
		struct world w;

		world_open(&w, CACHE_BYTES_MIN);
		for (uint8_t j = 0; j < VOLLEY_N_VIEWS; j++) {
			assert_int_equal(version_in(&w, 1, order[j]), 0);
			assert_int_equal(put_in_view(&w, 1, order[j], 10u + order[j]), 0);
			assert_int_equal(count_words(&w.memory), j + 1);
		}
		for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++)
			assert_int_equal(version_in(&w, 1, view), 10 + view);
		assert_int_equal(put_in_view(&w, 1, order[1], 20), 0);
		assert_int_equal(count_words(&w.memory), VOLLEY_N_VIEWS);
		assert_int_equal(version_in(&w, 1, order[0]), 10 + order[0]);
		assert_int_equal(version_in(&w, 1, order[1]), 20);
		assert_int_equal(version_in(&w, 1, order[2]), 10 + order[2]);
		assert_int_equal(withdraw_in_view(&w, 1, order[0]), 0);
		assert_int_equal(withdraw_in_view(&w, 1, order[0]), -ENOENT);
		assert_int_equal(version_in(&w, 1, order[0]), 0);
		assert_int_equal(version_in(&w, 1, order[1]), 20);
		assert_int_equal(version_in(&w, 1, order[2]), 10 + order[2]);
		assert_int_equal(count_words(&w.memory), VOLLEY_N_VIEWS - 1);
		world_close(&w);
	}
}

/* Else the program, which looks at one entry of a question, would not find the living one. */
static void test_a_dead_one_gives_way(void **state)
{
	struct world w;

	(void)state;
	for (uint8_t dead = 0; dead < VOLLEY_N_VIEWS; dead++) {
		uint8_t view = (uint8_t)((dead + 1) % VOLLEY_N_VIEWS);

		world_open(&w, CACHE_BYTES_MIN);
		assert_int_equal(put_in_view(&w, 1, dead, 1), 0);
		assert_int_equal(put_in_view(&w, 2, dead, 1), 0);
		w.gen = cache_zone_flush(w.cache, w.slot);
		assert_int_equal(put_in_view(&w, 1, view, 2), 0);
		assert_int_equal(version_in(&w, 1, view), 2);
		assert_int_equal(count_words(&w.memory), 2);
		world_close(&w);
	}
}

/* In full buckets the least asked gives way, and not the same question in another view. */
static void test_full_buckets(void **state)
{
	enum { N = 2 * VOLLEY_BUCKET_SLOTS, LEAST = 5 };
	uint64_t numbers[N];
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	share_two_buckets(&w, numbers, N);
	for (unsigned int i = 0; i < N; i++) {
		assert_int_equal(put_in_view(&w, numbers[i], 0, 1), 0);
		if (i != LEAST)
			assert_int_equal(version_in(&w, numbers[i], 0), 1);
	}
	assert_int_equal(count_words(&w.memory), N);
	assert_int_equal(put_in_view(&w, numbers[0], 1, 2), 0);
	assert_int_equal(version_in(&w, numbers[0], 1), 2);
	for (unsigned int i = 0; i < N; i++)
		assert_int_equal(version_in(&w, numbers[i], 0), i != LEAST);
	world_close(&w);
}

static void test_adopted(void **state)
{
	enum { N = 2000 };
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint64_t i = 0; i < N; i++)
		for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++)
			while (put_in_view(&w, i, view, 1 + view) == -ENOSPC)
				MUST(cache_keep(w.cache, WORLD_NOW_S, no_readers, NULL));
	for (int round = 0; round < 2; round++) {
		for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++)
			assert_int_equal(version_in(&w, N - 1, view), 1 + view);
		world_stop(&w);
		world_start(&w);
		assert_true(w.adopted);
	}
	world_close(&w);
}

/* The keeper moves each by its own word. */
static void test_kept(void **state)
{
	struct cache_stats stats;
	struct world w;
	uint64_t n = 10;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++) {
		assert_int_equal(put_in_view(&w, 1, view, 1 + view), 0);
		assert_int_equal(version_in(&w, 1, view), 1 + view);
	}
	do {
		put(&w, n++);
		cache_stats_read(w.cache, &stats);
	} while (!stats.counters.segments_retired);
	assert_int_equal(stats.counters.kept, VOLLEY_N_VIEWS);
	for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++)
		assert_int_equal(version_in(&w, 1, view), 1 + view);
	world_close(&w);
}

static void test_no_such_view(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	assert_int_equal(put_in_view(&w, 1, VOLLEY_N_VIEWS, 1), -EINVAL);
	assert_int_equal(put_in_view(&w, 1, 255, 1), -EINVAL);
	assert_int_equal(count_words(&w.memory), 0);
	world_close(&w);
}

/* --- Expired entries -------------------------------------------------------------------------- */

static enum cache_verdict look(const struct world *w, uint32_t now_s, const struct volley_entry **e)
{
	struct cache_key key = key_in_view(w->cache, 1, VOLLEY_VIEW_RECURSIVE);

	return cache_lookup(w->cache, &key, now_s, true, e);
}

/* It is given until its zone has another generation, and is counted for nothing. */
static void test_expired_is_given(void **state)
{
	const struct volley_entry *e, *found;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	e = put_ttls(&w, 1);
	assert_int_equal(look(&w, WORLD_NOW_S + TTLS_LEAST - 1, &found), CACHE_HIT);
	assert_ptr_equal(found, e);
	assert_int_equal(look(&w, WORLD_NOW_S + TTLS_LEAST, &found), CACHE_EXPIRED);
	assert_ptr_equal(found, e);
	assert_int_equal(look(&w, UINT32_MAX, &found), CACHE_EXPIRED);
	assert_ptr_equal(found, e);
	assert_int_equal(e->freq, 1);
	cache_zone_flush(w.cache, w.slot);
	assert_int_equal(look(&w, UINT32_MAX, &found), CACHE_STALE);
	assert_null(found);
	world_close(&w);
}

/* Two words for one key, as a lost race may leave them for a moment. */
static void test_valid_goes_before_expired_before_stale(void **state)
{
	static const struct {
		const char *name;
		enum cache_verdict first, second, want;
	} rows[] = {
		{ "stale, expired", CACHE_STALE, CACHE_EXPIRED, CACHE_EXPIRED },
		{ "expired, stale", CACHE_EXPIRED, CACHE_STALE, CACHE_EXPIRED },
		{ "expired, valid", CACHE_EXPIRED, CACHE_HIT, CACHE_HIT },
		{ "valid, expired", CACHE_HIT, CACHE_EXPIRED, CACHE_HIT },
		{ "stale, valid", CACHE_STALE, CACHE_HIT, CACHE_HIT },
		{ "both stale", CACHE_STALE, CACHE_STALE, CACHE_STALE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const enum cache_verdict kinds[2] = { rows[i].first, rows[i].second };
		struct volley_entry *e[2] = { NULL, NULL };
		const struct volley_entry *found;
		uint64_t words[2];
		struct world w;

		world_open(&w, CACHE_BYTES_MIN);
		for (int j = 0; j < 2; j++) {
			e[j] = (struct volley_entry *)put_ttls(&w, 1);
			words[j] = entry_word(w.cache, e[j]);
			*entry_word_slot(w.cache, e[j]) = 0;
			if (kinds[j] == CACHE_STALE)
				e[j]->zone_gen++;
			if (kinds[j] == CACHE_EXPIRED)
				e[j]->expires_s = WORLD_NOW_S;
		}
		bucket_words(w.cache, volley_bucket(e[0]->hash, w.memory.sizes.n_buckets))[3] =
			words[0];
		bucket_words(w.cache, volley_bucket2(e[1]->hash, w.memory.sizes.n_buckets))[5] =
			words[1];
		print_message("%s\n", rows[i].name);
		assert_int_equal(look(&w, WORLD_NOW_S, &found), rows[i].want);
		assert_ptr_equal(found, rows[i].want == CACHE_STALE   ? NULL :
					rows[i].first == rows[i].want ? e[0] :
									e[1]);
		world_close(&w);
	}
}

/* Each code that has room comes back; the driver does not look at who asks for a public entry, so
 * such has none. */
static void test_extended_errors(void **state)
{
	static const int codes[] = { -1, 0, 6, 15, CACHE_EDE_MAX };
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++) {
			struct cache_key key = key_in_view(w.cache, i, view);
			struct cache_answer a = ttls_answer(&w);
			const struct volley_entry *e;
			int err;

			a.partial = view & 1;
			a.ede = cache_ede(codes[i]);
			err = cache_publish(w.writer, &key, &a, WORLD_NOW_S);
			assert_int_equal(err, view || codes[i] < 0 ? 0 : -EINVAL);
			if (err)
				continue;
			assert_int_equal(cache_lookup(w.cache, &key, WORLD_NOW_S, false, &e),
					 CACHE_HIT);
			assert_true(cache_entry_is_sound(e, e->bytes));
			cache_answer_of(&a, e, WORLD_NOW_S);
			assert_int_equal(cache_ede_code(a.ede), codes[i]);
			assert_int_equal(a.partial, view & 1);
		}
	}
	assert_int_equal(cache_ede(CACHE_EDE_MAX + 1), 0);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_a_dead_one_gives_way),
		cmocka_unit_test(test_full_buckets),
		cmocka_unit_test(test_adopted),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_no_such_view),
		cmocka_unit_test(test_extended_errors),
		cmocka_unit_test(test_expired_is_given),
		cmocka_unit_test(test_valid_goes_before_expired_before_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
