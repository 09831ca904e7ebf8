/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From one cache through a file to another one, which has other hash keys and other slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <urcu-qsbr.h>

#include "cache/entry_walk.h"
#include "cache/keeper.h"
#include "snapshots.h"

#define N_NAMES 3000u

static const uint64_t the_digest[2] = { 1, 2 }; /* world_start()'s */
static const uint64_t other_digest[2] = { 3, 4 };

static void test_there_and_back(void **state)
{
	struct snapshot_written written;
	struct snapshot_read told;
	struct pair p;
	struct stat st;

	(void)state;
	pair_open(&p, CACHE_BYTES_MIN, 2 * CACHE_BYTES_MIN);
	for (uint64_t i = 0; i < N_NAMES; i++)
		put(&p.a, i);
	written = save(&p.a, p.fd);
	assert_int_equal(written.n_entries, N_NAMES);
	assert_int_equal(written.n_zones, 1);
	MUST(!fstat(p.fd, &st));
	assert_int_equal(written.n_bytes, st.st_size);
	assert_true(st.st_size > 2 * (off_t)SNAPSHOT_BLOCK_BYTES / 4);
	assert_int_equal(load(&p.b, p.fd, &told), 0);
	assert_int_equal(told.n_entries, N_NAMES);
	assert_int_equal(told.n_loaded, N_NAMES);
	for (uint64_t i = 0; i < N_NAMES; i++)
		assert_true(get(&p.b, i));
	assert_false(get(&p.b, N_NAMES));
	assert_int_equal(load(&p.b, p.fd, &told), 0); /* once more */
	assert_int_equal(told.n_present, N_NAMES);
	assert_int_equal(count_words(&p.b.memory), N_NAMES);
	pair_close(&p);
}

/* Shared answers stay behind, whatever octets their names have: they hold beside one filter of
 * names. */
static void test_shared_answers(void **state)
{
	struct snapshot_read told;
	struct pair p;

	(void)state;
	pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	for (uint8_t kind = VOLLEY_KEY_DENIAL; kind <= VOLLEY_KEY_INTERVAL; kind++) {
		static const uint8_t body[BODY_MAX];
		struct cache_answer a = answer_of(&p.a, 1, body);
		const struct volley_key first = { .name_bytes = 10, .kind = kind };
		struct cache_key key;

		cache_key_from(&key, p.a.cache, &first, (const uint8_t *)"\10ABC\0\377xyz\0");
		assert_int_equal(cache_publish(p.a.writer, &key, &a, WORLD_NOW_S), 0);
	}
	put(&p.a, 1);
	assert_int_equal(save(&p.a, p.fd).n_entries, 1);
	assert_int_equal(load(&p.b, p.fd, &told), 0);
	assert_int_equal(told.n_loaded, 1);
	pair_close(&p);
}

static void test_empty(void **state)
{
	struct snapshot_read told;
	struct world a;
	int fd = make_file();

	(void)state;
	world_open(&a, CACHE_BYTES_MIN);
	assert_int_equal(load(&a, fd, &told), ERR_SNAPSHOT);
	assert_true(snapshot_is_one(fd));
	save(&a, fd);
	assert_true(snapshot_is_one(fd));
	assert_int_equal(load(&a, fd, &told), 0);
	assert_int_equal(told.n_entries, 0);
	world_close(&a);
	close(fd);
}

/* Its header's parts are the entry's; how it was used is not lost. */
static void test_keeps_the_past(void **state)
{
	struct snapshot_read told;
	struct pair p;

	(void)state;
	pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	put(&p.a, 1);
	put(&p.a, 2);
	assert_true(get(&p.a, 2) && get(&p.a, 2));
	ghost_remember(&p.a.cache->ghost, key_of(p.a.cache, 3).hash);
	put(&p.a, 3); /* into the main queue */
	save(&p.a, p.fd);
	assert_int_equal(load_at(&p.b, p.fd,
				 &(struct snapshot_times){ WORLD_NOW_S + 5, 1, "this boot......" },
				 &told),
			 0);
	for (uint64_t i = 1; i <= 3; i++) {
		const struct volley_entry *e = find(&p.b, i);

		assert_non_null(e);
		assert_true(is_whole(e, i));
		assert_int_equal(e->flags, htons(0x8400));
		assert_int_equal(e->freq, i == 2 ? 2 : 0);
		assert_int_equal(e->born_s, WORLD_NOW_S);
		assert_int_equal(cache_entry_is_main(p.b.cache, e), i == 3);
	}
	pair_close(&p);
}

static void test_a_valid_one_stays(void **state)
{
	struct snapshot_read told;
	struct pair p;

	(void)state;
	pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	put(&p.a, 1);
	put(&p.a, 2);
	save(&p.a, p.fd);
	MUST(!put_by(&p.b, p.b.writer, 2, 9));
	assert_int_equal(load(&p.b, p.fd, &told), 0);
	assert_int_equal(told.n_loaded, 1);
	assert_int_equal(told.n_present, 1);
	assert_int_equal(version_of(find(&p.b, 2)), 9);
	pair_close(&p);
}

static void test_what_does_not_hold(void **state)
{
	struct snapshot_read told;
	struct pair p;

	(void)state;
	pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
	for (uint64_t i = 60098; i <= 60100; i++)
		put(&p.a, i);
	save(&p.a, p.fd);
	assert_int_equal(load(&p.b, p.fd, &told), 0);
	assert_int_equal(told.n_loaded, 2);
	assert_int_equal(told.n_foreign, 1);
	assert_false(get(&p.b, 60099));
	pair_close(&p);
}

/* Published between the look and the store: cache_restore() itself yields. */
static void test_restore_yields(void **state)
{
	static uint8_t body[BODY_MAX + 8];
	const struct cache_past past = { .age_s = 1 };
	struct cache_answer answer;
	struct cache_key key;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	key = key_of(w.cache, 1);
	answer = answer_of(&w, 1, body);
	fill_body(body, 1, 1, answer.full_bytes);
	assert_int_equal(cache_restore(w.writer, &key, &answer, &past, WORLD_NOW_S), 0);
	assert_true(get(&w, 1));
	assert_int_equal(cache_restore(w.writer, &key, &answer, &past, WORLD_NOW_S), -EEXIST);
	assert_int_equal(count_words(&w.memory), 1);
	world_close(&w);
}

/* --- Zones ------------------------------------------------------------------------------------ */

static void flush(struct world *w)
{
	cache_zone_flush(w->cache, w->slot);
}

static void change(struct world *w)
{
	MUST(cache_zone_begin_change(w->cache, w->slot, the_digest));
	cache_zone_end_change(w->cache, w->slot, other_digest);
}

static void begin_change(struct world *w)
{
	MUST(cache_zone_begin_change(w->cache, w->slot, the_digest));
}

/* To another content and back, within the same generation. */
static void change_twice(struct world *w)
{
	change(w);
	MUST(cache_zone_begin_change(w->cache, w->slot, other_digest));
	cache_zone_end_change(w->cache, w->slot, the_digest);
}

static void renew(struct world *w)
{
	uint32_t gen;

	cache_zone_prepare(w->cache, (const uint8_t *)"\7example", 9, other_digest, &w->slot, &gen);
	cache_zone_commit(w->cache, w->slot, gen, other_digest);
}

static void drop(struct world *w)
{
	cache_zone_drop(w->cache, w->slot);
}

static const struct zone_case {
	const char *name;
	void (*happens)(struct world *);
	bool is_same_in_the_end; /* content as before, so it may be loaded */
} zone_cases[] = {
	{ "flushed", flush, true },
	{ "changed", change, false },
	{ "being changed", begin_change, false },
	{ "changed and back", change_twice, true },
	{ "another generation", renew, false },
	{ "gone", drop, false },
};

#define N_ZONE_CASES (sizeof(zone_cases) / sizeof(zone_cases[0]))

static void test_zone_changes_while_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ZONE_CASES; i++) {
		struct snapshot_written written;
		struct snapshot_read told;
		struct snapshot *snapshot;
		struct pair p;

		pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
		put(&p.a, 1);
		MUST(!snapshot_begin(&snapshot, p.a.cache));
		zone_cases[i].happens(&p.a);
		assert_int_equal(snapshot_write(snapshot, p.fd, &the_times, &never, &written), 0);
		snapshot_end(snapshot);
		assert_int_equal(written.n_zones, 0);
		assert_int_equal(written.n_changed, 1);
		assert_int_equal(load(&p.b, p.fd, &told), 0);
		assert_int_equal(told.n_loaded, 0);
		pair_close(&p);
	}
}

static void test_zone_changes_while_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ZONE_CASES; i++) {
		struct snapshot_read told;
		struct snapshot *snapshot;
		struct pair p;

		pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
		put(&p.a, 1);
		save(&p.a, p.fd);
		MUST(!snapshot_begin(&snapshot, p.b.cache));
		zone_cases[i].happens(&p.b);
		assert_int_equal(load_begun(&p.b, snapshot, p.fd, &the_times, &never, &told), 0);
		snapshot_end(snapshot);
		/* of what came back to be the same, the generation must be, too */
		assert_int_equal(told.n_loaded, zone_cases[i].happens == change_twice);
		assert_int_equal(told.n_loaded + told.n_foreign, 1);
		pair_close(&p);
	}
}

static void test_zone_is_another(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ZONE_CASES; i++) {
		struct snapshot_read told;
		struct pair p;

		pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
		put(&p.a, 1);
		save(&p.a, p.fd);
		zone_cases[i].happens(&p.b);
		assert_int_equal(load(&p.b, p.fd, &told), 0);
		assert_int_equal(told.n_loaded, zone_cases[i].is_same_in_the_end);
		assert_int_equal(told.n_foreign, !zone_cases[i].is_same_in_the_end);
		assert_int_equal(get(&p.b, 1), zone_cases[i].is_same_in_the_end);
		pair_close(&p);
	}
}

static void test_one_at_a_time(void **state)
{
	struct snapshot *first, *second;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	assert_int_equal(snapshot_begin(&first, w.cache), 0);
	assert_int_equal(snapshot_begin(&second, w.cache), -EBUSY);
	snapshot_end(first);
	assert_int_equal(snapshot_begin(&second, w.cache), 0);
	snapshot_end(second);
	world_close(&w);
}

/* --- Clocks ----------------------------------------------------------------------------------- */

/* Written with 60 s to live, at WORLD_NOW_S and wall clock 1000000. 0: it is not loaded. */
static const struct clock_case {
	const char *name;
	struct snapshot_times times;
	uint32_t expires_s;
} clock_cases[] = {
	{ "at once", { WORLD_NOW_S, 1000000, "this boot......" }, WORLD_NOW_S + 60 },
	{ "same boot, later", { WORLD_NOW_S + 20, 1000020, "this boot......" }, WORLD_NOW_S + 60 },
	{ "same boot, too late", { WORLD_NOW_S + 60, 1000060, "this boot......" }, 0 },
	{ "same boot, wall clock set back",
	  { WORLD_NOW_S + 20, 5, "this boot......" },
	  WORLD_NOW_S + 60 },
	{ "same boot, wall clock set on",
	  { WORLD_NOW_S + 20, 9000000, "this boot......" },
	  WORLD_NOW_S + 60 },
	{ "rebooted", { 10, 1000030, "another boot..." }, 10 + 30 },
	{ "rebooted, the last second", { 10, 1000059, "another boot..." }, 11 },
	{ "rebooted, too late", { 10, 1000060, "another boot..." }, 0 },
	{ "rebooted, wall clock behind", { 10, 999999, "another boot..." }, 0 },
	{ "rebooted, no wall clock at all", { 10, 0, "another boot..." }, 0 },
};

static void test_clocks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(clock_cases) / sizeof(clock_cases[0]); i++) {
		const struct clock_case *c = &clock_cases[i];
		static uint8_t body[BODY_MAX + 8];
		const struct volley_entry *e;
		struct snapshot_read told;
		struct cache_answer answer;
		struct cache_key key;
		struct pair p;

		pair_open(&p, CACHE_BYTES_MIN, CACHE_BYTES_MIN);
		key = key_of(p.a.cache, 1);
		answer = answer_of(&p.a, 1, body);
		answer.expires_s = WORLD_NOW_S + 60;
		MUST(!cache_publish(p.a.writer, &key, &answer, WORLD_NOW_S - 3));
		put(&p.a, 2); /* lives for good, whatever the clocks say */
		save(&p.a, p.fd);
		assert_int_equal(load_at(&p.b, p.fd, &c->times, &told), 0);
		if (told.n_loaded != (c->expires_s ? 2 : 1))
			fail_msg("%s: %u loaded", c->name, (unsigned)told.n_loaded);
		assert_int_equal(told.n_expired, c->expires_s ? 0 : 1);
		key = key_of(p.b.cache, 1);
		cache_lookup(p.b.cache, &key, c->times.now_s, false, &e);
		assert_int_equal(e ? e->expires_s : 0, c->expires_s);
		pair_close(&p);
	}
}

static void test_the_dead_stay_behind(void **state)
{
	static uint8_t body[BODY_MAX + 8];
	struct snapshot_written written;
	struct cache_answer answer;
	struct cache_key key;
	struct world w;
	int fd = make_file();

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	key = key_of(w.cache, 1);
	answer = answer_of(&w, 1, body);
	answer.expires_s = WORLD_NOW_S;
	put(&w, 2);
	w.gen = answer.zone_gen = cache_zone_flush(w.cache, w.slot);
	MUST(!cache_publish(w.writer, &key, &answer, WORLD_NOW_S - 3));
	put(&w, 3);
	written = save(&w, fd);
	assert_int_equal(written.n_entries, 1);
	world_close(&w);
	close(fd);
}

/* --- Room and time ---------------------------------------------------------------------------- */

static void test_those_in_use_come_first(void **state)
{
	struct snapshot_read told;
	struct pair p;
	uint64_t n = 0;

	(void)state;
	pair_open(&p, 4 * CACHE_BYTES_MIN, CACHE_BYTES_MIN); /* in b nobody makes room */
	while (n < 30000)
		put(&p.a, n++);
	for (uint64_t i = 0; i < n; i += 10)
		assert_true(get(&p.a, i));
	save(&p.a, p.fd);
	assert_int_equal(load(&p.b, p.fd, &told), 0);
	assert_true(told.n_no_room > 0);
	assert_int_equal(told.n_loaded + told.n_no_room, n);
	for (uint64_t i = 0; i < n; i += 10)
		assert_true(get(&p.b, i));
	pair_close(&p);
}

static void test_cancelled(void **state)
{
	const bool now = true;
	struct snapshot_written written;
	struct snapshot_read told;
	struct snapshot *snapshot;
	struct world w;
	int fd = make_file(), cut = make_file();

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	put(&w, 1);
	save(&w, fd);
	MUST(!snapshot_begin(&snapshot, w.cache));
	assert_int_equal(snapshot_write(snapshot, cut, &the_times, &now, &written), -ECANCELED);
	assert_int_equal(load_begun(&w, snapshot, fd, &the_times, &now, &told), -ECANCELED);
	snapshot_end(snapshot);
	assert_int_equal(load(&w, cut, &told), ERR_SNAPSHOT);
	world_close(&w);
	close(fd);
	close(cut);
}

/*
 * Writers publish, readers ask and the keeper moves while one file after the other is written. To
 * ThreadSanitizer, which does not know liburcu's grace periods, memory that is used again is a
 * race: there the keeper stands still, and what is published beside the writing is all that is
 * tested.
 */
#ifdef __SANITIZE_THREAD__
#define HAS_KEEPER false
#else
#define HAS_KEEPER true
#endif

static struct world busy;
static bool stopping;

static void *publish_many(void *seed_of)
{
	uint64_t seed = *(uint64_t *)seed_of;
	struct cache_writer *writer;

	MUST(!cache_writer_new(&writer, busy.cache));
	rcu_register_thread();
	while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
		uint64_t r = next_random(&seed);

		(void)put_by(&busy, writer, r % 4 ? r % 512 : r % 60000, 1);
		get(&busy, r % 512);
		rcu_quiescent_state();
	}
	rcu_unregister_thread();
	cache_writer_free(writer);
	return NULL;
}

static void test_beside_others(void **state)
{
	uint64_t seeds[2] = { 1, 1000000 }, n_max = 0;
	struct cache_keeper *keeper = NULL;
	pthread_t threads[2];

	(void)state;
	world_open(&busy, CACHE_BYTES_MIN);
	if (HAS_KEEPER)
		MUST(!cache_keeper_start(&keeper, busy.cache, grace_wait_userspace, NULL));
	for (int i = 0; i < 2; i++)
		MUST(!pthread_create(&threads[i], NULL, publish_many, &seeds[i]));
	rcu_register_thread();
	rcu_thread_offline();
	/* A busy machine may leave the writers little time at first. */
	for (int i = 0; i < 20 || (n_max <= 512 && i < 2000); i++) {
		struct snapshot_written written;
		struct snapshot_read told;
		struct world b;
		int fd = make_file();

		usleep(5000);
		written = save(&busy, fd);
		open_other(&b, 4 * CACHE_BYTES_MIN);
		assert_int_equal(load(&b, fd, &told), 0);
		assert_int_equal(told.n_entries, written.n_entries);
		assert_int_equal(told.n_loaded + told.n_present, told.n_entries);
		for (uint64_t name = 0; name < 512; name++)
			get(&b, name); /* whole, if it is there */
		n_max = written.n_entries > n_max ? written.n_entries : n_max;
		assert_int_equal(load(&busy, fd, &told), 0); /* and back among them */
		world_close(&b);
		close(fd);
	}
	__atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	cache_keeper_stop(keeper);
	rcu_unregister_thread();
	assert_true(n_max > 512);
	world_close(&busy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_shared_answers),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_keeps_the_past),
		cmocka_unit_test(test_a_valid_one_stays),
		cmocka_unit_test(test_what_does_not_hold),
		cmocka_unit_test(test_restore_yields),
		cmocka_unit_test(test_zone_changes_while_written),
		cmocka_unit_test(test_zone_changes_while_read),
		cmocka_unit_test(test_zone_is_another),
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_the_dead_stay_behind),
		cmocka_unit_test(test_those_in_use_come_first),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_beside_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
