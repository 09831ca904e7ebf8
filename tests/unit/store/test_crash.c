/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that writes batches is killed at each of its system calls, and at random moments. The
 * store must then have the state after one whole batch, and that batch must not be older than the
 * last one that was committed.
 */
#include "storing.h"

#include <sys/stat.h>

#include "killing.h"
#include "tests/lib/draw.h"

#define ROOM      (8u << 20)
#define N_BATCHES 5u /* of a child that is stopped at each call */

struct shared {
	uint32_t committed; /* the last batch that is known to be committed */
	bool has_begun;
};

static struct shared *shared;
static const char *const names[2] = { "example.", "a.example." };

/* Batch n takes each zone from serial 2n to 2n + 2 in two sets, and updates its record. Only the
 * last few sets are kept. */
static size_t size_of(uint32_t serial, unsigned zone)
{
	return serial % 7 == zone ? 30000 : serial % 300;
}

static void put_batch(struct store *store, uint32_t n)
{
	struct store_zone zone = { .serial = 2 * n + 2 };
	struct store_batch *batch;

	MUST(!store_begin(store, &batch));
	for (unsigned z = 0; z < 2; z++) {
		const uint8_t *apex = storing_name(names[z]);

		for (uint32_t i = 2 * n; i < 2 * n + 2; i++)
			MUST(!storing_append(batch, apex, i, i + 1, size_of(i, z)));
		MUST(!store_put_zone(batch, apex, &zone));
		if (n >= 5 && !(n % 5))
			MUST(!store_limit(batch, apex, 0, 2 * n - 6));
	}
	MUST(!store_commit(batch));
}

/* The number of batches in the store. All zones must agree on it, and their sets must be whole. */
static uint32_t count_batches(struct store *store)
{
	uint32_t end[2] = { 0 };

	for (unsigned z = 0; z < 2; z++) {
		const uint8_t *apex = storing_name(names[z]);
		struct store_chain *chain;
		struct store_zone zone;
		uint32_t begin;
		int err = storing_begin(store, apex, &begin);

		if (err == ERR_NOT_FOUND)
			continue;
		MUST(!err && !store_chain_open(store, apex, begin, &chain));
		for (uint32_t i = begin; i < store_chain_end(chain); i++)
			MUST(storing_next_is(chain, apex, i, i + 1, size_of(i, z)));
		MUST(storing_at_end(chain));
		end[z] = store_chain_end(chain);
		MUST(end[z] < 12 || end[z] - begin >= 6);
		store_chain_close(chain);
		MUST(!store_get_zone(store, apex, &zone) && zone.serial == end[z]);
	}
	MUST(end[0] == end[1] && !(end[0] % 2));
	return end[0] / 2;
}

static struct store *open_or_end(void)
{
	struct store *store;
	char why[512];

	if (storing_try(&store, ROOM, why)) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	return store;
}

static void put_batches(struct store *store, uint32_t n, uint32_t n_more)
{
	for (uint32_t i = n; i < n + n_more; i++) {
		put_batch(store, i);
		__atomic_store_n(&shared->committed, i + 1, __ATOMIC_RELEASE);
	}
}

static void put_some(void *user)
{
	struct store *store = open_or_end();

	(void)user;
	put_batches(store, count_batches(store), N_BATCHES);
	store_close(store);
}

static void put_on(void *user)
{
	struct store *store = open_or_end();
	uint32_t n = count_batches(store);

	(void)user;
	__atomic_store_n(&shared->has_begun, true, __ATOMIC_RELEASE);
	put_batches(store, n, UINT32_MAX - n);
}

/* The store may have one more batch than the child knows of. */
static void check(uint32_t *n_before)
{
	struct store *store = open_or_end();
	uint32_t n = count_batches(store);

	MUST(n == shared->committed || n == shared->committed + 1);
	MUST(n >= *n_before);
	*n_before = shared->committed = n;
	store_close(store);
}

static void test_killed_at_each_call(void **state)
{
	uint32_t n_batches = 0;
	unsigned nth = 1;

	(void)state;
	while (killing_at_call(put_some, NULL, nth)) {
		check(&n_batches);
		nth++;
	}
	check(&n_batches);
	print_message("  %u points, %u batches\n", nth - 1, n_batches);
	assert_true(nth > 100 && n_batches > N_BATCHES);
	storing_clear();
	shared->committed = 0;
}

static bool has_file(const char *name)
{
	char path[256];

	storing_path(path, name);
	return !access(path, F_OK);
}

/* With an empty folder each time: the remains of a start that crashed must not prevent the next
 * start. */
static void test_killed_while_it_is_made(void **state)
{
	uint32_t n_batches = 0;
	unsigned nth = 1, n_begun = 0;

	(void)state;
	while (killing_at_call(put_some, NULL, nth)) {
		bool was_begun = has_file("data.mdb.new");

		MUST(!was_begun || !has_file("data.mdb"));
		n_begun += was_begun;
		check(&n_batches);
		MUST(has_file("data.mdb") && !has_file("data.mdb.new"));
		storing_clear();
		shared->committed = n_batches = 0;
		nth += nth > 150 ? 7 : 1;
	}
	assert_true(n_begun > 10);
	storing_clear();
	shared->committed = 0;
}

static void test_killed_at_any_time(void **state)
{
	unsigned n_times = killing_times(100);
	uint32_t n_batches = 0;

	(void)state;
	seed = 1;
	/* On a slow disk, more and later kills: else most children would reach no commit. */
	for (unsigned i = 0; i < n_times || (n_batches <= n_times / 4 && i < 20 * n_times); i++) {
		shared->has_begun = false;
		killing_at_time(put_on, NULL, &shared->has_begun, draw(15000 * (1 + i / n_times)));
		check(&n_batches);
	}
	assert_true(n_batches > n_times / 4);
	storing_clear();
}

static void put_two(void *user)
{
	struct store *store = open_or_end();

	(void)user;
	getppid();
	for (uint32_t n = 0; n < 2; n++) {
		put_batch(store, n);
		getppid();
	}
	store_close(store);
}

/* For power failures: before a commit is acknowledged and before a file gets its name, the data is
 * on the disk. */
static void test_synced(void **state)
{
	char list[64];

	(void)state;
	killing_list_syncs(put_two, NULL, list, sizeof(list));
	assert_memory_equal(list, "srs", 3);
	assert_non_null(strstr(list, "msmsm")); /* and the heads by O_DSYNC */
	storing_clear();
}

static int setup(void **state)
{
	shared = killing_shared(sizeof(*shared));
	return tmpfolder_make(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_at_each_call),
		cmocka_unit_test(test_killed_while_it_is_made),
		cmocka_unit_test(test_killed_at_any_time),
		cmocka_unit_test(test_synced),
	};

	return cmocka_run_group_tests(tests, setup, tmpfolder_remove);
}
