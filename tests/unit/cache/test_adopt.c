/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the next daemon finds: all that was valid, and nothing that could harm it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

/* ThreadSanitizer has little to find here, where all is one thread, and makes it 30 times as
 * dear. */
#ifdef __SANITIZE_THREAD__
#define N_KILLS 20
#define N_AFTER 3000
#define N_FOUND 20000
#else
#define N_KILLS 200
#define N_AFTER 60000
#define N_FOUND 150000
#endif

static void test_every_entry_is_found(void **state)
{
	enum { N = N_FOUND };
	static bool before[N];
	struct world w;
	uint64_t n_words;

	(void)state;
	world_open(&w, 16 << 20);
	assert_false(w.adopted);
	for (uint64_t i = 0; i < N; i++) {
		put(&w, i);
		if (i % 7 == 0)
			get(&w, i / 2);
	}
	for (uint64_t i = 0; i < N; i++)
		before[i] = get(&w, i);
	n_words = count_words(&w.memory);
	world_stop(&w);
	world_start(&w);
	assert_true(w.adopted);
	assert_int_equal(count_words(&w.memory), n_words);
	for (uint64_t i = 0; i < N; i++)
		assert_int_equal(get(&w, i), before[i]);
	for (uint64_t i = N; i < 2 * N; i++)
		put(&w, i); /* and goes on as ever */
	assert_true(get(&w, 2 * N - 1));
	world_close(&w);
}

static void test_other_sizes_are_refused(void **state)
{
	struct world w;
	struct cache *cache = NULL;
	bool adopted;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	world_stop(&w);
	w.memory.sizes.n_buckets--;
	assert_int_equal(cache_new(&cache, &w.memory, &adopted), -EPROTO);
	w.memory.sizes.n_buckets++;
	w.memory.state->abi++;
	assert_int_equal(cache_new(&cache, &w.memory, &adopted), -EPROTO);
	assert_null(cache);
	w.memory.state->abi--;
	w.memory.state->magic = 0; /* died before all was set up */
	world_start(&w);
	assert_false(w.adopted);
	world_close(&w);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

static struct volley_entry *entry_of(const struct world *w, uint64_t number)
{
	struct cache_key key = key_of(w->cache, number);
	const struct volley_entry *e;

	MUST(cache_lookup(w->cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT);
	return (struct volley_entry *)e;
}

static void hurt_hash(struct world *w, struct volley_entry *e)
{
	(void)w;
	e->hash ^= 1;
}

static void hurt_zone(struct world *w, struct volley_entry *e)
{
	e->zone_slot = w->memory.sizes.n_zones;
}

static void hurt_zone_far(struct world *w, struct volley_entry *e)
{
	(void)w;
	e->zone_slot = UINT32_MAX;
}

static void hurt_name(struct world *w, struct volley_entry *e)
{
	(void)w;
	e->name[2] ^= 1;
}

static void hurt_name_bytes(struct world *w, struct volley_entry *e)
{
	(void)w;
	e->key.name_bytes = 255;
}

static void hurt_body(struct world *w, struct volley_entry *e)
{
	(void)w;
	((uint8_t *)e)[e->body_offset + 3] ^= 0x10;
}

static void hurt_body_offset(struct world *w, struct volley_entry *e)
{
	(void)w;
	e->body_offset = 65535;
}

static void hurt_full_bytes(struct world *w, struct volley_entry *e)
{
	(void)w;
	e->full_bytes = 65535;
}

static void hurt_short_bytes(struct world *w, struct volley_entry *e)
{
	(void)w;
	e->short_bytes = (uint16_t)(e->full_bytes + 1);
}

static void hurt_bytes(struct world *w, struct volley_entry *e)
{
	(void)w;
	e->bytes = 0;
}

static void hurt_word(struct world *w, struct volley_entry *e)
{
	*entry_word_slot(w->cache, e) += 1; /* into the middle of it */
}

static void hurt_word_far(struct world *w, struct volley_entry *e)
{
	*entry_word_slot(w->cache, e) |= UINT32_MAX;
}

static void hurt_word_to_header(struct world *w, struct volley_entry *e)
{
	uint64_t *slot = entry_word_slot(w->cache, e);

	*slot = *slot >> 32 << 32 | VOLLEY_SEGMENT_UNITS;
}

/* A word where the keeper would not look for it: it would lead into reused memory some day. */
static void hurt_place(struct world *w, struct volley_entry *e)
{
	uint64_t *slot = entry_word_slot(w->cache, e);
	uint32_t n = w->memory.sizes.n_buckets;
	uint32_t bucket = (volley_bucket(e->hash, n) + 1) % n;

	if (bucket == volley_bucket2(e->hash, n))
		bucket = (bucket + 1) % n;
	bucket_words(w->cache, bucket)[0] = *slot;
	*slot = 0;
}

static struct volley_segment *segment_of(const struct world *w, const struct volley_entry *e)
{
	size_t offset = (size_t)((const uint8_t *)e - w->memory.store);

	return segment_at(w->cache, (uint32_t)(offset / VOLLEY_SEGMENT_BYTES));
}

static void hurt_segment_free(struct world *w, struct volley_entry *e)
{
	segment_of(w, e)->state = VOLLEY_SEGMENT_FREE;
}

static void hurt_segment_used(struct world *w, struct volley_entry *e)
{
	segment_of(w, e)->used_bytes = UINT32_MAX;
}

static void test_damage_is_dropped(void **state)
{
	static const struct {
		const char *name;
		void (*hurt)(struct world *w, struct volley_entry *e);
	} rows[] = {
		{ "hash", hurt_hash },
		{ "zone slot", hurt_zone },
		{ "zone slot far out", hurt_zone_far },
		{ "name", hurt_name },
		{ "length of the name", hurt_name_bytes },
		{ "body", hurt_body },
		{ "offset of the body", hurt_body_offset },
		{ "length of the body", hurt_full_bytes },
		{ "length of the short body", hurt_short_bytes },
		{ "length of the entry", hurt_bytes },
		{ "word into an entry", hurt_word },
		{ "word out of the store", hurt_word_far },
		{ "word to a segment's header", hurt_word_to_header },
		{ "word in a strange bucket", hurt_place },
		{ "segment in use called free", hurt_segment_free },
		{ "segment longer than it can be", hurt_segment_used },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t n_words, n = 1;
		struct world w;

		print_message("%s\n", rows[i].name);
		world_open(&w, CACHE_BYTES_MIN);
		for (; n < 3000; n++)
			put(&w, n);
		n_words = count_words(&w.memory);
		rows[i].hurt(&w, entry_of(&w, 500));
		world_stop(&w);
		world_start(&w);
		assert_true(w.adopted);
		assert_true(count_words(&w.memory) < n_words);
		assert_false(get(&w, 500));
		for (n = 0; n < N_AFTER; n++) { /* over all segments, several times */
			put(&w, n);
			get(&w, n / 2);
		}
		for (n = 0; n < N_AFTER; n++)
			get(&w, n); /* which checks each */
		world_close(&w);
	}
}

/* The same word twice: one goes, or the keeper would withdraw only the first it finds. */
static void test_double_word_is_dropped(void **state)
{
	struct world w;
	struct volley_entry *e;
	uint64_t *slot, word, *other;

	(void)state;
	world_open(&w, CACHE_BYTES_MIN);
	put(&w, 1);
	e = entry_of(&w, 1);
	slot = entry_word_slot(w.cache, e);
	word = *slot;
	other = bucket_words(w.cache, volley_bucket2(e->hash, w.memory.sizes.n_buckets));
	other += other == slot;
	*other = word;
	world_stop(&w);
	world_start(&w);
	assert_int_equal(count_words(&w.memory), 1);
	assert_true(get(&w, 1));
	world_close(&w);
}

/* All but the state's first octets random: nothing is found, and it serves as a new one. */
static void test_noise(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 5; round++) {
		struct world w;
		uint64_t *words;

		world_open(&w, CACHE_BYTES_MIN);
		world_stop(&w);
		words = (uint64_t *)w.memory.store;
		for (size_t i = 0; i < w.memory.sizes.n_segments * VOLLEY_SEGMENT_BYTES / 8u; i++)
			words[i] = next_random(&seed);
		for (uint32_t i = 0; i < w.memory.sizes.n_segments; i++)
			words[i * (size_t)(VOLLEY_SEGMENT_BYTES / 8)] %= 4; /* a state */
		for (size_t i = 0; i < w.memory.sizes.n_buckets * 8ul; i++)
			w.memory.index[i] = next_random(&seed) & ~(round % 2 ? 0xfff00000ull : 0);
		world_start(&w);
		assert_int_equal(count_words(&w.memory), 0);
		for (uint64_t n = 0; n < 30000; n++)
			put(&w, n);
		assert_true(get(&w, 29999));
		world_close(&w);
	}
}

/* ---- Killed at any step ---------------------------------------------------------------------- */

/* A daemon's life: adopts, publishes, is asked, evicts, until it is killed. */
static void live(struct world *w, uint64_t seed)
{
	world_start(w);
	for (;;) {
		uint64_t number = next_random(&seed) % 60000;

		if (get(w, number) && seed % 8)
			continue;
		if (put_by(w, w->writer, number, seed) == -ENOSPC)
			cache_keep(w->cache, WORLD_NOW_S, no_readers, NULL);
		if (seed % 4096 == 0)
			cache_zone_flush(w->cache, w->slot);
	}
}

static void kill_after(pid_t child, uint64_t us)
{
	struct timespec t = { .tv_nsec = (long)us * 1000 };
	int status;

	nanosleep(&t, NULL);
	MUST(!kill(child, SIGKILL));
	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL); /* it did not abort before */
}

static void open_shared(struct world *w, uint64_t bytes)
{
	struct cache_memory *m = &w->memory;
	uint8_t *base = mmap(NULL, bytes + (4 << 20), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(base != MAP_FAILED);
	*w = (struct world){ 0 };
	MUST(!cache_sizes_plan(&m->sizes, bytes, 0));
	m->store = base;
	base += (size_t)m->sizes.n_segments * VOLLEY_SEGMENT_BYTES;
	m->index = (uint64_t *)base;
	base += (size_t)m->sizes.n_buckets * VOLLEY_BUCKET_SLOTS * 8;
	m->zones = (struct volley_zone *)base;
	base += m->sizes.n_zones * sizeof(struct volley_zone);
	m->state = (struct volley_state *)base;
}

/* Every word leads to a whole entry; the number is in its name. */
static uint64_t check_all(const struct world *w)
{
	const struct cache_memory *m = &w->memory;
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)m->sizes.n_buckets * VOLLEY_BUCKET_SLOTS; i++) {
		const struct volley_entry *e;
		char label[20] = "";

		if (!m->index[i])
			continue;
		e = word_entry(w->cache, m->index[i]);
		MUST(e->name[0] >= 2 && e->name[0] <= 17);
		memcpy(label, e->name + 2, e->name[0] - 1u);
		MUST(is_whole(e, strtoull(label, NULL, 16)));
		n++;
	}
	return n;
}

static void test_killed_at_any_step(void **state)
{
	uint64_t seed = 1, n_checked = 0;
	struct world w;

	(void)state;
	open_shared(&w, CACHE_BYTES_MIN);
	world_start(&w);
	world_stop(&w);
	for (int round = 0; round < N_KILLS; round++) {
		uint64_t n_words;
		pid_t child = fork();

		MUST(child >= 0);
		if (!child)
			live(&w, next_random(&seed) + (uint64_t)round * 1000000);
		kill_after(child, next_random(&seed) % 20000);
		n_words = count_words(&w.memory);
		world_start(&w);
		assert_true(w.adopted);
		assert_int_equal(count_words(&w.memory), n_words); /* nothing is lost */
		n_checked += check_all(&w);
		world_stop(&w);
	}
	print_message("%lu entries whole after %d kills\n", (unsigned long)n_checked, N_KILLS);
	assert_true(n_checked > N_KILLS * 100);
}

/* A keeper that died between retiring and freeing: the next one frees, and copies what is left. */
static int dying(void *user)
{
	(void)user;
	return raise(SIGKILL);
}

static void test_died_in_grace(void **state)
{
	struct world w;
	pid_t child;
	uint64_t n_words, n = 0;
	int status;

	(void)state;
	open_shared(&w, CACHE_BYTES_MIN);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		world_start(&w);
		while (!put_by(&w, w.writer, n, 1))
			get(&w, n++);
		cache_keep(w.cache, WORLD_NOW_S, dying, NULL);
	}
	MUST(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	n_words = count_words(&w.memory);
	world_start(&w);
	assert_true(w.adopted);
	assert_int_equal(count_words(&w.memory), n_words);
	assert_true(w.cache->emptied.n > 0);
	assert_true(cache_keep(w.cache, WORLD_NOW_S, no_readers, NULL) > 0);
	assert_int_equal(w.cache->emptied.n, 0);
	assert_true(count_words(&w.memory) >= n_words / 2);
	world_stop(&w);
}

/* As only damage can leave it: the keeper empties no more than EMPTIED_MAX for a grace period. */
static void test_more_emptied_than_one_grace(void **state)
{
	struct cache_stats stats;
	uint32_t n_segments;
	struct world w;

	(void)state;
	world_open(&w, 32 << 20);
	n_segments = w.memory.sizes.n_segments;
	assert_true(n_segments > EMPTIED_MAX);
	world_stop(&w);
	for (uint32_t i = 0; i < n_segments; i++) {
		struct volley_segment *segment =
			(void *)(w.memory.store + (size_t)i * VOLLEY_SEGMENT_BYTES);

		segment->state = VOLLEY_SEGMENT_RETIRED;
		segment->used_bytes = sizeof(*segment);
	}
	world_start(&w);
	assert_true(w.adopted);
	assert_int_equal(w.cache->emptied.n, EMPTIED_MAX);
	while (cache_keep(w.cache, WORLD_NOW_S, no_readers, NULL))
		;
	cache_stats_read(w.cache, &stats);
	assert_true(stats.n_free >= segments_reserve(w.cache));
	for (uint64_t i = 0; i < N_AFTER; i++)
		put(&w, i);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_entry_is_found),
		cmocka_unit_test(test_other_sizes_are_refused),
		cmocka_unit_test(test_damage_is_dropped),
		cmocka_unit_test(test_double_word_is_dropped),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_killed_at_any_step),
		cmocka_unit_test(test_died_in_grace),
		cmocka_unit_test(test_more_emptied_than_one_grace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
