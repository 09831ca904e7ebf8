/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reload of many zones costs those that have changed: which files are read, which settings are
 * told, and whether all zones are published. */
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "cache/memory.h"
#include "zonemgr/file_checks.h"
#include "zonemgr/loader.h"
#include "zonemgr/zonemgr.h"
#include "transfer/transfer.h"
#include "zone/image.h"
#include "zonemgr/zones_state.h"
#include "engine/engine.h"
#include "tests/lib/madezones.h"
#include "tests/lib/must.h"
#include "tests/unit/config/configtext.h"
#include "tests/unit/zone/zone_text.h"

#define WAIT_NS  (20 * CLOCK_NS_PER_S)
#define TURN_MS  2
#define N_ZONES  (2 * FILE_CHECKS_MAX + 100) /* three loads look at their files */
#define PATH_CAP 128
#define IDLE_MAX 1100 /* octets of an idle zone beside its content */

static struct cache_memory memory;
static struct engine_data published;
static struct loader *loader;
static struct zones *zones;
static unsigned n_served, n_told;
static size_t heap_before; /* the start */
static int code_of_reload;
static struct config *config;

static int no_readers(void *unused)
{
	(void)unused;
	return 0;
}

/* As zonemgr/maintenance.c, but the file counts as old. */
static void served(void *unused, struct zones_entry *entry, const struct load *fresh)
{
	struct zonefile_mark mark;

	(void)unused;
	n_served++;
	if (!fresh)
		return;
	mark = fresh->file_mark;
	mark.is_settled = true;
	zones_know_file(entry, &mark);
}

static void configured(void *unused, struct zones_entry *entry)
{
	(void)unused, (void)entry;
	n_told++;
}

static void path_of(char path[PATH_CAP], unsigned i)
{
	snprintf(path, PATH_CAP, "%s/z%u", tmpfolder, i);
}

static void write_zone(unsigned i, unsigned serial)
{
	char path[PATH_CAP];
	FILE *f;

	path_of(path, i);
	f = fopen(path, "w");
	MUST(f && fprintf(f, "$TTL 300\n@ SOA . . %u 2 3 4 60\n@ NS ns.test.\n", serial) > 0 &&
	     !fclose(f));
}

static void on_done(void *user, int code)
{
	bool *is_done = user;

	code_of_reload = code;
	*is_done = true;
}

static void run_until(const bool *is_done)
{
	const uint64_t end_ns = clock_ns() + WAIT_NS;

	while (!*is_done && clock_ns() < end_ns) {
		struct pollfd ready = { .fd = loader_fd(loader), .events = POLLIN };

		(void)poll(&ready, 1, TURN_MS);
		loader_poll(loader);
		zones_poll(zones);
	}
	assert_true(*is_done);
}

/* The zones 0 to n - 1, the first one with more settings. */
static void put_text(unsigned n, const char *more)
{
	FILE *out = fopen(file, "w");

	MUST(out && fprintf(out, LISTEN "zones:\n  - name: z0\n    file: z0\n%s", more) > 0);
	for (unsigned i = 1; i < n; i++)
		MUST(fprintf(out, "  - name: z%u\n    file: z%u\n", i, i) > 0);
	MUST(!fclose(out));
}

static struct config *load_file(void)
{
	struct config *loaded;
	char err[512];

	if (config_load(&loaded, file, err, sizeof(err)))
		fail_msg("%s", err);
	return loaded;
}

static void configure(unsigned n, const char *more)
{
	bool is_done = false;

	put_text(n, more);
	config_free(config);
	config = load_file();
	n_served = n_told = 0;
	assert_int_equal(zones_configure(zones, config, on_done, &is_done), 0);
	run_until(&is_done);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
size_t __sanitizer_get_current_allocated_bytes(void); /* of libasan and libtsan */
#endif

/* The octets that the program has from malloc(). */
static size_t heap_bytes(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return __sanitizer_get_current_allocated_bytes();
#else
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#endif
}

static int open_world(void **state)
{
	struct zones_env env = { .published = &published,
				 .grace = no_readers,
				 .served = served,
				 .configured = configured };
	struct cache_sizes sizes;
	bool adopted;

	if (tmpfolder_make(state))
		return -1;
	MUST(!cache_sizes_plan(&sizes, CACHE_BYTES_MIN, N_ZONES));
	MUST(!cache_memory_anonymous(&memory, &sizes) && !cache_new(&env.cache, &memory, &adopted));
	MUST(!loader_new(&loader, 2));
	env.loader = loader;
	MUST(!zones_new(&zones, &env));
	for (unsigned i = 0; i <= N_ZONES; i++)
		write_zone(i, 1);
	put_text(1, "");
	config_free(load_file()); /* the first digest makes tables in libcrypto */
	heap_before = heap_bytes();
	configure(N_ZONES, "");
	return n_served == N_ZONES && n_told == N_ZONES ? 0 : -1;
}

static int close_world(void **state)
{
	struct cache *cache = madezones_env(zones)->cache;
	char path[PATH_CAP];

	loader_stop(loader);
	zones_cancel(zones);
	loader_poll(loader);
	zones_free(zones);
	loader_free(loader);
	cache_free(cache);
	cache_memory_release(&memory);
	config_free(config);
	for (unsigned i = 0; i <= N_ZONES; i++) {
		path_of(path, i);
		unlink(path);
	}
	unlink(file);
	return tmpfolder_remove(state);
}

static uint32_t serial_of(const char *name)
{
	return zone_serial(zones_find(zones, name)->zone);
}

/* The loader's threads free loads some time after they have ended. */
static size_t zone_bytes_at_rest(size_t most)
{
	const uint64_t end_ns = clock_ns() + WAIT_NS;
	size_t bytes;

	do {
		bytes = (heap_bytes() - heap_before) / N_ZONES;
		sched_yield();
	} while (bytes > most && clock_ns() < end_ns);
	return bytes;
}

/* With its share of the configuration's text. */
static void test_an_idle_zone_costs_its_content(void **state)
{
	const struct zones_entry *entry = zones_find(zones, "z500");
	const size_t content = image_bytes(entry->zone);
	const size_t told = zones_memory_bytes(entry) - transfer_zone_bytes(entry->apex_len, false);
	const size_t zone_bytes = zone_bytes_at_rest(content + IDLE_MAX);

	(void)state;
	print_message("  %zu octets, %zu of them content; %zu are told\n", zone_bytes, content,
		      told);
	assert_in_range(zone_bytes, content, content + IDLE_MAX);
	assert_in_range(told, zone_bytes * 8 / 10, zone_bytes * 12 / 10);
}

/* What a reload is to cost, and whether all zones are published: then the set is another. */
#define assert_cost(served_zones, told_zones, is_all)              \
	do {                                                       \
		assert_int_equal(n_served, served_zones);          \
		assert_int_equal(n_told, told_zones);              \
		assert_int_equal(published.set != before, is_all); \
		before = published.set;                            \
	} while (0)

static unsigned count_loads(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < zones_n(zones); i++)
		n += zones_at(zones, i)->loading.n_ended;
	return n;
}

static void test_what_has_not_changed_costs_nothing(void **state)
{
	const struct zone_set *before = published.set;
	const unsigned n_loads = count_loads();

	(void)state;
	configure(N_ZONES, "");
	assert_int_equal(code_of_reload, 0);
	assert_cost(0, 0, false);
	assert_int_equal(count_loads(), n_loads);
}

static void test_each_changed_file_is_read(void **state)
{
	const struct zone_set *before = published.set;
	/* the first and the last of the loads that look at files, and of the zones */
	const unsigned changed[] = { 0, FILE_CHECKS_MAX - 1, FILE_CHECKS_MAX, N_ZONES - 1 };
	char name[16];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		write_zone(changed[i], 7);
	configure(N_ZONES, "");
	assert_cost(4, 0, false);
	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "z%u", changed[i]);
		assert_int_equal(serial_of(name), 7);
	}
	assert_int_equal(serial_of("z1"), 1);
}

static void test_a_missing_file_is_reported(void **state)
{
	const struct zone_set *before = published.set;
	char path[PATH_CAP];

	(void)state;
	path_of(path, 3);
	MUST(!unlink(path));
	configure(N_ZONES, "");
	assert_int_equal(code_of_reload, -ENOENT);
	assert_int_equal(zones_find(zones, "z3")->state, ZONES_STALE);
	assert_cost(0, 0, false);
	write_zone(3, 2);
	configure(N_ZONES, "");
	assert_int_equal(code_of_reload, 0);
	assert_int_equal(zones_find(zones, "z3")->state, ZONES_SERVING);
	assert_cost(1, 0, false);
}

/* Settings on which no answer depends, and such on which all do. */
static void test_settings_of_one_zone(void **state)
{
	const struct zone_set *before = published.set;

	(void)state;
	configure(N_ZONES, "    allow-transfer: [any]\n");
	assert_cost(0, 1, false);
	configure(N_ZONES, "    allow-transfer: [any]\n    driver-denials: off\n");
	assert_cost(0, 1, true);
	configure(N_ZONES, "    allow-transfer: [any]\n    driver-denials: off\n");
	assert_cost(0, 0, false);
	configure(N_ZONES, "");
	assert_cost(0, 1, true);
}

static void test_one_zone_more_and_less(void **state)
{
	const struct zone_set *before = published.set;

	(void)state;
	configure(N_ZONES + 1, "");
	assert_cost(1, 1, true);
	configure(N_ZONES, "");
	assert_cost(0, 0, true);
	assert_int_equal(zones_n(zones), N_ZONES);
}

static uint32_t rolled = 1;

static uint32_t roll(uint32_t n)
{
	rolled = rolled * 1664525u + 1013904223u;
	return (rolled >> 8) % n;
}

#define N_MIXED 200u

/* A part of the zones, most of them in order, some elsewhere. */
static void put_mixed_text(bool is_listed[N_MIXED])
{
	unsigned order[N_MIXED];
	FILE *out = fopen(file, "w");

	for (unsigned i = 0; i < N_MIXED; i++)
		order[i] = i;
	for (uint32_t n = roll(3) ? roll(4) : N_MIXED; n; n--) {
		const uint32_t a = roll(N_MIXED), b = roll(N_MIXED);
		const unsigned moved = order[a];

		order[a] = order[b];
		order[b] = moved;
	}
	MUST(out && fputs(LISTEN "zones:\n", out) >= 0);
	for (unsigned i = 0, gap = 0; i < N_MIXED; i++) {
		gap = gap ? gap - 1 : roll(10) ? 0 : roll(40);
		is_listed[order[i]] = !gap;
		if (!gap)
			MUST(fprintf(out, "  - name: z%u\n    file: z%u\n", order[i], order[i]) >
			     0);
	}
	MUST(!fclose(out));
}

static bool is_in_order(void *user, const struct zones_entry *entry)
{
	const struct zones_entry **before = user;

	assert_true(!*before || zones_compare(before, &entry) < 0);
	*before = entry;
	return true;
}

/* Zones come and go in each place, and change places: each is found, in the canonical order. */
static void test_zones_come_and_go_in_each_place(void **state)
{
	bool is_listed[N_MIXED];

	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		const struct zones_entry *last = NULL;
		bool is_done = false;
		unsigned n = 0;
		char name[16];

		put_mixed_text(is_listed);
		config_free(config);
		config = load_file();
		assert_int_equal(zones_configure(zones, config, on_done, &is_done), 0);
		run_until(&is_done);
		for (unsigned i = 0; i < N_MIXED; i++) {
			snprintf(name, sizeof(name), "z%u", i);
			assert_int_equal(zones_find(zones, name) != NULL, is_listed[i]);
			n += is_listed[i];
		}
		assert_int_equal(zones_n(zones), n);
		zones_walk(zones, NULL, true, is_in_order, &last);
	}
	configure(N_ZONES, "");
	assert_int_equal(zones_n(zones), N_ZONES);
}

static void test_a_reload_of_one_zone(void **state)
{
	const struct zone_set *before = published.set;
	bool is_done = false;

	(void)state;
	n_served = n_told = 0;
	write_zone(5, 9);
	assert_int_equal(zones_reload(zones, "z5", on_done, &is_done), 0);
	run_until(&is_done);
	assert_cost(1, 0, false);
	assert_int_equal(serial_of("z5"), 9);
}

/* Both waits end, and the zone is read once more if its load began before the second request. */
static void test_a_zone_that_is_loaded_already(void **state)
{
	const struct zone_set *before = published.set;
	bool is_done = false;

	(void)state;
	write_zone(6, 9);
	assert_int_equal(zones_reload(zones, "z6", on_done, &is_done), 0);
	configure(N_ZONES, "");
	run_until(&is_done);
	assert_int_equal(serial_of("z6"), 9);
	assert_ptr_equal(published.set, before);
}

/* The same text: the zones keep their settings without being compared. */
static void test_the_same_configuration(void **state)
{
	const struct zone_set *before = published.set;
	bool is_done = false;
	struct config *again;
	char err[512];

	(void)state;
	assert_int_equal(config_load_again(&again, file, config, err, sizeof(err)), 0);
	assert_true(again->has_same_zones && zones_have_configuration(zones));
	config_free(config);
	config = again;
	write_zone(4, 3);
	n_served = n_told = 0;
	assert_int_equal(zones_configure(zones, config, on_done, &is_done), 0);
	run_until(&is_done);
	assert_cost(1, 0, false);
	assert_int_equal(serial_of("z4"), 3);
	assert_int_equal(zones_n(zones), N_ZONES);
}

/* While a configuration with a zone more is loaded, it is loaded once more, as it is. */
static void test_the_same_while_it_is_loaded(void **state)
{
	bool is_done = false, are_done[2] = { false };
	struct config *again;
	char err[512];

	(void)state;
	put_text(N_ZONES + 1, "");
	config_free(config);
	config = load_file();
	assert_int_equal(zones_configure(zones, config, on_done, &is_done), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(config_load_again(&again, file, config, err, sizeof(err)), 0);
		assert_true(again->has_same_zones);
		assert_int_equal(zones_configure(zones, again, on_done, &are_done[i]), 0);
		config_free(again);
	}
	write_zone(7, 5);
	run_until(&is_done);
	run_until(&are_done[0]);
	run_until(&are_done[1]);
	assert_int_equal(zones_n(zones), N_ZONES + 1);
	assert_int_equal(serial_of("z7"), 5);
	configure(N_ZONES, "");
	assert_int_equal(zones_n(zones), N_ZONES);
}

/* The loader stops in the middle of the walk: no load begins any more. */
static void test_a_stop_during_a_reload(void **state)
{
	bool is_done = false;

	(void)state;
	config_free(config);
	config = load_good(LISTEN "zones: [{name: z0, file: z0}, {name: z1, file: z1}]\n");
	write_zone(0, 11);
	assert_int_equal(zones_configure(zones, config, on_done, &is_done), 0);
	loader_stop(loader);
	zones_cancel(zones);
	loader_poll(loader);
	assert_int_equal(code_of_reload, -ECANCELED);
	assert_null(zones_find(zones, "z0")->loading.load);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_idle_zone_costs_its_content),
		cmocka_unit_test(test_what_has_not_changed_costs_nothing),
		cmocka_unit_test(test_each_changed_file_is_read),
		cmocka_unit_test(test_a_missing_file_is_reported),
		cmocka_unit_test(test_settings_of_one_zone),
		cmocka_unit_test(test_one_zone_more_and_less),
		cmocka_unit_test(test_zones_come_and_go_in_each_place),
		cmocka_unit_test(test_a_reload_of_one_zone),
		cmocka_unit_test(test_a_zone_that_is_loaded_already),
		cmocka_unit_test(test_the_same_configuration),
		cmocka_unit_test(test_the_same_while_it_is_loaded),
		cmocka_unit_test(test_a_stop_during_a_reload),
	};

	int rc;

	rcu_register_thread();
	rc = cmocka_run_group_tests(tests, open_world, close_world);
	rcu_unregister_thread();
	return rc;
}
