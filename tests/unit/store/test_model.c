/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the store with a plain list. Batches of random appends, trims, limits and drops are
 * cancelled or committed, and the store is reopened. There is little room, so it is full most of
 * the time.
 */
#include "storing.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/lib/draw.h"

#define N_ZONES  5u
#define MAX_SETS 4096u
#define ROOM     (4u << 20)
#define N_ROUNDS 1500u

struct model_set {
	uint32_t from, to;
	uint32_t n_bytes;  /* of text */
	uint64_t n_stored; /* octets of the set */
};

struct model {
	struct model_set sets[MAX_SETS];
	unsigned n;
	uint32_t serial;
};

static const char *const names[N_ZONES] = { ".", "example.", "a.example.", "ample.", "\\000." };
static struct model models[N_ZONES], committed[N_ZONES];
static unsigned n_full, n_trims_full;

static void model_forget(struct model *m, unsigned n)
{
	memmove(m->sets, m->sets + n, (m->n - n) * sizeof(m->sets[0]));
	m->n -= n;
}

/* The number of sets that lead to @serial or before it. */
static unsigned model_leading(const struct model *m, uint32_t serial)
{
	unsigned n = m->n;

	while (n && m->sets[n - 1].to != serial)
		n--;
	return n;
}

static uint64_t model_bytes(const struct model *m)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < m->n; i++)
		n += m->sets[i].n_stored;
	return n;
}

static uint32_t draw_size(void)
{
	switch (draw(20)) {
	case 0:
		return draw(200000);
	case 1:
	case 2:
		return draw(20000);
	default:
		return draw(300);
	}
}

static int do_append(struct store_batch *batch, unsigned zone)
{
	const uint8_t *apex = storing_name(names[zone]);
	struct model *m = &models[zone];
	struct model_set set = { .from = m->serial, .n_bytes = draw_size() };
	struct changeset c;
	int err;

	if (!draw(1000))
		set.from += 1000; /* a gap */
	set.to = set.from + 1 + draw(3);
	storing_make(&c, apex, set.from, set.to, set.n_bytes);
	set.n_stored = c.n_bytes;
	err = store_append(batch, apex, &c);
	changeset_fini(&c);
	if (err)
		return err;
	if (set.from != m->serial)
		m->n = 0;
	MUST(m->n < MAX_SETS);
	m->sets[m->n++] = set;
	m->serial = set.to;
	return 0;
}

static int do_trim(struct store_batch *batch, unsigned zone)
{
	struct model *m = &models[zone];
	uint32_t serial = m->n ? m->sets[draw(m->n)].to : 17;

	model_forget(m, model_leading(m, serial));
	return store_limit(batch, storing_name(names[zone]), 0, serial);
}

static int do_limit(struct store_batch *batch, unsigned zone)
{
	struct model *m = &models[zone];
	uint32_t serial = m->n ? m->sets[draw(m->n)].to : 17;
	unsigned n_may = model_leading(m, serial);
	uint64_t max = model_bytes(m) * draw(100) / 100;

	while (n_may-- && model_bytes(m) > max)
		model_forget(m, 1);
	return store_limit(batch, storing_name(names[zone]), max, serial);
}

static int do_drop(struct store_batch *batch, unsigned zone)
{
	models[zone].n = 0;
	return store_drop_zone(batch, storing_name(names[zone]));
}

static int do_one(struct store_batch *batch, bool *is_append)
{
	unsigned zone = draw(N_ZONES), what = draw(1000);

	*is_append = what < 980;
	if (*is_append)
		return do_append(batch, zone);
	if (what < 988)
		return do_trim(batch, zone);
	return what < 999 ? do_limit(batch, zone) : do_drop(batch, zone);
}

static void check_zone(struct store *store, unsigned zone)
{
	const struct model *m = &committed[zone];
	const uint8_t *apex = storing_name(names[zone]);
	unsigned from = m->n ? draw(m->n) : 0;
	struct store_chain *chain;
	uint64_t n_bytes = 0;
	int err;

	if (draw(2))
		from = 0;
	err = from ? store_chain_open(store, apex, m->sets[from].from, &chain) :
		     storing_open_all(store, apex, &chain);
	assert_int_equal(err, m->n ? 0 : ERR_NOT_FOUND);
	if (err)
		return;
	for (unsigned i = from; i < m->n; i++) {
		assert_true(storing_next_is(chain, apex, m->sets[i].from, m->sets[i].to,
					    m->sets[i].n_bytes));
		n_bytes += m->sets[i].n_stored;
	}
	assert_true(storing_at_end(chain));
	assert_int_equal(store_chain_bytes(chain), n_bytes);
	assert_int_equal(store_chain_end(chain), m->sets[m->n - 1].to);
	store_chain_close(chain);
}

/* A set without room is refused; forgetting is always possible. */
static void run_batch(struct store *store)
{
	struct store_batch *batch;
	bool is_append = false;
	int err;

	assert_int_equal(store_begin(store, &batch), 0);
	for (unsigned n = 1 + draw(12); n; n--) {
		err = do_one(batch, &is_append);
		if (err)
			break;
	}
	if (err) {
		assert_int_equal(err, -ENOSPC);
		assert_true(is_append);
		n_full++;
	}
	if (err || !draw(10)) {
		store_cancel(batch);
		memcpy(models, committed, sizeof(models));
		return;
	}
	assert_int_equal(store_commit(batch), 0);
	memcpy(committed, models, sizeof(models));
}

/* In one batch, forgets all or half of each zone's sets, in any state of the store. */
static void forget_in_full(struct store *store)
{
	struct store_usage usage;
	struct store_batch *batch;

	assert_int_equal(store_usage(store, &usage), 0);
	assert_true(usage.n_bytes <= usage.changes_max_bytes);
	assert_true(usage.max_bytes == ROOM);
	if (usage.n_bytes < usage.changes_max_bytes / 10 * 9)
		return;
	n_trims_full++;
	assert_int_equal(store_begin(store, &batch), 0);
	for (unsigned zone = 0; zone < N_ZONES; zone++)
		assert_int_equal(do_limit(batch, zone), 0);
	assert_int_equal(store_commit(batch), 0);
	memcpy(committed, models, sizeof(models));
}

static void test_as_a_plain_list(void **state)
{
	struct store *store = storing_open(ROOM);

	(void)state;
	seed = 1;
	for (unsigned round = 0; round < N_ROUNDS; round++) {
		run_batch(store);
		if (!draw(25))
			forget_in_full(store);
		check_zone(store, draw(N_ZONES));
		if (!draw(50)) {
			store_close(store);
			store = storing_open(ROOM);
		}
	}
	for (unsigned zone = 0; zone < N_ZONES; zone++)
		check_zone(store, zone);
	store_close(store);
	storing_clear();
	print_message("  full %u times, forgot %u times when full\n", n_full, n_trims_full);
	assert_true(n_full > 20 && n_trims_full > 5);
}

/* --- Readers beside a writer ------------------------------------------------------------------ */

#define N_READERS 3u
#define N_BATCHES 400u

static bool is_over;

/*
 * A chain is always one that a batch has left: from a serial number on, without a gap, in steps of
 * ten. LMDB reads a transaction's number first and then the page of its roots. A reader that is
 * stopped in between has the roots of a batch that is just being committed, and sees the batch
 * before it the next time.
 */
static void *read_on(void *user)
{
	const uint8_t *apex = storing_name("example.");
	struct store *store = user;
	struct store_chain *chain;
	uint32_t at, end, before = 0;

	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		int err = storing_begin(store, apex, &at);

		if (!err)
			err = store_chain_open(store, apex, at, &chain);
		if (err == ERR_NOT_FOUND) /* nothing yet, or this change was forgotten just now */
			continue;
		MUST(!err);
		end = store_chain_end(chain);
		MUST(end + 10 >= before && !(end % 10));
		for (before = end; at < end; at++)
			MUST(storing_next_is(chain, apex, at, at + 1, at % 50 ? 100 : 20000));
		MUST(storing_at_end(chain));
		store_chain_close(chain);
	}
	return NULL;
}

static void write_ten(struct store *store, uint32_t serial)
{
	const uint8_t *apex = storing_name("example.");
	struct store_batch *batch;

	MUST(!store_begin(store, &batch));
	for (uint32_t i = serial; i < serial + 10; i++)
		MUST(!storing_append(batch, apex, i, i + 1, i % 50 ? 100 : 20000));
	MUST(!store_limit(batch, apex, 300000, serial + 10));
	MUST(!store_commit(batch));
}

static void test_readers_beside_a_writer(void **state)
{
	struct store *store = storing_open(64u << 20); /* a reader may be stopped for long */
	pthread_t threads[N_READERS];

	(void)state;
	for (unsigned i = 0; i < N_READERS; i++)
		MUST(!pthread_create(&threads[i], NULL, read_on, store));
	for (unsigned i = 0; i < N_BATCHES; i++)
		write_ten(store, i * 10);
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < N_READERS; i++)
		pthread_join(threads[i], NULL);
	store_close(store);
	storing_clear();
}

/* A set of 100 MB can be added, read and forgotten beside other sets. */
static void test_a_large_set(void **state)
{
	const uint8_t *apex = storing_name("example.");
	struct store *store = storing_open(160u << 20); /* room for one */
	struct store_batch *batch;
	struct store_chain *chain;

	(void)state;
	for (uint32_t i = 1; i < 3; i++) {
		assert_int_equal(storing_append_one(store, apex, i, i + 1, 100000000), 0);
		assert_int_equal(store_chain_open(store, apex, i, &chain), 0);
		assert_true(store_chain_bytes(chain) > 100000000);
		assert_true(storing_next_is(chain, apex, i, i + 1, 100000000));
		store_chain_close(chain);
		assert_int_equal(store_begin(store, &batch), 0);
		assert_int_equal(store_limit(batch, apex, 0, i + 1), 0);
		assert_int_equal(store_commit(batch), 0);
	}
	assert_int_equal(storing_append_one(store, apex, 3, 4, 300000000), -ENOSPC);
	store_close(store);
	storing_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_a_plain_list),
		cmocka_unit_test(test_readers_beside_a_writer),
		cmocka_unit_test(test_a_large_set),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
