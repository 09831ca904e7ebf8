/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who stays and who goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dns/proto.h"
#include "world.h"

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* Every segment is somewhere once; the octets in use are no more than there is. */
static void check_bounds(const struct world *w)
{
	const struct cache *c = w->cache;
	uint32_t n_open = c->keeper.open[QUEUE_MAIN] != NULL;
	uint32_t n_queued = 0;
	struct cache_stats stats;

	for (int queue = 0; queue < N_QUEUES; queue++)
		n_queued += c->queues[queue].n;
	for (uint32_t i = 0; i < c->n_appenders; i++)
		for (int queue = 0; queue < N_QUEUES; queue++)
			n_open += c->appenders[i].open[queue] != NULL;
	assert_int_equal(c->free.n + c->emptied.n + n_queued + n_open, w->memory.sizes.n_segments);
	cache_stats_read(w->cache, &stats);
	assert_true(stats.used_bytes <= (uint64_t)stats.sizes.n_segments * VOLLEY_SEGMENT_BYTES);
	assert_true(stats.sizes.total_bytes <= stats.sizes.bytes);
	assert_int_equal(stats.n_entries, count_words(&w->memory));
}

static void test_many_times_its_size(void **state)
{
	static const uint64_t budgets[] = { CACHE_BYTES_MIN, 5 << 20, 16 << 20 };

	(void)state;
	for (size_t b = 0; b < sizeof(budgets) / sizeof(budgets[0]); b++) {
		struct world w;

		world_open(&w, budgets[b]);
		for (uint64_t i = 0; i < budgets[b] / 32; i++) {
			put(&w, i);
			if (i % 4096 == 0)
				check_bounds(&w);
		}
		check_bounds(&w);
		assert_true(get(&w, budgets[b] / 32 - 1));
		assert_false(get(&w, 0));
		world_close(&w);
	}
}

/* What is asked now and then survives a stream of names that nobody asks again. */
static void test_asked_ones_stay(void **state)
{
	enum { N_HOT = 500, N_COLD = 400000 };
	uint64_t cold = 1000000, misses = 0;
	struct world w;

	(void)state;
	world_open(&w, 8 << 20);
	for (uint64_t i = 0; i < N_HOT; i++)
		put(&w, i);
	for (uint64_t i = 0; i < N_COLD; i++) {
		put(&w, cold++);
		if (get(&w, i % N_HOT))
			continue;
		misses++;
		put(&w, i % N_HOT);
	}
	assert_int_equal(misses, 0);
	world_close(&w);
}

/* A cache in which all is hot gives way too, and each round's work is bounded. */
static void test_all_hot(void **state)
{
	struct cache_stats before, after;
	struct world w;
	uint64_t i;

	(void)state;
	world_open(&w, 8 << 20);
	for (i = 0; i < 60000; i++) {
		put(&w, i);
		for (int n = 0; n < VOLLEY_FREQ_MAX; n++)
			get(&w, i);
	}
	cache_stats_read(w.cache, &before);
	for (; i < 120000; i++) {
		put(&w, i);
		for (int n = 0; n < VOLLEY_FREQ_MAX; n++)
			get(&w, i);
	}
	cache_stats_read(w.cache, &after);
	/* Three octets copied for one that is published, and the shares of whole segments. */
	assert_true(after.counters.kept - before.counters.kept <= 4 * 60000);
	assert_true(after.counters.evicted > before.counters.evicted);
	check_bounds(&w);
	world_close(&w);
}

static bool is_alive(const struct world *w, uint64_t number)
{
	struct cache_key key = key_of(w->cache, number);
	const struct volley_entry *e;

	return cache_lookup(w->cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT;
}

/* Entries that were replaced are no reason to drop others of their segment. */
static void test_replaced_ones_do_not_count(void **state)
{
	struct world w;
	uint64_t i;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (i = 0; i < 6000; i++) { /* a hot name, published over and over: most of the segments */
		MUST(!put_by(&w, w.writer, 7, i));
		for (int n = 0; n < VOLLEY_FREQ_MAX; n++)
			get(&w, 7);
		if (i % 50 == 0) {
			put(&w, 1000 + i);
			get(&w, 1000 + i);
		}
	}
	for (uint64_t n = 0; n < 20000; n++)
		put(&w, 100000 + n);
	for (i = 0; i < 6000; i += 50)
		assert_true(is_alive(&w, 1000 + i));
	world_close(&w);
}

/* ---- Grace ----------------------------------------------------------------------------------- */

static int refusing(void *user)
{
	++*(int *)user;
	return -EPERM;
}

/* A grace period that is not known to be over frees nothing; a later one frees what has waited. */
static void test_failed_grace_frees_nothing(void **state)
{
	struct world w;
	uint64_t i = 0;
	uint32_t n_free, n_emptied;
	int calls = 0;

	(void)state;
	world_open(&w, 8 << 20);
	while (!put_by(&w, w.writer, i, 1))
		i++;
	n_free = w.cache->free.n;
	for (int round = 0; round < 100; round++)
		assert_int_equal(cache_keep(w.cache, WORLD_NOW_S, refusing, &calls), 0);
	assert_int_equal(calls, 100);
	n_emptied = w.cache->emptied.n;
	assert_true(n_emptied > 0 && w.cache->free.n <= n_free);
	assert_int_equal(put_by(&w, w.writer, i, 1), -ENOSPC);
	assert_true(cache_keep(w.cache, WORLD_NOW_S, no_readers, NULL) >= n_emptied);
	assert_int_equal(put_by(&w, w.writer, i, 1), 0);
	check_bounds(&w);
	world_close(&w);
}

/* With all free segments taken, what is hot is still copied, not dropped. */
static void test_batch_never_drops_for_want_of_room(void **state)
{
	struct world w;
	uint64_t n = 0, lost = 0;

	(void)state;
	world_open(&w, 64 << 20);
	while (body_bytes(n) > 128 || !put_by(&w, w.writer, n, 1))
		n++; /* small ones only: what is kept is measured in octets */
	for (uint64_t i = 0; i < n; i += 2)
		lost -= get(&w, i); /* every second one: half of each segment is to be kept */
	while (cache_keep(w.cache, WORLD_NOW_S, no_readers, NULL))
		;
	for (uint64_t i = 0; i < n; i += 2)
		lost += is_alive(&w, i);
	assert_int_equal(lost, 0);
	world_close(&w);
}

/* ---- Expiry ---------------------------------------------------------------------------------- */

static void put_mortal(const struct world *w, uint64_t number, uint32_t expires_s, uint32_t now_s)
{
	static const uint8_t body[BODY_MAX];
	struct cache_key key = key_of(w->cache, number);
	struct cache_answer a = answer_of(w, number, body);

	a.full_bytes = a.short_bytes = 48;
	a.expires_s = expires_s;
	while (cache_publish(w->writer, &key, &a, now_s) == -ENOSPC)
		MUST(cache_keep(w->cache, now_s, no_readers, NULL));
}

/*
 * Entries that all expire at one time cost nothing at that time; each is passed once, when its
 * segment is needed again. Counted for n, 2n and 4n of them.
 */
static void test_expiry_is_linear(void **state)
{
	const uint32_t n_entries = 40000, dead_s = WORLD_NOW_S + 7200;

	(void)state;
	for (uint32_t n = n_entries; n <= 4 * n_entries; n *= 2) {
		struct cache_stats full, dead, after;
		struct world w;

		world_open(&w, 32 << 20);
		for (uint32_t i = 0; i < n; i++)
			put_mortal(&w, i, dead_s, WORLD_NOW_S);
		cache_stats_read(w.cache, &full);
		assert_int_equal(full.n_entries + full.counters.displaced, n);
		assert_true(full.counters.displaced <= n / 1000);
		assert_int_equal(cache_keep(w.cache, dead_s, no_readers, NULL), 0);
		cache_stats_read(w.cache, &dead);
		assert_int_equal(dead.counters.segments_retired, full.counters.segments_retired);
		for (uint32_t i = 0; i < 8 * n_entries; i++)
			put_mortal(&w, n + i, VOLLEY_NEVER, dead_s);
		cache_stats_read(w.cache, &after);
		/* Dead entries that lay in the way of a word were overtaken there, the others
		 * passed once. */
		assert_true(after.counters.expired <= n);
		assert_true(after.counters.expired >= n / 10 * 9);
		assert_int_equal(after.counters.kept, 0);
		world_close(&w);
	}
}

/* A denial of one name goes to the queue of denials; one that many names share is on probation as
 * any other answer. */
static void test_shared_denials(void **state)
{
	static const uint8_t body[BODY_MAX];
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint8_t kind = VOLLEY_KEY_INTERVAL; kind <= VOLLEY_KEY_INTERVAL; kind--) {
		struct cache_key key = key_of(w.cache, 1);
		struct cache_answer a = answer_of(&w, 1, body);
		struct volley_key first;
		const struct appender *appender = &w.cache->appenders[0];

		memcpy(&first, key.words, sizeof(first));
		first.kind = kind;
		cache_key_from(&key, w.cache, &first, (const uint8_t *)&key.words[1]);
		a.flags |= DNS_RCODE_NXDOMAIN;
		assert_int_equal(cache_publish(w.writer, &key, &a, WORLD_NOW_S), 0);
		assert_int_equal(!appender->open[QUEUE_DENIAL], kind != VOLLEY_KEY_QUESTION);
		assert_non_null(appender->open[QUEUE_PROBATION]);
	}
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_times_its_size),
		cmocka_unit_test(test_asked_ones_stay),
		cmocka_unit_test(test_all_hot),
		cmocka_unit_test(test_replaced_ones_do_not_count),
		cmocka_unit_test(test_failed_grace_frees_nothing),
		cmocka_unit_test(test_batch_never_drops_for_want_of_room),
		cmocka_unit_test(test_expiry_is_linear),
		cmocka_unit_test(test_shared_denials),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
