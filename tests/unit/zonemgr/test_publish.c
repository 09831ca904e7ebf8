/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In which order a publish puts a new zone in place, and what each step leaves for who dies
 * there. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cache/memory.h"
#include "zonemgr/loader.h"
#include "zonemgr/zones_state.h"
#include "tests/lib/madezones.h"
#include "tests/unit/engine/world.h"
#include "tests/unit/store/storing.h"
#include "tests/unit/zone/zone_text.h"
#include "zone/image.h"

static struct cache_memory memory;
static struct engine_data published, late; /* late: what a worker that is slow still reads */
static struct engine *engine, *slow;
static struct config_zone said;
static struct zones_entry entry, below, *both[] = { &entry, &below };
static struct zones *zones; /* the first of both, or both */
static struct volley_zone before;
static struct loader *loader;
static unsigned n_graces;

/* b is what changes; c stays. */
static struct zone *make_zone(unsigned serial, unsigned b)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "$TTL 300\n@ SOA ns root %u 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n"
		 "b A 192.0.2.%u\nc A 192.0.2.3\n",
		 serial, b);
	return zone_of("z.test", text);
}

static void ask_for(struct engine *e, const char *name, bool dnssec_ok)
{
	struct ask a = {
		.name = name, .type = DNS_TYPE_A, .udp_size = 1232, .dnssec_ok = dnssec_ok
	};
	static struct reply r;

	send_ask(e, &a, &r);
}

static bool is_cached(const char *name, bool dnssec_ok)
{
	uint8_t wire[NAME_FOLDED_BYTES] = { 0 };
	int len = name_from_text(wire, DNS_NAME_MAX, name, strlen(name));
	const struct volley_entry *e;
	struct cache_key key;

	cache_key_init(&key, madezones_env(zones)->cache, wire, (uint32_t)len, DNS_TYPE_A,
		       DNS_CLASS_IN, dnssec_ok ? VOLLEY_KEY_DO : 0, 0);
	return cache_lookup(madezones_env(zones)->cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT;
}

static const struct volley_zone *slot(void)
{
	return &memory.zones[entry.published.slot];
}

static bool stands_for_nothing(void)
{
	return slot()->gen == before.gen && !slot()->digest[0] && !slot()->digest[1];
}

static int no_readers(void *unused)
{
	(void)unused;
	return 0;
}

/* What holds while a publish waits for the first time, and for the second. */
static int inspect(void *unused)
{
	(void)unused;
	assert_ptr_equal(zone_set_get(published.set, entry.apex, entry.apex_len)->zone,
			 entry.loading.fresh->zone);
	assert_true(stands_for_nothing());
	assert_true(is_cached("c.z.test", false));
	if (!n_graces++) {
		assert_true(is_cached("b.z.test", false));
		ask_for(slow, "b.z.test", true); /* has rendered, and publishes only now */
		assert_true(is_cached("b.z.test", true));
	} else {
		assert_false(is_cached("b.z.test", false));
		assert_false(is_cached("b.z.test", true));
	}
	return 0;
}

static void make_due(struct zone *z)
{
	entry.loading.fresh = load_new("z.test", "none", NULL, NULL, NULL);
	MUST(entry.loading.fresh);
	entry.loading.fresh->zone = z;
	entry.loading.is_due = true;
}

static void begin(void)
{
	static char name[] = "z.test";
	static uint8_t apex[DNS_NAME_MAX];
	struct engine_config config = ENGINE_CONFIG_INIT;
	struct zones_env env = { .published = &published, .grace = no_readers };
	struct cache_sizes sizes;
	bool adopted;
	int len = name_from_text(apex, sizeof(apex), "z.test", 6);

	MUST(len > 0 && !cache_sizes_plan(&sizes, CACHE_BYTES_MIN, 1));
	entry.apex = apex;
	entry.apex_len = (unsigned)len;
	entry.config = &said;
	entry.name = entry.file = said.name = said.file = name;
	entry.life = ZONES_LISTED;
	MUST(!cache_memory_anonymous(&memory, &sizes) && !cache_new(&env.cache, &memory, &adopted));
	MUST(!engine_new(&engine, &config, env.cache, &published));
	MUST(!engine_new(&slow, &config, env.cache, &late));
	n_graces = 0;
	MUST(!loader_new(&loader, 1));
	env.loader = loader;
	zones = madezones_new(&env, both, 1);
	make_due(make_zone(1, 1));
	MUST(!zones_publish(zones));
	ask_for(engine, "b.z.test", false);
	ask_for(engine, "c.z.test", false);
	before = *slot();
	late = published;
}

static void end(void)
{
	loader_stop(loader);
	loader_free(loader);
	engine_free(engine);
	engine_free(slow);
	zone_set_free(published.set);
	zone_free(entry.zone);
	entry.zone = NULL;
	zones_entry_hush(&entry);
	zones_entry_hush(&below);
	published.set = NULL;
	cache_free(madezones_env(zones)->cache);
	cache_memory_release(&memory);
	madezones_free(zones);
}

static void order_of_a_change(void **state)
{
	(void)state;
	begin();
	assert_null(entry.published.withdrawn); /* nothing was there before */
	make_due(make_zone(2, 2));
	madezones_env(zones)->grace = inspect;
	assert_int_equal(zones_publish(zones), 0);
	assert_int_equal(n_graces, 2);
	assert_int_equal(slot()->gen, before.gen);
	assert_int_equal(slot()->last_gen, before.last_gen);
	assert_true(slot()->digest[0] != before.digest[0] && slot()->digest[0]);
	assert_true(is_cached("c.z.test", false));
	assert_int_equal(entry.published.withdrawn->n_names, 2);
	assert_int_equal(entry.published.withdrawn->n_answers, 2);

	madezones_env(zones)->grace = no_readers;
	make_due(make_zone(2, 2)); /* the same content */
	assert_int_equal(zones_publish(zones), 0);
	assert_true(is_cached("c.z.test", false));
	assert_true(entry.published.withdrawn && !entry.published.withdrawn->all);
	assert_int_equal(entry.published.withdrawn->n_names, 0);
	cache_zone_flush(madezones_env(zones)->cache,
			 entry.published.slot); /* and a change behind that */
	assert_int_equal(zones_publish(zones), 0);
	assert_false(is_cached("c.z.test", false));
	ask_for(engine, "c.z.test", false);
	make_due(make_zone(3, 3));
	assert_int_equal(zones_publish(zones), 0);
	assert_true(is_cached("c.z.test", false));
	end();
}

/* --- A zone that comes ------------------------------------------------------------------------ */

/* Who dies while answers of others are withdrawn leaves no generation that stands for a content. */
static int inspect_coming(void *unused)
{
	const struct volley_zone *slot_below = &memory.zones[below.published.slot];

	(void)unused;
	assert_true(stands_for_nothing());
	assert_true(!slot_below->digest[0] && !slot_below->digest[1]);
	assert_true(is_cached("c.z.test", false));
	assert_int_equal(is_cached("b.z.test", false), !n_graces++);
	return 0;
}

/* Nor for that of a zone that is not served any more, when others begin to answer for it. */
static int inspect_leaving(void *unused)
{
	(void)unused;
	assert_int_equal(memory.zones[below.published.slot].digest[0], 0);
	assert_true(slot()->digest[0] == before.digest[0]);
	n_graces++;
	return 0;
}

static void a_zone_below_comes_and_leaves(void **state)
{
	static char name[] = "b.z.test";
	static uint8_t apex[DNS_NAME_MAX];
	int len;

	(void)state;
	begin();
	len = name_from_text(apex, sizeof(apex), "b.z.test", 8);
	below.apex = apex;
	below.apex_len = (unsigned)len;
	below.config = &said;
	below.name = below.file = name;
	below.life = ZONES_LISTED;
	madezones_set(zones, both, 2);
	madezones_env(zones)->grace = inspect_coming;
	assert_int_equal(zones_publish(zones), 0);
	assert_int_equal(n_graces, 2);
	assert_int_equal(slot()->gen, before.gen);
	assert_memory_equal(slot()->digest, before.digest, sizeof(before.digest));
	assert_true(memory.zones[below.published.slot].digest[0]);
	assert_false(is_cached("b.z.test", false));
	assert_true(is_cached("c.z.test", false));

	n_graces = 0;
	below.life = ZONES_GONE;
	madezones_env(zones)->grace = inspect_leaving;
	assert_int_equal(zones_publish(zones), 0);
	assert_int_equal(n_graces, 1); /* and no walk */
	assert_true(is_cached("c.z.test", false));
	madezones_set(zones, both, 1);
	end();
}

/* The driver is not waited for, and the set stays the same one. */
static int count_driver_wait(void *unused)
{
	(void)unused;
	n_graces++;
	return 0;
}

static unsigned n_workers_waits;

static int count_workers_wait(void *unused)
{
	(void)unused;
	n_workers_waits++;
	return 0;
}

static struct zones_entry *make_member(const char *name)
{
	uint8_t apex[DNS_NAME_MAX];
	struct zones_entry *made;

	MUST(name_from_text(apex, sizeof(apex), name, strlen(name)) > 0);
	made = zones_entry_new(zones, name);
	MUST(made && (made->file = strdup(name)));
	made->config = &said;
	made->is_member = true;
	return made;
}

/*
 * A member comes and goes: of the answers in the cache only those that lead to it are looked at and
 * withdrawn, also those that follow an alias.
 */
static void a_few_come_and_go(void **state)
{
	struct zone_set *set;
	struct zones_entry *member;
	uint32_t gone_slot;

	(void)state;
	begin();
	set = published.set;
	withdrawal_expect(madezones_env(zones)->cache);
	ask_for(engine, "x.b.z.test", false);
	assert_true(is_cached("x.b.z.test", false));
	member = make_member("b.z.test.");
	MUST(!zones_table_add(zones, member));
	madezones_env(zones)->grace = count_driver_wait;
	madezones_env(zones)->grace_userspace = count_workers_wait;
	n_graces = n_workers_waits = 0;
	zones_mark_changed(zones, member);
	assert_int_equal(zones_publish_changed(zones), 0);
	assert_int_equal(member->life, ZONES_LISTED);
	assert_ptr_equal(published.set, set);
	assert_non_null(zone_set_get(set, member->apex, member->apex_len));
	assert_int_equal(n_workers_waits, 1);
	assert_int_equal(n_graces, 1); /* answers were withdrawn */
	assert_false(is_cached("b.z.test", false));
	assert_false(is_cached("x.b.z.test", false));
	assert_true(is_cached("c.z.test", false));
	assert_int_equal(slot()->gen, before.gen);
	assert_memory_equal(slot()->digest, before.digest, sizeof(before.digest));
	assert_true(memory.zones[member->published.slot].digest[0]);

	member->life = ZONES_GONE;
	gone_slot = member->published.slot;
	zones_mark_changed(zones, member);
	assert_int_equal(zones_publish_changed(zones), 0);
	assert_int_equal(zones_n(zones), 1);
	assert_int_equal(zone_set_n(set), 1);
	assert_int_equal(memory.zones[gone_slot].gen, 0);
	assert_int_equal(memory.zones[gone_slot].name_id[0], 0);
	assert_int_equal(n_graces, 2);
	assert_true(is_cached("c.z.test", false));

	member = make_member("other.test.");
	MUST(!zones_table_add(zones, member));
	zones_mark_changed(zones, member);
	assert_int_equal(zones_publish_changed(zones), 0);
	assert_int_equal(n_graces, 2); /* it has taken nothing from others */
	member->life = ZONES_GONE;
	zones_mark_changed(zones, member);
	assert_int_equal(zones_publish_changed(zones), 0);
	end();
}

static const char *put_that_fails; /* the name of a zone, or NULL */

int __real_zone_set_put(struct zone_set *set, const struct zone_member *member);
int __wrap_zone_set_put(struct zone_set *set, const struct zone_member *member);

int __wrap_zone_set_put(struct zone_set *set, const struct zone_member *member)
{
	if (put_that_fails && name_equal(member->apex, storing_name(put_that_fails)))
		return -ENOMEM;
	return __real_zone_set_put(set, member);
}

/*
 * The set has a new version and a new zone when memory ends. The version lives while readers may
 * have it, though a later one replaces it; and the next publish is one of all, which withdraws
 * answers that the new zone has taken over.
 */
static void memory_ends_between_a_few(void **state)
{
	struct zones_entry *member, *last;
	struct zone *served;
	struct zone_set *set;

	(void)state;
	begin();
	set = published.set;
	member = make_member("b.z.test.");
	last = make_member("other.test.");
	MUST(!zones_table_add(zones, member) && !zones_table_add(zones, last));
	entry.edited = served = make_zone(2, 1);
	zones_mark_changed(zones, last);
	zones_mark_changed(zones, &entry);
	zones_mark_changed(zones, member);
	put_that_fails = "other.test.";
	assert_int_equal(zones_publish_changed(zones), -ENOMEM);
	put_that_fails = NULL;
	assert_ptr_equal(zone_set_get(set, entry.apex, entry.apex_len)->zone, served);
	assert_non_null(zone_set_get(set, member->apex, member->apex_len));

	zone_unref(entry.edited);
	entry.edited = make_zone(3, 1);
	assert_int_equal(served->refs, 1);
	last->life = ZONES_GONE; /* no zone comes that the set has not */
	zones_mark_changed(zones, &entry);
	assert_int_equal(zones_publish_changed(zones), 0);
	assert_int_equal(zone_set_n(published.set), 2);
	assert_false(is_cached("b.z.test", false));
	assert_true(is_cached("c.z.test", false));
	zone_unref(served);
	member->life = ZONES_GONE;
	zones_mark_changed(zones, member);
	assert_int_equal(zones_publish_changed(zones), 0);
	end();
}

/* --- Answers from upstream -------------------------------------------------------------------- */

static uint32_t upstream_slot, upstream_gen;

static struct cache_key upstream_key(const char *name)
{
	uint8_t wire[NAME_FOLDED_BYTES] = { 0 };
	int len = name_from_text(wire, DNS_NAME_MAX, name, strlen(name));
	struct cache_key key;

	cache_key_init(&key, madezones_env(zones)->cache, wire, (uint32_t)len, DNS_TYPE_A,
		       DNS_CLASS_IN, 0, VOLLEY_VIEW_RECURSIVE);
	return key;
}

static void put_upstream(struct cache_writer *writer, const char *name)
{
	struct cache_key key = upstream_key(name);
	struct cache_answer a = { .body = (const uint8_t *)"",
				  .zone_slot = upstream_slot,
				  .zone_gen = upstream_gen,
				  .expires_s = WORLD_NOW_S + 300 };

	assert_int_equal(cache_publish(writer, &key, &a, WORLD_NOW_S), 0);
}

static bool is_from_upstream(const char *name)
{
	struct cache_key key = upstream_key(name);
	const struct volley_entry *e;

	return cache_lookup(madezones_env(zones)->cache, &key, WORLD_NOW_S, false, &e) == CACHE_HIT;
}

/* Names that are ours from now on are not answered with what upstream said. */
static void a_zone_comes_beside_answers_from_upstream(void **state)
{
	static const uint64_t digest[2] = { 5, 6 };
	static char name[] = "up.test";
	static uint8_t apex[DNS_NAME_MAX];
	struct cache_writer *writer;

	(void)state;
	begin();
	cache_zone_prepare(madezones_env(zones)->cache, (const uint8_t *)"\1U", 3, digest,
			   &upstream_slot, &upstream_gen);
	cache_zone_commit(madezones_env(zones)->cache, upstream_slot, upstream_gen, digest);
	MUST(!cache_writer_new(&writer, madezones_env(zones)->cache));
	put_upstream(writer, "a.up.test");
	put_upstream(writer, "up.test");
	put_upstream(writer, "test");
	put_upstream(writer, "a.other.test");
	below = (struct zones_entry){
		.config = &said, .name = name, .file = name, .apex = apex, .life = ZONES_LISTED
	};
	below.apex_len = (unsigned)name_from_text(apex, sizeof(apex), "up.test", strlen("up.test"));
	madezones_set(zones, both, 2);
	madezones_env(zones)->others = &upstream_slot;
	madezones_env(zones)->n_others = 1;
	assert_int_equal(zones_publish(zones), 0);
	assert_int_equal(zones_drop_others(zones), 0);
	assert_false(is_from_upstream("a.up.test"));
	assert_false(is_from_upstream("up.test"));
	assert_true(is_from_upstream("test"));
	assert_true(is_from_upstream("a.other.test"));
	madezones_set(zones, both, 1);
	cache_writer_free(writer);
	end();
}

static struct zone *make_zone_above(unsigned serial, const char *records)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "$TTL 300\n@ SOA ns root %u 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n%s", serial,
		 records);
	return zone_of("z.test", text);
}

/*
 * Below a cut upstream answers. Its answers go when the cut does, and stay when something else
 * changes; by an edit of one zone and by a publish of all.
 */
static void a_cut_moves_beside_answers_from_upstream(void **state)
{
	static const struct {
		const char *records;
		bool is_kept;
	} versions[] = {
		{ "sub NS ns.x.\nd A 192.0.2.2\n", true },
		{ "sub NS ns.x.\nd A 192.0.2.3\ne A 192.0.2.4\n", true },
		{ "a.sub A 192.0.2.5\nd A 192.0.2.3\n", false },
	};
	static const uint64_t digest[2] = { 5, 6 };
	struct engine_recursion rules = ENGINE_RECURSION_INIT;
	struct cache_writer *writer;

	(void)state;
	for (unsigned is_quick = 0; is_quick < 2; is_quick++) {
		begin();
		published.recursion = &rules;
		cache_zone_prepare(madezones_env(zones)->cache, (const uint8_t *)"\1U", 3, digest,
				   &upstream_slot, &upstream_gen);
		cache_zone_commit(madezones_env(zones)->cache, upstream_slot, upstream_gen, digest);
		MUST(!cache_writer_new(&writer, madezones_env(zones)->cache));
		for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
			make_due(make_zone_above((unsigned)i + 5, versions[i].records));
			if (is_quick)
				zones_mark_changed(zones, &entry);
			assert_int_equal(
				is_quick ? zones_publish_changed(zones) : zones_publish(zones), 0);
			assert_true(!i || is_from_upstream("a.sub.z.test") == versions[i].is_kept);
			assert_true(!i || is_from_upstream("a.other.test"));
			put_upstream(writer, "a.sub.z.test");
			put_upstream(writer, "a.other.test");
		}
		published.recursion = NULL;
		cache_writer_free(writer);
		end();
	}
}

/* --- Who may ask ------------------------------------------------------------------------------ */

static void other_settings(void **state)
{
	(void)state;
	begin();
	assert_int_equal(zones_set_settings(zones, 0), 0); /* the same */
	assert_true(is_cached("c.z.test", false));
	assert_int_equal(zones_set_settings(zones, 1), 0);
	assert_false(is_cached("c.z.test", false));
	assert_non_null(entry.published.withdrawn->all);
	assert_int_equal(slot()->gen, entry.published.gen);
	ask_for(engine, "c.z.test", false);
	make_due(make_zone(2, 2)); /* what follows is a change as any */
	assert_int_equal(zones_publish(zones), 0);
	assert_true(is_cached("c.z.test", false));
	assert_int_equal(entry.published.withdrawn->n_names, 2);
	end();
}

/* With a new version at once: nothing is kept though little has changed. */
static void other_settings_and_another_zone(void **state)
{
	(void)state;
	begin();
	madezones_env(zones)->settings_digest = 1;
	make_due(make_zone(2, 2));
	assert_int_equal(zones_publish(zones), 0);
	assert_false(is_cached("c.z.test", false));
	assert_non_null(entry.published.withdrawn->all);
	end();
}

/* --- What the loader leaves ------------------------------------------------------------------- */

/* Whether the loader's comparison was used is seen where that is a wrong one. */
static unsigned publish_compared(struct zone *base, unsigned b)
{
	make_due(make_zone(b, b));
	entry.loading.fresh->base = base ? zone_ref(base) : NULL;
	entry.loading.fresh->changes =
		changes_new(entry.zone, entry.zone, &entry.loading.fresh->refusal);
	assert_int_equal(zones_publish(zones), 0);
	return (unsigned)entry.published.withdrawn->n_names;
}

static void what_the_loader_compared(void **state)
{
	struct zone *other = make_zone(9, 9);

	(void)state;
	begin();
	assert_int_equal(publish_compared(entry.zone, 2), 0);
	assert_int_equal(publish_compared(other, 3), 2);
	assert_int_equal(publish_compared(NULL, 4), 2);
	zone_free(other);
	end();
}

/* The zone that a load compares with lives as long as the load, whatever becomes of its entry. */
static void a_zone_that_leaves_while_it_is_loaded(void **state)
{
	struct zone *served;

	(void)state;
	begin();
	served = entry.zone;
	zones_ask(&entry);
	assert_ptr_equal(entry.loading.load->base, served);
	make_due(make_zone(2, 2)); /* ended before that load was begun */
	zones_forget_load(&entry);
	assert_null(entry.loading.load);
	entry.zone = make_zone(3, 3);
	zone_unref(served);
	zones_ask(&entry);
	assert_ptr_equal(entry.loading.load->base, entry.loading.fresh->zone);
	zones_forget_load(&entry);
	loader_stop(loader);
	loader_poll(loader);
	load_free(entry.loading.fresh);
	entry.loading.fresh = NULL;
	entry.loading.is_due = false;
	end();
}

/* What was asked for again is given up with the rest, also where the load before has ended
 * already. */
static void a_stop_behind_the_end_of_a_load(void **state)
{
	struct pollfd fd = { .events = POLLIN };

	(void)state;
	begin();
	zones_ask(&entry);
	fd.fd = loader_fd(loader);
	assert_int_equal(poll(&fd, 1, 20000), 1);
	zones_ask(&entry);
	assert_true(entry.loading.n_wanted > entry.loading.n_begun);
	loader_stop(loader);
	zones_cancel(zones);
	loader_poll(loader);
	assert_int_equal(entry.loading.n_ended, entry.loading.n_begun);
	assert_null(entry.loading.load);
	end();
}

/* The load that runs may have read the file before: another one follows it, and nobody has to ask
 * for that. */
static void asked_for_again_while_it_runs(void **state)
{
	struct pollfd fd = { .events = POLLIN };
	uint64_t first, second;

	(void)state;
	begin();
	first = zones_ask(&entry);
	fd.fd = loader_fd(loader);
	assert_int_equal(poll(&fd, 1, 20000), 1);
	second = zones_ask(&entry);
	assert_int_equal(second, first + 1);
	assert_int_equal(zones_ask(&entry), second);
	loader_poll(loader);
	assert_int_equal(entry.loading.n_ended, first);
	assert_int_equal(entry.loading.n_begun, second);
	assert_int_equal(poll(&fd, 1, 20000), 1);
	loader_poll(loader);
	assert_int_equal(entry.loading.n_ended, second);
	assert_null(entry.loading.load);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_of_a_change),
		cmocka_unit_test(a_zone_below_comes_and_leaves),
		cmocka_unit_test(a_few_come_and_go),
		cmocka_unit_test(memory_ends_between_a_few),
		cmocka_unit_test(a_zone_comes_beside_answers_from_upstream),
		cmocka_unit_test(a_cut_moves_beside_answers_from_upstream),
		cmocka_unit_test(other_settings),
		cmocka_unit_test(other_settings_and_another_zone),
		cmocka_unit_test(what_the_loader_compared),
		cmocka_unit_test(a_zone_that_leaves_while_it_is_loaded),
		cmocka_unit_test(a_stop_behind_the_end_of_a_load),
		cmocka_unit_test(asked_for_again_while_it_runs),
	};
	int rc;

	rcu_register_thread();
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return rc;
}
