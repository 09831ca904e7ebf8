/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones that come and go by command while a new configuration names them. */
#include <poll.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "cache/memory.h"
#include "engine/engine.h"
#include "tests/lib/must.h"
#include "tests/unit/base/capture.h"
#include "tests/unit/config/configtext.h"
#include "tests/unit/store/storing.h"
#include "zone/set.h"
#include "zonemgr/added.h"
#include "zonemgr/loader.h"
#include "zonemgr/zones_state.h"

#define WAIT_NS    (20 * CLOCK_NS_PER_S)
#define TURN_MS    2
#define TEMPLATE   "templates: [{name: default, file: '%s'}]\n"
#define ONE_ZONE   LISTEN TEMPLATE "zones: [{name: first, file: first}]\n"
#define BOTH_ZONES LISTEN TEMPLATE "zones: [{name: first, file: first}, {name: late, file: late}]\n"

static struct cache_memory memory;
static struct engine_data published;
static struct loader *loader;
static struct store *store;
static struct maintenance *maintenance;
static struct catalogs *catalogs;
static struct added *added;
static struct zones *zones;
static struct config *config; /* that of the zones */

static int no_readers(void *unused)
{
	(void)unused;
	return 0;
}

static void on_gone(void *unused, struct zones_entry *entry)
{
	(void)unused;
	added_gone(added, entry);
	maintenance_gone(maintenance, entry);
}

static void on_gone_together(void *unused)
{
	(void)unused;
	added_gone_together(added, maintenance_gone_together(maintenance));
}

/* The end of a change or of a reload. */
struct end {
	bool is_told;
	int code;
};

static void on_done(void *user, int code)
{
	*(struct end *)user = (struct end){ true, code };
}

static void on_changed(void *user, int code, const char *err)
{
	(void)err;
	on_done(user, code);
}

static void take_loads(void)
{
	struct pollfd ready = { .fd = loader_fd(loader), .events = POLLIN };
	struct clock_now now;

	(void)poll(&ready, 1, TURN_MS);
	clock_read(&now);
	zones_set_time(zones, &now);
	loader_poll(loader);
}

/* As control's loop. */
static void turn(void)
{
	take_loads();
	added_check(added);
	zones_poll(zones);
	added_check(added);
	if (zones_time(zones)->ns >= zones_flush_at(zones))
		zones_flush(zones);
	added_poll(added);
}

static int code_at(const struct end *end)
{
	const uint64_t end_ns = clock_ns() + WAIT_NS;

	while (!end->is_told && clock_ns() < end_ns)
		turn();
	assert_true(end->is_told);
	return end->code;
}

static void begin_configuration_of(const char *text, struct end *end)
{
	config_free(config);
	config = load_good(text);
	*end = (struct end){ 0 };
	assert_int_equal(zones_configure(zones, config, on_done, end), 0);
}

static int configure(const char *text)
{
	struct end end;

	begin_configuration_of(text, &end);
	return code_at(&end);
}

static void begin_add(struct end *end)
{
	const struct added_zone zone = { "late", "default", NULL };
	char err[512] = "";

	*end = (struct end){ 0 };
	assert_int_equal(added_add(added, &zone, on_changed, end, err, sizeof(err)), 0);
}

static void begin_remove(struct end *end)
{
	char err[512] = "";

	*end = (struct end){ 0 };
	assert_int_equal(added_remove(added, "late", on_changed, end, err, sizeof(err)), 0);
}

static void write_zone_file(const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tmpfolder, name);
	f = fopen(path, "w");
	MUST(f && fputs("$TTL 300\n@ SOA . . 1 2 3 4 60\n@ NS ns.test.\n", f) >= 0 && !fclose(f));
}

static void remove_zone_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", tmpfolder, name);
	MUST(!unlink(path));
}

/* What a daemon has from its start on, beside the store. */
static void begin_daemon(void)
{
	struct zones_env env = { .published = &published,
				 .grace = no_readers,
				 .gone = on_gone,
				 .gone_together = on_gone_together };
	struct cache_sizes sizes;
	bool adopted;

	MUST(!cache_sizes_plan(&sizes, CACHE_BYTES_MIN, 2));
	MUST(!cache_memory_anonymous(&memory, &sizes) && !cache_new(&env.cache, &memory, &adopted));
	MUST(!loader_new(&loader, 1));
	env.loader = loader;
	env.store = store;
	maintenance = maintenance_new(store, NULL);
	catalogs = catalogs_new(NULL, store);
	added = added_new(store, maintenance, catalogs);
	MUST(maintenance && catalogs && added && !zones_new(&zones, &env));
	maintenance_set_zones(maintenance, zones);
	catalogs_set_zones(catalogs, zones);
	added_set_zones(added, zones);
	catalogs_take_config(catalogs, load_good(ONE_ZONE)); /* for its templates */
}

static void end_daemon(void)
{
	struct cache *cache = zones->env.cache;

	loader_stop(loader);
	zones_cancel(zones);
	added_cancel(added);
	loader_poll(loader);
	zones_free(zones);
	added_free(added);
	catalogs_free(catalogs);
	maintenance_free(maintenance);
	loader_free(loader);
	cache_free(cache);
	cache_memory_release(&memory);
}

static int open_world(void **state)
{
	if (tmpfolder_make(state))
		return -1;
	store = storing_open(STORE_MAX_BYTES_MIN);
	begin_daemon();
	write_zone_file("first");
	return configure(ONE_ZONE);
}

static int close_world(void **state)
{
	end_daemon();
	store_close(store);
	config_free(config);
	return tmpfolder_remove_all(state);
}

static const struct zones_entry *late(void)
{
	return zones_find(zones, "late");
}

static void test_it_comes_and_goes(void **state)
{
	struct end end;

	(void)state;
	write_zone_file("late");
	begin_add(&end);
	assert_int_equal(code_at(&end), 0);
	assert_true(late()->is_member && zones_is_added(late()));
	begin_remove(&end);
	assert_int_equal(code_at(&end), 0);
	assert_null(late());
	assert_int_equal(zones_n(zones), 1);
	remove_zone_file("late");
}

/* Its load ends together with that of a zone that is published. */
static void test_it_fails_beside_a_publish(void **state)
{
	const uint64_t end_ns = clock_ns() + WAIT_NS;
	struct end add, reload = { 0 };

	(void)state;
	begin_add(&add);
	assert_int_equal(zones_reload(zones, "first", on_done, &reload), 0);
	while (late()->loading.load || zones_find(zones, "first")->loading.load) {
		assert_true(clock_ns() < end_ns);
		take_loads();
	}
	added_check(added);
	zones->all_took_ns = 0; /* on a slow machine a pause would follow the last publish of all */
	zones_poll(zones);
	assert_true(reload.is_told);
	assert_int_equal(zone_set_n(published.set), 1);
	assert_int_equal(code_at(&add), -ENOENT);
	assert_null(late());
}

/* A zone of the configuration stays, though its file cannot be loaded, and the same configuration
 * can begin once more. */
static void test_it_fails_when_the_configuration_names_it(void **state)
{
	struct end add, reload;

	(void)state;
	begin_add(&add);
	begin_configuration_of(BOTH_ZONES, &reload);
	assert_int_equal(code_at(&add), -ENOENT);
	assert_int_equal(code_at(&reload), -ENOENT);
	assert_int_equal(zones_n(zones), 2);
	assert_int_equal(late()->state, ZONES_FAILED);
	assert_false(late()->is_member || zones_is_added(late()));
	config->has_same_zones = true;
	reload = (struct end){ 0 };
	assert_int_equal(zones_configure(zones, config, on_done, &reload), 0);
	assert_int_equal(code_at(&reload), -ENOENT);
	assert_int_equal(configure(ONE_ZONE), 0);
	assert_null(late());
}

static void test_it_is_to_go_when_the_configuration_names_it(void **state)
{
	struct end removal, reload;

	(void)state;
	write_zone_file("late");
	begin_add(&removal);
	assert_int_equal(code_at(&removal), 0);
	begin_remove(&removal);
	begin_configuration_of(BOTH_ZONES, &reload);
	assert_int_equal(code_at(&removal), -EPERM);
	assert_int_equal(code_at(&reload), 0);
	assert_int_equal(late()->state, ZONES_SERVING);
	assert_false(late()->is_member);
	assert_int_equal(configure(ONE_ZONE), 0);
	assert_true(late()->is_member && zones_is_added(late()));
}

static void restart(struct end *start)
{
	assert_true(zones_is_added(late()));
	end_daemon();
	begin_daemon();
	assert_int_equal(added_recall(added), 0);
	begin_configuration_of(ONE_ZONE, start);
}

/* A stored zone is loaded first, and a command reloads it: it comes together with the others. */
static void test_a_start_publishes_all_at_once(void **state)
{
	const uint64_t end_ns = clock_ns() + WAIT_NS;
	struct end start, reload = { 0 };

	(void)state;
	restart(&start);
	zones->n_awaited++; /* the load of one more zone runs */
	assert_int_equal(zones_reload(zones, "late", on_done, &reload), 0);
	while (zones_has_loads(zones)) {
		assert_true(clock_ns() < end_ns);
		take_loads();
	}
	zones_poll(zones);
	assert_null(published.set);
	zones_flush(zones);
	assert_null(published.set);
	zones->n_awaited--;
	assert_int_equal(code_at(&start), 0);
	assert_int_equal(zone_set_n(published.set), 2);
	assert_int_equal(code_at(&reload), 0);
}

static void test_it_goes_during_a_start(void **state)
{
	struct end removal, start;

	(void)state;
	restart(&start);
	begin_remove(&removal);
	zones_flush(zones);
	assert_int_equal(code_at(&start), 0);
	assert_int_equal(code_at(&removal), 0);
	assert_int_equal(zones_n(zones), 1);
}

/* Zones of a template that is missing: lost0 and so on. */
static void store_lost_zones(unsigned int n)
{
	const struct store_zone note = { .group = "gone", .group_bytes = 4 };
	uint8_t apex[NAME_FOLDED_BYTES] = "\5lost";
	struct store_batch *batch;

	assert_int_equal(store_begin(store, &batch), 0);
	for (unsigned int i = 0; i < n; i++) {
		apex[5] = (uint8_t)('0' + i);
		assert_int_equal(store_put_zone(batch, apex, &note), 0);
	}
	assert_int_equal(store_commit(batch), 0);
}

static void test_zones_without_their_template_are_told(void **state)
{
	char err[512], log[4096];
	unsigned int n = 0;

	store_lost_zones(10);
	assert_int_equal(added_remove(added, "Lost7.", on_changed, NULL, err, sizeof(err)),
			 ERR_NOT_FOUND);
	assert_non_null(strstr(err, "its template gone is missing"));
	assert_int_equal(added_remove(added, "last", on_changed, NULL, err, sizeof(err)),
			 ERR_NOT_FOUND);
	assert_string_equal(err, "last: no such zone");
	assert_int_equal(capture(state), 0);
	assert_int_equal(added_recall(added), 0);
	assert_true(taken(log, sizeof(log)) > 0);
	assert_int_equal(release(state), 0);
	for (const char *at = log; (at = strstr(at, ": zone lost")); at++)
		n++;
	assert_int_equal(n, 8);
	assert_non_null(strstr(log, "zones: 2 more zones"));
	assert_non_null(strstr(added_problem(added), "gone is missing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_comes_and_goes),
		cmocka_unit_test(test_it_fails_beside_a_publish),
		cmocka_unit_test(test_it_fails_when_the_configuration_names_it),
		cmocka_unit_test(test_it_is_to_go_when_the_configuration_names_it),
		cmocka_unit_test(test_a_start_publishes_all_at_once),
		cmocka_unit_test(test_it_goes_during_a_start),
		cmocka_unit_test(test_zones_without_their_template_are_told),
	};
	int rc;

	rcu_register_thread();
	rc = cmocka_run_group_tests(tests, open_world, close_world);
	rcu_unregister_thread();
	return rc;
}
