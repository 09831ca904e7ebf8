/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the journal's room is shared, and which changes are forgotten when it is short. */
#include "storing.h"

#include <errno.h>

#define SET_BYTES 10000u

static struct store *store;

static int begin(void **state)
{
	(void)state;
	store = storing_open(4u << 20);
	return 0;
}

static int end(void **state)
{
	(void)state;
	store_close(store);
	storing_clear();
	return 0;
}

/* Appends the zone's changes up to @to; its file has those up to @file_serial. */
static void append(const char *name, uint32_t from, uint32_t to, uint32_t file_serial)
{
	struct store_zone zone = { .serial = to, .file_serial = file_serial };
	const uint8_t *apex = storing_name(name);
	struct store_batch *batch;

	MUST(!store_begin(store, &batch));
	for (uint32_t i = from; i < to; i++)
		MUST(!storing_append(batch, apex, i, i + 1, SET_BYTES));
	MUST(!store_put_zone(batch, apex, &zone));
	MUST(!store_commit(batch));
}

static struct store_room room_of(const char *name)
{
	struct store_batch *batch;
	struct store_room room;

	MUST(!store_begin(store, &batch));
	assert_int_equal(store_room(batch, storing_name(name), &room), 0);
	store_cancel(batch);
	return room;
}

/* The serial numbers at the begin and the end of the chain. */
static void assert_chain(const char *name, uint32_t from, uint32_t to)
{
	struct store_chain *chain;
	uint32_t begin;

	assert_int_equal(storing_begin(store, storing_name(name), &begin), 0);
	assert_int_equal(begin, from);
	assert_int_equal(storing_open_all(store, storing_name(name), &chain), 0);
	assert_int_equal(store_chain_end(chain), to);
	store_chain_close(chain);
}

static uint64_t make_room(uint64_t max_bytes)
{
	uint64_t n;

	assert_int_equal(store_make_room(store, max_bytes, &n), 0);
	return n;
}

static void what_the_file_has_not(void **state)
{
	struct store_usage usage;
	struct store_room room;

	(void)state;
	assert_int_equal(room_of("a.").unwritten_bytes, 0);
	append("a.", 1, 11, 1);
	room = room_of("a.");
	assert_in_range(room.unwritten_bytes, 10 * SET_BYTES, 11 * SET_BYTES);
	assert_int_equal(store_usage(store, &usage), 0);
	assert_int_equal(room.free_bytes, usage.changes_max_bytes - usage.n_bytes);
	append("a.", 11, 12, 9); /* the file has those up to 9 */
	assert_in_range(room_of("a.").unwritten_bytes, 3 * SET_BYTES, 4 * SET_BYTES);
	append("a.", 12, 12, 12);
	assert_int_equal(room_of("a.").unwritten_bytes, 0);
	assert_chain("a.", 1, 12);
}

/* store_room() counts what the batch itself has appended. */
static void as_the_batch_leaves_it(void **state)
{
	struct store_batch *batch;
	struct store_room before, behind;

	(void)state;
	MUST(!store_begin(store, &batch));
	assert_int_equal(store_room(batch, storing_name("a."), &before), 0);
	MUST(!storing_append(batch, storing_name("a."), 1, 2, SET_BYTES));
	assert_int_equal(store_room(batch, storing_name("a."), &behind), 0);
	assert_in_range(behind.unwritten_bytes, SET_BYTES, 2 * SET_BYTES);
	assert_in_range(before.free_bytes - behind.free_bytes, SET_BYTES, 4 * SET_BYTES);
	store_cancel(batch);
}

static void the_oldest_of_the_longest_go(void **state)
{
	uint64_t n;

	(void)state;
	append("a.", 1, 31, 21);
	append("b.", 1, 16, 16);
	append("c.", 1, 41, 1); /* its file has none */
	n = make_room(5 * SET_BYTES);
	assert_in_range(n, 5 * SET_BYTES, 6 * SET_BYTES);
	assert_chain("a.", 6, 31);
	assert_chain("b.", 1, 16);
	n = make_room(UINT32_MAX);
	assert_in_range(n, 30 * SET_BYTES, 31 * SET_BYTES + 1000);
	assert_chain("a.", 21, 31);
	assert_chain("c.", 1, 41);
	assert_int_equal(room_of("b.").unwritten_bytes, 0);
	assert_int_equal(make_room(1), 0);
}

/* A journal full of changes that the files have takes new changes again. */
static void room_for_others(void **state)
{
	uint32_t serial = 1;

	(void)state;
	while (!storing_append_one(store, storing_name("a."), serial, serial + 1, SET_BYTES))
		serial++;
	append("a.", serial, serial, serial);
	assert_int_equal(storing_append_one(store, storing_name("b."), 1, 2, SET_BYTES), -ENOSPC);
	assert_true(make_room(20 * SET_BYTES) > 0);
	assert_int_equal(storing_append_one(store, storing_name("b."), 1, 2, SET_BYTES), 0);
}

/* A zone with a damaged record keeps its journal; those of other zones still make room. */
static void what_is_damaged_keeps_its_own(void **state)
{
	const struct store_zone bad = { .catalog = "\5cat", .catalog_bytes = 5 };
	struct store_batch *batch;

	(void)state;
	append("a.", 1, 11, 11);
	append("b.", 1, 21, 21);
	append("c.", 1, 31, 31);
	MUST(!store_begin(store, &batch));
	MUST(!store_put_zone(batch, storing_name("b."), &bad));
	MUST(!store_commit(batch));
	assert_in_range(make_room(UINT32_MAX), 40 * SET_BYTES, 41 * SET_BYTES);
	assert_chain("b.", 1, 21);
}

/* A damaged entry of the index of serial numbers goes with its change. */
static void a_damaged_index(void **state)
{
	MDB_val key, value = { 1, (char[]){ 0 } };
	struct store_batch *batch;
	uint8_t serial[4];
	struct store_key k;

	(void)state;
	append("a.", 1, 11, 11);
	append("b.", 1, 6, 6);
	wire_store_be32(serial, 1);
	store_key_begin(&k, storing_name("a."));
	store_key_add(&k, serial, sizeof(serial));
	key = store_key_val(&k);
	MUST(!store_begin(store, &batch));
	MUST(!mdb_put(batch->txn, store->dbs[STORE_SERIALS], &key, &value, 0));
	MUST(!store_commit(batch));
	assert_in_range(make_room(UINT32_MAX), 15 * SET_BYTES, 16 * SET_BYTES);
}

/* Of more zones than one call looks at, the next call goes on behind them; and a call that finds
 * nothing looks at all. */
static void many_zones_in_turn(void **state)
{
	const struct store_zone quiet = { .serial = 1, .file_serial = 1 };
	struct store_batch *batch;
	char name[16];

	(void)state;
	MUST(!store_begin(store, &batch));
	for (unsigned i = 0; i < 16400; i++) {
		snprintf(name, sizeof(name), "m%u.", i);
		MUST(!store_put_zone(batch, storing_name(name), &quiet));
	}
	MUST(!store_commit(batch));
	append("lastofall.", 1, 3, 3);
	assert_in_range(make_room(UINT32_MAX), 2 * SET_BYTES, 3 * SET_BYTES);
	append("a.", 1, 6, 6);
	append("lastofall.", 3, 5, 5);
	assert_in_range(make_room(UINT32_MAX), 5 * SET_BYTES, 6 * SET_BYTES);
	assert_chain("lastofall.", 3, 5);
	append("a.", 6, 11, 11);
	assert_in_range(make_room(UINT32_MAX), 2 * SET_BYTES, 3 * SET_BYTES);
	assert_chain("a.", 6, 11);
	assert_in_range(make_room(UINT32_MAX), 5 * SET_BYTES, 6 * SET_BYTES);
	append("a.", 11, 16, 16);
	assert_in_range(make_room(UINT32_MAX), 5 * SET_BYTES, 6 * SET_BYTES);
	assert_int_equal(make_room(UINT32_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_the_file_has_not, begin, end),
		cmocka_unit_test_setup_teardown(as_the_batch_leaves_it, begin, end),
		cmocka_unit_test_setup_teardown(the_oldest_of_the_longest_go, begin, end),
		cmocka_unit_test_setup_teardown(room_for_others, begin, end),
		cmocka_unit_test_setup_teardown(what_is_damaged_keeps_its_own, begin, end),
		cmocka_unit_test_setup_teardown(a_damaged_index, begin, end),
		cmocka_unit_test_setup_teardown(many_zones_in_turn, begin, end),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
