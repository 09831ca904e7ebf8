/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is kept of zones for the next start, with a store, files and a thread for background jobs
 * that are real: what a load leaves of the journal, files that cannot be written, room in the
 * journal, what stays of a zone that goes.
 */
#include "zonemgr/maintenance.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <urcu-qsbr.h>

#include "tests/lib/madezones.h"
#include "tests/unit/store/storing.h"
#include "tests/unit/zone/zone_text.h"
#include "zone/diff.h"
#include "zonemgr/zones_state.h"

#define S (1000000000ull)

static struct config_zone said;
static struct zones_entry entry, *entries[] = { &entry };
static struct zones *zones;
static struct background *background;
static struct maintenance *maintenance;
static char *primaries[] = { (char *)"p", NULL };
static char folder[256], path[512]; /* server.storage, the zone's file */

/* It is that moment. */
static void tick(uint64_t now_ns)
{
	zones_set_time(zones, &(struct clock_now){ .ns = now_ns });
	maintenance_tick(maintenance);
}

/* As a publish of this one zone. */
static void serve(const struct load *fresh)
{
	maintenance_served(maintenance, &entry, fresh);
	maintenance_served_together(maintenance);
}

static struct zone *make(unsigned serial)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "$TTL 300\n@ SOA ns root %u 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n", serial);
	return zone_of("z.test", text);
}

static int begin(void **state)
{
	static char name[] = "z.test.";
	static uint8_t apex[DNS_NAME_MAX];
	const struct zones_env env = { .store = storing_open(STORE_MAX_BYTES_MIN) };

	(void)state;
	snprintf(folder, sizeof(folder), "%s", store_folder(env.store));
	snprintf(path, sizeof(path), "%s/z.zone", folder);
	said = (struct config_zone){ .name = name, .file = path, .journal_bytes = 1 << 20 };
	entry = (struct zones_entry){
		.config = &said, .name = name, .file = path, .apex = apex, .life = ZONES_LISTED
	};
	entry.apex_len = (unsigned)name_from_text(apex, sizeof(apex), name, strlen(name));
	entry.zone = make(1);
	entry.stored.known = (struct zones_known){ .serial = 1, .file_serial = 1 };
	zone_digest(entry.zone, entry.stored.known.file_digest);
	zones = madezones_new(&env, entries, 1);
	zones_set_time(zones, &(struct clock_now){ .ns = S });
	MUST(!background_new(&background));
	maintenance = maintenance_new(env.store, background);
	MUST(maintenance);
	maintenance_set_zones(maintenance, zones);
	return 0;
}

static int end(void **state)
{
	(void)state;
	background_free(background);
	maintenance_free(maintenance);
	zone_unref(entry.zone);
	zones_entry_hush(&entry);
	store_close(madezones_env(zones)->store);
	madezones_free(zones);
	unlink(path);
	storing_clear();
	return 0;
}

static void be_secondary(void)
{
	said.primaries = primaries;
}

/* Another version is served; the journal has the way to it. */
static void change_to(unsigned serial, size_t n_bytes)
{
	struct store_batch *batch;

	entry.stored.known.serial = serial;
	MUST(!store_begin(madezones_env(zones)->store, &batch));
	MUST(!storing_append(batch, entry.apex, zone_serial(entry.zone), serial, n_bytes));
	MUST(!zones_known_put(batch, entry.apex, &entry.stored.known));
	MUST(!store_commit(batch));
	entry.stored.unwritten_bytes += n_bytes;
	zone_unref(entry.zone);
	entry.zone = make(serial);
	maintenance_served(maintenance, &entry, NULL);
}

static void wait_for_jobs(void)
{
	struct pollfd ready = { .fd = background_fd(background), .events = POLLIN };

	while (zones_is_file_written(&entry)) {
		MUST(poll(&ready, 1, -1) == 1);
		background_poll(background);
	}
}

static bool is_there(void)
{
	struct stat st;

	return !stat(path, &st);
}

/* The serial number where the zone's chain ends; 0: it has none. */
static uint32_t journal_end(void)
{
	struct store_chain *chain;
	uint32_t serial;

	if (storing_open_all(madezones_env(zones)->store, entry.apex, &chain))
		return 0;
	serial = store_chain_end(chain);
	store_chain_close(chain);
	return serial;
}

/* --- What a load leaves of the journal -------------------------------------------------------- */

struct load_row {
	const char *label;
	/* of what is served then; before, 1 is in the file, and the journal goes to 3 */
	unsigned serial;
	bool is_same_file, has_net, is_replayed, gives_up;
	uint32_t wants; /* journal_end() */
};

static const struct load_row load_rows[] = {
	{ .label = "the file as it was", .serial = 1, .is_same_file = true, .wants = 3 },
	{ .label = "and the journal behind it",
	  .serial = 3,
	  .is_same_file = true,
	  .is_replayed = true,
	  .wants = 3 },
	{ .label = "another file, and how it differs", .serial = 5, .has_net = true, .wants = 5 },
	{ .label = "another file, nobody knows how", .serial = 5, .wants = 0 },
	{ .label = "a journal that does not fit",
	  .serial = 2,
	  .is_same_file = true,
	  .is_replayed = true,
	  .gives_up = true,
	  .wants = 0 },
};

static void served_from(const struct load_row *row)
{
	struct load fresh = { .file_serial = row->is_same_file ? 1 : row->serial };
	struct zone *first = make(1);

	fresh.n_replayed = row->is_replayed ? 2 : 0;
	fresh.gives_up_journal = row->gives_up;
	if (row->has_net)
		storing_make(&fresh.net, entry.apex, 3, row->serial, 10);
	zone_unref(entry.zone);
	entry.zone = make(row->serial);
	zone_digest(row->is_same_file ? first : entry.zone, fresh.file_digest);
	serve(&fresh);
	changeset_fini(&fresh.net);
	zone_unref(first);
}

static void what_a_load_leaves(void **state)
{
	for (size_t i = 0; i < sizeof(load_rows) / sizeof(load_rows[0]); i++) {
		const struct load_row *row = &load_rows[i];
		struct store_zone known;

		print_message("  %s\n", row->label);
		entry.stored.known.checked_wall_s = 7;
		change_to(2, 100);
		change_to(3, 100);
		served_from(row);
		assert_int_equal(journal_end(), row->wants);
		assert_int_equal(store_get_zone(madezones_env(zones)->store, entry.apex, &known),
				 0);
		assert_int_equal(known.serial, row->serial);
		assert_int_equal(known.checked_wall_s, row->gives_up ? 0 : 7);
		assert_int_equal(!entry.on_disk.changed_ns, !row->is_replayed);
		assert_int_equal(!entry.stored.unwritten_bytes, row->wants != 3);
		assert_string_equal(sentence_text(&entry.stored.error), "");
		end(state);
		begin(state);
	}
}

/* Of a zone that nobody has heard of, its file; what is known then is told with that of others. */
static void a_zone_that_is_new(void **state)
{
	struct load fresh = { .file_serial = 1 };
	struct store_zone known;

	(void)state;
	entry.stored.known = (struct zones_known){ 0 };
	zone_digest(entry.zone, fresh.file_digest);
	serve(&fresh);
	assert_int_equal(store_get_zone(madezones_env(zones)->store, entry.apex, &known),
			 ERR_NOT_FOUND);
	entry.stored.known = (struct zones_known){ 0 };
	zones_store_soon(&entry);
	tick(100 * S); /* a member that is not served yet is as new */
	serve(&fresh);
	assert_int_equal(entry.stored.state, ZONES_STORE_DUE);
	maintenance_poll(maintenance);
	assert_int_equal(store_get_zone(madezones_env(zones)->store, entry.apex, &known), 0);
	assert_int_equal(known.file_serial, 1);
	assert_memory_equal(known.file_digest, fresh.file_digest, sizeof(fresh.file_digest));
	maintenance_checked(&entry, 5, 0);
	serve(&fresh); /* what is new of a zone that is known, at once */
	assert_int_equal(store_get_zone(madezones_env(zones)->store, entry.apex, &known), 0);
	assert_int_equal(known.checked_wall_s, 5);
}

/* Results of one publish are stored together; one that has no room keeps out no other. */
static void what_has_no_room_keeps_out_no_other(void **state)
{
	static uint8_t apex[DNS_NAME_MAX];
	static char name[] = "y.test.";
	struct zones_entry second = entry, *both[] = { &entry, &second };
	struct load large = { .file_serial = 2 }, small = { .file_serial = 2 };
	struct store *store = madezones_env(zones)->store;
	struct store_zone known;

	(void)state;
	second.name = name;
	second.apex = apex;
	second.apex_len = (unsigned)name_from_text(apex, sizeof(apex), name, strlen(name));
	madezones_set(zones, both, 2);
	storing_make(&large.net, entry.apex, 1, 2, STORE_MAX_BYTES_MIN);
	storing_make(&small.net, second.apex, 1, 2, 10);
	maintenance_served(maintenance, &entry, &large);
	maintenance_served(maintenance, &second, &small);
	assert_int_equal(store_get_zone(store, second.apex, &known), ERR_NOT_FOUND);
	maintenance_served_together(maintenance);
	assert_int_equal(store_get_zone(store, second.apex, &known), 0);
	assert_int_equal(store_get_zone(store, entry.apex, &known), ERR_NOT_FOUND);
	assert_true(sentence_is_set(&entry.stored.error));
	assert_false(sentence_is_set(&second.stored.error));
	changeset_fini(&large.net);
	changeset_fini(&small.net);
	zones_entry_hush(&second);
	maintenance_gone(maintenance, &second);
	maintenance_gone_together(maintenance);
}

/* A start reads the records of all zones at once. */
static void what_is_stored_is_read_by_one_walk(void **state)
{
	static uint8_t apex[DNS_NAME_MAX];
	static char name[] = "y.test.";
	struct zones_entry second = entry, *both[] = { &entry, &second };

	(void)state;
	second.name = name;
	second.apex = apex;
	second.apex_len = (unsigned)name_from_text(apex, sizeof(apex), name, strlen(name));
	madezones_set(zones, both, 2);
	maintenance_checked(&entry, 5, 6);
	tick(100 * S);
	entry.stored.known = second.stored.known = (struct zones_known){ 0 };
	entry.stored.state = ZONES_STORE_UNREAD;
	zones_recall_all(zones);
	assert_int_equal(entry.stored.known.checked_wall_s, 5);
	assert_int_equal(entry.stored.known.file_serial, 1);
	assert_int_equal(second.stored.known.checked_wall_s, 0);
	assert_int_equal(entry.stored.state, ZONES_STORE_CURRENT);
	assert_int_equal(second.stored.state, ZONES_STORE_CURRENT);
	entry.stored.known.checked_wall_s = 7; /* it is read once */
	zones_recall_all(zones);
	assert_int_equal(entry.stored.known.checked_wall_s, 7);
}

/* A zone is visited only while there is something to be done for it. */
static void a_quiet_zone_is_not_visited(void **state)
{
	struct load fresh = { .source = LOAD_TRANSFER };

	(void)state;
	be_secondary();
	serve(&fresh);
	assert_true(entry.is_tended);
	tick(100 * S);
	assert_true(zones_is_file_written(&entry));
	wait_for_jobs();
	tick(101 * S);
	assert_false(entry.is_tended);
	assert_int_equal(entry.stored.state, ZONES_STORE_CURRENT);
	change_to(2, 100);
	tick(102 * S);
	assert_true(entry.is_tended);
	tick(500 * S);
	wait_for_jobs();
	tick(501 * S);
	assert_false(entry.is_tended);
}

/* No file of this process may be written to: as on a full disk. */
static void limit_files(bool is_limited)
{
	struct rlimit limit;

	MUST(!getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = is_limited ? 0 : limit.rlim_max;
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
}

static void what_is_known_waits_for_room(void **state)
{
	struct store_zone known;

	(void)state;
	maintenance_checked(&entry, 5, 6);
	limit_files(true);
	tick(100 * S);
	tick(101 * S);
	assert_int_equal(store_get_zone(madezones_env(zones)->store, entry.apex, &known),
			 ERR_NOT_FOUND);
	limit_files(false);
	tick(102 * S);
	assert_int_equal(store_get_zone(madezones_env(zones)->store, entry.apex, &known), 0);
	assert_int_equal(known.checked_wall_s, 5);
	assert_int_equal(entry.stored.state, ZONES_STORE_CURRENT);
}

/* --- Files ------------------------------------------------------------------------------------ */

/* The folder is not there; later it is. */
static void a_file_is_tried_again(void **state)
{
	char sub[512], err[256];
	uint64_t now;

	(void)state;
	be_secondary();
	snprintf(sub, sizeof(sub), "%s/a", folder);
	snprintf(path, sizeof(path), "%s/a/b/z.zone", folder);
	change_to(2, 100);
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	wait_for_jobs();
	assert_non_null(strstr(sentence_text(&entry.stored.error), path));
	assert_ptr_equal(strstr(sentence_text(&entry.stored.error), "No such file"),
			 strrchr(sentence_text(&entry.stored.error), ':') + 2); /* said once */
	assert_true(entry.on_disk.changed_ns);
	now = entry.on_disk.changed_ns;
	tick(now + 299 * S);
	assert_false(zones_is_file_written(&entry));
	assert_int_equal(mkdir(sub, 0755), 0);
	tick(now + 301 * S);
	assert_true(zones_is_file_written(&entry));
	wait_for_jobs();
	assert_true(is_there());
	assert_string_equal(sentence_text(&entry.stored.error), "");
	assert_int_equal(entry.on_disk.changed_ns, 0);
	tick(now + 302 * S);
	assert_int_equal(entry.stored.unwritten_bytes, 0);
	assert_int_equal(entry.stored.known.file_serial, 2);
	unlink(path);
	snprintf(path, sizeof(path), "%s/a/b", folder);
	rmdir(path);
	rmdir(sub);
}

static int n_told, told_code;
static const struct zones_entry *told_entry;

static void on_told(void *user, const struct zones_entry *of, int code)
{
	assert_ptr_equal(user, &n_told);
	n_told++;
	told_entry = of;
	told_code = code;
}

/* Who comes while it is written waits for the next time; what fails is told to both. */
static void who_asks_for_a_file_is_told(void **state)
{
	char err[256];

	(void)state;
	n_told = 0;
	change_to(2, 100);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
		assert_int_equal(maintenance_await(maintenance, &entry, on_told, &n_told), 0);
	}
	wait_for_jobs();
	assert_int_equal(n_told, 1);
	tick(200 * S);
	wait_for_jobs();
	assert_int_equal(n_told, 2);
	assert_int_equal(told_code, 0);
	assert_ptr_equal(told_entry, &entry);
	snprintf(path, sizeof(path), "%s/none/none/z.zone", folder);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
		assert_int_equal(maintenance_await(maintenance, &entry, on_told, &n_told), 0);
	}
	wait_for_jobs();
	assert_int_equal(n_told, 4);
	assert_int_equal(told_code, -ENOENT);
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	assert_int_equal(maintenance_await(maintenance, &entry, on_told, &n_told), 0);
	maintenance_gone(maintenance, &entry);
	assert_int_equal(n_told, 5);
	assert_int_equal(told_code, ERR_NOT_FOUND);
	assert_null(told_entry);
	maintenance_gone_together(maintenance);
}

/* What the file has is forgotten, though the primaries are heard before the store is told of the
 * file. */
static void heard_behind_a_file(void **state)
{
	char err[256];

	(void)state;
	be_secondary();
	change_to(2, 100);
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	wait_for_jobs();
	assert_int_equal(entry.stored.state, ZONES_STORE_LIMIT_DUE);
	maintenance_checked(&entry, 5, 6);
	assert_int_equal(entry.stored.unwritten_bytes, 100);
	tick(S);
	assert_int_equal(entry.stored.unwritten_bytes, 0);
	assert_int_equal(entry.stored.state, ZONES_STORE_CURRENT);
}

/* The journal of one zone is damaged: the record of another is stored nevertheless. */
static void beside_a_damaged_journal(void **state)
{
	struct zones_entry other = { .owner = zones, .apex = (uint8_t *)"\5other" };
	struct store *store = madezones_env(zones)->store;
	struct store_zone stored;
	char err[256];

	(void)state;
	change_to(2, 100);
	storing_damage(store, entry.apex);
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	wait_for_jobs();
	zones_store_soon(&other);
	assert_int_equal(maintenance_store(maintenance), -EIO);
	assert_string_equal(sentence_text(&entry.stored.error), "journal: Input/output error");
	assert_int_equal(store_get_zone(store, other.apex, &stored), 0);
	assert_int_equal(other.stored.state, ZONES_STORE_CURRENT);
	assert_int_equal(maintenance_store(maintenance), 0);
}

/* The operator's is written when he says so, and never by itself. */
static void whose_file_it_is(void **state)
{
	char err[256];

	(void)state;
	change_to(2, 100);
	tick(entry.on_disk.changed_ns + 10000 * S);
	assert_false(zones_is_file_written(&entry));
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	wait_for_jobs();
	assert_true(is_there());
}

/* With zonefile-sync so long after the first change that it has not, whose ever it is. */
static void a_file_is_written_after_a_change(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t now;

		said.zonefile_sync_s = 60;
		if (i)
			be_secondary();
		change_to(2, 100);
		now = entry.on_disk.changed_ns;
		change_to(3, 100);
		tick(now + 59 * S);
		assert_false(zones_is_file_written(&entry));
		tick(now + 60 * S);
		assert_true(zones_is_file_written(&entry));
		wait_for_jobs();
		assert_true(is_there());
		assert_int_equal(entry.on_disk.changed_ns, 0);
		tick(now + 61 * S);
		assert_int_equal(entry.stored.unwritten_bytes, 0);
		assert_int_equal(entry.stored.known.file_serial, 3);
		tick(now + 1000 * S);
		assert_false(zones_is_file_written(&entry));
		end(state);
		begin(state);
	}
}

static void write_by_hand(const char *content)
{
	FILE *f = fopen(path, "w");

	MUST(f && fputs(content, f) >= 0 && !fclose(f));
}

static void sync_at(uint64_t now_ns)
{
	tick(now_ns);
	wait_for_jobs();
}

/* What somebody else has written to it since is not lost: it is said, and he chooses. */
static void a_file_that_somebody_has_changed_is_left_alone(void **state)
{
	struct load fresh = { .file_serial = 4 };
	char err[256];
	struct stat st;

	(void)state;
	said.zonefile_sync_s = 60;
	change_to(2, 100);
	sync_at(entry.on_disk.changed_ns + 60 * S);
	assert_string_equal(sentence_text(&entry.stored.error), "");
	change_to(3, 100);
	write_by_hand("mine");
	sync_at(entry.on_disk.changed_ns + 60 * S);
	assert_non_null(strstr(sentence_text(&entry.stored.error), "somebody has changed it"));
	assert_true(entry.on_disk.changed_ns);
	sync_at(entry.on_disk.changed_ns + 60 * S);
	MUST(!stat(path, &st));
	assert_int_equal(st.st_size, 4);
	zonefile_mark_read(path, &fresh.file_mark); /* it is read */
	serve(&fresh);
	assert_string_equal(sentence_text(&entry.stored.error), "");
	change_to(4, 100);
	sync_at(entry.on_disk.changed_ns + 60 * S);
	MUST(!stat(path, &st));
	assert_true(st.st_size > 4);
	change_to(5, 100);
	write_by_hand("mine");
	sync_at(entry.on_disk.changed_ns + 60 * S);
	assert_true(sentence_is_set(&entry.stored.error));
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	wait_for_jobs(); /* he has chosen */
	assert_string_equal(sentence_text(&entry.stored.error), "");
	MUST(!stat(path, &st));
	assert_true(st.st_size > 4);
	unlink(path);
	change_to(6, 100);
	sync_at(entry.on_disk.changed_ns + 60 * S);
	assert_true(is_there());
}

struct gone_row {
	const char *label;
	bool is_member, is_secondary, is_elsewhere;
	bool stays;
};

static const struct gone_row gone_rows[] = {
	{ "a member that has primaries", .is_member = true, .is_secondary = true },
	{ "its file is the operator's", .is_member = true, .stays = true },
	{ "a folder of the operator's", .is_member = true, .is_secondary = true,
	  .is_elsewhere = true, .stays = true },
	{ "a zone of the configuration", .is_secondary = true, .stays = true },
};

static void assert_gone(const struct gone_row *row, bool is_being_written)
{
	struct pollfd ready = { .fd = background_fd(background), .events = POLLIN };
	struct store_zone known;
	char err[256];

	print_message("  %s\n", row->label);
	entry.is_member = row->is_member;
	said.primaries = row->is_secondary ? primaries : NULL;
	if (row->is_elsewhere)
		snprintf(path, sizeof(path), "%s", tmpfolder_file);
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	if (!is_being_written)
		wait_for_jobs();
	maintenance_gone(maintenance, &entry);
	maintenance_gone_together(maintenance);
	if (is_being_written) {
		MUST(poll(&ready, 1, -1) == 1);
		background_poll(background);
	}
	assert_int_equal(is_there(), row->stays);
	assert_int_equal(store_get_zone(madezones_env(zones)->store, entry.apex, &known),
			 ERR_NOT_FOUND);
}

/* Whether it is there already, or on its way. */
static void what_a_zone_leaves(void **state)
{
	for (size_t i = 0; i < 2 * sizeof(gone_rows) / sizeof(gone_rows[0]); i++) {
		assert_gone(&gone_rows[i / 2], i % 2);
		end(state);
		begin(state);
	}
}

/* One that has come back has its own file, whatever is still under way of the one before. */
static void gone_and_back(void **state)
{
	char err[256];

	(void)state;
	be_secondary();
	entry.is_member = true;
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
		maintenance_gone(maintenance, &entry);
		maintenance_gone_together(maintenance);
		entry.on_disk.work = ZONES_FILE_IDLE;
	}
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	wait_for_jobs();
	assert_true(is_there());
	assert_int_equal(entry.stored.known.file_serial, 1);
}

/* --- Room in the journal ---------------------------------------------------------------------- */

static struct store_usage usage(void)
{
	struct store_usage u;

	MUST(!store_usage(madezones_env(zones)->store, &u));
	return u;
}

/* To be told before changes are refused, and no longer than it holds. */
static void warned_of_a_file_that_is_never_written(void **state)
{
	unsigned serial = 2;
	char err[256];

	(void)state;
	change_to(serial++, 1000);
	tick(S);
	assert_string_equal(sentence_text(&entry.stored.warning), "");
	while (!sentence_is_set(&entry.stored.warning)) {
		assert_true(entry.stored.unwritten_bytes < usage().changes_max_bytes / 2);
		change_to(serial++, 10000);
		tick(serial * S);
	}
	assert_true(entry.stored.unwritten_bytes > usage().changes_max_bytes / 5);
	assert_non_null(
		strstr(sentence_text(&entry.stored.warning), "volleyctl zone flush z.test."));
	assert_non_null(strstr(sentence_text(&entry.stored.warning), "zonefile-sync"));
	be_secondary(); /* that sees to itself */
	tick(++serial * S);
	assert_string_equal(sentence_text(&entry.stored.warning), "");
	said.primaries = NULL;
	tick(++serial * S);
	assert_true(sentence_is_set(&entry.stored.warning));
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	wait_for_jobs();
	tick(++serial * S);
	assert_string_equal(sentence_text(&entry.stored.warning), "");
}

/* Where the journal gets short of room nobody waits for the hour. */
static void written_before_its_time_where_room_is_short(void **state)
{
	unsigned serial = 2;
	uint64_t now;

	(void)state;
	said.zonefile_sync_s = 3600;
	change_to(serial++, 1000);
	now = entry.on_disk.changed_ns;
	tick(now + 20 * S);
	assert_false(zones_is_file_written(&entry));
	while (entry.stored.unwritten_bytes < usage().changes_max_bytes / 2)
		change_to(serial++, 10000);
	tick(now + 9 * S);
	assert_false(zones_is_file_written(&entry));
	assert_string_equal(sentence_text(&entry.stored.warning), "");
	sync_at(now + 10 * S);
	assert_true(is_there());
	tick(now + 11 * S);
	assert_int_equal(entry.stored.unwritten_bytes, 0);
	assert_string_equal(sentence_text(&entry.stored.warning), "");
}

static void append_until(const char *name, uint32_t quarters)
{
	const uint8_t *apex = storing_name(name);

	for (uint32_t i = 1; usage().n_bytes < usage().changes_max_bytes / 4 * quarters; i++)
		MUST(!storing_append_one(madezones_env(zones)->store, apex, i, i + 1, 3000));
}

static void what_files_have_goes(void **state)
{
	struct store_zone known = { .file_serial = UINT32_MAX };
	struct store_batch *batch;

	(void)state;
	append_until("a.", 3);
	change_to(2, 100); /* a bit more */
	MUST(!store_begin(madezones_env(zones)->store, &batch));
	MUST(!store_put_zone(batch, storing_name("a."), &known));
	MUST(!store_commit(batch));
	tick(S);
	assert_true(usage().n_bytes < usage().changes_max_bytes / 4);
	assert_int_equal(journal_end(), 2);
	assert_string_equal(sentence_text(&entry.stored.warning), "");
}

/* Many zones with little each: nothing can go, and each is warned. */
static void what_files_have_not_stays(void **state)
{
	(void)state;
	append_until("a.", 3);
	change_to(2, 100);
	tick(S);
	assert_true(usage().n_bytes > usage().changes_max_bytes / 4 * 3);
	assert_true(sentence_is_set(&entry.stored.warning));
}

/* What is written to a file makes room, soon. */
static void a_flush_makes_room(void **state)
{
	unsigned serial = 2;
	char err[256];

	(void)state;
	while (usage().n_bytes <= usage().changes_max_bytes / 4 * 3)
		change_to(serial++, 3000);
	tick(S);
	assert_true(usage().n_bytes > usage().changes_max_bytes / 4 * 3);
	assert_int_equal(maintenance_write(maintenance, &entry, err, sizeof(err)), 0);
	wait_for_jobs();
	tick(11 * S);
	assert_int_equal(entry.stored.unwritten_bytes, 0);
	assert_true(usage().n_bytes < usage().changes_max_bytes / 4 * 3);
	assert_string_equal(sentence_text(&entry.stored.warning), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_load_leaves, begin, end),
		cmocka_unit_test_setup_teardown(a_zone_that_is_new, begin, end),
		cmocka_unit_test_setup_teardown(what_has_no_room_keeps_out_no_other, begin, end),
		cmocka_unit_test_setup_teardown(what_is_stored_is_read_by_one_walk, begin, end),
		cmocka_unit_test_setup_teardown(a_quiet_zone_is_not_visited, begin, end),
		cmocka_unit_test_setup_teardown(what_is_known_waits_for_room, begin, end),
		cmocka_unit_test_setup_teardown(a_file_is_tried_again, begin, end),
		cmocka_unit_test_setup_teardown(who_asks_for_a_file_is_told, begin, end),
		cmocka_unit_test_setup_teardown(heard_behind_a_file, begin, end),
		cmocka_unit_test_setup_teardown(beside_a_damaged_journal, begin, end),
		cmocka_unit_test_setup_teardown(whose_file_it_is, begin, end),
		cmocka_unit_test_setup_teardown(a_file_is_written_after_a_change, begin, end),
		cmocka_unit_test_setup_teardown(a_file_that_somebody_has_changed_is_left_alone,
						begin, end),
		cmocka_unit_test_setup_teardown(what_a_zone_leaves, begin, end),
		cmocka_unit_test_setup_teardown(gone_and_back, begin, end),
		cmocka_unit_test_setup_teardown(warned_of_a_file_that_is_never_written, begin, end),
		cmocka_unit_test_setup_teardown(written_before_its_time_where_room_is_short, begin,
						end),
		cmocka_unit_test_setup_teardown(what_files_have_goes, begin, end),
		cmocka_unit_test_setup_teardown(what_files_have_not_stays, begin, end),
		cmocka_unit_test_setup_teardown(a_flush_makes_room, begin, end),
	};
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	rcu_register_thread();
	rc = cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
	rcu_unregister_thread();
	return rc;
}
