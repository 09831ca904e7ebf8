/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "world.h"

static void test_publish_replace_withdraw(void **state)
{
	struct world w;
	struct cache_key key;
	struct cache_stats stats;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	key = key_of(w.cache, 1);
	assert_null(find(&w, 1));
	assert_int_equal(cache_withdraw(w.cache, &key), -ENOENT);
	assert_int_equal(put_by(&w, w.writer, 1, 10), 0);
	assert_int_equal(version_of(find(&w, 1)), 10);
	assert_int_equal(put_by(&w, w.writer, 1, 11), 0);
	assert_int_equal(version_of(find(&w, 1)), 11);
	assert_int_equal(count_words(&w.memory), 1);
	assert_int_equal(cache_withdraw(w.cache, &key), 0);
	assert_null(find(&w, 1));
	assert_int_equal(cache_withdraw(w.cache, &key), -ENOENT);
	cache_stats_read(w.cache, &stats);
	assert_int_equal(stats.counters.published, 2);
	assert_int_equal(stats.counters.replaced, 1);
	assert_int_equal(stats.n_entries, 0);
	world_close(&w);
}

/* Every field, and sums that make a message's checksum; each length of a name and many of a
 * body. */
static void test_entry_is_what_was_given(void **state)
{
	static uint8_t body[300], name[256], message[12 + 255 + 4 + 300];
	struct world w;

	(void)state;
	world_open(&w, 8 << 20);
	for (uint32_t i = 0; i < sizeof(body); i++)
		body[i] = (uint8_t)mix(i);
	for (uint32_t n = 1; n <= 255; n++) {
		const uint16_t full = (uint16_t)(n + 7), part = (uint16_t)(n / 2);
		struct cache_answer a = { .body = body,
					  .full_bytes = full,
					  .short_bytes = part,
					  .ancount = 1,
					  .nscount = 2,
					  .arcount_full = 3,
					  .arcount_short = 4,
					  .flags = 0x8403,
					  .zone_slot = w.slot,
					  .zone_gen = w.gen,
					  .expires_s = 5000 };
		const struct volley_entry *e;
		struct cache_key key;

		memset(name, 'a', n);
		cache_key_init(&key, w.cache, name, n, 28, 1, VOLLEY_KEY_DO, 0);
		assert_int_equal(cache_publish(w.writer, &key, &a, WORLD_NOW_S), 0);
		assert_int_equal(cache_lookup(w.cache, &key, WORLD_NOW_S, false, &e), CACHE_HIT);
		assert_int_equal(e->hash, key.hash);
		assert_int_equal(e->bytes % VOLLEY_UNIT_BYTES, 0);
		assert_true(e->bytes >= 64 + n + full && e->bytes < 64 + n + full + 8 + 16);
		assert_memory_equal(e->name, name, n);
		assert_memory_equal(cache_entry_body(e), body, full);
		assert_int_equal(ntohs(e->flags), 0x8403);
		assert_int_equal(ntohs(e->ancount), 1);
		assert_int_equal(ntohs(e->nscount), 2);
		assert_int_equal(ntohs(e->arcount_full), 3);
		assert_int_equal(ntohs(e->arcount_short), 4);
		assert_int_equal(e->born_s, WORLD_NOW_S);
		assert_int_equal(e->expires_s, 5000);
		assert_int_equal(e->freq, 0);
		/* As it lies in a message whose other octets are zero. */
		memset(message, 0, sizeof(message));
		memcpy(message + 12 + n + 4, body, full);
		assert_int_equal(e->full_sum,
				 entry_body_sum(message, 12 + n + 4 + full, 0, NULL, 0));
		memset(message + 12 + n + 4 + part, 0, sizeof(message) - 12 - n - 4 - part);
		assert_int_equal(e->short_sum,
				 entry_body_sum(message, 12 + n + 4 + part, 0, NULL, 0));
	}
	world_close(&w);
}

static void test_largest_body(void **state)
{
	static uint8_t body[65535];
	struct world w;
	uint32_t n = 0;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (uint32_t i = 0; i < sizeof(body); i++)
		body[i] = (uint8_t)mix(i);
	for (; n < 200; n++) {
		struct cache_key key = key_of(w.cache, n);
		struct cache_answer a = answer_of(&w, n, body);
		const struct volley_entry *e;

		a.full_bytes = 65535;
		a.short_bytes = (uint16_t)(n & 1 ? 65535 : 0);
		while (cache_publish(w.writer, &key, &a, WORLD_NOW_S) == -ENOSPC)
			assert_true(cache_keep(w.cache, WORLD_NOW_S, no_readers, NULL) > 0);
		e = find(&w, n);
		assert_non_null(e);
		assert_int_equal(e->full_bytes, 65535);
		assert_memory_equal(cache_entry_body(e), body, 65535);
	}
	world_close(&w);
}

static void test_refused(void **state)
{
	static uint8_t body[64];
	struct world w;
	struct cache_key key;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	key = key_of(w.cache, 1);
	const struct {
		const char *name;
		uint32_t zone_slot;
		uint16_t full_bytes, short_bytes;
	} rows[] = {
		{ "nobody's zone", 0, 32, 32 },
		{ "zone slot out of range", w.memory.sizes.n_zones, 32, 32 },
		{ "short longer than full", w.slot, 32, 33 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_answer a = { .body = body,
					  .full_bytes = rows[i].full_bytes,
					  .short_bytes = rows[i].short_bytes,
					  .zone_slot = rows[i].zone_slot,
					  .zone_gen = w.gen,
					  .expires_s = VOLLEY_NEVER };

		print_message("%s\n", rows[i].name);
		assert_int_equal(cache_publish(w.writer, &key, &a, WORLD_NOW_S), -EINVAL);
		assert_int_equal(count_words(&w.memory), 0);
	}
	world_close(&w);
}

/* An engine that still has the old zone does not put its answer over that of the new one. */
static void test_dead_replaces_no_valid_one(void **state)
{
	struct world w, old;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	old = w;
	w.gen = cache_zone_flush(w.cache, w.slot);
	assert_int_equal(put_by(&old, w.writer, 1, 1), 0); /* nothing to lose */
	assert_null(find(&w, 1));
	assert_int_equal(put_by(&w, w.writer, 1, 2), 0);
	assert_int_equal(put_by(&old, w.writer, 1, 3), -ESTALE);
	assert_int_equal(version_of(find(&w, 1)), 2);
	assert_int_equal(count_words(&w.memory), 1);
	world_close(&w);
}

/* A full bucket gives up what is dead, and only then the least asked. */
static void test_full_buckets(void **state)
{
	enum { N = 16 };
	struct world w;
	struct cache_stats stats;
	uint64_t in[N + 1];

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	share_two_buckets(&w, in, N + 1);
	for (unsigned int i = 0; i < N; i++) {
		put(&w, in[i]);
		if (i != 5)
			get(&w, in[i]);
	}
	assert_int_equal(count_words(&w.memory), N);
	put(&w, in[N]);
	cache_stats_read(w.cache, &stats);
	assert_int_equal(stats.counters.displaced, 1);
	assert_null(find(&w, in[5]));
	for (unsigned int i = 0; i <= N; i++)
		assert_true(i == 5 || find(&w, in[i]));
	world_close(&w);
}

/* A flood is only as long as the ghosts: what was evicted unasked and comes again goes to main. */
static void test_remembered(void **state)
{
	struct world w;
	struct cache_stats stats;
	uint64_t n = 100;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	put(&w, 1);
	while (find(&w, 1))
		put(&w, n++);
	put(&w, 1);
	cache_stats_read(w.cache, &stats);
	assert_int_equal(stats.counters.readmitted, 1);
	for (uint64_t end = n + 30000; n < end; n++)
		put(&w, n);
	assert_non_null(find(&w, 1));
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_publish_replace_withdraw),
		cmocka_unit_test(test_entry_is_what_was_given),
		cmocka_unit_test(test_largest_body),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_dead_replaces_no_valid_one),
		cmocka_unit_test(test_full_buckets),
		cmocka_unit_test(test_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
