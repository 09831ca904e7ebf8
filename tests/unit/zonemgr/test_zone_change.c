/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of a zone that is served: what is told and when, and what the journal then leads to. What
 * it has no room for is in test_zone_journal.c.
 */
#include <poll.h>

#include "base/clock.h"
#include "cache/dependency_filter.h"
#include "tests/unit/zonemgr/changing.h"
#include "zonemgr/loader.h"

#define FILTER_WAIT_MS 2000u /* see zones_flush_at() */

static void journaled_then_served_then_told(void **state)
{
	(void)state;
	begin();
	ask_for("b.z.test");
	ask_for("c.z.test");
	assert_true(is_cached("b.z.test") && is_cached("c.z.test"));
	assert_int_equal(change("add b 300 A 192.0.2.9"), 0);
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	assert_int_equal(n_told, 0);
	assert_int_equal(zone_serial(entry.zone), 1);
	assert_true(zones_flush_at(zones) != UINT64_MAX);
	zones_flush(zones);
	assert_int_equal(n_told, 2);
	assert_true(!told[0] && !told[1]);
	assert_true(zones_flush_at(zones) == UINT64_MAX);
	assert_int_equal(zone_serial(entry.zone), 3);
	assert_true(has("d.z.test"));
	assert_null(entry.edited);
	assert_false(is_cached("b.z.test"));
	assert_true(is_cached("c.z.test"));
	assert_replays(2);
	end();
}

#define N_ANSWERS 30000u /* more than the cache has room for */

/* Behind an adoption, say: none of them is in the filter yet. */
static void cache_many(void)
{
	char name[32];

	withdrawal_expect(madezones_env(zones)->cache);
	ask_for("b.z.test");
	for (unsigned i = 0; i < N_ANSWERS; i++) {
		snprintf(name, sizeof(name), "n%u.z.test", i);
		ask_for(name);
	}
	assert_false(cache_filter_is_ready(madezones_env(zones)->cache));
}

static void waits_for_the_filter(void **state)
{
	(void)state;
	begin();
	cache_many();
	assert_int_equal(change("add b 300 A 192.0.2.9"), 0);
	zones_flush(zones);
	assert_int_equal(n_told, 0);
	assert_true(madezones_is_journaled(zones));
	assert_true(zones_flush_at(zones) != UINT64_MAX);
	assert_true(zone_serial(entry.zone) == 1 && is_cached("b.z.test"));
	while (cache_filter_tend(madezones_env(zones)->cache, 1)) /* the keeper does */
		;
	zones_flush(zones);
	assert_true(n_told == 1 && !told[0]);
	assert_true(zone_serial(entry.zone) == 2 && !is_cached("b.z.test"));
	assert_true(zones_flush_at(zones) == UINT64_MAX);
	assert_replays(1);
	end();
}

static void move_on(uint64_t ms)
{
	struct clock_now now = *zones_time(zones);

	now.ns += ms * CLOCK_NS_PER_MS;
	zones_set_time(zones, &now);
}

static void does_not_wait_for_ever(void **state)
{
	(void)state;
	begin();
	cache_many();
	assert_int_equal(change("add b 300 A 192.0.2.9"), 0);
	zones_flush(zones);
	assert_int_equal(n_told, 0);
	move_on(FILTER_WAIT_MS - 1);
	zones_flush(zones);
	assert_int_equal(n_told, 0);
	move_on(1);
	zones_flush(zones);
	assert_true(n_told == 1 && !told[0] && !is_cached("b.z.test"));
	end();
}

static void what_changes_nothing_or_cannot_be(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change("add b 300 A 192.0.2.2"), 1);
	assert_int_equal(change("remove x A"), ERR_NOT_FOUND);
	assert_int_equal(change("remove @ NS"), ERR_ZONE);
	assert_null(entry.edited);
	assert_false(madezones_has_made(zones));
	zones_flush(zones);
	assert_int_equal(n_told, 0);
	assert_int_equal(zone_serial(entry.zone), 1);
	end();
}

/* --- Beside other things ---------------------------------------------------------------------- */

static void changed_back_in_one_flush(void **state)
{
	uint64_t digest;

	(void)state;
	begin();
	digest = entry.published.digest[0];
	ask_for("b.z.test");
	assert_int_equal(change("remove b A 192.0.2.2"), 0);
	assert_int_equal(change("add b 300 A 192.0.2.2"), 0);
	assert_int_equal(change("add @ 300 SOA ns root 1 2 3 4 60"), 0);
	zones_flush(zones);
	assert_int_equal(n_told, 3);
	assert_true(entry.published.digest[0] == digest);
	assert_true(is_same(entry.zone, file));
	assert_true(is_cached("b.z.test"));
	assert_int_equal(change("remove b"), 0);
	zones_flush(zones);
	assert_false(is_cached("b.z.test"));
	end();
}

static void once_more(void *user, int code)
{
	done(user, code);
	assert_int_equal(change("add e A 192.0.2.5"), 0);
	zones_flush(zones);
}

static void flushed_by_who_is_told(void **state)
{
	struct zone_error why;

	(void)state;
	begin();
	assert_int_equal(zones_change(zones, &entry, one_line, (void *)"add d A 192.0.2.4",
				      once_more, NULL, &why),
			 0);
	assert_int_equal(change("add f A 192.0.2.6"), 0);
	zones_flush(zones);
	assert_int_equal(n_told, 3);
	assert_true(!told[0] && !told[1] && !told[2]);
	assert_true(has("d.z.test") && has("e.z.test") && has("f.z.test"));
	assert_replays(3);
	end();
}

/* What has been loaded would take its place. */
static void not_before_what_is_loaded(void **state)
{
	(void)state;
	begin();
	make_due(zone_of("z.test", ZONE_HEAD));
	assert_int_equal(change("add d A 192.0.2.4"), -EBUSY);
	assert_int_equal(zones_publish(zones), 0);
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_int_equal(zone_serial(entry.zone), 8);
	end();
}

static void told_though_the_zone_goes(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_forget_made(zones, &entry);
	assert_false(madezones_has_changed(zones));
	zones_flush(zones);
	assert_int_equal(n_told, 1);
	assert_int_equal(told[0], ERR_NOT_FOUND);
	assert_int_equal(change("add e A 192.0.2.5"), 0);
	zones_cancel(zones);
	assert_int_equal(told[1], -ECANCELED);
	end();
}

static void expired_and_back(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_expire(zones, &entry);
	assert_int_equal(change("add e A 192.0.2.5"), ERR_NOT_FOUND);
	zones_flush(zones);
	assert_int_equal(n_told, 1);
	assert_int_equal(told[0], ERR_NOT_FOUND);
	assert_null(entry.zone);
	assert_null(entry.edited);
	assert_int_equal(entry.state, ZONES_EXPIRED);
	make_due(zone_of("z.test", ZONE_HEAD)); /* a file does not end it */
	assert_int_equal(zones_publish(zones), 0);
	assert_null(entry.zone);
	make_due(zone_of("z.test", ZONE_HEAD));
	entry.loading.fresh->source = LOAD_TRANSFER;
	assert_int_equal(zones_publish(zones), 0);
	assert_int_equal(entry.state, ZONES_SERVING);
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_true(has("d.z.test"));
	end();
}

static void wait_for_compaction(void)
{
	struct pollfd ready = { .fd = loader_fd(loader), .events = POLLIN };

	while (entry.compaction) {
		MUST(poll(&ready, 1, -1) == 1);
		loader_poll(loader);
	}
}

static void changed_beside_a_compaction(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_compact(zones, &entry); /* with what is not served yet */
	assert_int_equal(change("add e A 192.0.2.5"), 0);
	zones_flush(zones);
	assert_int_equal(change("add f A 192.0.2.6"), 0);
	assert_int_equal(entry.compaction->n, 2);
	wait_for_compaction();
	assert_null(entry.compaction);
	assert_non_null(entry.edited);
	assert_int_equal(zone_overlay_names(entry.edited), 3); /* e, f, and the apex */
	zones_flush(zones);
	assert_int_equal(zone_overlay_names(entry.zone), 3);
	assert_true(has("d.z.test") && has("e.z.test") && has("f.z.test"));
	assert_replays(3);
	end();
}

/* It has a version that was given up: it is not taken. */
static void a_compaction_of_what_was_given_up(void **state)
{
	(void)state;
	begin();
	assert_int_equal(change_hugely(), 0);
	zones_compact(zones, &entry);
	zones_flush(zones);
	assert_int_equal(told[0], -ENOSPC);
	wait_for_compaction();
	zones_flush(zones);
	assert_int_equal(zone_serial(entry.zone), 1);
	assert_false(has("huge.z.test"));
	end();
}

static void without_a_journal(void **state)
{
	struct store *store;

	(void)state;
	begin();
	store = madezones_env(zones)->store;
	madezones_env(zones)->store = NULL;
	assert_int_equal(change_hugely(), 0);
	zones_flush(zones);
	assert_int_equal(told[0], 0);
	assert_true(has("huge.z.test"));
	madezones_env(zones)->store = store;
	end();
}

/* --- Beside a file that is read --------------------------------------------------------------- */

static void wait_for_reload(void)
{
	struct pollfd ready = { .fd = loader_fd(loader), .events = POLLIN };
	unsigned n = n_told;

	while (n_told == n) {
		MUST(poll(&ready, 1, -1) == 1);
		loader_poll(loader);
		zones_poll(zones);
	}
}

static void write_file(const char *content)
{
	FILE *f = fopen(tmpfolder_file, "w");

	MUST(f && fputs(content, f) >= 0 && !fclose(f));
}

static void reload(void)
{
	assert_int_equal(zones_reload(zones, "z.test", done, NULL), 0);
}

static unsigned n_waits;

static int count_readers(void *unused)
{
	(void)unused;
	n_waits++;
	return 0;
}

/* What was published with all the others is not published once more. */
static void published_once(void **state)
{
	(void)state;
	begin();
	madezones_env(zones)->grace = count_readers;
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush_journal(zones);
	assert_int_equal(zones_publish(zones), 0);
	assert_true(has("d.z.test"));
	assert_false(madezones_has_changed(zones));
	assert_false(entry.published.is_changed);
	n_waits = 0;
	zones_flush(zones);
	assert_int_equal(n_told, 1);
	assert_int_equal(told[0], 0);
	assert_int_equal(n_waits, 0);
	assert_int_equal(change("add e A 192.0.2.5"), 0);
	zones_flush(zones);
	assert_true(n_waits > 0 && has("e.z.test"));
	end();
}

#define OTHER_OLD "$TTL 300\n@ SOA ns root 1 2 3 4 60\n@ NS ns\nns A 192.0.2.9\n"

/* An old file does not take the place of changes that are on their way into it. */
static void a_file_that_is_being_written(void **state)
{
	(void)state;
	begin();
	entry.file = tmpfolder_file;
	write_file(text);
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	entry.on_disk.work = ZONES_FILE_WRITING;
	reload();
	entry.on_disk.work = ZONES_FILE_IDLE; /* and that ends first */
	wait_for_reload();
	assert_int_equal(told[1], 0); /* it says nothing new */
	assert_int_equal(entry.state, ZONES_SERVING);
	assert_int_equal(zone_serial(entry.zone), 2);
	write_file(OTHER_OLD);
	entry.on_disk.work = ZONES_FILE_WRITING;
	reload();
	entry.on_disk.work = ZONES_FILE_IDLE;
	wait_for_reload();
	assert_int_equal(told[2], ERR_ZONE);
	assert_int_equal(entry.state, ZONES_STALE);
	assert_int_equal(zone_serial(entry.zone), 2);
	entry.on_disk.work = ZONES_FILE_WRITING;
	write_file("$TTL 300\n@ SOA ns root 2 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n"
		   "b A 192.0.2.2\nc A 192.0.2.3\nd 3600 A 192.0.2.4\n");
	reload(); /* what is served */
	wait_for_reload();
	assert_int_equal(told[3], 0);
	assert_int_equal(entry.state, ZONES_SERVING);
	unlink(tmpfolder_file);
	end();
}

/* Asks for the zone, as a configuration does, and waits for the load. */
static bool is_read_again(void)
{
	struct pollfd ready = { .fd = loader_fd(loader), .events = POLLIN };
	const struct load *before = entry.loading.fresh;

	(void)zones_ask(&entry);
	while (entry.loading.load) {
		MUST(poll(&ready, 1, -1) == 1);
		loader_poll(loader);
	}
	return entry.loading.fresh != before;
}

static void drop_fresh(void)
{
	load_free(entry.loading.fresh);
	entry.loading.fresh = NULL;
}

/* An unchanged file is read nevertheless if the journal had an error, and if the version that is to
 * be served next is of another file. */
static void an_unchanged_file(void **state)
{
	(void)state;
	begin();
	entry.file = tmpfolder_file;
	entry.state = ZONES_SERVING;
	write_file(text);
	zonefile_mark_read(tmpfolder_file, &entry.on_disk.mark);
	entry.on_disk.mark.is_settled = false;
	assert_true(is_read_again()); /* it may have changed within the same tick */
	drop_fresh();
	entry.on_disk.mark.is_settled = true;
	assert_false(is_read_again());
	sentence_set(&entry.stored.error, "journal: full");
	assert_true(is_read_again());
	sentence_clear(&entry.stored.error);
	assert_true(is_read_again());
	drop_fresh();
	assert_false(is_read_again());
	unlink(tmpfolder_file);
	end();
}

/* What was written before is as old, though the store is not told of it yet. */
static void a_file_that_was_written_meanwhile(void **state)
{
	(void)state;
	begin();
	entry.file = tmpfolder_file;
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	zone_digest(entry.zone, entry.on_disk.next_digest);
	write_file("$TTL 300\n@ SOA ns root 2 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n"
		   "b A 192.0.2.2\nc A 192.0.2.3\nd 3600 A 192.0.2.4\n");
	assert_int_equal(change("add e A 192.0.2.5"), 0);
	zones_flush(zones);
	entry.on_disk.work = ZONES_FILE_WRITING;
	reload();
	wait_for_reload();
	assert_int_equal(told[2], 0);
	assert_int_equal(entry.state, ZONES_SERVING);
	assert_int_equal(zone_serial(entry.zone), 3);
	unlink(tmpfolder_file);
	end();
}

/* Nor of one that is made while it is read, and is not served yet. */
static void a_change_while_the_file_is_read(void **state)
{
	(void)state;
	begin();
	entry.file = tmpfolder_file;
	write_file(text);
	reload();
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	wait_for_reload();
	assert_int_equal(told[0], 0);
	zones_flush(zones);
	assert_int_equal(told[1], 0);
	entry.on_disk.changed_ns = 1;
	write_file(OTHER_OLD);
	reload();
	wait_for_reload();
	assert_int_equal(told[2], ERR_ZONE);
	assert_true(has("d.z.test"));
	write_file(ZONE_HEAD);
	reload();
	wait_for_reload();
	assert_int_equal(told[3], 0);
	assert_int_equal(zone_serial(entry.zone), 7);
	unlink(tmpfolder_file);
	end();
}

static unsigned n_together;

static void count_together(void *user)
{
	(void)user;
	n_together++;
}

/* The store hears of all zones of a publish when the last one is served, and before anybody is
 * told. */
static void served_together(void **state)
{
	(void)state;
	begin();
	madezones_env(zones)->served_together = count_together;
	n_together = 0;
	assert_int_equal(change("add d A 192.0.2.4"), 0);
	zones_flush(zones);
	assert_int_equal(n_told, 1);
	assert_true(n_together > 0);
	n_together = 0;
	entry.file = tmpfolder_file;
	write_file(ZONE_HEAD);
	reload();
	wait_for_reload();
	assert_true(n_together > 0);
	n_together = 0;
	assert_int_equal(zones_publish(zones), 0);
	assert_true(n_together > 0);
	madezones_env(zones)->served_together = NULL;
	unlink(tmpfolder_file);
	end();
}

static void pass_until(uint64_t ns)
{
	const struct clock_now now = { .ns = ns, .wall_s = 1 };

	zones_set_time(zones, &now);
}

/* Behind a publish of all zones, which takes long for many, what is loaded waits for others. */
static void loaded_behind_a_long_publish(void **state)
{
	const uint64_t start_ns = 10 * CLOCK_NS_PER_S;
	struct pollfd ready;

	(void)state;
	begin();
	ready = (struct pollfd){ .fd = loader_fd(loader), .events = POLLIN };
	entry.file = tmpfolder_file;
	pass_until(start_ns);
	assert_int_equal(zones_publish(zones), 0);
	pass_until(start_ns + 100 * CLOCK_NS_PER_MS); /* so long it took */
	write_file(ZONE_HEAD);
	reload();
	while (entry.loading.load) {
		MUST(poll(&ready, 1, -1) == 1);
		loader_poll(loader);
		zones_poll(zones);
	}
	assert_int_equal(n_told, 0);
	assert_int_equal(zones_flush_at(zones), start_ns + 300 * CLOCK_NS_PER_MS);
	pass_until(start_ns + 299 * CLOCK_NS_PER_MS);
	zones_flush(zones); /* of a change, say */
	assert_int_equal(n_told, 0);
	assert_int_equal(zones_flush_at(zones), start_ns + 300 * CLOCK_NS_PER_MS);
	pass_until(start_ns + 300 * CLOCK_NS_PER_MS);
	zones_flush(zones);
	assert_int_equal(n_told, 1);
	assert_int_equal(told[0], 0);
	assert_int_equal(zone_serial(entry.zone), 7);
	assert_true(zones_flush_at(zones) == UINT64_MAX);
	unlink(tmpfolder_file);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(journaled_then_served_then_told),
		cmocka_unit_test(waits_for_the_filter),
		cmocka_unit_test(does_not_wait_for_ever),
		cmocka_unit_test(what_changes_nothing_or_cannot_be),
		cmocka_unit_test(changed_back_in_one_flush),
		cmocka_unit_test(flushed_by_who_is_told),
		cmocka_unit_test(not_before_what_is_loaded),
		cmocka_unit_test(told_though_the_zone_goes),
		cmocka_unit_test(expired_and_back),
		cmocka_unit_test(changed_beside_a_compaction),
		cmocka_unit_test(a_compaction_of_what_was_given_up),
		cmocka_unit_test(without_a_journal),
		cmocka_unit_test(published_once),
		cmocka_unit_test(a_file_that_is_being_written),
		cmocka_unit_test(an_unchanged_file),
		cmocka_unit_test(a_file_that_was_written_meanwhile),
		cmocka_unit_test(a_change_while_the_file_is_read),
		cmocka_unit_test(served_together),
		cmocka_unit_test(loaded_behind_a_long_publish),
	};
	int rc;

	rcu_register_thread();
	rc = cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
	rcu_unregister_thread();
	return rc;
}
