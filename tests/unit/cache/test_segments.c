/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many writers in a cache that has fewer segments than they. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "world.h"

#define N_WRITERS 64

/* Each publishes one answer and is idle then; the last one has all the room it wants. */
static void test_idle_writers_hold_nothing(void **state)
{
	struct cache_writer *writers[N_WRITERS];
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	assert_true(w.memory.sizes.n_segments < N_WRITERS);
	for (uint64_t i = 0; i < N_WRITERS; i++) {
		assert_int_equal(cache_writer_new(&writers[i], w.cache), 0);
		assert_int_equal(put_by(&w, writers[i], i, 1), 0);
	}
	for (uint64_t i = 0; i < 40000; i++)
		put(&w, 1000 + i);
	assert_true(get(&w, 1000 + 39999));
	while (cache_keep(w.cache, WORLD_NOW_S, no_readers, NULL))
		;
	for (uint64_t i = 0; i < N_WRITERS; i++)
		assert_int_equal(put_by(&w, writers[i], i, 2), 0);
	for (int i = 0; i < N_WRITERS; i++)
		cache_writer_free(writers[i]);
	world_close(&w);
}

/* In a larger cache each has its own place, and an idle one's segment ages like any other. */
static void test_idle_segments_are_sealed(void **state)
{
	struct cache_writer *idle;
	struct world w;

	(void)state;
	world_open(&w, 16 << 20);
	assert_true(w.cache->n_appenders >= 2);
	assert_int_equal(cache_writer_new(&idle, w.cache), 0);
	assert_int_equal(put_by(&w, idle, 1, 1), 0);
	assert_non_null(w.cache->appenders[idle->home % w.cache->n_appenders].open[0]);
	for (uint64_t i = 0; i < 150000; i++)
		put(&w, 1000 + i);
	assert_null(w.cache->appenders[idle->home % w.cache->n_appenders].open[0]);
	assert_false(get(&w, 1)); /* evicted when its time came */
	cache_writer_free(idle);
	world_close(&w);
}

/* All places held: refused at once and counted, not waited for. */
static void test_never_waits(void **state)
{
	struct cache_stats stats;
	struct world w;

	(void)state;
	world_open(&w, 16 << 20);
	for (uint32_t i = 0; i < w.cache->n_appenders; i++)
		assert_ptr_equal(appender_take(w.writer),
				 &w.cache->appenders[(w.writer->home + i) % w.cache->n_appenders]);
	assert_int_equal(put_by(&w, w.writer, 1, 1), -EAGAIN);
	appender_release(&w.cache->appenders[1]);
	assert_int_equal(put_by(&w, w.writer, 1, 1), 0);
	cache_stats_read(w.cache, &stats);
	assert_int_equal(stats.counters.raced, 1);
	world_close(&w);
}

/* Writers leave the keeper what it needs to copy. */
static void test_keepers_reserve(void **state)
{
	struct cache_stats stats;
	struct world w;
	uint64_t i = 0;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	while (!put_by(&w, w.writer, i, 1))
		i++;
	assert_int_equal(put_by(&w, w.writer, i, 1), -ENOSPC);
	cache_stats_read(w.cache, &stats);
	assert_int_equal(stats.n_free, KEEPER_SEGMENTS);
	assert_int_equal(stats.counters.no_room, 2);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_writers_hold_nothing),
		cmocka_unit_test(test_idle_segments_are_sealed),
		cmocka_unit_test(test_never_waits),
		cmocka_unit_test(test_keepers_reserve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
