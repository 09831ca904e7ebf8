/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Catalogs beside zones, a loader and a journal that are real: who comes, goes, and what is tried
 * again. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <urcu-qsbr.h>

#include "base/clock.h"
#include "cache/memory.h"
#include "zonemgr/catalogs.h"
#include "zonemgr/zonemgr.h"
#include "zonemgr/loader.h"
#include "engine/engine.h"
#include "tests/lib/madezones.h"
#include "tests/unit/config/configtext.h"
#include "tests/unit/store/storing.h"
#include "tests/unit/zone/zone_text.h"
#include "xfr/catalog.h"

#define WAIT_NS   (20 * CLOCK_NS_PER_S)
#define TURN_MS   2
#define CATALOG   "$TTL 0\n@ SOA . . %u 1 1 1 0\n@ NS invalid.\nversion TXT 2\n"
#define TEXT_MAX  2048
#define PATHS_MAX 16

static struct cache_memory memory;
static struct engine_data published;
static struct loader *loader;
static struct store *store;
static struct zones *zones;
static struct catalogs *catalogs;
static struct config *first; /* configuration */
static char paths[PATHS_MAX][128];
static unsigned n_paths, n_reset;
static unsigned n_configured; /* zones of catalogs that are consumed */
static unsigned n_members_told;
static int of_grace; /* what a grace period ends with */

/* --- The world -------------------------------------------------------------------------------- */

static int grace(void *unused)
{
	(void)unused;
	return of_grace;
}

static void served(void *unused, struct zones_entry *entry, const struct load *fresh)
{
	(void)unused, (void)fresh;
	catalogs_served(catalogs, entry);
}

static void configured(void *unused, struct zones_entry *entry)
{
	(void)unused;
	n_configured += entry->config->catalog == CONFIG_CATALOG_CONSUME;
	n_members_told += entry->is_member;
	catalogs_configured(catalogs, entry);
}

/* As zonemgr/maintenance.c: what the store knows of it goes with it. */
static void gone(void *unused, struct zones_entry *entry)
{
	struct store_batch *batch;

	(void)unused;
	catalogs_gone(catalogs, entry);
	MUST(!store_begin(store, &batch));
	MUST(!store_drop_zone(batch, entry->apex) && !store_commit(batch));
}

static void on_reset(void *unused, const struct zones_entry *entry)
{
	(void)unused, (void)entry;
	n_reset++;
}

static void write_file(const char *leaf, const char *content)
{
	char path[sizeof(paths[0])];
	unsigned i = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tmpfolder, leaf);
	f = fopen(path, "w");
	MUST(f && fputs(content, f) >= 0 && !fclose(f));
	while (i < n_paths && strcmp(paths[i], path) != 0)
		i++;
	if (i < n_paths)
		return;
	MUST(n_paths < PATHS_MAX);
	strcpy(paths[n_paths++], path);
}

/* A catalog in the file cat.zone, with these records. */
static void write_catalog(const char *leaf, unsigned serial, const char *records)
{
	char content[TEXT_MAX];

	snprintf(content, sizeof(content), CATALOG "%s", serial, records);
	write_file(leaf, content);
}

/* A configuration with these lists. Paths begin at the folder. */
static struct config *config_of(const char *lists)
{
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), LISTEN "  storage: store\n%s", lists);
	return load_good(text);
}

static void configure_done(void *user, int code)
{
	bool *is_done = user;

	(void)code;
	*is_done = true;
}

static struct clock_now now; /* of the zones: not the clock's, which is for RUN_UNTIL() */

static bool turn(void)
{
	struct pollfd ready = { .fd = loader_fd(loader), .events = POLLIN };

	(void)poll(&ready, 1, TURN_MS);
	now.ns += TURN_MS * CLOCK_NS_PER_MS;
	zones_set_time(zones, &now);
	loader_poll(loader);
	zones_poll(zones);
	if (now.ns >= zones_flush_at(zones))
		zones_flush(zones);
	catalogs_poll(catalogs);
	return true;
}

/* Until it is so; what is awaited is in a macro, so that the line that fails is the test's. */
#define RUN_UNTIL(condition)                              \
	do {                                              \
		uint64_t end_ns = clock_ns() + WAIT_NS;   \
		while (turn() && !(condition))            \
			assert_true(clock_ns() < end_ns); \
	} while (0)

static void configure(struct config *config)
{
	bool is_done = false;

	assert_int_equal(zones_configure(zones, config, configure_done, &is_done), 0);
	RUN_UNTIL(is_done);
}

static void open_world(struct config *config)
{
	struct zones_env env = { .published = &published,
				 .grace = grace,
				 .served = served,
				 .configured = configured,
				 .gone = gone };
	struct cache_sizes sizes;
	bool adopted;

	first = config;
	MUST(!cache_sizes_plan(&sizes, CACHE_BYTES_MIN, 1));
	MUST(!cache_memory_anonymous(&memory, &sizes) && !cache_new(&env.cache, &memory, &adopted));
	MUST(!loader_new(&loader, 1));
	env.loader = loader;
	env.store = store = storing_open(STORE_MAX_BYTES_MIN);
	MUST(!zones_new(&zones, &env));
	catalogs = catalogs_new(config, store);
	MUST(catalogs);
	catalogs_set_zones(catalogs, zones);
	catalogs_on_reset(catalogs, on_reset, NULL);
	n_reset = n_members_told = 0;
	configure(config);
}

/* As zonemgr/maintenance.c: the store knows whose each zone is. */
static void know_all(void)
{
	struct store_batch *batch;

	MUST(!store_begin(store, &batch));
	for (size_t i = 0; i < zones_n(zones); i++)
		MUST(!zones_known_put(batch, zones_at(zones, i)->apex,
				      &zones_at(zones, i)->stored.known));
	MUST(!store_commit(batch));
}

/* What the store knows stays. */
static void close_world(void)
{
	struct cache *cache = madezones_env(zones)->cache;

	loader_stop(loader);
	zones_cancel(zones);
	loader_poll(loader);
	zones_free(zones);
	catalogs_free(catalogs);
	store_close(store);
	loader_free(loader);
	cache_free(cache);
	cache_memory_release(&memory);
	config_free(first);
}

static void end(void)
{
	close_world();
	while (n_paths)
		unlink(paths[--n_paths]);
	unlink(file);
	storing_clear();
}

static void reload(const char *name)
{
	bool is_done = false;

	assert_int_equal(zones_reload(zones, name, configure_done, &is_done), 0);
	RUN_UNTIL(is_done);
	turn(); /* what follows from it has begun */
}

static void reconfigure(struct config *config)
{
	configure(config);
	catalogs_take_config(catalogs, config);
}

static struct zones_entry *find(const char *name)
{
	struct zones_entry *entry = zones_get(zones, name);

	return entry && zones_is_answered(entry) ? entry : NULL;
}

/* Comes with what it holds. */
static bool is_served(const char *name)
{
	const struct zones_entry *entry = find(name);

	return entry && entry->zone;
}

/* --- Produced --------------------------------------------------------------------------------- */

#define MADE "zones:\n  - {name: made.test, catalog: produce, file: made.zone}\n"
#define OURS "  - {name: a.test, file: zone, member-of: made.test}\n"
#define MORE "  - {name: b.test, file: zone, member-of: made.test, group: gold}\n"

static size_t n_members(void)
{
	const struct zones_entry *entry = find("made.test");
	struct catalog c = { 0 };
	char why[256];
	size_t n;

	if (!entry || !entry->zone)
		return 0;
	MUST(!catalog_read(&c, entry->zone, why, sizeof(why)));
	n = c.n;
	catalog_fini(&c);
	return n;
}

/* No file of this process may grow, or be written to. */
static void limit_files(bool is_limited)
{
	struct rlimit limit;

	MUST(!getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = is_limited ? 0 : limit.rlim_max;
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
}

static void what_the_journal_refuses_is_tried_again(void **state)
{
	struct config *config;

	(void)state;
	write_file("zone", ZONE_HEAD);
	write_file("made.zone", "");
	unlink(paths[n_paths - 1]);
	open_world(config_of(MADE OURS));
	RUN_UNTIL(n_members() == 1);
	config = config_of(MADE OURS MORE);
	limit_files(true);
	reconfigure(config);
	RUN_UNTIL(sentence_is_set(&find("made.test")->stored.error));
	RUN_UNTIL(zones_flush_at(zones) == UINT64_MAX); /* nothing more is tried by itself */
	assert_int_equal(n_members(), 1);
	catalogs_tick(catalogs);
	RUN_UNTIL(zones_flush_at(zones) != UINT64_MAX);
	RUN_UNTIL(zones_flush_at(zones) == UINT64_MAX);
	assert_int_equal(n_members(), 1);
	limit_files(false);
	catalogs_tick(catalogs);
	RUN_UNTIL(n_members() == 2);
	assert_false(sentence_is_set(&find("made.test")->stored.error));
	catalogs_tick(catalogs);
	turn();
	assert_true(zones_flush_at(zones) == UINT64_MAX);
	end();
}

/* --- Consumed --------------------------------------------------------------------------------- */

#define PLAIN_AND_GOLD                                                                                         \
	"templates:\n  - {name: plain, file: \"%s.zone\"}\n  - {name: gold, file: \"%s.zone\", ixfr: false}\n" \
	"zones:\n  - {name: cat.test, file: cat.zone, catalog: consume, groups: "                              \
	"[{group: plain, template: plain}, {group: gold, template: gold}]}\n"
#define ALSO(name) \
	"  - {name: " name ", file: " name ", catalog: consume, groups: [{template: gold}]}\n"

#define GOLD_ONLY                                                                                \
	"templates: [{name: gold, file: \"%s.zone\"}]\n"                                         \
	"zones:\n  - {name: cat.test, file: cat.zone, catalog: consume, groups: [{group: gold, " \
	"template: gold}]}\n"

#define PTR(label, name)   label ".zones PTR " name ".\n"
#define GROUP(label, name) "group." label ".zones TXT " name "\n"
#define COO(label, name)   "coo." label ".zones PTR " name ".\n"

static void begin_consuming(const char *lists, const char *records)
{
	write_file("a.test.zone", ZONE_HEAD);
	write_file("b.test.zone", ZONE_HEAD);
	write_catalog("cat.zone", 1, records);
	open_world(config_of(lists));
}

static void say(const char *leaf, unsigned serial, const char *records)
{
	write_catalog(leaf, serial, records);
	reload(strcmp(leaf, "cat.zone") ? leaf : "cat.test");
}

static const char *template_of(const char *name)
{
	const struct zones_entry *entry = find(name);

	return entry ? entry->config->template_name : "none";
}

/* A group that no template is for, and then one that has one. */
static void a_member_gets_a_group_with_a_template(void **state)
{
	(void)state;
	begin_consuming(PLAIN_AND_GOLD, PTR("a", "a.test") GROUP("a", "plain") PTR("b", "b.test"));
	RUN_UNTIL(is_served("a.test"));
	assert_null(zones_get(zones, "b.test"));
	say("cat.zone", 2,
	    PTR("a", "a.test") GROUP("a", "gold") PTR("b", "b.test") GROUP("b", "gold"));
	RUN_UNTIL(is_served("b.test"));
	assert_string_equal(template_of("a.test"), "gold");
	say("cat.zone", 3, PTR("b", "b.test"));
	RUN_UNTIL(!zones_get(zones, "a.test"));
	assert_string_equal(template_of("b.test"),
			    "gold"); /* what it had, where there is no other */
	end();
}

/* Of each once, and again only if its settings are others, or if it has no template any more. */
static void a_reload_tells_of_changed_members(void **state)
{
	(void)state;
	begin_consuming(PLAIN_AND_GOLD, PTR("a", "a.test") GROUP("a", "plain") PTR("b", "b.test")
						GROUP("b", "gold"));
	RUN_UNTIL(is_served("a.test") && is_served("b.test"));
	assert_int_equal(n_members_told, 2);
	reconfigure(config_of(PLAIN_AND_GOLD));
	turn();
	assert_int_equal(n_members_told, 2);
	reconfigure(config_of(GOLD_ONLY));
	turn();
	assert_int_equal(n_members_told, 3);
	assert_string_equal(template_of("a.test"), "plain");
	end();
}

/* The same with another label: what comes is new, and not to be reset. */
static void a_member_comes_by_another_label(void **state)
{
	(void)state;
	begin_consuming(PLAIN_AND_GOLD, PTR("a", "a.test"));
	say("cat.zone", 2, PTR("z", "a.test") GROUP("z", "gold"));
	RUN_UNTIL(is_served("a.test"));
	assert_int_equal(n_reset, 0);
	say("cat.zone", 3, PTR("a", "a.test") GROUP("a", "gold"));
	assert_int_equal(n_reset, 1);
	end();
}

static void moved_recalled_and_dropped(void **state)
{
	(void)state;
	write_catalog("to.test", 1, "");
	begin_consuming(PLAIN_AND_GOLD ALSO("to.test"), PTR("a", "a.test") GROUP("a", "plain"));
	RUN_UNTIL(is_served("a.test"));
	say("to.test", 2, PTR("other", "a.test"));
	assert_string_equal(template_of("a.test"), "plain");
	say("cat.zone", 2, PTR("a", "a.test") GROUP("a", "plain") COO("a", "to.test"));
	assert_string_equal(template_of("a.test"), "gold");
	assert_int_equal(n_reset, 1);
	say("cat.zone", 3, "");
	assert_true(is_served("a.test"));
	know_all();
	close_world();
	write_catalog("cat.zone", 4, "version TXT 3\n"); /* broken, and with it nothing is lost */
	write_catalog("to.test", 3, "version TXT 3\n");
	open_world(config_of(PLAIN_AND_GOLD ALSO("to.test")));
	RUN_UNTIL(is_served("a.test"));
	reconfigure(config_of(PLAIN_AND_GOLD));
	RUN_UNTIL(!zones_get(zones, "a.test"));
	end();
}

static int add_address(void *user, struct zone_edit *edit, struct zone_error *why)
{
	static const uint8_t address[4] = { 192, 0, 2, 9 };
	int err = zone_edit_add(edit, storing_name("new.a.test"), DNS_TYPE_A, 300, address, 4);

	(void)user, (void)why;
	return err ? err : edit_raise_serial(edit);
}

static void told(void *user, int code)
{
	*(int *)user = code;
}

/* A change that waits for its flush, of a member that goes with that. */
static void changed_when_it_goes(void **state)
{
	struct zone_error why;
	int code = 1;

	(void)state;
	begin_consuming(PLAIN_AND_GOLD, PTR("a", "a.test") GROUP("a", "plain"));
	RUN_UNTIL(is_served("a.test"));
	RUN_UNTIL(zones_flush_at(zones) == UINT64_MAX);
	assert_int_equal(zones_change(zones, find("a.test"), add_address, NULL, told, &code, &why),
			 0);
	zones_remove_member(zones, find("a.test"));
	RUN_UNTIL(code != 1);
	assert_int_equal(code, ERR_NOT_FOUND);
	RUN_UNTIL(is_served("a.test")); /* its catalog has it still */
	end();
}

/* What was served before a grace period without an end is leaked: somebody may still read it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:zone_set_new\nleak:zone_set_put\nleak:read_loader_file";
}

/* Nobody knows who still reads: what has gone is freed, and what comes goes on, when one has
 * ended. */
static void without_an_end_of_grace(void **state)
{
	(void)state;
	begin_consuming(PLAIN_AND_GOLD, PTR("a", "a.test") GROUP("a", "plain"));
	RUN_UNTIL(is_served("a.test"));
	of_grace = -EIO;
	say("cat.zone", 2, "");
	RUN_UNTIL(!find("a.test") && zones_flush_at(zones) > now.ns + CLOCK_NS_PER_S / 2);
	assert_non_null(zones_get(zones, "a.test"));
	of_grace = 0;
	RUN_UNTIL(!zones_get(zones, "a.test"));

	of_grace = -EIO;
	n_configured = 0;
	write_catalog("to.test", 1, "");
	reconfigure(config_of(PLAIN_AND_GOLD ALSO("to.test")));
	assert_int_equal(n_configured, 0);
	of_grace = 0;
	RUN_UNTIL(n_configured == 2);
	RUN_UNTIL(zones_flush_at(zones) == UINT64_MAX);
	end();
}

/* A zone that has gone is in the table until a publish succeeds. */
static void named_again_while_no_publish_succeeds(void **state)
{
	const struct zones_entry *entry;
	struct config *config;
	bool is_done = false;

	(void)state;
	begin_consuming(PLAIN_AND_GOLD, PTR("a", "a.test") GROUP("a", "plain"));
	RUN_UNTIL(is_served("a.test"));
	entry = find("a.test");
	of_grace = -EIO;
	say("cat.zone", 2, "");
	RUN_UNTIL(entry->life == ZONES_GONE); /* by its catalog */
	reconfigure(config_of(PLAIN_AND_GOLD "  - {name: a.test, file: a.test.zone}\n"));
	assert_int_equal(entry->life, ZONES_LISTED);
	assert_false(entry->is_member);
	reconfigure(config_of(PLAIN_AND_GOLD));
	assert_int_equal(entry->life, ZONES_GONE); /* by the configuration */
	config = config_of(PLAIN_AND_GOLD);
	assert_int_equal(zones_configure(zones, config, configure_done, &is_done), 0);
	assert_int_equal(entry->life, ZONES_GONE); /* and not LEAVING, which is answered for */
	RUN_UNTIL(is_done);
	catalogs_take_config(catalogs, config);
	reconfigure(config_of(PLAIN_AND_GOLD "  - {name: a.test, file: a.test.zone}\n"));
	of_grace = 0;
	RUN_UNTIL(zones_flush_at(zones) == UINT64_MAX);
	assert_ptr_equal(find("a.test"), entry);
	assert_true(is_served("a.test"));
	reconfigure(config_of(PLAIN_AND_GOLD));
	assert_null(zones_get(zones, "a.test"));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_journal_refuses_is_tried_again),
		cmocka_unit_test(a_member_gets_a_group_with_a_template),
		cmocka_unit_test(a_reload_tells_of_changed_members),
		cmocka_unit_test(a_member_comes_by_another_label),
		cmocka_unit_test(moved_recalled_and_dropped),
		cmocka_unit_test(changed_when_it_goes),
		cmocka_unit_test(without_an_end_of_grace),
		cmocka_unit_test(named_again_while_no_publish_succeeds),
	};
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	rcu_register_thread();
	rc = cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
	rcu_unregister_thread();
	return rc;
}
