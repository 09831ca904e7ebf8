/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An invalidation withdraws what a walk would, no more and no less: over random caches that are
 * filled, asked, emptied, adopted; then with writers and the keeper at it meanwhile. The second is
 * meant to run under ThreadSanitizer too, with a grace period that it understands (test_threads.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>

#include "cache/dependency_filter.h"
#include "cache/entry_walk.h"
#include "tests/lib/wholewalk.h"
#include "world.h"

/* Every number is of a class; the entries of one class have a dependency in common, and a name. */
#define N_CLASSES 1009u

static uint64_t number_of(const struct volley_entry *e)
{
	char digits[24] = { 0 };

	memcpy(digits, e->name + 2, e->name[0] - 1u);
	return strtoull(digits, NULL, 16);
}

static uint64_t class_of(const struct volley_entry *e)
{
	return number_of(e) % N_CLASSES;
}

static uint64_t ground_of_number(uint64_t seed, uint64_t number)
{
	return mix(seed + 2 * number) | 1;
}

static uint64_t ground_of_class(uint64_t seed, uint64_t class)
{
	return mix(seed + 2 * class + 1) | 1;
}

static void dependencies_of(uint64_t seed, const struct volley_entry *e,
			    struct dependencies *dependencies)
{
	MUST(dependencies_add(dependencies, ground_of_number(seed, number_of(e))));
	MUST(dependencies_add(dependencies, ground_of_class(seed, class_of(e))));
}

/* --- Beside a walk ---------------------------------------------------------------------------- */

static struct world world;

#define N_TARGETS 64u

/* Numbers and classes to be withdrawn. */
struct job {
	uint64_t numbers[N_TARGETS], classes[N_TARGETS];
	uint64_t dependencies[2 * N_TARGETS];
	unsigned n_numbers, n_classes;
	uint64_t n_met, n_withdrawn, n_left, n_others; /* met: affected, in the index or not */
};

static bool is_among(uint64_t number, const uint64_t *numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static bool is_affected(void *user, const struct volley_entry *e)
{
	struct job *job = user;

	if (!is_among(number_of(e), job->numbers, job->n_numbers) &&
	    !is_among(class_of(e), job->classes, job->n_classes))
		return false;
	job->n_met++;
	return true;
}

static void withdrawn(void *user, const struct volley_entry *e)
{
	struct job *job = user;

	MUST(is_affected(job, e));
	job->n_withdrawn++;
}

static enum walk_step count(void *user, const struct volley_entry *e)
{
	struct job *job = user;

	if (is_affected(job, e))
		job->n_left++;
	else
		job->n_others++;
	return WALK_ON;
}

static int invalidation(struct job *job, bool *must_wait)
{
	uint64_t seed = cache_filter_seed(world.cache);
	struct cache_invalidation invalidation = { .dependencies = job->dependencies,
						   .is_affected = is_affected,
						   .withdrawn = withdrawn,
						   .user = job };

	for (unsigned i = 0; i < job->n_numbers; i++)
		job->dependencies[invalidation.n_dependencies++] =
			ground_of_number(seed, job->numbers[i]);
	for (unsigned i = 0; i < job->n_classes; i++)
		job->dependencies[invalidation.n_dependencies++] =
			ground_of_class(seed, job->classes[i]);
	job->n_met = 0;
	return cache_invalidate(world.cache, &invalidation, must_wait);
}

#define N_NAMES 60000u /* some five times of what the cache holds */
#define N_STEPS 400u

/* Half of the draws from a sixteenth of the names, so that there is something to keep. */
static uint64_t draw_name(uint64_t *seed)
{
	uint64_t r = next_random(seed);

	return (r >> 8) % (r & 1 ? N_NAMES : N_NAMES / 16);
}

static void fill_some(uint64_t *seed)
{
	for (unsigned n = (unsigned)(next_random(seed) % 2000); n; n--) {
		uint64_t number = draw_name(seed), r = next_random(seed);
		struct cache_key key = key_of(world.cache, number);

		if (r % 64 == 0)
			cache_withdraw(world.cache, &key);
		else if (r % 8 == 0 || !get(&world, number))
			put(&world, number); /* now and then in the place of what is there */
	}
}

static void draw_job(struct job *job, uint64_t *seed)
{
	*job = (struct job){ .n_numbers = (unsigned)(next_random(seed) % N_TARGETS) };
	job->n_classes = next_random(seed) % 4 ? 0 : (unsigned)(next_random(seed) % N_TARGETS);
	for (unsigned i = 0; i < job->n_numbers; i++)
		job->numbers[i] = draw_name(seed);
	for (unsigned i = 0; i < job->n_classes; i++)
		job->classes[i] = next_random(seed) % N_CLASSES;
}

static uint64_t invalidate_beside_walk(uint64_t *seed)
{
	struct job job, left;
	bool must_wait;

	draw_job(&job, seed);
	whole_walk(world.cache, count, &job);
	assert_int_equal(invalidation(&job, &must_wait), 0);
	assert_true(must_wait || !job.n_withdrawn);
	left = job;
	left.n_left = left.n_others = 0;
	whole_walk(world.cache, count, &left);
	assert_int_equal(left.n_left, 0);
	assert_int_equal(left.n_others, job.n_others);
	assert_int_equal(job.n_withdrawn, job.n_left);
	return job.n_withdrawn;
}

static void start_again(void)
{
	world_stop(&world);
	world_start(&world);
	assert_true(world.adopted);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
}

static void as_a_walk(void **state)
{
	uint64_t seed = 1, n_withdrawn = 0, n_moved = 0;
	struct cache_stats stats;

	(void)state;
	world_open(&world, 5 << 20);
	fill_some(&seed);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	for (unsigned step = 0; step < N_STEPS; step++) {
		uint64_t r = next_random(&seed);

		fill_some(&seed);
		if (r % 4 == 0)
			cache_filter_tend(world.cache, (uint32_t)(r >> 32) % 8);
		if (r % 64 == 1) {
			cache_stats_read(world.cache, &stats);
			n_moved += stats.counters.kept;
			start_again();
		}
		n_withdrawn += invalidate_beside_walk(&seed);
	}
	print_message("%llu withdrawn, %llu had been moved\n", (unsigned long long)n_withdrawn,
		      (unsigned long long)n_moved);
	assert_true(n_withdrawn > 1000);
	assert_true(n_moved > 1000);
	world_close(&world);
}

/* --- What it says ----------------------------------------------------------------------------- */

static struct job job_of(uint64_t number)
{
	return (struct job){ .n_numbers = 1, .numbers = { number } };
}

static void who_has_to_wait(void **state)
{
	struct job job = job_of(7), other = job_of(8);
	bool must_wait;

	(void)state;
	world_open(&world, 5 << 20);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	put(&world, 7);
	assert_int_equal(invalidation(&other, &must_wait), 0);
	assert_false(must_wait);
	assert_int_equal(other.n_met, 0);
	put(&world, 7); /* somebody may still read the first */
	assert_int_equal(cache_withdraw(world.cache, &(struct cache_key){ 0 }), -ENOENT);
	assert_int_equal(invalidation(&job, &must_wait), 0);
	assert_true(must_wait);
	assert_int_equal(job.n_withdrawn, 1);
	assert_int_equal(invalidation(&job, &must_wait), 0);
	assert_true(must_wait); /* nor do we know since when it is not in the index */
	assert_int_equal(job.n_withdrawn, 1);
	world_close(&world);
}

/* A name that changes often leaves dead entries behind: they are not looked at for ever. */
static void the_dead_are_left_out(void **state)
{
	int invalidations = 0, n_unseen = 0;
	struct job job = job_of(7);
	uint64_t number = N_NAMES;
	bool must_wait;

	(void)state;
	world_open(&world, 16 << 20);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	put(&world, 7);
	while (put_by(&world, world.writer, number, 1) != -ENOSPC)
		number++;
	assert_int_equal(invalidation(&job, &must_wait), 0);
	assert_int_equal(job.n_withdrawn, 1);
	for (; invalidations < 100; invalidations++) {
		assert_int_equal(invalidation(&job, &must_wait), 0);
		if (!must_wait)
			break;
		n_unseen += !job.n_met;
	}
	assert_int_equal(n_unseen, 1); /* left out just now: somebody may still read it */
	print_message("left out by invalidation %d\n", invalidations);
	assert_in_range(invalidations, 2, 99);
	assert_int_equal(job.n_met, 0);
	assert_int_equal(job.n_withdrawn, 1);
	for (uint64_t i = N_NAMES; i < number; i += 97) { /* and nothing else */
		struct job one = job_of(i);

		assert_int_equal(invalidation(&one, &must_wait), 0);
		assert_int_equal(one.n_withdrawn, 1);
	}
	world_close(&world);
}

static void what_takes_a_walk(void **state)
{
	struct job job = job_of(7);
	bool must_wait;

	(void)state;
	world_open(&world, 5 << 20);
	put(&world, 7);
	assert_int_equal(invalidation(&job, &must_wait), -EOPNOTSUPP); /* no filter */
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	world.cache->into = world.cache;
	assert_int_equal(invalidation(&job, &must_wait), -EOPNOTSUPP);
	world.cache->into = NULL;
	world.cache->from = world.cache;
	assert_int_equal(invalidation(&job, &must_wait), -EOPNOTSUPP);
	world.cache->from = NULL;
	assert_int_equal(job.n_withdrawn, 0);
	assert_int_equal(invalidation(&job, &must_wait), 0);
	assert_int_equal(job.n_withdrawn, 1);
	world_close(&world);
}

/* An entry that is in an open segment, while its word is still to come. */
static void a_word_that_comes_later(void **state)
{
	struct job job = job_of(7);
	uint64_t *slot, word;
	bool must_wait;

	(void)state;
	world_open(&world, 5 << 20);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	put(&world, 7);
	slot = entry_word_slot(world.cache, find(&world, 7));
	word = *slot;
	*slot = 0;
	assert_false(cache_filter_tend(world.cache, 1));
	*slot = word;
	assert_int_equal(invalidation(&job, &must_wait), 0);
	assert_int_equal(job.n_withdrawn, 1);
	assert_null(find(&world, 7));
	world_close(&world);
}

static void fill_up(void)
{
	for (uint64_t number = 0; put_by(&world, world.writer, number, 1) != -ENOSPC; number++)
		;
}

static int wait_for_nobody(void *user)
{
	(void)user;
	return 0;
}

/* Rounds of the keeper, in no time, until the next is due later. */
static unsigned keep(uint64_t now_ns, uint64_t *next_ns)
{
	unsigned n = 1;

	while (!cache_keep_filter(world.cache, now_ns, next_ns))
		n++;
	return n;
}

/* Who asks has the keeper bring in all there is, and so does an adoption; else that takes it some
 * rounds. */
static void at_leisure_and_in_a_hurry(void **state)
{
	struct job job = job_of(7);
	uint64_t next_ns = 0;
	bool must_wait;

	(void)state;
	world_open(&world, 32 << 20);
	assert_true(cache_filter_is_ready(world.cache)); /* there is none */
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	assert_true(cache_filter_is_ready(world.cache));
	assert_int_equal(keep(1, &next_ns), 1); /* nothing to hurry for */
	fill_up();
	assert_int_equal(keep(2, &next_ns), 1);
	assert_int_equal(keep(3, &next_ns), 1); /* not again so soon */
	assert_false(cache_filter_is_ready(world.cache));
	assert_true(keep(4, &next_ns) > 10);
	assert_true(cache_filter_is_ready(world.cache));
	assert_int_equal(keep(5, &next_ns), 1);
	start_again();
	assert_true(keep(6, &next_ns) > 20);
	assert_true(cache_filter_is_ready(world.cache));
	assert_int_equal(invalidation(&job, &must_wait), 0);
	assert_int_equal(job.n_withdrawn, 1);
	world_close(&world);
}

static void the_keeper_is_woken(void **state)
{
	struct cache_keeper *keeper;

	(void)state;
	world_open(&world, 32 << 20);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	assert_false(cache_filter_tend(world.cache, 1));
	fill_up();
	assert_int_equal(cache_keeper_start(&keeper, world.cache, wait_for_nobody, NULL), 0);
	while (!cache_filter_is_ready(world.cache))
		sched_yield();
	cache_keeper_stop(keeper);
	world_close(&world);
}

/* They are looked for in more than one turn. */
static void many_dependencies(void **state)
{
	static uint64_t many[1000001];
	struct job job = { .n_numbers = 2, .numbers = { 7, 8 } };
	struct cache_invalidation invalidation = { .dependencies = many,
						   .n_dependencies = sizeof(many) / sizeof(many[0]),
						   .is_affected = is_affected,
						   .withdrawn = withdrawn,
						   .user = &job };
	bool must_wait;

	(void)state;
	world_open(&world, 5 << 20);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	for (uint64_t i = 0; i < 1000; i++)
		put(&world, i);
	many[0] = ground_of_number(cache_filter_seed(world.cache), 7);
	many[invalidation.n_dependencies - 1] = ground_of_number(cache_filter_seed(world.cache), 8);
	assert_int_equal(cache_invalidate(world.cache, &invalidation, &must_wait), 0);
	assert_int_equal(job.n_withdrawn, 2);
	assert_true(must_wait);
	world_close(&world);
}

static bool is_any(void *user, const struct volley_entry *e)
{
	(void)e;
	++*(uint64_t *)user;
	return false;
}

/* All entries have one dependency in common, and are more than a turn may last for. */
static void too_many_places(void **state)
{
	uint64_t common = ground_of_class(0, 0), n_shown = 0;
	struct cache_invalidation invalidation = { .dependencies = &common,
						   .n_dependencies = 1,
						   .is_affected = is_any,
						   .user = &n_shown };
	static uint64_t dependencies[N_CLASSES];
	bool must_wait;

	(void)state;
	world_open(&world, 128 << 20);
	assert_int_equal(cache_filter_new(world.cache, dependencies_of), 0);
	fill_up();
	for (unsigned i = 0; i < N_CLASSES; i++)
		dependencies[i] = ground_of_class(cache_filter_seed(world.cache), i);
	invalidation.dependencies = dependencies;
	invalidation.n_dependencies = N_CLASSES;
	assert_int_equal(cache_invalidate(world.cache, &invalidation, &must_wait), -EOPNOTSUPP);
	assert_int_equal(n_shown, 0);
	invalidation.n_dependencies = 1;
	assert_int_equal(cache_invalidate(world.cache, &invalidation, &must_wait), 0);
	assert_true(n_shown > 0);
	world_close(&world);
}

/* --- While others are at it ------------------------------------------------------------------- */

#define N_WRITERS 3u
#define N_SEATS   (N_WRITERS + 1) /* the last is the invalidator's */
#define N_SIFTS   100u
#define BURST     32u
#define N_ASKED   20000u

struct seat {
	uint64_t seen; /* UINT64_MAX: holds nothing */
} __attribute__((aligned(64)));

static struct seat seats[N_SEATS];
static uint64_t epoch = 1;
static bool stopping;
static uint64_t versions[N_CLASSES]; /* who renders takes the one of now */

static void set_seat(struct seat *seat, uint64_t value)
{
	__atomic_store_n(&seat->seen, value, __ATOMIC_SEQ_CST);
}

static void quiescent(struct seat *seat)
{
	set_seat(seat, __atomic_load_n(&epoch, __ATOMIC_SEQ_CST));
}

static int wait_for_all(void *user)
{
	uint64_t now = __atomic_add_fetch(&epoch, 1, __ATOMIC_SEQ_CST);

	(void)user;
	for (unsigned i = 0; i < N_SEATS; i++)
		while (__atomic_load_n(&seats[i].seen, __ATOMIC_SEQ_CST) < now)
			sched_yield();
	return 0;
}

static void *write_all(void *arg)
{
	struct seat *seat = arg;
	uint64_t seed = (uint64_t)(seat - seats) << 32;
	struct cache_writer *writer;

	MUST(!cache_writer_new(&writer, world.cache));
	while (!__atomic_load_n(&stopping, __ATOMIC_RELAXED)) {
		for (unsigned i = 0; i < BURST; i++) {
			uint64_t r = next_random(&seed);
			uint64_t number = (r >> 8) % (r & 1 ? N_ASKED : N_ASKED / 16);
			uint64_t *version = &versions[number % N_CLASSES];

			if (!get(&world, number))
				put_by(&world, writer, number,
				       __atomic_load_n(version, __ATOMIC_SEQ_CST));
		}
		quiescent(seat);
	}
	set_seat(seat, UINT64_MAX);
	cache_writer_free(writer);
	return NULL;
}

#define N_FAMILIES 61u

/* Classes, all of whose entries of an earlier version have to go. */
struct change {
	uint64_t family, version, n_withdrawn, n_shown;
};

static bool is_old(const struct change *change, const struct volley_entry *e)
{
	return class_of(e) % N_FAMILIES == change->family && version_of(e) < change->version;
}

/* Gives way now and then, so that the keeper would move what has yet to be visited. */
static bool is_old_one(void *user, const struct volley_entry *e)
{
	struct change *change = user;

	if (change->n_shown++ % 512 == 0)
		sched_yield();
	return is_old(change, e);
}

static void count_old(void *user, const struct volley_entry *e)
{
	struct change *change = user;

	(void)e;
	change->n_withdrawn++;
}

static enum walk_step must_not_be_old(void *user, const struct volley_entry *e)
{
	const struct change *change = user;

	MUST(!is_old(change, e));
	return WALK_ON;
}

static uint64_t change_family(uint64_t family)
{
	struct change change = { .family = family };
	uint64_t dependencies[N_CLASSES / N_FAMILIES + 1];
	struct cache_invalidation invalidation = { .dependencies = dependencies,
						   .is_affected = is_old_one,
						   .withdrawn = count_old,
						   .user = &change };
	bool must_wait;

	for (uint64_t class = family; class < N_CLASSES; class += N_FAMILIES) {
		change.version = __atomic_add_fetch(&versions[class], 1, __ATOMIC_SEQ_CST);
		dependencies[invalidation.n_dependencies++] =
			ground_of_class(cache_filter_seed(world.cache), class);
	}
	wait_for_all(NULL); /* who had the earlier one has published */
	MUST(!cache_invalidate(world.cache, &invalidation, &must_wait));
	quiescent(&seats[N_WRITERS]);
	whole_walk(world.cache, must_not_be_old, &change);
	set_seat(&seats[N_WRITERS], UINT64_MAX);
	return change.n_withdrawn;
}

static void beside_writers_and_keeper(void **state)
{
	pthread_t threads[N_WRITERS];
	struct cache_keeper *keeper;
	struct cache_stats stats;
	uint64_t n_withdrawn = 0;
	unsigned n = 0;

	(void)state;
	world_open(&world, 5 << 20);
	MUST(!cache_filter_new(world.cache, dependencies_of));
	set_seat(&seats[N_WRITERS], UINT64_MAX);
	for (unsigned i = 0; i < N_WRITERS; i++) {
		quiescent(&seats[i]);
		MUST(!pthread_create(&threads[i], NULL, write_all, &seats[i]));
	}
	MUST(!cache_keeper_start(&keeper, world.cache, wait_for_all, NULL));
	do {
		n_withdrawn += change_family(n++ % N_FAMILIES);
		cache_stats_read(world.cache, &stats);
	} while (n < N_SIFTS || stats.counters.kept < 1000 || n_withdrawn < 1000);
	__atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < N_WRITERS; i++)
		pthread_join(threads[i], NULL);
	cache_keeper_stop(keeper);
	print_message("%u invalidations withdrew %llu, %llu were moved meanwhile\n", n,
		      (unsigned long long)n_withdrawn, (unsigned long long)stats.counters.kept);
	world_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_a_walk),
		cmocka_unit_test(who_has_to_wait),
		cmocka_unit_test(the_dead_are_left_out),
		cmocka_unit_test(what_takes_a_walk),
		cmocka_unit_test(a_word_that_comes_later),
		cmocka_unit_test(at_leisure_and_in_a_hurry),
		cmocka_unit_test(the_keeper_is_woken),
		cmocka_unit_test(many_dependencies),
		cmocka_unit_test(too_many_places),
		cmocka_unit_test(beside_writers_and_keeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
