/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys: folding, hashing, and where an entry may lie; then what a reader finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>

#include "world.h"

/* Every octet in every place of a word, with every other octet as its neighbour. */
static void test_fold_is_tolower(void **state)
{
	(void)state;
	for (unsigned int octet = 0; octet < 256; octet++) {
		for (unsigned int other = 0; other < 256; other++) {
			for (unsigned int place = 0; place < 8; place++) {
				uint64_t word = 0x0101010101010101ull * other;
				uint64_t want =
					0x0101010101010101ull * (uint8_t)tolower((int)other);
				unsigned int shift = place * 8;

				word = (word & ~(0xffull << shift)) | (uint64_t)octet << shift;
				want = (want & ~(0xffull << shift)) |
				       (uint64_t)(uint8_t)tolower((int)octet) << shift;
				assert_int_equal(volley_fold_word(word), want);
			}
		}
	}
}

static void test_fold_random_words(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int n = 0; n < 1000000; n++) {
		uint64_t word = next_random(&seed), folded = volley_fold_word(word);

		for (int i = 0; i < 64; i += 8)
			assert_int_equal((uint8_t)(folded >> i), tolower((uint8_t)(word >> i)));
	}
}

/* Chi square of names over buckets; 5 sigma. */
static void check_spread(const struct cache *cache, uint32_t (*bucket)(uint64_t, uint32_t))
{
	enum { N_BUCKETS = 16 * VOLLEY_PAGE_BUCKETS, N_NAMES = 200000 };
	static uint32_t counts[N_BUCKETS];
	double expected = (double)N_NAMES / N_BUCKETS, chi2 = 0;

	memset(counts, 0, sizeof(counts));
	for (uint64_t i = 0; i < N_NAMES; i++)
		counts[bucket(key_of(cache, i).hash, N_BUCKETS)]++;
	for (int i = 0; i < N_BUCKETS; i++)
		chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
	assert_true(chi2 > N_BUCKETS - 5 * 45 && chi2 < N_BUCKETS + 5 * 45);
}

static uint32_t tag_spread(uint64_t hash, uint32_t n)
{
	return volley_tag(hash) % n;
}

static uint32_t first_bucket(uint64_t hash, uint32_t n)
{
	return volley_bucket(hash, n);
}

static uint32_t second_bucket(uint64_t hash, uint32_t n)
{
	return volley_bucket2(hash, n);
}

static void test_hash_spreads(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	check_spread(w.cache, first_bucket);
	check_spread(w.cache, second_bucket);
	check_spread(w.cache, tag_spread);
	world_close(&w);
}

static void test_buckets_are_in_range(void **state)
{
	static const uint64_t hashes[] = { 0, ~0ull, 0xffffffff, 0xffffffff00000000, 1ull << 51 };
	static const uint32_t ns[] = { 64, 128, 192, 64000064, 0xffffffc0 };

	(void)state;
	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		for (size_t j = 0; j < sizeof(ns) / sizeof(ns[0]); j++) {
			assert_true(volley_bucket(hashes[i], ns[j]) < ns[j]);
			assert_true(volley_bucket2(hashes[i], ns[j]) < ns[j]);
			assert_int_equal(volley_bucket2(hashes[i], ns[j]) / 64,
					 volley_bucket(hashes[i], ns[j]) / 64);
			assert_int_not_equal(volley_bucket2(hashes[i], ns[j]),
					     volley_bucket(hashes[i], ns[j]));
		}
	}
}

/* Each part of the key but its view makes another hash; so does each length of a name of zeros. */
static void test_every_part_counts(void **state)
{
	static const uint8_t zeros[256];
	const uint8_t name[] = "\3www\7example";
	struct cache_key a, b;
	uint64_t hashes[256];
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	cache_key_init(&a, w.cache, name, 13, 1, 1, 0, 0);
	cache_key_init(&b, w.cache, name, 13, 28, 1, 0, 0);
	assert_true(a.hash != b.hash);
	cache_key_init(&b, w.cache, name, 13, 1, 3, 0, 0);
	assert_true(a.hash != b.hash);
	cache_key_init(&b, w.cache, name, 13, 1, 1, VOLLEY_KEY_DO, 0);
	assert_true(a.hash != b.hash);
	cache_key_init(&b, w.cache, name, 13, 1, 1, 0, VOLLEY_VIEW_PRIVATE);
	assert_true(a.hash == b.hash && a.words[0] != b.words[0]); /* views lie side by side */
	cache_key_init(&b, w.cache, name, 13, 1, 1, 0, 0);
	assert_true(a.hash == b.hash && a.n_words == 3);
	for (uint32_t n = 1; n < 256; n++) {
		cache_key_init(&a, w.cache, zeros, n, 1, 1, 0, 0);
		assert_int_equal(a.n_words, 1 + (n + 7) / 8);
		hashes[n] = a.hash;
		for (uint32_t i = 1; i < n; i++)
			assert_true(hashes[i] != a.hash);
	}
	world_close(&w);
}

/* The padding of a name is zero, whatever lay in the key before. */
static void test_padding_is_zero(void **state)
{
	struct cache_key a, b;
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	memset(&a, 0xff, sizeof(a));
	memset(&b, 0, sizeof(b));
	cache_key_init(&a, w.cache, (const uint8_t *)"\1a", 3, 1, 1, 0, 0);
	cache_key_init(&b, w.cache, (const uint8_t *)"\1a", 3, 1, 1, 0, 0);
	assert_memory_equal(a.words, b.words, a.n_words * 8);
	assert_true(a.hash == b.hash);
	world_close(&w);
}

static enum cache_verdict look(const struct world *w, uint64_t number, uint32_t now_s)
{
	struct cache_key key = key_of(w->cache, number);
	const struct volley_entry *e;

	return cache_lookup(w->cache, &key, now_s, false, &e);
}

static void test_expiry_boundaries(void **state)
{
	static const struct {
		const char *name;
		uint32_t expires_s, now_s;
		enum cache_verdict want;
	} rows[] = {
		{ "a second before", 1001, 1000, CACHE_HIT },
		{ "at its second", 1001, 1001, CACHE_EXPIRED },
		{ "long after", 1001, UINT32_MAX, CACHE_EXPIRED },
		{ "never", VOLLEY_NEVER, UINT32_MAX - 1, CACHE_HIT },
	};
	static uint8_t body[128];
	struct world w;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_key key = key_of(w.cache, i + 1);
		struct cache_answer a = answer_of(&w, i + 1, body);

		a.full_bytes = 32;
		a.short_bytes = 0;
		a.expires_s = rows[i].expires_s;
		assert_int_equal(cache_publish(w.writer, &key, &a, 1000), 0);
		print_message("%s\n", rows[i].name);
		assert_int_equal(look(&w, i + 1, rows[i].now_s), rows[i].want);
	}
	world_close(&w);
}

/* A word whose tag is right but whose entry is another's is not an answer. */
static void test_full_key_is_compared(void **state)
{
	struct world w;
	struct cache_key key;
	uint64_t *slot, word;
	const struct volley_entry *e;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	put(&w, 1);
	key = key_of(w.cache, 1);
	assert_int_equal(cache_lookup(w.cache, &key, WORLD_NOW_S, false, &e), CACHE_HIT);
	slot = entry_word_slot(w.cache, e);
	assert_non_null(slot);
	word = *slot;
	key = key_of(w.cache, 2);
	bucket_words(w.cache, volley_bucket(key.hash, w.memory.sizes.n_buckets))[0] =
		(uint64_t)volley_tag(key.hash) << 32 | (uint32_t)word;
	assert_int_equal(look(&w, 2, WORLD_NOW_S), CACHE_MISS);
	assert_int_equal(look(&w, 1, WORLD_NOW_S), CACHE_HIT);
	world_close(&w);
}

/* A dead entry of the same key in the first bucket does not hide a valid one in the second. */
static void test_dead_double_hides_nothing(void **state)
{
	uint32_t n;
	struct world w;
	struct cache_key key;
	const struct volley_entry *e;
	uint64_t *first, *slot, word;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	n = w.memory.sizes.n_buckets;
	put(&w, 1);
	key = key_of(w.cache, 1);
	assert_int_equal(cache_lookup(w.cache, &key, WORLD_NOW_S, false, &e), CACHE_HIT);
	slot = entry_word_slot(w.cache, e);
	word = *slot;
	*slot = 0;
	w.gen = cache_zone_flush(w.cache, w.slot);
	put(&w, 1); /* elsewhere in the segment, of the new generation */
	assert_int_equal(cache_lookup(w.cache, &key, WORLD_NOW_S, false, &e), CACHE_HIT);
	*entry_word_slot(w.cache, e) = 0;
	first = bucket_words(w.cache, volley_bucket(key.hash, n));
	first[0] = word;
	bucket_words(w.cache, volley_bucket2(key.hash, n))[7] = entry_word(w.cache, e);
	assert_true(get(&w, 1));
	first[0] = 0;
	assert_true(get(&w, 1));
	world_close(&w);
}

static void test_hits_are_counted_up_to_three(void **state)
{
	struct world w;
	struct cache_key key;
	const struct volley_entry *e;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	put(&w, 1);
	key = key_of(w.cache, 1);
	for (int i = 1; i <= 5; i++) {
		assert_int_equal(cache_lookup(w.cache, &key, WORLD_NOW_S, false, &e), CACHE_HIT);
		assert_int_equal(e->freq, i - 1 < VOLLEY_FREQ_MAX ? i - 1 : VOLLEY_FREQ_MAX);
		cache_lookup(w.cache, &key, WORLD_NOW_S, true, &e);
	}
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fold_is_tolower),
		cmocka_unit_test(test_fold_random_words),
		cmocka_unit_test(test_hash_spreads),
		cmocka_unit_test(test_buckets_are_in_range),
		cmocka_unit_test(test_every_part_counts),
		cmocka_unit_test(test_padding_is_zero),
		cmocka_unit_test(test_expiry_boundaries),
		cmocka_unit_test(test_full_key_is_compared),
		cmocka_unit_test(test_dead_double_hides_nothing),
		cmocka_unit_test(test_hits_are_counted_up_to_three),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
