/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writers, readers and a keeper at once, in a cache much too small for them. Every entry tells by
 * itself whose it is; every one that is found must be whole, the asked name's, and not older than
 * what was withdrawn. Meant to run under ThreadSanitizer too.
 *
 * The grace period is one that the sanitizer understands: each reader says which epoch it has seen
 * while it held nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <time.h>

#include "world.h"

#define N_WRITERS 3
#define N_READERS 2
#define N_THREADS (N_WRITERS + N_READERS)
#define N_NAMES   30000u
#define RUN_NS    3000000000ull
#define BURST     32

struct seat {
	uint64_t seen; /* UINT64_MAX: gone */
} __attribute__((aligned(64)));

static struct world world;
static struct seat seats[N_THREADS];
static uint64_t epoch = 1;
static bool stopping;
static uint64_t n_hits, n_misses;

static void quiescent(struct seat *seat)
{
	__atomic_store_n(&seat->seen, __atomic_load_n(&epoch, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
}

static int wait_for_all(void *user)
{
	uint64_t now = __atomic_add_fetch(&epoch, 1, __ATOMIC_SEQ_CST);

	(void)user;
	for (int i = 0; i < N_THREADS; i++)
		while (__atomic_load_n(&seats[i].seen, __ATOMIC_SEQ_CST) < now)
			sched_yield();
	return 0;
}

static bool is_over(void)
{
	return __atomic_load_n(&stopping, __ATOMIC_RELAXED);
}

/* Half of the draws from a sixteenth of the names. */
static uint64_t draw(uint64_t *seed)
{
	uint64_t r = next_random(seed);

	return (r >> 8) % (r & 1 ? N_NAMES : N_NAMES / 16);
}

static void *write_all(void *arg)
{
	struct seat *seat = arg;
	uint64_t seed = (uint64_t)(seat - seats) << 32;
	struct cache_writer *writer;

	MUST(!cache_writer_new(&writer, world.cache));
	while (!is_over()) {
		for (int i = 0; i < BURST; i++) {
			uint64_t number = draw(&seed);
			struct cache_key key = key_of(world.cache, number);
			int err = 0;

			if (!get(&world, number))
				err = put_by(&world, writer, number, seed);
			MUST(!err || err == -ENOSPC || err == -EAGAIN || err == -ESTALE);
			if (seed % 64 == 0)
				cache_withdraw(world.cache, &key);
			if (seed % 32 == 1) /* without asking: in the place of what is there */
				put_by(&world, writer, number, seed);
		}
		quiescent(seat);
	}
	__atomic_store_n(&seat->seen, UINT64_MAX, __ATOMIC_SEQ_CST);
	cache_writer_free(writer);
	return NULL;
}

static void *read_all(void *arg)
{
	struct seat *seat = arg;
	uint64_t seed = (uint64_t)(seat - seats) << 32, hits = 0, misses = 0;

	while (!is_over()) {
		for (int i = 0; i < BURST; i++) {
			if (get(&world, draw(&seed)))
				hits++;
			else
				misses++;
		}
		quiescent(seat);
	}
	__atomic_store_n(&seat->seen, UINT64_MAX, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&n_hits, hits, __ATOMIC_RELAXED);
	__atomic_add_fetch(&n_misses, misses, __ATOMIC_RELAXED);
	return NULL;
}

/* What control does meanwhile: reads counters, withdraws a zone's answers. */
static void disturb(void)
{
	const struct timespec tick = { .tv_nsec = 10000000 };
	struct cache_stats stats;
	uint64_t ns;

	for (ns = 0; ns < RUN_NS; ns += 10000000) {
		nanosleep(&tick, NULL);
		cache_stats_read(world.cache, &stats);
		MUST(stats.sizes.total_bytes <= stats.sizes.bytes);
		MUST(stats.used_bytes <= (uint64_t)stats.sizes.n_segments * VOLLEY_SEGMENT_BYTES);
		if (ns % 500000000 == 0)
			cache_zone_flush(world.cache, world.slot); /* w->gen: dead from now on */
		if (ns % 500000000 == 100000000)
			cache_zone_commit(world.cache, world.slot, world.gen,
					  (const uint64_t[2]){ 1, 2 });
	}
}

static void test_all_at_once(void **state)
{
	pthread_t threads[N_THREADS];
	struct cache_keeper *keeper;
	struct cache_stats stats;

	(void)state;
	world_open(&world, 5 << 20);
	for (int i = 0; i < N_THREADS; i++) {
		quiescent(&seats[i]);
		MUST(!pthread_create(&threads[i], NULL, i < N_WRITERS ? write_all : read_all,
				     &seats[i]));
	}
	MUST(!cache_keeper_start(&keeper, world.cache, wait_for_all, NULL));
	disturb();
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	cache_keeper_stop(keeper);
	cache_stats_read(world.cache, &stats);
#define PRINT(name, words) print_message("%12lu %s\n", (unsigned long)stats.counters.name, words);
	CACHE_COUNTERS(PRINT)
#undef PRINT
	print_message("%12lu hits, %lu misses\n", (unsigned long)n_hits, (unsigned long)n_misses);
	assert_true(n_hits > 10000);
	assert_true(stats.counters.published > 10000);
	assert_true(stats.counters.evicted > 1000);
	assert_true(stats.counters.grace_periods > 10);
	world_close(&world);
}

/* ---- Doubles --------------------------------------------------------------------------------- */

#define N_ROUNDS 20000u

static uint64_t at_barrier, go;

static void meet(uint64_t round)
{
	__atomic_add_fetch(&at_barrier, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&go, __ATOMIC_SEQ_CST) < round)
		sched_yield();
}

static void *publish_same(void *arg)
{
	struct cache_writer *writer;

	MUST(!cache_writer_new(&writer, world.cache));
	for (uint64_t round = 1; round <= N_ROUNDS; round++) {
		meet(round);
		put_by(&world, writer, round, round << 8 | (uint64_t)(uintptr_t)arg);
	}
	cache_writer_free(writer);
	return NULL;
}

static unsigned int count_of_key(const struct cache_key *key)
{
	uint32_t n = world.memory.sizes.n_buckets;
	unsigned int found = 0;

	for (int i = 0; i < 2 * VOLLEY_BUCKET_SLOTS; i++) {
		uint32_t bucket = i < VOLLEY_BUCKET_SLOTS ? volley_bucket(key->hash, n) :
							    volley_bucket2(key->hash, n);
		uint64_t word =
			load_word(&bucket_words(world.cache, bucket)[i % VOLLEY_BUCKET_SLOTS]);

		found += word && entry_is_of(word_entry(world.cache, word), key);
	}
	return found;
}

/* Writers that publish one key at the same moment leave one entry. */
static void test_no_doubles(void **state)
{
	pthread_t threads[2];
	uint64_t n_lost = 0;

	(void)state;
	world_open(&world, 64 << 20);
	for (uintptr_t i = 0; i < 2; i++)
		MUST(!pthread_create(&threads[i], NULL, publish_same, (void *)i));
	for (uint64_t round = 1; round <= N_ROUNDS + 1; round++) {
		struct cache_key key = key_of(world.cache, round - 1);

		if (round <= N_ROUNDS)
			while (__atomic_load_n(&at_barrier, __ATOMIC_SEQ_CST) < 2 * round)
				sched_yield();
		else
			for (int i = 0; i < 2; i++)
				pthread_join(threads[i], NULL);
		if (round > 1) {
			assert_true(count_of_key(&key) <= 1);
			n_lost += count_of_key(&key) == 0;
		}
		__atomic_store_n(&go, round, __ATOMIC_SEQ_CST);
	}
	assert_int_equal(n_lost, 0);
	world_close(&world);
}

/* ---- Withdrawal while the keeper moves ------------------------------------------------------- */

static void *keep_on(void *arg)
{
	(void)arg;
	while (!is_over()) {
		struct cache_key key = key_of(world.cache, 1);
		uint32_t n = world.memory.sizes.n_buckets;
		uint64_t *words = bucket_words(world.cache, volley_bucket(key.hash, n));

		for (int i = 0; i < VOLLEY_BUCKET_SLOTS; i++) {
			uint64_t word = load_word(&words[i]);
			uint64_t moved = word ^
					 4096; /* as the keeper does: same entry, elsewhere */

			if (word)
				__atomic_compare_exchange_n(&words[i], &word, moved, false,
							    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

/* When cache_withdraw has said 0, the entry is gone, however often it moved meanwhile. */
static void test_withdrawn_is_gone(void **state)
{
	struct cache_key key;
	pthread_t thread;
	struct volley_entry *e;
	const struct volley_entry *found;
	uint64_t *slot, word;

	(void)state;
	__atomic_store_n(&stopping, false, __ATOMIC_RELAXED);
	world_open(&world, CACHE_BYTES_MIN);
	put(&world, 1);
	key = key_of(world.cache, 1);
	MUST(cache_lookup(world.cache, &key, WORLD_NOW_S, false, &found) == CACHE_HIT);
	slot = entry_word_slot(world.cache, found);
	word = *slot;
	e = word_entry(world.cache, word ^ 4096); /* its other place */
	memcpy(e, found, found->bytes);
	MUST(!pthread_create(&thread, NULL, keep_on, NULL));
	for (int i = 0; i < 300000; i++) {
		__atomic_store_n(slot, word, __ATOMIC_RELEASE);
		MUST(!cache_withdraw(world.cache, &key));
		MUST(!load_word(slot));
	}
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_at_once),
		cmocka_unit_test(test_no_doubles),
		cmocka_unit_test(test_withdrawn_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
