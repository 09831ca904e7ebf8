/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What configurations put in place, one after the other. Nothing is asked upstream. */
#include "recursion/recursion_service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>
#include <urcu-qsbr.h>

#include "base/err.h"
#include "cache/memory.h"
#include "cache/generations.h"
#include "limits/clients.h"
#include "tests/lib/must.h"
#include "tests/unit/config/configtext.h"

#define FORWARD "allow: [192.0.2.0/24]\n  forward: [192.0.2.1]\n"
#define STUB    FORWARD "  stubs: [{zone: lan, address: 192.0.2.2}]\n" /* by libunbound */
#define OFF     "allow: []\n"

static struct config *configure(const char *recursion)
{
	char text[512];

	snprintf(text, sizeof(text), LISTEN "recursion:\n  %s", recursion);
	return load_good(text);
}

/* --- Put in place ----------------------------------------------------------------------------- */

struct place {
	struct cache_memory memory;
	struct cache *cache;
	struct background *background;
	struct engine_data published;
	struct recursion *recursion;
	unsigned int n_rooms; /* how often it was asked for */
	uint32_t n_questions; /* for so many, last */
	int room_error;
	unsigned int n_graces;
	bool had_resolver, had_rules; /* in the first of these */
};

static int no_readers(void *user)
{
	struct place *p = user;

	if (p && !p->n_graces++) {
		p->had_resolver = *recursion_resolver(p->recursion);
		p->had_rules = p->published.recursion;
	}
	return 0;
}

static int make_room(void *user, uint32_t n_questions)
{
	struct place *p = user;

	p->n_rooms++;
	p->n_questions = n_questions;
	if (p->n_rooms == 1) /* before a worker can see a resolver */
		assert_null(*recursion_resolver(p->recursion));
	return p->room_error;
}

static void place_open(struct place *p)
{
	struct recursion_env env = { .published = &p->published,
				     .clients_fd = -1,
				     .engine_digest = 1,
				     .grace = no_readers,
				     .grace_user = p,
				     .make_room = make_room,
				     .room_user = p,
				     .n_workers = 1,
				     .programs = getenv("VOLLEY_BIN") };
	struct cache_sizes sizes;
	bool adopted;

	*p = (struct place){ 0 };
	MUST(!cache_sizes_plan(&sizes, CACHE_BYTES_MIN, 1));
	MUST(!cache_memory_anonymous(&p->memory, &sizes));
	MUST(!cache_new(&p->cache, &p->memory, &adopted) && !background_new(&p->background));
	env.cache = p->cache;
	env.background = p->background;
	MUST(!recursion_new(&p->recursion, &env));
}

static void place_close(struct place *p)
{
	background_free(p->background);
	recursion_stop(p->recursion);
	recursion_free(p->recursion);
	assert_null(p->published.clients);
	assert_null(p->published.recursion);
	cache_free(p->cache);
	cache_memory_release(&p->memory);
}

static int put(struct place *p, const char *recursion, char *err, size_t err_cap)
{
	struct config *config = configure(recursion);
	int code = recursion_configure(p->recursion, config, err, err_cap);

	config_free(config);
	return code;
}

static void put_good(struct place *p, const char *recursion)
{
	char err[512] = "";

	if (put(p, recursion, err, sizeof(err)))
		fail_msg("%s", err);
}

static struct querier *resolver_of(const struct place *p)
{
	return *recursion_resolver(p->recursion);
}

static uint32_t views_of(const struct place *p, const char *address)
{
	uint8_t bytes[16];

	MUST(inet_pton(AF_INET, address, bytes) == 1);
	return p->published.clients ? clients_views(p->published.clients, AF_INET, bytes) : 0;
}

static void test_on_and_off(void **state)
{
	struct place p;
	uint32_t slot;

	(void)state;
	place_open(&p);
	put_good(&p, OFF);
	assert_null(resolver_of(&p));
	assert_null(p.published.recursion);
	assert_null(p.published.clients);
	assert_int_equal(recursion_slot(p.recursion), 0);
	put_good(&p, FORWARD "  max-ttl: 77\n");
	assert_non_null(resolver_of(&p));
	assert_int_equal(p.published.recursion->max_ttl_s, 77);
	slot = recursion_slot(p.recursion);
	assert_true(slot && slot == p.published.recursion->zone_slot);
	assert_int_equal(p.memory.zones[slot].gen, p.published.recursion->zone_gen);
	assert_int_equal(views_of(&p, "192.0.2.1"),
			 1 << VOLLEY_VIEW_PUBLIC | 1 << VOLLEY_VIEW_RECURSIVE);
	assert_int_equal(recursion_config(p.recursion)->max_ttl_s, 77);
	put_good(&p, OFF);
	assert_null(resolver_of(&p));
	assert_null(p.published.recursion);
	assert_int_equal(p.memory.zones[slot].gen, 0);
	place_close(&p);
}

/* Workers have room for questions before they can see a resolver, and that before the rules.
 * Without room nothing is asked. */
static void test_room(void **state)
{
	char err[512] = "";
	struct place p;

	(void)state;
	place_open(&p);
	put_good(&p, OFF);
	assert_int_equal(p.n_rooms, 0);
	p.room_error = -ENOMEM;
	assert_int_equal(put(&p, FORWARD "  max-outstanding: 99\n", err, sizeof(err)), -ENOMEM);
	assert_string_equal(err, err_text(-ENOMEM));
	assert_int_equal(p.n_questions, 99);
	assert_null(resolver_of(&p));
	assert_null(p.published.recursion);
	p.room_error = 0;
	p.n_graces = 0;
	put_good(&p, FORWARD "  max-outstanding: 77\n");
	assert_int_equal(p.n_questions, 77);
	assert_non_null(resolver_of(&p));
	assert_true(p.had_resolver && !p.had_rules);
	place_close(&p);
}

/* The generation and the resolver stay as long as they would be the same. */
static void test_what_a_reload_keeps(void **state)
{
	struct querier *resolver;
	uint32_t slot, gen;
	struct place p;

	(void)state;
	place_open(&p);
	put_good(&p, FORWARD);
	resolver = resolver_of(&p);
	slot = recursion_slot(p.recursion);
	gen = p.published.recursion->zone_gen;
	put_good(&p, FORWARD "  query-timeout: 1s\n");
	assert_ptr_equal(resolver_of(&p), resolver);
	assert_int_equal(p.published.recursion->zone_gen, gen);
	assert_int_equal(p.published.recursion->timeout_ms, 1000);
	put_good(&p, FORWARD "  threads: 2\n");
	assert_ptr_not_equal(resolver_of(&p), resolver);
	resolver = resolver_of(&p);
	assert_int_equal(p.published.recursion->zone_gen, gen);
	put_good(&p, FORWARD "  threads: 2\n  max-ttl: 5\n");
	assert_ptr_equal(resolver_of(&p), resolver);
	assert_int_not_equal(p.published.recursion->zone_gen, gen);
	assert_int_equal(p.memory.zones[slot].gen, p.published.recursion->zone_gen);
	assert_int_equal(recursion_slot(p.recursion), slot);
	place_close(&p);
}

static void test_an_error_changes_nothing(void **state)
{
	const struct clients *clients;
	struct querier *resolver;
	char err[512] = "";
	uint32_t gen;
	struct place p;

	(void)state;
	place_open(&p);
	assert_true(put(&p, FORWARD "  trust-anchor: /nowhere\n", err, sizeof(err)) < 0);
	assert_null(resolver_of(&p));
	put_good(&p, FORWARD);
	resolver = resolver_of(&p);
	clients = p.published.clients;
	gen = p.published.recursion->zone_gen;
	assert_true(put(&p, FORWARD "  trust-anchor: /nowhere\n", err, sizeof(err)) < 0);
	assert_non_null(strstr(err, ": recursion.trust-anchor: /nowhere: "));
	assert_ptr_equal(resolver_of(&p), resolver);
	assert_ptr_equal(p.published.clients, clients);
	assert_int_equal(p.published.recursion->zone_gen, gen);
	assert_int_equal(p.memory.zones[recursion_slot(p.recursion)].gen, gen);
	place_close(&p);
}

/* A daemon that comes later keeps the answers where the settings are the same. */
static void test_adopted(void **state)
{
	struct recursion_env env = { .clients_fd = -1,
				     .engine_digest = 1,
				     .grace = no_readers,
				     .programs = getenv("VOLLEY_BIN") };
	struct engine_data published = { 0 };
	struct recursion *later;
	char err[512];
	struct place p;

	(void)state;
	place_open(&p);
	put_good(&p, FORWARD);
	env.cache = p.cache;
	env.background = p.background;
	env.published = &published;
	for (int other = 0; other < 2; other++) {
		struct config *config = configure(other ? FORWARD "  max-ttl: 5\n" : FORWARD);

		assert_int_equal(recursion_new(&later, &env), 0);
		assert_int_equal(recursion_configure(later, config, err, sizeof(err)), 0);
		assert_int_equal(published.recursion->zone_slot, recursion_slot(p.recursion));
		assert_int_equal(published.recursion->zone_gen == p.published.recursion->zone_gen,
				 !other);
		recursion_stop(later);
		recursion_free(later);
		config_free(config);
	}
	place_close(&p);
}

static void test_flush(void **state)
{
	struct place p;
	uint32_t gen;

	(void)state;
	place_open(&p);
	assert_int_equal(recursion_flush(p.recursion), 0);
	put_good(&p, FORWARD);
	gen = p.published.recursion->zone_gen;
	assert_int_equal(recursion_flush(p.recursion), 0);
	assert_int_not_equal(p.published.recursion->zone_gen, gen);
	gen = p.published.recursion->zone_gen;
	assert_int_equal(p.memory.zones[recursion_slot(p.recursion)].gen, gen);
	put_good(&p, FORWARD);
	assert_int_equal(p.published.recursion->zone_gen, gen);
	place_close(&p);
}

/* Only libunbound remembers. The one before is stopped and freed in the background. */
static void test_forget(void **state)
{
	struct recursion_report report;
	struct querier *resolver;
	struct pollfd fd = { .events = POLLIN };
	char err[512];
	struct place p;

	(void)state;
	place_open(&p);
	assert_int_equal(recursion_forget(p.recursion, err, sizeof(err)), 0);
	put_good(&p, FORWARD);
	resolver = resolver_of(&p);
	recursion_report(p.recursion, &report);
	assert_true(report.is_on && report.has_own_forwarder);
	assert_int_equal(recursion_forget(p.recursion, err, sizeof(err)), 0);
	assert_ptr_equal(resolver_of(&p), resolver);
	put_good(&p, STUB);
	recursion_report(p.recursion, &report);
	assert_true(report.is_on && !report.has_own_forwarder);
	resolver = resolver_of(&p);
	assert_int_equal(recursion_forget(p.recursion, err, sizeof(err)), 0);
	assert_ptr_not_equal(resolver_of(&p), resolver);
	fd.fd = background_fd(p.background);
	assert_int_equal(poll(&fd, 1, 20000), 1);
	background_poll(p.background);
	place_close(&p);
}

static int begin(void **state)
{
	rcu_register_thread();
	rcu_thread_offline();
	return tmpfolder_make(state);
}

static int end(void **state)
{
	rcu_unregister_thread();
	return tmpfolder_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_on_and_off),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_what_a_reload_keeps),
		cmocka_unit_test(test_an_error_changes_nothing),
		cmocka_unit_test(test_adopted),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_forget),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
