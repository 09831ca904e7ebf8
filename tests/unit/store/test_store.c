/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is put in comes out, one behaviour after the other. test_model.c does all of them at random.
 */
#include "storing.h"

#include <errno.h>
#include <stdlib.h>

#define MB (1u << 20)

static int begin(void **state)
{
	*state = storing_open(64 * MB);
	return 0;
}

static int end(void **state)
{
	store_close(*state);
	storing_clear();
	return 0;
}

static void reopen(void **state)
{
	store_close(*state);
	*state = storing_open(64 * MB);
}

static struct store_batch *batch_of(struct store *store)
{
	struct store_batch *batch;

	assert_int_equal(store_begin(store, &batch), 0);
	return batch;
}

/* "7-8 8-9": the chain from @serial, or "none". */
static const char *chain_text(struct store *store, const char *apex, uint32_t serial)
{
	static char text[512];
	struct store_chain *chain;
	struct changeset set;
	size_t n = 0;
	int rc = store_chain_open(store, storing_name(apex), serial, &chain);

	if (rc == ERR_NOT_FOUND)
		return "none";
	assert_int_equal(rc, 0);
	while ((rc = store_chain_next(chain, &set)) == 1) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u-%u", n ? " " : "",
				      set.serial_from, set.serial_to);
		changeset_fini(&set);
	}
	assert_int_equal(rc, 0);
	assert_true(storing_at_end(chain));
	store_chain_close(chain);
	return text;
}

static void append_row(struct store *store, const char *apex, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		assert_int_equal(storing_append_one(store, storing_name(apex), i, i + 1, 100), 0);
}

static void test_a_chain_is_read_in_order(void **state)
{
	struct store_chain *chain;
	uint32_t begin;

	append_row(*state, "example.", 7, 12);
	append_row(*state, "ample.", 1, 3);
	append_row(*state, "a.example.", 20, 22);
	assert_string_equal(chain_text(*state, "example.", 7), "7-8 8-9 9-10 10-11 11-12");
	assert_string_equal(chain_text(*state, "example.", 11), "11-12");
	assert_string_equal(chain_text(*state, "example.", 12), "none");
	assert_string_equal(chain_text(*state, "example.", 6), "none");
	assert_string_equal(chain_text(*state, "ample.", 1), "1-2 2-3");
	assert_string_equal(chain_text(*state, ".", 1), "none");
	reopen(state);
	assert_string_equal(chain_text(*state, "a.example.", 20), "20-21 21-22");
	assert_int_equal(storing_open_all(*state, storing_name("example."), &chain), 0);
	assert_int_equal(storing_begin(*state, storing_name("example."), &begin), 0);
	assert_int_equal(begin, 7);
	assert_int_equal(store_chain_end(chain), 12);
	assert_true(storing_next_is(chain, storing_name("example."), 7, 8, 100));
	store_chain_close(chain);
	assert_int_equal(storing_open_all(*state, storing_name("b."), &chain), ERR_NOT_FOUND);
}

static void test_a_gap_begins_a_new_chain(void **state)
{
	append_row(*state, "example.", 7, 9);
	append_row(*state, "example.", 10, 12);
	assert_string_equal(chain_text(*state, "example.", 7), "none");
	assert_string_equal(chain_text(*state, "example.", 10), "10-11 11-12");
}

static void test_serials_wrap_and_come_again(void **state)
{
	static const uint32_t serials[] = { 0xfffffffe, 0xffffffff, 0, 1, 0x80000000, 0, 5 };
	const uint8_t *apex = storing_name("example.");

	for (unsigned i = 0; i + 1 < sizeof(serials) / sizeof(serials[0]); i++)
		assert_int_equal(storing_append_one(*state, apex, serials[i], serials[i + 1], 9),
				 0);
	assert_string_equal(chain_text(*state, "example.", 0xffffffff),
			    "4294967295-0 0-1 1-2147483648 2147483648-0 0-5");
	assert_string_equal(chain_text(*state, "example.", 0), "0-5");
}

/* The serial number comes twice. The file was written at the first time. */
static void test_a_start_goes_by_the_number(void **state)
{
	const uint8_t *apex = storing_name("example.");
	struct store_zone zone = { .file_serial = 7, .serial = 7 };
	struct store_batch *batch = batch_of(*state);
	struct store_chain *chain;

	assert_int_equal(store_replay_open(*state, apex, &chain), ERR_NOT_FOUND);
	assert_int_equal(store_put_zone(batch, apex, &zone), 0);
	assert_int_equal(store_commit(batch), 0);
	assert_int_equal(store_replay_open(*state, apex, &chain), 0);
	assert_true(storing_at_end(chain));
	assert_int_equal(store_chain_end(chain), 7);
	assert_int_equal(store_chain_bytes(chain), 0);
	store_chain_close(chain);
	append_row(*state, "example.", 7, 8);
	assert_int_equal(storing_append_one(*state, apex, 8, 7, 50), 0);
	assert_int_equal(storing_append_one(*state, apex, 7, 9, 50), 0);
	zone.serial = 9;
	batch = batch_of(*state);
	assert_int_equal(store_put_zone(batch, apex, &zone), 0);
	assert_int_equal(store_limit(batch, apex, 0, 7), 0); /* all of it is kept */
	assert_int_equal(store_commit(batch), 0);
	assert_int_equal(store_replay_open(*state, apex, &chain), 0);
	assert_int_equal(store_chain_end(chain), 9);
	assert_true(storing_next_is(chain, apex, 7, 8, 100));
	assert_true(storing_next_is(chain, apex, 8, 7, 50));
	assert_true(storing_next_is(chain, apex, 7, 9, 50));
	assert_true(storing_at_end(chain));
	store_chain_close(chain);
	zone.file_digest[3] = 1; /* the file is written again, at the second 7 */
	batch = batch_of(*state);
	assert_int_equal(store_put_zone(batch, apex, &zone), 0);
	assert_int_equal(store_commit(batch), 0);
	assert_int_equal(store_replay_open(*state, apex, &chain), 0);
	assert_true(storing_next_is(chain, apex, 7, 9, 50));
	store_chain_close(chain);
	append_row(*state, "example.", 20, 21); /* after a full transfer whose file is not known */
	assert_int_equal(store_replay_open(*state, apex, &chain), ERR_NOT_FOUND);
}

/* A file of serial 20 is in place before the first change that begins with 20. */
static void test_a_file_may_be_ahead_of_the_journal(void **state)
{
	const uint8_t *apex = storing_name("example.");
	struct store_zone zone = { .file_serial = 20 };
	struct store_batch *batch;
	struct store_chain *chain;

	append_row(*state, "example.", 7, 9);
	batch = batch_of(*state);
	assert_int_equal(store_put_zone(batch, apex, &zone), 0);
	assert_int_equal(storing_append(batch, apex, 20, 21, 5), 0);
	assert_int_equal(store_commit(batch), 0);
	assert_int_equal(store_replay_open(*state, apex, &chain), 0);
	assert_true(storing_next_is(chain, apex, 20, 21, 5));
	assert_true(storing_at_end(chain));
	store_chain_close(chain);
}

/* A hidden serial number is found by a start only. */
static void test_what_is_hidden_is_for_a_start(void **state)
{
	const uint8_t *apex = storing_name("example.");
	struct store_zone zone = { .file_serial = 7 };
	struct store_batch *batch = batch_of(*state);
	struct store_chain *chain;

	assert_int_equal(store_put_zone(batch, apex, &zone), 0);
	assert_int_equal(storing_append(batch, apex, 7, 9, 5), 0);
	assert_int_equal(store_journal_hide(batch, apex, 7), 0);
	assert_int_equal(store_journal_hide(batch, apex, 100), 0); /* none begins there */
	assert_int_equal(store_commit(batch), 0);
	append_row(*state, "example.", 9, 10);
	assert_string_equal(chain_text(*state, "example.", 7), "none");
	assert_string_equal(chain_text(*state, "example.", 9), "9-10");
	batch = batch_of(*state);
	assert_int_equal(store_limit(batch, apex, 0, 7), 0);
	assert_int_equal(store_commit(batch), 0);
	assert_int_equal(store_replay_open(*state, apex, &chain), 0);
	assert_true(storing_next_is(chain, apex, 7, 9, 5));
	assert_true(storing_next_is(chain, apex, 9, 10, 100));
	assert_true(storing_at_end(chain));
	store_chain_close(chain);
}

static void test_trim(void **state)
{
	struct store_batch *batch;

	append_row(*state, "example.", 7, 12);
	batch = batch_of(*state);
	assert_int_equal(store_limit(batch, storing_name("example."), 0, 9), 0);
	assert_int_equal(store_limit(batch, storing_name("example."), 0, 99),
			 0); /* no change leads there */
	assert_int_equal(store_limit(batch, storing_name("other."), 0, 9), 0);
	assert_int_equal(store_commit(batch), 0);
	assert_string_equal(chain_text(*state, "example.", 8), "none");
	assert_string_equal(chain_text(*state, "example.", 9), "9-10 10-11 11-12");
	batch = batch_of(*state);
	assert_int_equal(store_limit(batch, storing_name("example."), 0, 12), 0);
	assert_int_equal(store_commit(batch), 0);
	assert_string_equal(chain_text(*state, "example.", 11), "none");
	append_row(*state, "example.", 3, 4);
	assert_string_equal(chain_text(*state, "example.", 3), "3-4");
}

/* If a serial number comes again, its later change stays known. */
static void test_trim_what_came_again(void **state)
{
	const uint8_t *apex = storing_name("example.");
	struct store_batch *batch;

	append_row(*state, "example.", 7, 8);
	assert_int_equal(storing_append_one(*state, apex, 8, 7, 50), 0);
	assert_int_equal(storing_append_one(*state, apex, 7, 9, 50), 0);
	batch = batch_of(*state);
	assert_int_equal(store_limit(batch, apex, 0, 8), 0);
	assert_int_equal(store_commit(batch), 0);
	assert_string_equal(chain_text(*state, "example.", 8), "8-7 7-9");
	assert_string_equal(chain_text(*state, "example.", 7), "7-9");
}

static void limit(struct store *store, uint64_t max_bytes, uint32_t serial)
{
	struct store_batch *batch = batch_of(store);

	assert_int_equal(store_limit(batch, storing_name("example."), max_bytes, serial), 0);
	assert_int_equal(store_commit(batch), 0);
}

static void test_limit(void **state)
{
	struct store_chain *chain;
	uint64_t each;

	append_row(*state, "example.", 10, 20);
	assert_int_equal(store_chain_open(*state, storing_name("example."), 10, &chain), 0);
	each = store_chain_bytes(chain) / 10;
	store_chain_close(chain);
	limit(*state, 8 * each, 13);
	assert_string_equal(chain_text(*state, "example.", 11), "none");
	assert_string_equal(chain_text(*state, "example.", 18), "18-19 19-20");
	assert_string_equal(chain_text(*state, "example.", 12) + 42, "19-20");
	limit(*state, 8 * each - 1, 13);
	assert_string_equal(chain_text(*state, "example.", 12), "none");
	limit(*state, 0, 13);
	assert_string_not_equal(chain_text(*state, "example.", 13), "none");
	limit(*state, 0, 20);
	assert_string_equal(chain_text(*state, "example.", 19), "none");
}

static void test_zones_and_values(void **state)
{
	struct store_zone zone = { .serial = 5,
				   .file_serial = 4,
				   .checked_wall_s = UINT64_MAX - 1,
				   .expires_wall_s = 0x123456789a,
				   .file_digest = "0123456789abcde",
				   .catalog = "\3cat",
				   .catalog_bytes = 5,
				   .member = "\6unique",
				   .member_bytes = 7,
				   .group_bytes = 255 },
			  got;
	struct store_batch *batch = batch_of(*state);
	void *bytes;
	size_t n;

	memset(zone.group, 'g', 255);
	assert_int_equal(store_put_zone(batch, storing_name("example."), &zone), 0);
	assert_int_equal(store_put(batch, storing_name("example."), "sign/keys", "abc", 3), 0);
	assert_int_equal(store_put(batch, storing_name("e."), "sign/keys", "abcd", 4), 0);
	assert_int_equal(storing_append(batch, storing_name("example."), 1, 2, 10), 0);
	assert_int_equal(store_commit(batch), 0);
	reopen(state);
	assert_int_equal(store_get_zone(*state, storing_name("example."), &got), 0);
	assert_memory_equal(&got, &zone, sizeof(zone));
	assert_int_equal(store_get_zone(*state, storing_name("e."), &got), ERR_NOT_FOUND);
	assert_int_equal(store_get(*state, storing_name("example."), "sign/keys", &bytes, &n), 0);
	assert_int_equal(n, 3);
	assert_memory_equal(bytes, "abc", 3);
	free(bytes);
	assert_int_equal(store_get(*state, storing_name("e."), "sign", &bytes, &n), ERR_NOT_FOUND);
	batch = batch_of(*state);
	assert_int_equal(store_put(batch, storing_name("e."), "sign/keys", NULL, 0), 0);
	assert_int_equal(store_put(batch, storing_name("e."), "sign/keys", NULL, 0), 0);
	assert_int_equal(store_drop_zone(batch, storing_name("example.")), 0);
	assert_int_equal(store_commit(batch), 0);
	assert_int_equal(store_get(*state, storing_name("e."), "sign/keys", &bytes, &n),
			 ERR_NOT_FOUND);
	assert_int_equal(store_get(*state, storing_name("example."), "sign/keys", &bytes, &n),
			 ERR_NOT_FOUND);
	assert_int_equal(store_get_zone(*state, storing_name("example."), &got), ERR_NOT_FOUND);
	assert_string_equal(chain_text(*state, "example.", 1), "none");
}

static int count_until(void *user, const uint8_t *apex, const struct store_zone *zone)
{
	unsigned *left = user;
	char text[NAME_TEXT_MAX], want[32];

	name_to_text(text, sizeof(text), apex);
	snprintf(want, sizeof(want), "z%u.", zone->serial);
	assert_string_equal(text, want);
	return --*left ? 0 : -ECANCELED;
}

/* A record with names that are not well formed is refused. */
static void test_damaged_names(void **state)
{
	const uint8_t *apex = storing_name("example.");
	static const struct store_zone zones[] = {
		{ .catalog = "\5cat", .catalog_bytes = 5, .member = "\1u", .member_bytes = 2 },
		{ .catalog = "\3cat", .catalog_bytes = 4, .member = "\1u", .member_bytes = 2 },
		{ .catalog = "\3cat", .catalog_bytes = 5, .member = "\2u", .member_bytes = 2 },
		{ .catalog = "\3cat", .catalog_bytes = 5, .member = "\377u", .member_bytes = 2 },
	};
	struct store_zone zone;

	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		struct store_batch *batch = batch_of(*state);

		assert_int_equal(store_put_zone(batch, apex, &zones[i]), 0);
		assert_int_equal(store_commit(batch), 0);
		assert_int_equal(store_get_zone(*state, apex, &zone), -EIO);
	}
}

static void test_each_zone(void **state)
{
	struct store_batch *batch = batch_of(*state);
	struct store_zone zone = { 0 };
	unsigned left = 10000;

	for (zone.serial = 0; zone.serial < 3000; zone.serial++) {
		char name[32];

		snprintf(name, sizeof(name), "z%u.", zone.serial);
		assert_int_equal(store_put_zone(batch, storing_name(name), &zone), 0);
	}
	assert_int_equal(store_commit(batch), 0);
	assert_int_equal(store_each_zone(*state, count_until, &left), 0);
	assert_int_equal(left, 7000);
	left = 5;
	assert_int_equal(store_each_zone(*state, count_until, &left), -ECANCELED);
}

/* Runs with stderr in a file, and returns what was written there. */
static const char *said_by(struct store *store, store_zone_visit *visit, void *user)
{
	static char said[4096];
	FILE *to = tmpfile();
	int before = dup(STDERR_FILENO), err;
	size_t n;

	assert_true(to && before >= 0);
	assert_true(dup2(fileno(to), STDERR_FILENO) >= 0);
	err = store_each_zone(store, visit, user);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	assert_int_equal(err, 0);
	rewind(to);
	n = fread(said, 1, sizeof(said) - 1, to);
	said[n] = '\0';
	fclose(to);
	return said;
}

static int note_serial(void *user, const uint8_t *apex, const struct store_zone *zone)
{
	char *seen = user;

	(void)apex;
	seen[strlen(seen)] = (char)('0' + zone->serial);
	return 0;
}

static size_t n_times(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* A damaged record of one catalog member must not hide the others from a start. */
static void test_each_but_damaged(void **state)
{
	static const uint8_t no_name[] = { 70, [71] = 0 };
	const struct store_zone good = { .serial = 1 }, also_good = { .serial = 2 };
	const struct store_zone bad = { .catalog = "\5cat", .catalog_bytes = 5 };
	struct store_batch *batch = batch_of(*state);
	char seen[8] = "";
	const char *said;

	assert_int_equal(store_put_zone(batch, storing_name("a."), &good), 0);
	assert_int_equal(store_put_zone(batch, storing_name("b."), &bad), 0);
	assert_int_equal(store_put_zone(batch, storing_name("c."), &also_good), 0);
	assert_int_equal(store_put_zone(batch, no_name, &good), 0);
	assert_int_equal(store_commit(batch), 0);
	said = said_by(*state, note_serial, seen);
	assert_string_equal(seen, "12");
	assert_int_equal(n_times(said, "is damaged"), 2);
	assert_int_equal(n_times(said, "of the zone b. is damaged"), 1);
	assert_int_equal(n_times(said, "the name of a zone is damaged"), 1);
	said = said_by(*state, note_serial, seen); /* of another catalog */
	assert_string_equal(seen, "1212");
	assert_string_equal(said, "");
}

/* A cancelled or refused batch leaves nothing. A chain that is open goes on seeing what it saw. */
static void test_whole_or_not_at_all(void **state)
{
	const uint8_t *apex = storing_name("example.");
	struct changeset half = { 0 };
	struct store_batch *batch;
	struct store_chain *chain;

	append_row(*state, "example.", 7, 9);
	batch = batch_of(*state);
	assert_int_equal(storing_append(batch, apex, 9, 10, 100), 0);
	store_cancel(batch);
	batch = batch_of(*state);
	assert_int_equal(storing_append(batch, apex, 9, 10, 100), 0);
	storing_put_soa(&half, apex, 10, CHANGESET_REMOVE);
	assert_int_equal(store_append(batch, apex, &half), ERR_RDATA);
	changeset_fini(&half);
	assert_int_equal(storing_append(batch, apex, 10, 11, 100), ERR_RDATA);
	assert_int_equal(store_commit(batch), ERR_RDATA);
	batch = batch_of(*state);
	assert_int_equal(store_put(batch, apex, "", "x", 1), -EINVAL);
	store_cancel(batch);
	assert_int_equal(store_chain_open(*state, apex, 7, &chain), 0);
	append_row(*state, "example.", 9, 11);
	limit(*state, 0, 11);
	assert_int_equal(store_chain_end(chain), 9);
	assert_true(storing_next_is(chain, apex, 7, 8, 100));
	assert_true(storing_next_is(chain, apex, 8, 9, 100));
	assert_true(storing_at_end(chain));
	store_chain_close(chain);
}

/* Each size around the borders of a page, in one chain. */
static void test_any_size(void **state)
{
	const uint8_t *apex = storing_name("example.");
	struct store_batch *batch = batch_of(*state);
	struct store_chain *chain;
	uint32_t serial = 0;

	for (size_t n = 0; n<12300; n += n % 4096> 3700 || n % 2048 > 1700 ? 1 : 97)
		assert_int_equal(storing_append(batch, apex, serial, serial + 1, n), 0), serial++;
	assert_int_equal(store_commit(batch), 0);
	assert_int_equal(store_chain_open(*state, apex, 0, &chain), 0);
	assert_int_equal(store_chain_end(chain), serial);
	serial = 0;
	for (size_t n = 0; n<12300; n += n % 4096> 3700 || n % 2048 > 1700 ? 1 : 97)
		assert_true(storing_next_is(chain, apex, serial, serial + 1, n)), serial++;
	assert_true(storing_at_end(chain));
	store_chain_close(chain);
}

static void test_one_process(void **state)
{
	struct store *other;
	char why[512];

	(void)state;
	assert_int_equal(storing_try(&other, 64 * MB, why), ERR_RUNNING);
	assert_non_null(strstr(why, "/store: in use: another daemon is already running"));
}

static void test_many_readers(void **state)
{
	static struct store_chain *chains[STORE_READERS_MAX + 100];
	const uint8_t *apex = storing_name("example.");
	unsigned n = 0;
	int err = 0;

	append_row(*state, "example.", 7, 8);
	while (!err && n < sizeof(chains) / sizeof(chains[0]))
		err = store_chain_open(*state, apex, 7, &chains[n++]);
	assert_int_equal(err, -EBUSY);
	assert_true(n > STORE_READERS_MAX);
	append_row(*state, "example.", 8, 9);
	while (n--)
		store_chain_close(chains[n]);
	assert_string_equal(chain_text(*state, "example.", 7), "7-8 8-9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_chain_is_read_in_order, begin, end),
		cmocka_unit_test_setup_teardown(test_a_gap_begins_a_new_chain, begin, end),
		cmocka_unit_test_setup_teardown(test_serials_wrap_and_come_again, begin, end),
		cmocka_unit_test_setup_teardown(test_a_start_goes_by_the_number, begin, end),
		cmocka_unit_test_setup_teardown(test_a_file_may_be_ahead_of_the_journal, begin,
						end),
		cmocka_unit_test_setup_teardown(test_what_is_hidden_is_for_a_start, begin, end),
		cmocka_unit_test_setup_teardown(test_trim, begin, end),
		cmocka_unit_test_setup_teardown(test_trim_what_came_again, begin, end),
		cmocka_unit_test_setup_teardown(test_limit, begin, end),
		cmocka_unit_test_setup_teardown(test_zones_and_values, begin, end),
		cmocka_unit_test_setup_teardown(test_damaged_names, begin, end),
		cmocka_unit_test_setup_teardown(test_each_zone, begin, end),
		cmocka_unit_test_setup_teardown(test_each_but_damaged, begin, end),
		cmocka_unit_test_setup_teardown(test_whole_or_not_at_all, begin, end),
		cmocka_unit_test_setup_teardown(test_any_size, begin, end),
		cmocka_unit_test_setup_teardown(test_one_process, begin, end),
		cmocka_unit_test_setup_teardown(test_many_readers, begin, end),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
