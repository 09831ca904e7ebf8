/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists and local data: read, put in place, and what the cache has for their names withdrawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <sys/stat.h>

#include "recursion/rpz_manager.h"
#include "rpz/rpz.h"
#include "tests/unit/engine/world.h"
#include "zonemgr/loader.h"

#define HEAD   "@ 300 SOA localhost. root. 1 3600 600 86400 30\n@ NS localhost.\n"
#define WAIT_S 20

static struct world world;
static struct loader *loader;
static struct background *background;
static struct rpz_manager *rpz;
static struct cache_writer *writer;
static char folder[] = "/tmp/volley-test-policies-XXXXXX";
static char path[64], second_path[64];
static bool is_over;
static int over_code;
static uint32_t upstream_slot;
static uint32_t upstream_gen;

static int no_readers(void *user)
{
	(void)user;
	return 0;
}

static struct config_rpz lists[] = {
	{ .name = (char[]){ "list.rpz." }, .file = path },
	{ .name = (char[]){ "second.rpz." }, .file = second_path },
};
static struct config_recursion config = { .rpz = lists };

static const struct config_recursion *config_of(void *user)
{
	(void)user;
	return &config;
}

static int setup(void **state)
{
	static const uint64_t digest[2] = { 1, 2 };
	struct rpz_manager_env env = { .config = config_of,
				       .published = &world.zones,
				       .grace = no_readers };

	world_begin(&world, state);
	world_add_cache(&world);
	MUST(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/list", folder);
	snprintf(second_path, sizeof(second_path), "%s/second", folder);
	MUST(!loader_new(&loader, 1) && !background_new(&background));
	MUST(!cache_writer_new(&writer, world.cache));
	cache_zone_prepare(world.cache, (const uint8_t *)"\377up", 3, digest, &upstream_slot,
			   &upstream_gen);
	cache_zone_commit(world.cache, upstream_slot, upstream_gen, digest);
	env.cache = world.cache;
	env.loader = loader;
	env.background = background;
	return rpz_manager_new(&rpz, &env);
}

static int teardown(void **state)
{
	rpz_manager_cancel(rpz); /* lists may still be read */
	background_free(background);
	loader_stop(loader);
	loader_poll(loader);
	rpz_manager_free(rpz);
	loader_free(loader);
	cache_writer_free(writer);
	unlink(path);
	unlink(second_path);
	rmdir(folder);
	return world_end(state);
}

/* In the place of the one that is there: what is being read stays as it is. */
static void write_file(const char *to, const char *rules)
{
	char new[sizeof(path) + 4];
	FILE *f;

	snprintf(new, sizeof(new), "%s.new", to);
	f = fopen(new, "w");
	MUST(f && fprintf(f, HEAD "%s", rules) > 0 && !fclose(f));
	MUST(!rename(new, to));
}

static void write_list(const char *rules)
{
	write_file(path, rules);
}

static void over(void *user, int code)
{
	(void)user;
	is_over = true;
	over_code = code;
}

static void poll_all(void)
{
	struct pollfd fds[] = { { loader_fd(loader), POLLIN, 0 },
				{ background_fd(background), POLLIN, 0 } };

	rcu_thread_offline();
	poll(fds, 2, 100);
	loader_poll(loader);
	background_poll(background);
	rcu_thread_online();
}

/* The code with which it ends. */
static int configure(char **local, unsigned int n_lists)
{
	is_over = false;
	config.local_data = local;
	config.n_rpz = n_lists;
	assert_int_equal(rpz_manager_reload(rpz, over, NULL), 0);
	for (int i = 0; !is_over && i < WAIT_S * 10; i++)
		poll_all();
	assert_true(is_over);
	return over_code;
}

static struct cache_key key_of(const char *text, uint8_t view)
{
	uint8_t name[DNS_NAME_MAX], folded[NAME_FOLDED_BYTES];
	int len = name_from_text(name, sizeof(name), text, strlen(text));
	struct cache_key key;

	MUST(len > 0);
	name_fold(folded, name, (size_t)len);
	cache_key_init(&key, world.cache, folded, (uint32_t)len, DNS_TYPE_A, DNS_CLASS_IN, 0, view);
	return key;
}

static void put(const char *name, uint8_t view)
{
	static const uint8_t body[16] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 9 };
	const struct cache_answer answer = { .body = body,
					     .full_bytes = sizeof(body),
					     .short_bytes = sizeof(body),
					     .ancount = 1,
					     .flags = DNS_FLAG_QR,
					     .zone_slot = upstream_slot,
					     .zone_gen = upstream_gen,
					     .expires_s = VOLLEY_NEVER };
	struct cache_key key = key_of(name, view);

	MUST(!cache_publish(writer, &key, &answer, WORLD_NOW_S));
}

static bool is_cached(const char *name, uint8_t view)
{
	struct cache_key key = key_of(name, view);
	const struct volley_entry *e;

	return cache_lookup(world.cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT;
}

static bool names(const char *text)
{
	struct cache_key key = key_of(text, 0);
	const struct volley_key *k = (const struct volley_key *)key.words;

	const struct rpz_question q = { (const uint8_t *)&key.words[1], k->name_bytes, DNS_TYPE_A };
	const struct rpz_client nobody = { 0 };
	struct rpz_hit hit;

	return world.zones.rpz && rpz_find(world.zones.rpz, &nobody, &q, &hit) && rpz_changes(&hit);
}

static void test_nothing_is_nothing(void **state)
{
	(void)state;
	assert_int_equal(configure(NULL, false), 0);
	assert_null(world.zones.rpz);
	assert_int_equal(rpz_manager_n(rpz), 0);
}

static void test_names_leave_the_cache(void **state)
{
	(void)state;
	put("blocked.example", VOLLEY_VIEW_RECURSIVE);
	put("x.blocked.example", VOLLEY_VIEW_RECURSIVE);
	put("router.lan", VOLLEY_VIEW_RECURSIVE);
	put("fine.example", VOLLEY_VIEW_RECURSIVE);
	put("blocked.example", VOLLEY_VIEW_PUBLIC);
	write_list("blocked.example CNAME .\n*.blocked.example CNAME .\n"
		   "elsewhere.example CNAME rpz-other.\n");
	assert_int_equal(configure((char *[]){ (char[]){ "router.lan. A 192.0.2.1" }, NULL }, true),
			 0);
	assert_int_equal(rpz_manager_n(rpz), 2);
	assert_string_equal(rpz_manager_at(rpz, 0)->name, RPZ_MANAGER_LOCAL);
	assert_int_equal(rpz_manager_at(rpz, 1)->n_ignored, 1);
	assert_int_equal(rpz_manager_at(rpz, 1)->n_rules, 2);
	assert_true(names("blocked.example") && names("router.lan") && !names("fine.example"));
	assert_false(is_cached("blocked.example", VOLLEY_VIEW_RECURSIVE));
	assert_false(is_cached("x.blocked.example", VOLLEY_VIEW_RECURSIVE));
	assert_false(is_cached("router.lan", VOLLEY_VIEW_RECURSIVE));
	assert_true(is_cached("fine.example", VOLLEY_VIEW_RECURSIVE));
	assert_true(is_cached("blocked.example", VOLLEY_VIEW_PUBLIC)); /* a zone's */
}

/* Of what is dead by its generation nothing has to be looked for. */
static void test_generation(void **state)
{
	const struct volley_zone *zones;
	uint32_t slot, first;

	(void)state;
	slot = rpz_manager_slot(rpz);
	assert_int_not_equal(slot, 0);
	zones = world.memory.zones;
	first = zones[slot].gen;
	assert_int_not_equal(first, 0);
	configure((char *[]){ (char[]){ "router.lan. A 192.0.2.1" }, NULL }, true);
	assert_int_equal(zones[slot].gen, first); /* the same content */
	write_list("other.example CNAME .\n");
	configure((char *[]){ (char[]){ "router.lan. A 192.0.2.1" }, NULL }, true);
	assert_int_not_equal(zones[slot].gen, first);
	assert_int_equal(rpz_manager_slot(rpz), slot);
	assert_true(names("other.example") && !names("blocked.example"));
}

/* Of an answer in the cache nobody can see which servers its name has. */
static void test_rules_for_servers(void **state)
{
	static const struct {
		const char *what, *first, *second;
		bool stays;
	} rows[] = {
		{ "new ones", "ns.x.rpz-nsdname CNAME .\n", "a.x CNAME .\n", false },
		{ "the same", "ns.x.rpz-nsdname CNAME .\n", "a.x CNAME .\n", true },
		{ "others behind them", "ns.x.rpz-nsdname CNAME .\n", "b.x CNAME .\n", true },
		{ "others", "32.1.2.0.192.rpz-nsip CNAME .\n", "b.x CNAME .\n", false },
		{ "in the second list", "c.x CNAME .\n", "ns.x.rpz-nsdname CNAME .\n", false },
		{ "a name before them", "d.x CNAME .\n", "ns.x.rpz-nsdname CNAME .\n", false },
		{ "none any more", "d.x CNAME .\n", "a.x CNAME .\n", true },
	};

	(void)state;
	put("fine.example", VOLLEY_VIEW_PUBLIC);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].what);
		put("fine.example", VOLLEY_VIEW_RECURSIVE);
		write_list(rows[i].first);
		write_file(second_path, rows[i].second);
		assert_int_equal(configure(NULL, 2), 0);
		assert_int_equal(is_cached("fine.example", VOLLEY_VIEW_RECURSIVE), rows[i].stays);
		assert_int_equal(rpz_manager_at(rpz, 0)->n_ignored, 0);
	}
	assert_true(is_cached("fine.example", VOLLEY_VIEW_PUBLIC));
	assert_int_equal(configure(NULL, 0), 0);
}

static void assert_entry(size_t i, enum rpz_manager_state state, unsigned int n_rules,
			 const char *says)
{
	const struct rpz_manager_entry *entry = rpz_manager_at(rpz, i);
	char text[RPZ_MANAGER_TEXT_CAP] = "";

	print_message("%s\n", entry->name);
	assert_int_equal(rpz_manager_entry_state(entry), state);
	assert_int_equal(entry->n_rules, n_rules);
	assert_int_equal(entry->loaded_wall_s != 0, state != RPZ_MANAGER_FAILED);
	assert_int_equal(rpz_manager_entry_tell(entry, text), *says != 0);
	if (!strstr(text, says))
		fail_msg("%s does not say %s", text, says);
}

/* At a start there is no earlier version; the other list is in force all the same. */
static void test_no_version_yet(void **state)
{
	(void)state;
	unlink(path);
	write_file(second_path, "second.example CNAME .\nb.second.example CNAME rpz-other.\n");
	assert_int_equal(configure(NULL, 2), -ENOENT);
	assert_int_equal(rpz_manager_n(rpz), 2);
	assert_entry(0, RPZ_MANAGER_FAILED, 0, "policy list.rpz.: not in force: ");
	assert_entry(1, RPZ_MANAGER_SERVING, 1, "");
	assert_int_equal(rpz_manager_at(rpz, 1)->n_ignored, 1);
	assert_true(names("second.example"));
	write_list("first.example CNAME .\n");
	assert_int_equal(configure(NULL, 2), 0);
	assert_entry(0, RPZ_MANAGER_SERVING, 1, "");
	assert_true(names("first.example") && names("second.example"));
}

/* The list that breaks stays as it was, in numbers too; the other one is the new one. */
static void test_one_of_two_breaks(void **state)
{
	uint64_t loaded_s = rpz_manager_at(rpz, 0)->loaded_wall_s;

	(void)state;
	write_list("broken.example CNAME\n");
	write_file(second_path, "second.example CNAME .\nthird.example CNAME .\n");
	for (int i = 0; i < 2; i++) { /* also when it is read again */
		assert_int_not_equal(configure(NULL, 2), 0);
		assert_entry(0, RPZ_MANAGER_STALE, 1, "an earlier version is in force: ");
		assert_int_equal(rpz_manager_at(rpz, 0)->loaded_wall_s, loaded_s);
		assert_entry(1, RPZ_MANAGER_SERVING, 2, "");
		assert_true(names("first.example") && names("third.example"));
	}
	unlink(path);
	assert_int_equal(configure(NULL, 2), -ENOENT);
	assert_entry(0, RPZ_MANAGER_STALE, 1, "No such file");
	assert_true(names("first.example"));
	assert_int_equal(configure(NULL, 0), 0);
	assert_null(world.zones.rpz);
}

static void test_what_is_told(void **state)
{
	struct metrics_text metrics = { 0 };
	char *text;
	json_t *o;

	(void)state;
	unlink(path);
	write_file(second_path, "second.example CNAME .\nx.rpz-ip CNAME .\n");
	assert_int_equal(configure((char *[]){ (char[]){ "a.lan. A 192.0.2.2" }, NULL }, 2),
			 -ENOENT);
	o = rpz_manager_report(rpz);
	text = json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS);
	assert_non_null(strstr(text, "\"ignored\":0,\"loaded_at\":"));
	assert_non_null(strstr(text, "\"name\":\"local-data\",\"rules\":1,\"state\":\"serving\"}"));
	assert_non_null(strstr(text, "\"name\":\"list.rpz.\",\"state\":\"failed\"}"));
	assert_non_null(
		strstr(text, "\"name\":\"second.rpz.\",\"rules\":1,\"state\":\"serving\"}"));
	free(text);
	json_decref(o);
	rpz_manager_metrics(rpz, &metrics);
	assert_non_null(strstr(metrics.text, "volley_policies{state=\"failed\"} 1\n"));
	assert_non_null(strstr(metrics.text,
			       "volley_policy_state{policy=\"list.rpz.\",state=\"failed\"} 1\n"));
	assert_non_null(strstr(metrics.text, "volley_policy_rules{policy=\"second.rpz.\"} 1\n"));
	assert_non_null(strstr(metrics.text, "volley_policy_ignored{policy=\"second.rpz.\"} 1\n"));
	assert_null(strstr(metrics.text, "volley_policy_rules{policy=\"list.rpz.\"}"));
	free(metrics.text);
	assert_int_equal(configure(NULL, 0), 0);
}

/* What does not load is as it was; the rest is new. */
static void test_errors(void **state)
{
	(void)state;
	write_list("broken.example CNAME\n");
	assert_int_not_equal(
		configure((char *[]){ (char[]){ "printer.lan. A 192.0.2.2" }, NULL }, true), 0);
	assert_true(names("other.example") && names("printer.lan") && !names("router.lan"));
	assert_non_null(strstr(rpz_manager_at(rpz, 1)->error, "list:3"));
	write_list("third.example CNAME .\n");
	assert_int_not_equal(configure((char *[]){ (char[]){ "a.lan. A 192.0.2.2" },
						   (char[]){ "b.lan. A 192.0.2" }, NULL },
				       true),
			     0);
	assert_true(names("third.example") && names("printer.lan") && !names("a.lan"));
	assert_non_null(strstr(rpz_manager_at(rpz, 0)->error, "record 2"));
	assert_int_equal(configure(NULL, true), 0);
	assert_true(names("third.example") && !names("printer.lan"));
	assert_int_equal(configure(NULL, false), 0);
	assert_null(world.zones.rpz);
}

/* Who asks while lists are read gets what was there when they asked: they are read once more. */
static void test_asked_meanwhile(void **state)
{
	bool first_is_over;

	(void)state;
	config.local_data = NULL;
	config.n_rpz = 1;
	write_list("first.example CNAME .\n");
	is_over = false;
	assert_int_equal(rpz_manager_reload(rpz, over, NULL), 0);
	first_is_over = is_over;
	write_list("second.example CNAME .\n");
	assert_int_equal(configure(NULL, true), 0); /* over() may have been called for the first */
	assert_false(first_is_over);
	for (int i = 0; !names("second.example") && i < WAIT_S * 10; i++)
		poll_all();
	assert_true(names("second.example") && !names("first.example"));
	config.n_rpz = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_nothing),
		cmocka_unit_test(test_names_leave_the_cache),
		cmocka_unit_test(test_generation),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_no_version_yet),
		cmocka_unit_test(test_one_of_two_breaks),
		cmocka_unit_test(test_what_is_told),
		cmocka_unit_test(test_rules_for_servers),
		cmocka_unit_test(test_asked_meanwhile),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
