/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache in front of the zones: a hit is byte for byte what the zones give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cache/copy.h"
#include "cache/memory.h"
#include "tests/unit/engine/world.h"

/* A host with 20 addresses: 5 of these are 1,600 octets of additional section. */
#define FOUR(o, n)                                                                      \
	o ".big A 10.0." n ".1\n" o ".big A 10.0." n ".2\n" o ".big A 10.0." n ".3\n" o \
	  ".big A 10.0." n ".4\n"
#define BIG(o) FOUR(o, "1") FOUR(o, "2") FOUR(o, "3") FOUR(o, "4") FOUR(o, "5")

static const char zone_com[] = "$TTL 3600\n"
			       "@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n"
			       "@ NS ns1\n"
			       "ns1 A 192.0.2.1\n"
			       "@ MX 10 ns1\n"
			       "www A 192.0.2.80\n"
			       "alias CNAME www\n"
			       "out CNAME www.example.net.\n"
			       "cross CNAME www.example.org.\n"
			       "*.wild A 192.0.2.9\n"
			       "dn DNAME wild\n"
			       "many MX 1 a.big\nmany MX 1 b.big\nmany MX 1 c.big\n"
			       "many MX 1 d.big\nmany MX 1 e.big\n" BIG("a") BIG("b") BIG("c")
				       BIG("d") BIG("e") "sub NS ns.sub\n"
							 "ns.sub A 192.0.2.53\n";

static const char zone_org[] = "$TTL 3600\n"
			       "@ SOA ns1.example.com. hostmaster 7 7200 3600 1209600 86400\n"
			       "@ NS ns1.example.com.\n"
			       "www A 192.0.2.81\n";

#define RD   DNS_FLAG_RD
#define CD   DNS_FLAG_CD
#define IN   DNS_CLASS_IN
#define T(t) DNS_TYPE_##t

static struct world world;

static const struct engine_config config = {
	.max_udp_bytes = ENGINE_MAX_UDP_BYTES,
};

static struct cookie_secrets cookies = { .n = 1, .keys = { "0123456789abcde" } };

static int setup(void **state)
{
	world_begin(&world, state);
	world_add_zone(&world, "example.com", zone_com);
	world_add_zone(&world, "example.org", zone_org);
	world_load_zone(&world, "example.edu", NULL);
	world_open(&world, &config);
	world.zones.cookies = &cookies;
	return 0;
}

static const struct {
	const char *name;
	uint16_t type;
	bool cached;
} cached_rows[] = {
	{ "www.example.com", T(A), true },
	{ "www.example.com", T(AAAA), true },
	{ "www.example.com", T(ANY), true },
	{ "example.com", T(MX), true },
	{ "nothere.example.com", T(A), true },
	{ "alias.example.com", T(A), true },
	{ "out.example.com", T(A), true },
	{ "a.wild.example.com", T(A), true },
	{ "a.dn.example.com", T(A), true },
	{ "x.sub.example.com", T(A), true },
	{ "example.org", T(SOA), true },
	{ "cross.example.com", T(A), false }, /* the other zone may change by itself */
	{ "www.example.net", T(A), false },
	{ "www.example.edu", T(A), false },
	{ "www.example.com", T(OPT), true },
	{ "www.example.com", T(MAILB), true }, /* no data has it: an attacker chooses the type */
	{ "www.example.com", 128, true },
	{ "www.example.com", T(IXFR), false },
};

#define N_CACHED_ROWS (sizeof(cached_rows) / sizeof(cached_rows[0]))

static void test_hits_are_the_fresh_answers(void **state)
{
	static const uint16_t sizes[] = { NO_EDNS, 512, 1232, 65535 };
	struct engine_counters before, after;
	struct reply fresh, first, hit;

	(void)state;
	for (size_t i = 0; i < N_CACHED_ROWS * 32; i++) {
		struct ask ask = {
			.name = cached_rows[i / 32].name,
			.type = cached_rows[i / 32].type,
			.udp_size = sizes[i % 4],
			.dnssec_ok = i & 4 && i % 4,
			.stream = i & 8,
			.flags = i & 16 ? RD | CD : 0,
		};

		send_ask(world.uncached, &ask, &fresh);
		send_ask(world.engine, &ask, &first);
		engine_counters_read(world.engine, &before);
		send_ask(world.engine, &ask, &hit);
		engine_counters_read(world.engine, &after);
		assert_true(same_reply(&fresh, &first));
		assert_true(same_reply(&fresh, &hit));
		assert_int_equal(after.cache_hit - before.cache_hit, cached_rows[i / 32].cached);
		assert_int_equal(after.published, before.published);
	}
}

/* What is left out over UDP comes over TCP, and that answer is nobody else's. */
static void test_tcp_gets_everything(void **state)
{
	struct ask udp = { .name = "many.example.com", .type = T(MX), .udp_size = 4096 };
	struct ask tcp = udp;
	struct reply first, second, whole;

	(void)state;
	tcp.stream = true;
	send_ask(world.engine, &tcp, &whole); /* not to be cached for UDP */
	send_ask(world.engine, &udp, &first);
	assert_int_equal(reply_count(&first, DNS_ANCOUNT_AT), 5);
	assert_int_equal(reply_count(&first, DNS_ARCOUNT_AT), 3 * 20 + 1);
	send_ask(world.engine, &udp, &second);
	assert_true(same_reply(&first, &second));
	assert_int_equal(reply_count(&whole, DNS_ARCOUNT_AT), 5 * 20 + 1 + 1);
	send_ask(world.engine, &tcp, &first);
	assert_true(same_reply(&first, &whole));
}

/* 0x20: the client's own letters come back, from zone and cache alike. */
static void test_letter_case(void **state)
{
	static const char *const names[] = {
		"a.wild.example.com", "ALIAS.example.COM", "alias.EXAMPLE.com",
		"A.wILD.eXAMPLE.cOM", "a.dn.example.com",  "NotHere.Example.Com",
		"A.dN.exAMPle.coM",
	};
	struct reply fresh, r;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ask ask = { .name = names[i], .type = T(A), .udp_size = 1232 };
		uint8_t msg[512];
		size_t len = ask_bytes(&ask, msg);

		send_ask(world.uncached, &ask, &fresh);
		send_ask(world.engine, &ask, &r);
		assert_true(same_reply(&fresh, &r));
		assert_memory_equal(r.bytes + 12, msg + 12, len - 12 - 11);
	}
}

/* The driver asks with DO and CD in the key: an answer is where it looks. */
static void test_key_has_do_and_cd(void **state)
{
	static const uint8_t folded[24] = "\3key\4wild\7example\3com";

	(void)state;
	for (uint8_t flags = 0; flags < 4; flags++) {
		struct ask ask = {
			.name = "key.wild.example.com",
			.type = T(TXT),
			.udp_size = 1232,
			.dnssec_ok = flags & VOLLEY_KEY_DO,
			.flags = flags & VOLLEY_KEY_CD ? CD : 0,
		};
		const struct volley_entry *entry;
		struct cache_key key;
		struct reply r;

		cache_key_init(&key, world.cache, folded, 22, T(TXT), IN, flags, 0);
		assert_int_equal(cache_lookup(world.cache, &key, WORLD_NOW_S, false, &entry),
				 CACHE_MISS);
		send_ask(world.engine, &ask, &r);
		assert_int_equal(cache_lookup(world.cache, &key, WORLD_NOW_S, false, &entry),
				 CACHE_HIT);
	}
}

/* The ports answer in the query's own buffer. */
static void test_answer_in_place(void **state)
{
	static uint8_t buffer[DNS_MESSAGE_MAX];
	struct engine_request rq = {
		.msg = buffer,
		.family = AF_INET,
		.client = world_client,
		.now_s = WORLD_NOW_S,
		.wall_s = WORLD_WALL_S,
	};
	struct reply apart;

	(void)state;
	for (size_t i = 0; i < N_CACHED_ROWS * 2; i++) {
		struct engine *e = i % 2 ? world.engine : world.uncached;
		struct ask ask = {
			.name = cached_rows[i / 2].name,
			.type = cached_rows[i / 2].type,
			.udp_size = 1232,
			.cookie = (const uint8_t *)"client-8",
			.cookie_bytes = 8,
		};

		send_ask(e, &ask, &apart);
		rq.len = ask_bytes(&ask, buffer);
		assert_int_equal(engine_answer(e, &rq, buffer, sizeof(buffer)), apart.len);
		assert_memory_equal(buffer, apart.bytes, apart.len);
	}
}

/* A new generation of the zone: the old answer is dead at once, and the next one is published. */
static void test_new_generation(void **state)
{
	struct ask ask = { .name = "www.example.com", .type = T(A), .udp_size = 1232 };
	struct zone_member *m = &world.members[0];
	struct engine_counters before, after;
	struct zone_set *old = world.zones.set;
	struct reply r;

	(void)state;
	send_ask(world.engine, &ask, &r);
	engine_counters_read(world.engine, &before);
	m->cache_gen = cache_zone_flush(world.cache, m->cache_slot);
	assert_int_equal(zone_set_new(&world.zones.set, world.members, world.n_zones), 0);
	zone_set_free(old);
	send_ask(world.engine, &ask, &r);
	send_ask(world.engine, &ask, &r);
	engine_counters_read(world.engine, &after);
	assert_int_equal(after.cache_stale + after.cache_miss,
			 before.cache_stale + before.cache_miss + 1);
	assert_int_equal(after.published, before.published + 1);
	assert_int_equal(after.cache_hit, before.cache_hit + 1);
}

/* Another cache between two calls: what is looked for and published is there alone. */
static void test_another_cache(void **state)
{
	struct ask ask = { .name = "x.wild.example.com", .type = T(A) };
	struct engine_counters before, after;
	struct engine_cache *place, *old;
	struct cache_stats stats, in_old;
	struct cache_memory memory;
	struct cache_sizes sizes;
	struct cache *cache;
	struct reply r;

	(void)state;
	assert_int_equal(cache_sizes_plan_beside(&sizes, 8 << 20, world.memory.sizes.n_zones), 0);
	assert_int_equal(cache_memory_anonymous_beside(&memory, &sizes, &world.memory), 0);
	assert_int_equal(cache_new_beside(&cache, &memory, world.cache), 0);
	assert_int_equal(engine_cache_new(&place, cache), 0);
	engine_counters_read(world.engine, &before);
	old = engine_exchange_cache(world.engine, place);
	cache_stats_read(world.cache, &in_old);
	send_ask(world.engine, &ask, &r);
	send_ask(world.engine, &ask, &r);
	engine_counters_read(world.engine, &after);
	assert_int_equal(after.cache_hit, before.cache_hit + 1);
	cache_stats_read(cache, &stats);
	assert_int_equal(stats.n_entries, 1);
	place = engine_exchange_cache(world.engine, old);
	cache_stats_read(world.cache, &stats);
	assert_int_equal(stats.n_entries, in_old.n_entries);
	engine_cache_free(place);
	cache_free(cache);
	cache_memory_release_beside(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hits_are_the_fresh_answers),
		cmocka_unit_test(test_tcp_gets_everything),
		cmocka_unit_test(test_letter_case),
		cmocka_unit_test(test_key_has_do_and_cd),
		cmocka_unit_test(test_answer_in_place),
		cmocka_unit_test(test_new_generation),
		cmocka_unit_test(test_another_cache),
	};

	return cmocka_run_group_tests(tests, setup, world_end);
}
