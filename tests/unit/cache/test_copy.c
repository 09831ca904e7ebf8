/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cache takes another's place: what comes along, what is left out, what is withdrawn
 * meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "cache/copy.h"
#include "cache/entry_walk.h"
#include "cache/keeper.h"
#include "world.h"

static const bool never;

/* A cache of another size beside w's, as a world of its own that is not its zones' owner. */
static void beside(struct world *next, const struct world *w, uint64_t bytes)
{
	struct cache_sizes sizes;

	*next = (struct world){ .slot = w->slot, .gen = w->gen };
	MUST(!cache_sizes_plan_beside(&sizes, bytes, w->memory.sizes.n_zones));
	MUST(sizes.n_zones == w->memory.sizes.n_zones && sizes.total_bytes <= bytes);
	MUST(!cache_memory_anonymous_beside(&next->memory, &sizes, &w->memory));
	MUST(!cache_new_beside(&next->cache, &next->memory, w->cache));
	MUST(!cache_writer_new(&next->writer, next->cache));
}

static void beside_close(struct world *next)
{
	world_stop(next);
	cache_memory_release_beside(&next->memory);
}

static struct cache_copied copy(const struct world *next)
{
	struct cache_copied told;

	rcu_thread_offline();
	MUST(!cache_copy(next->cache, WORLD_NOW_S, &never, &told));
	rcu_thread_online();
	MUST(told.n_left_out || told.words_done == told.n_words);
	return told;
}

static void ask(const struct world *w, uint64_t number, int times)
{
	while (times--)
		assert_true(get(w, number));
}

static uint64_t fill(const struct world *w)
{
	uint64_t n = 0;

	while (put_by(w, w->writer, n, 1) != -ENOSPC)
		n++;
	return n;
}

/* --- What comes along ------------------------------------------------------------------------- */

static void test_all(void **state)
{
	struct world old, next;
	struct cache_copied told;
	struct cache_stats stats;
	uint64_t n;

	(void)state;
	world_open(&old, 8 << 20);
	world_set_keys(&old);
	n = fill(&old);
	ask(&old, 7, 2);
	beside(&next, &old, 24 << 20);
	assert_int_equal(cache_state(next.cache)->n_resizes, 1);
	assert_int_equal(cache_state(next.cache)->magic, VOLLEY_MAGIC);
	assert_int_equal(cache_state(next.cache)->cache_kib, 24 << 10);
	told = copy(&next);
	assert_int_equal(told.n_entries, n);
	assert_int_equal(told.n_copied, n);
	assert_int_equal(told.n_left_out, 0);
	for (uint64_t i = 0; i < n; i++) {
		const struct volley_entry *e = find(&next, i);

		assert_non_null(e);
		assert_true(is_whole(e, i));
		assert_int_equal(e->freq, i == 7 ? 2 : 0);
		assert_int_equal(e->born_s, WORLD_NOW_S);
	}
	cache_copy_counters(next.cache);
	cache_stats_read(next.cache, &stats);
	assert_int_equal(stats.counters.published, n); /* by the one before; none by the copy */
	assert_int_equal(stats.n_entries, n);
	beside_close(&next);
	world_close(&old);
}

/* An entry of this number that was asked so often lies in the main queue. */
static bool is_main(const struct world *w, uint64_t number)
{
	const struct volley_entry *e = find(w, number);

	return e && cache_entry_is_main(w->cache, e);
}

static void test_queues_and_expiry(void **state)
{
	struct world old, next;
	struct cache_answer dead;
	uint8_t body[BODY_MAX + 8];
	const struct volley_entry *e;
	struct cache_key key;
	uint64_t n = 1000, i = n;

	(void)state;
	world_open(&old, 4 << 20);
	while (i--)
		put(&old, i);
	ask(&old, 0, 3);
	for (i = n; !is_main(&old, 0); i++)
		put(&old, i);
	key = key_of(old.cache, 999999);
	dead = answer_of(&old, 999999, body);
	fill_body(body, 999999, 1, dead.full_bytes);
	dead.expires_s = WORLD_NOW_S; /* just so */
	assert_int_equal(cache_publish(old.writer, &key, &dead, WORLD_NOW_S), 0);
	beside(&next, &old, 8 << 20);
	copy(&next);
	assert_true(is_main(&next, 0));
	assert_false(is_main(&next, i - 1));
	assert_int_equal(cache_lookup(next.cache, &key, WORLD_NOW_S, false, &e), CACHE_EXPIRED);
	assert_non_null(e);
	beside_close(&next);
	world_close(&old);
}

/* Four to one: all that is asked comes along, and then as much of the rest as has room. */
static void test_hot_first(void **state)
{
	struct world old, next;
	struct cache_copied told;
	uint64_t n, hot = 0, rest = 0;

	(void)state;
	world_open(&old, 32 << 20);
	world_set_keys(&old);
	n = fill(&old);
	for (uint64_t i = 0; i < n; i += 6)
		ask(&old, i, 1 + (int)(i % 3));
	beside(&next, &old, 8 << 20);
	told = copy(&next);
	for (uint64_t i = 0; i < n; i++) {
		if (i % 6)
			rest += find(&next, i) != NULL;
		else
			hot += find(&next, i) != NULL;
	}
	assert_int_equal(hot, (n + 5) / 6);
	assert_in_range(rest, n / 50, n / 10);
	assert_int_equal(told.n_copied, hot + rest);
	assert_int_equal(told.n_left_out, n - told.n_copied);
	for (uint64_t i = 0; i < 1000; i++) /* there is room without the keeper */
		assert_int_equal(put_by(&next, next.writer, n + i, 1), 0);
	beside_close(&next);
	world_close(&old);
}

/* Not even what is asked most has room: as much of that as can be, and none of the rest. */
static void test_hottest_only(void **state)
{
	struct world old, next;
	struct cache_copied told;
	uint64_t n;

	(void)state;
	world_open(&old, 32 << 20);
	world_set_keys(&old);
	n = fill(&old);
	for (uint64_t i = 0; i < n; i += 2)
		ask(&old, i, 3);
	beside(&next, &old, 4 << 20);
	told = copy(&next);
	assert_in_range(told.n_copied, n / 20, n / 4);
	for (uint64_t i = 1; i < n; i += 2)
		assert_null(find(&next, i));
	beside_close(&next);
	world_close(&old);
}

/* --- While it is copied ----------------------------------------------------------------------- */

static void put_at(const struct world *w, uint64_t number, uint64_t version, uint32_t now_s)
{
	static uint8_t body[BODY_MAX + 8];
	struct cache_key key = key_of(w->cache, number);
	struct cache_answer a = answer_of(w, number, body);

	fill_body(body, number, version, a.full_bytes);
	MUST(!cache_publish(w->writer, &key, &a, now_s));
}

static uint64_t version_in(const struct world *w, uint64_t number)
{
	const struct volley_entry *e = find(w, number);

	return e ? version_of(e) : 0;
}

/* What came late to the old one, and younger ones of both sides. */
static void test_late(void **state)
{
	struct cache_copied told = { 0 };
	struct world old, next;

	(void)state;
	world_open(&old, 8 << 20);
	put_at(&old, 1, 1, WORLD_NOW_S - 9);
	put_at(&old, 2, 1, WORLD_NOW_S - 9);
	put_at(&old, 3, 1, WORLD_NOW_S - 9);
	beside(&next, &old, 8 << 20);
	copy(&next);
	put_at(&old, 2, 2, WORLD_NOW_S - 1);
	put_at(&old, 4, 2, WORLD_NOW_S - 1);
	put_at(&old, 5, 2, WORLD_NOW_S - 1);
	put_at(&next, 3, 3, WORLD_NOW_S);
	put_at(&next, 5, 3, WORLD_NOW_S);
	assert_int_equal(version_in(&next, 4), 0);
	rcu_thread_offline();
	assert_int_equal(cache_copy_late(next.cache, WORLD_NOW_S - 1, WORLD_NOW_S, &never, &told),
			 0);
	rcu_thread_online();
	assert_int_equal(told.n_copied, 2);
	assert_int_equal(version_in(&next, 1), 1);
	assert_int_equal(version_in(&next, 2), 2);
	assert_int_equal(version_in(&next, 3), 3);
	assert_int_equal(version_in(&next, 4), 2);
	assert_int_equal(version_in(&next, 5), 3);
	beside_close(&next);
	world_close(&old);
}

static void test_new_generation(void **state)
{
	const uint64_t digest[2] = { 3, 4 };
	struct world old, next;
	uint32_t slot, gen;

	(void)state;
	world_open(&old, 8 << 20);
	put(&old, 1);
	beside(&next, &old, 4 << 20);
	copy(&next);
	assert_non_null(find(&next, 1));
	cache_zone_prepare(next.cache, (const uint8_t *)"\7example", 9, digest, &slot, &gen);
	assert_int_equal(slot, old.slot);
	cache_zone_commit(next.cache, slot, gen, digest);
	assert_null(find(&next, 1));
	assert_null(find(&old, 1));
	beside_close(&next);
	world_close(&old);
}

static enum walk_step withdraw_odd(void *user, const struct volley_entry *e)
{
	(void)user;
	return ntohs(e->ancount) % 2 ? WALK_WITHDRAW : WALK_ON;
}

static uint64_t sweep(const struct world *w)
{
	uint64_t n;

	rcu_thread_offline();
	MUST(!cache_sweep(w->cache, NULL, withdraw_odd, NULL, grace_wait_userspace, NULL, &n));
	rcu_thread_online();
	return n;
}

static uint64_t n_odd(const struct world *w, uint64_t n)
{
	uint64_t found = 0;

	for (uint64_t i = 1; i < n; i += 2)
		found += find(w, i) != NULL;
	return found;
}

/* Whichever of the two it is begun with. */
static void test_sweep(void **state)
{
	(void)state;
	for (int from_next = 0; from_next < 2; from_next++) {
		struct world old, next;

		world_open(&old, 8 << 20);
		for (uint64_t i = 0; i < 100; i++)
			put(&old, i);
		beside(&next, &old, 8 << 20);
		copy(&next);
		assert_int_equal(sweep(from_next ? &next : &old), 100);
		assert_int_equal(n_odd(&old, 100) + n_odd(&next, 100), 0);
		assert_non_null(find(&next, 42));
		cache_copy_end(next.cache);
		put(&next, 1);
		put(&old, 1);
		assert_int_equal(sweep(&next), 1); /* alone */
		assert_int_equal(n_odd(&old, 100), 1);
		beside_close(&next);
		world_close(&old);
	}
}

/* Who had seen an entry before it was withdrawn publishes the copy when the sweep waits for
 * that. */
static int publish_copy(void *user)
{
	struct world *next = user;

	if (next->adopted)
		return 0;
	next->adopted = true; /* the first time */
	put(next, 1);
	return 0;
}

static void test_sweep_waits_for_copies(void **state)
{
	struct world old, next;
	uint64_t n;

	(void)state;
	world_open(&old, 8 << 20);
	beside(&next, &old, 8 << 20);
	copy(&next);
	put(&old, 1);
	rcu_thread_offline();
	assert_int_equal(cache_sweep(old.cache, NULL, withdraw_odd, NULL, publish_copy, &next, &n),
			 0);
	rcu_thread_online();
	assert_int_equal(n, 2);
	assert_int_equal(n_odd(&old, 2) + n_odd(&next, 2), 0);
	beside_close(&next);
	world_close(&old);
}

#define ROUNDS     40 /* or more, until a sweep has found copies: a sanitizer makes them late */
#define ROUNDS_MAX 400
#define ENTRIES    20000u

static void *copy_in_thread(void *arg)
{
	struct cache_copied told;

	rcu_register_thread();
	rcu_thread_offline();
	MUST(!cache_copy(arg, WORLD_NOW_S, &never, &told));
	rcu_unregister_thread();
	return NULL;
}

/* Wherever the copy is when it begins, and however it goes on: afterwards none is left in
 * either. */
static void test_sweep_while_copied(void **state)
{
	struct world old, next;
	unsigned int round = 0;
	uint64_t n_raced = 0;
	pthread_t thread;

	(void)state;
	world_open(&old, 16 << 20);
	for (; round < ROUNDS || (!n_raced && round < ROUNDS_MAX); round++) {
		for (uint64_t i = 0; i < ENTRIES; i++)
			put(&old, i);
		beside(&next, &old, 24 << 20);
		MUST(!pthread_create(&thread, NULL, copy_in_thread, next.cache));
		rcu_thread_offline();
		usleep(round * round * 50);
		rcu_thread_online();
		n_raced += sweep(&old) > ENTRIES / 2;
		rcu_thread_offline();
		MUST(!pthread_join(thread, NULL));
		rcu_thread_online();
		assert_int_equal(n_odd(&old, ENTRIES), 0);
		assert_int_equal(n_odd(&next, ENTRIES), 0);
		beside_close(&next);
		old.cache->into = NULL;
	}
	print_message("%llu of %u sweeps found copies\n", (unsigned long long)n_raced, round);
	assert_true(n_raced > 0);
	world_close(&old);
}

static void test_cancelled(void **state)
{
	const bool cancel = true;
	struct cache_copied told;
	struct world old, next;

	(void)state;
	world_open(&old, 8 << 20);
	put(&old, 1);
	beside(&next, &old, 8 << 20);
	rcu_thread_offline();
	assert_int_equal(cache_copy(next.cache, WORLD_NOW_S, &cancel, &told), -ECANCELED);
	rcu_thread_online();
	beside_close(&next);
	world_close(&old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_queues_and_expiry),
		cmocka_unit_test(test_hot_first),
		cmocka_unit_test(test_hottest_only),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_new_generation),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_sweep_waits_for_copies),
		cmocka_unit_test(test_sweep_while_copied),
		cmocka_unit_test(test_cancelled),
	};
	int err;

	rcu_register_thread();
	err = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return err;
}
