/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file and a journal: what of it is applied, for each file that may be found at a start. */
#include "zonemgr/zonefile.h"

#include <poll.h>

#include "zonemgr/loader.h"
#include "tests/unit/store/storing.h"
#include "tests/unit/zone/zone_text.h"
#include "zone/diff.h"

#define N_VERSIONS 4 /* serial numbers 1 to 4; the file is that of 1 */

static struct store *store;
static struct zone *versions[N_VERSIONS + 1];
static struct store_zone known;
static const uint8_t *apex;

static struct zone *make(unsigned serial, const char *more)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "$TTL 300\n@ SOA ns root %u 2 3 4 60\n@ NS ns\nns A 192.0.2.%u\n%s", serial,
		 serial, more);
	return zone_of("z.test", text);
}

/* The journal has the way from version @from to @to. */
static void append(struct store_batch *batch, const struct zone *from, const struct zone *to)
{
	struct changeset net = { 0 };

	MUST(!zone_difference(from, to, 1 << 16, &net));
	MUST(!store_append(batch, apex, &net));
	changeset_fini(&net);
}

static int begin(void **state)
{
	struct store_batch *batch;

	(void)state;
	store = storing_open(STORE_MAX_BYTES_MIN);
	apex = storing_name("z.test");
	for (unsigned i = 1; i <= N_VERSIONS; i++)
		versions[i] = make(i, "");
	known = (struct store_zone){ .serial = N_VERSIONS, .file_serial = 1 };
	zone_digest(versions[1], known.file_digest);
	MUST(!store_begin(store, &batch));
	MUST(!store_put_zone(batch, apex, &known));
	for (unsigned i = 1; i < N_VERSIONS; i++)
		append(batch, versions[i], versions[i + 1]);
	MUST(!store_commit(batch));
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned i = 1; i <= N_VERSIONS; i++)
		zone_unref(versions[i]);
	store_close(store);
	storing_clear();
	return 0;
}

/* What a start makes of the file that holds @file: @want, with @n changes. */
static void assert_start(const char *name, const struct zone *file, struct zone *z,
			 const struct zone *want, uint64_t n)
{
	uint8_t digest[ZONE_DIGEST_LEN], of_want[ZONE_DIGEST_LEN];
	struct zone_error why;
	uint64_t n_replayed = 99;

	zone_digest(file, digest);
	assert_int_equal(replay(store, &z, digest, &n_replayed, "", &why), 0);
	assert_int_equal(n_replayed, n);
	zone_digest(z, digest);
	zone_digest(want, of_want);
	if (memcmp(digest, of_want, sizeof(digest)) != 0)
		fail_msg("%s: serial %u", name, zone_serial(z));
	zone_unref(z);
}

static void the_file_that_is_known(void **state)
{
	(void)state;
	assert_start("known", versions[1], make(1, ""), versions[4], 3);
}

static void a_zone_that_is_not(void **state)
{
	struct zone *other = zone_of("other.test", ZONE_HEAD);

	(void)state;
	assert_start("other", other, zone_ref(other), other, 0);
	zone_unref(other);
}

/* Another file of the same serial number, or of a later one that the journal has: it is his
 * word. */
static void a_file_that_was_replaced(void **state)
{
	struct zone *other = make(1, "a TXT x\n");

	(void)state;
	assert_start("edited", other, zone_ref(other), other, 0);
	assert_start("later", versions[2], make(2, ""), versions[2], 0);
	zone_unref(other);
}

static void announce(const struct zone *z)
{
	struct store_batch *batch;
	uint8_t digest[ZONE_DIGEST_LEN];

	zone_digest(z, digest);
	MUST(!store_begin(store, &batch));
	MUST(!store_put(batch, apex, REPLAY_NEXT_FILE, digest, sizeof(digest)));
	MUST(!store_commit(batch));
}

/* We wrote it, and the end came before that was noted; or before it was written. */
static void a_file_that_was_announced(void **state)
{
	struct zone *other = make(3, "a TXT x\n");

	(void)state;
	announce(versions[3]);
	assert_start("new", versions[3], make(3, ""), versions[4], 1);
	assert_start("old", versions[1], make(1, ""), versions[4], 3);
	assert_start("neither", other, zone_ref(other), other, 0);
	announce(versions[4]);
	assert_start("all", versions[4], make(4, ""), versions[4], 0);
	zone_unref(other);
}

static enum replay_file judge(const struct zone *z)
{
	uint8_t digest[ZONE_DIGEST_LEN];

	zone_digest(z, digest);
	return replay_judge_file(store, apex, digest);
}

/* A file of ours holds what is known of it or what was announced; else it is harmed, however sound
 * it looks. */
static void a_file_of_ours(void **state)
{
	struct zone *other = make(1, "a TXT x\n");
	struct store_batch *batch;

	(void)state;
	assert_int_equal(judge(versions[1]), REPLAY_FILE_OURS);
	assert_int_equal(judge(versions[3]), REPLAY_FILE_HARMED);
	assert_int_equal(judge(other), REPLAY_FILE_HARMED);
	announce(versions[3]);
	assert_int_equal(judge(versions[1]), REPLAY_FILE_OURS);
	assert_int_equal(judge(versions[3]), REPLAY_FILE_OURS);
	assert_int_equal(judge(other), REPLAY_FILE_HARMED);
	MUST(!store_begin(store, &batch));
	MUST(!store_drop_zone(batch, apex));
	MUST(!store_commit(batch));
	assert_int_equal(judge(other), REPLAY_FILE_UNKNOWN);
	announce(versions[3]);
	assert_int_equal(judge(other), REPLAY_FILE_HARMED);
	assert_int_equal(replay_judge_file(NULL, apex, known.file_digest), REPLAY_FILE_UNKNOWN);
	zone_unref(other);
}

/* Changes behind it that do not fit are an error, not half a zone. */
static void a_journal_that_does_not_fit(void **state)
{
	struct zone *with = make(4, "a TXT x\n"), *without = make(5, ""), *z = make(1, "");
	struct store_batch *batch;
	uint8_t digest[ZONE_DIGEST_LEN];
	struct zone_error why;
	uint64_t n;

	(void)state;
	MUST(!store_begin(store, &batch));
	append(batch, with, without); /* removes what is not there */
	MUST(!store_commit(batch));
	zone_digest(z, digest);
	assert_int_equal(replay(store, &z, digest, &n, "and so", &why), ERR_ZONE);
	assert_non_null(strstr(why.sentence, "does not fit behind serial 4, and so: "));
	assert_int_equal(n, 3);
	zone_unref(z);
	zone_unref(with);
	zone_unref(without);
}

/* --- As a load -------------------------------------------------------------------------------- */

static struct load *ended_load;

static void on_ended(struct load *load)
{
	ended_load = load;
}

/* What the loader makes of a file with the text of version 1, but of this serial number. */
static struct load *load_file(unsigned serial, bool is_secondary)
{
	struct loader *loader;
	struct pollfd ready = { .events = POLLIN };
	struct load *load = load_new("z.test.", tmpfolder_file, NULL, on_ended, NULL);
	FILE *f = fopen(tmpfolder_file, "w");

	MUST(f && load && !loader_new(&loader, 1));
	fprintf(f, "$TTL 300\n@ SOA ns root %u 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n", serial);
	MUST(!fclose(f));
	load->store = store;
	load->absent = is_secondary ? LOAD_ABSENT_WAITS : LOAD_ABSENT_FAILS;
	ended_load = NULL;
	loader_start(loader, load);
	ready.fd = loader_fd(loader);
	while (!ended_load) {
		MUST(poll(&ready, 1, -1) == 1);
		loader_poll(loader);
	}
	loader_stop(loader);
	loader_free(loader);
	unlink(tmpfolder_file);
	return ended_load;
}

static void break_journal(void)
{
	struct zone *with = make(4, "a TXT x\n"), *without = make(5, "");
	struct store_batch *batch;

	MUST(!store_begin(store, &batch));
	append(batch, with, without);
	MUST(!store_commit(batch));
	zone_unref(with);
	zone_unref(without);
}

/* Who reads it knows where, why, and what to do. */
static void an_operators_zone_is_not_served_without_it(void **state)
{
	char error[640], folder[256];
	struct load *load;

	(void)state;
	break_journal();
	load = load_file(1, false);
	assert_int_equal(load->code, ERR_ZONE);
	load_put_error(load, error, sizeof(error));
	storing_path(folder, "");
	folder[strlen(folder) - 1] = 0;
	assert_non_null(strstr(error, tmpfolder_file));
	assert_non_null(strstr(error, folder));
	assert_non_null(strstr(error, "behind serial 4"));
	assert_non_null(strstr(error, "newer serial number"));
	assert_non_null(strstr(error, "a.z.test. TXT"));
	load_free(load);
	load = load_file(5, false);
	assert_int_equal(load->code, 0);
	assert_int_equal(zone_serial(load->zone), 5);
	load_free(load);
}

static void a_secondary_has_what_fits(void **state)
{
	struct load *load;

	(void)state;
	break_journal();
	load = load_file(1, true);
	assert_int_equal(load->code, 0);
	assert_true(load->gives_up_journal);
	assert_int_equal(zone_serial(load->zone), 4);
	assert_int_equal(load->n_replayed, 3);
	assert_non_null(strstr(load->err->warning, "behind serial 4, and is dropped: "));
	load_free(load);
}

static void one_set(void **state)
{
	struct changeset net = { 0 };
	struct zone *z = zone_ref(versions[1]);

	(void)state;
	MUST(!zone_difference(versions[1], versions[2], 1 << 16, &net));
	assert_int_equal(replay_set(&z, &net), 0);
	assert_int_equal(zone_serial(z), 2);
	assert_int_equal(zone_serial(versions[1]), 1);
	assert_int_equal(replay_set(&z, &net), ERR_ZONE); /* not twice */
	assert_int_equal(zone_serial(z), 2);
	zone_unref(z);
	changeset_fini(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_file_that_is_known, begin, end),
		cmocka_unit_test_setup_teardown(a_zone_that_is_not, begin, end),
		cmocka_unit_test_setup_teardown(a_file_that_was_replaced, begin, end),
		cmocka_unit_test_setup_teardown(a_file_that_was_announced, begin, end),
		cmocka_unit_test_setup_teardown(a_file_of_ours, begin, end),
		cmocka_unit_test_setup_teardown(a_journal_that_does_not_fit, begin, end),
		cmocka_unit_test_setup_teardown(an_operators_zone_is_not_served_without_it, begin,
						end),
		cmocka_unit_test_setup_teardown(a_secondary_has_what_fits, begin, end),
		cmocka_unit_test_setup_teardown(one_set, begin, end),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
