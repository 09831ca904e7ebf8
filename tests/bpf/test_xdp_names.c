/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which the program looks for an answer, and its notes of a zone's region.
 * test_truth_denials compares the answers with the engine's.
 *
 *      wilds.test   a wildcard, without signatures     ┐ tests/lib/sharedzones.h
 *      nsec1.test   names and NSEC, asked with DO      ┘
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>

#include "base/clock.h"
#include "cache/generations.h"
#include "tests/lib/sharedzones.h"
#include "tests/lib/xdpworld.h"

#define N_NAMES     64u
#define ASKED       1000u /* the first of the names that are in no zone */
#define N_LINES     512u
#define N_INTERVALS 256u
#define CACHE_BYTES (8u << 20)

struct world {
	struct xdp_world x;
	struct cache *cache;
	struct names names;
};

static struct world world;

static int no_grace(void *user)
{
	(void)user;
	return 0;
}

/* Seven letters for each number. */
static __u64 label(__u32 number)
{
	uint8_t octets[SHAREDZONE_LABEL_BYTES] = { 7 };
	__u64 word;

	for (unsigned int i = 7; i > 0; i--, number /= 26)
		octets[i] = (uint8_t)('a' + number % 26);
	memcpy(&word, octets, sizeof(word));
	return word;
}

/* All runs use one processor, since each has its own lead. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
}

static int open_world(void **state)
{
	struct cache_sizes sizes;
	struct bpfmaps *maps = &world.x.maps;
	bool adopted;
	int err = cache_sizes_plan(&sizes, CACHE_BYTES, XDP_WORLD_ZONES);

	if (err)
		return err;
	sizes.n_names_lines = N_LINES;
	err = bpfmaps_open(maps, &sizes);

	*state = err ? NULL : &world;
	if (err)
		return err == -EPERM ? 0 : err;
	err = cache_new(&world.cache, &maps->memory, &adopted);
	if (err)
		return err;
	cache_state(world.cache)->serve_until_s = VOLLEY_NEVER;
	cache_state(world.cache)->max_udp_bytes = XDP_WORLD_MAX_UDP;
	xdp_serve(cache_state(world.cache));
	__atomic_store_n(&cache_state(world.cache)->magic, VOLLEY_MAGIC, __ATOMIC_RELEASE);
	names_init(&world.names, maps->names, N_LINES - N_INTERVALS,
		   &cache_state(world.cache)->names);
	names_init_intervals(&world.names, N_INTERVALS);
	err = names_begin(&world.names, no_grace, NULL);
	return err ? err : sharedzones_publish(world.cache, &world.names, label, N_NAMES, ASKED);
}

static int close_world(void **state)
{
	if (!*state)
		return 0;
	names_fini(&world.names);
	cache_free(world.cache);
	bpfmaps_close(&world.x.maps);
	return 0;
}

/* The program's reason for this query of type A. */
static int ask_for(const uint8_t *name, uint16_t edns_flags)
{
	static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
	static struct xdp_result result;
	const struct pkt_ask query = {
		.name = name, .edns = true, .udp_size = XDP_WORLD_MAX_UDP, .edns_flags = edns_flags
	};
	size_t n = pkt_build(frame, &pkt_ipv4, dns, pkt_ask(dns, &query));

	xdp_world_run(&world.x, frame, n, &result);
	return result.reason;
}

static void make_name(uint8_t *name, enum sharedzone zone, uint32_t number)
{
	uint64_t octets = label(number);

	memcpy(name, &octets, SHAREDZONE_LABEL_BYTES);
	memcpy(name + SHAREDZONE_LABEL_BYTES, sharedzone_apexes[zone], SHAREDZONE_APEX_BYTES);
}

static int ask(enum sharedzone zone, uint32_t number)
{
	uint8_t name[PKT_NAME_MAX];

	make_name(name, zone, number);
	return ask_for(name, zone == SHAREDZONE_WILD ? 0 : PKT_DO);
}

/* Asks for n new names: each counts under this reason, except one in VOLLEY_CHECK_EVERY. */
static void flood(enum sharedzone zone, uint32_t n, int reason)
{
	static uint32_t next = 2 * ASKED;

	for (uint32_t i = 0; i < n; i++) {
		int counted = ask(zone, next++);

		if (counted != VOLLEY_UP_CHECKED)
			assert_int_equal(counted, reason);
	}
}

static void make_key(struct cache_key *key, const uint8_t *name)
{
	const struct volley_key first = { .qtype = htons(1),
					  .qclass = htons(1),
					  .name_bytes = (uint8_t)pkt_name_bytes(name) };

	cache_key_from(key, world.cache, &first, name);
}

/* Publishes ASKED's answer as the own entry of a name that no zone has. */
static void publish(const uint8_t *name)
{
	const struct volley_entry *entry;
	static uint8_t body[VOLLEY_UDP_MAX];
	struct cache_answer answer;
	struct cache_writer *writer;
	struct cache_key key;
	uint8_t asked[PKT_NAME_MAX];

	make_name(asked, SHAREDZONE_WILD, ASKED);
	make_key(&key, asked);
	assert_int_equal(cache_lookup(world.cache, &key, clock_coarse_s(), false, &entry),
			 CACHE_HIT);
	cache_answer_of(&answer, entry, clock_coarse_s());
	memcpy(body, answer.body, answer.full_bytes);
	answer.body = body;
	make_key(&key, name);
	assert_int_equal(cache_writer_new(&writer, world.cache), 0);
	assert_int_equal(cache_publish(writer, &key, &answer, clock_coarse_s()), 0);
	cache_writer_free(writer);
}

static void take(void **state)
{
	if (!*state)
		skip();
	stay_here();
	assert_int_equal(bpfmaps_counters(&world.x.maps, &world.x.counted), 0);
}

/* ASKED has its own entry, and the wildcard's answer is the same: the counter tells which of them
 * was looked up first. */
static void test_order(void **state)
{
	uint8_t other[PKT_NAME_MAX];

	take(state);
	pkt_name(other, "other.example");
	publish(other);
	assert_int_equal(ask(SHAREDZONE_WILD, ASKED), VOLLEY_HIT_FULL);
	flood(SHAREDZONE_WILD, VOLLEY_LEAD_FIRST - 1, VOLLEY_HIT_WILDCARD);
	assert_int_equal(ask(SHAREDZONE_WILD, ASKED), VOLLEY_HIT_FULL);
	flood(SHAREDZONE_WILD, 2 * VOLLEY_LEAD_MAX, VOLLEY_HIT_WILDCARD);
	assert_int_equal(ask(SHAREDZONE_WILD, ASKED), VOLLEY_HIT_WILDCARD);
	for (uint32_t lead = VOLLEY_LEAD_MAX; lead >= VOLLEY_LEAD_FIRST; lead--)
		assert_int_equal(ask_for(other, 0), VOLLEY_HIT_FULL);
	assert_int_equal(ask(SHAREDZONE_WILD, ASKED), VOLLEY_HIT_FULL);
}

static struct volley_intervals_head *head_at(uint32_t at)
{
	return (struct volley_intervals_head *)&world.x.maps.names[at];
}

/* The zone's denial, which names its region. */
static struct volley_shared *denial(void)
{
	const uint8_t *apex = sharedzone_apexes[SHAREDZONE_NSEC];
	uint32_t id = names_id(&world.names);
	const struct volley_key first = { .qclass = htons(VOLLEY_SHARED_CLASS(id)),
					  .flags = VOLLEY_KEY_DO,
					  .name_bytes = SHAREDZONE_APEX_BYTES,
					  .kind = VOLLEY_SHARED_KIND(VOLLEY_KEY_DENIAL, id) };
	const struct volley_entry *entry;
	struct cache_key key;

	cache_key_from(&key, world.cache, &first, apex);
	assert_int_equal(cache_lookup(world.cache, &key, clock_coarse_s(), false, &entry),
			 CACHE_HIT);
	return (struct volley_shared *)(uintptr_t)cache_entry_body(entry);
}

/* After a region is replaced, its note is not used, and the zone's denial is looked up again. */
static void test_region(void **state)
{
	const uint32_t free_line = N_LINES - 1;
	struct volley_shared *of_zone;
	uint32_t at;

	take(state);
	flood(SHAREDZONE_NSEC, 20, VOLLEY_HIT_DENIED);
	of_zone = denial();
	at = of_zone->intervals_at;
	*head_at(free_line) = *head_at(at);
	head_at(free_line)->id = of_zone->intervals_id + 1000;
	head_at(at)->id = 0;
	flood(SHAREDZONE_NSEC, 20, VOLLEY_UP_MISS);
	of_zone->intervals_at = free_line;
	of_zone->intervals_id += 1000;
	flood(SHAREDZONE_NSEC, 20, VOLLEY_HIT_DENIED);
	of_zone->intervals_id = 0; /* the note is used, and this is not read */
	flood(SHAREDZONE_NSEC, 20, VOLLEY_HIT_DENIED);
}

/* With a new generation no entry of the zone is used, with or without a note. */
static void test_generation(void **state)
{
	const uint64_t digest[2] = { 3, 3 };
	uint32_t slot, gen;

	take(state);
	cache_zone_prepare(world.cache, sharedzone_apexes[SHAREDZONE_NSEC], SHAREDZONE_APEX_BYTES,
			   digest, &slot, &gen);
	cache_zone_commit(world.cache, slot, gen, digest);
	flood(SHAREDZONE_NSEC, 20, VOLLEY_UP_STALE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_region),
		cmocka_unit_test(test_generation),
	};

	return cmocka_run_group_tests(tests, open_world, close_world);
}
