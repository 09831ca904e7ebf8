/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which zone answers: the deepest apex, and the parent for DS.
 */
#include <errno.h>
#include <stdlib.h>

#include "zone/set.h"
#include "zone_text.h"

/* The slot number names the member. */
static const char *const apexes[] = { "com.",           "example.com.",
				      "b.example.com.", "d.c.b.example.com.",
				      "org.",           "example.net." };

struct lookup {
	const char *name, *qname;
	uint16_t qtype;
	int member; /* -1: none */
};

static const struct lookup lookups[] = {
	{ "the apex", "example.com.", DNS_TYPE_A, 1 },
	{ "below", "x.y.example.com.", DNS_TYPE_A, 1 },
	{ "the deepest", "x.b.example.com.", DNS_TYPE_A, 2 },
	{ "between two apexes", "c.b.example.com.", DNS_TYPE_A, 2 },
	{ "below the deepest", "a.b.c.d.c.b.example.com.", DNS_TYPE_A, 3 },
	{ "DS at an apex: the parent", "b.example.com.", DNS_TYPE_DS, 1 },
	{ "DS at an apex, parent far above", "d.c.b.example.com.", DNS_TYPE_DS, 2 },
	{ "DS at an apex, no parent", "example.net.", DNS_TYPE_DS, 5 },
	{ "DS below an apex", "x.b.example.com.", DNS_TYPE_DS, 2 },
	{ "above all", "net.", DNS_TYPE_A, -1 },
	{ "the root", ".", DNS_TYPE_A, -1 },
	{ "a sibling", "xexample.net.", DNS_TYPE_A, -1 },
	{ "the same labels elsewhere", "example.com.example.", DNS_TYPE_A, -1 },
};

static struct zone_set *set_of(const char *const *texts, size_t n, int want)
{
	static uint8_t names[16][256];
	struct zone_member members[16] = { 0 };
	struct zone_set *set;

	assert_true(n <= 16);
	for (size_t i = 0; i < n; i++)
		members[i] = (struct zone_member){ .apex = names[i],
						   .apex_len = wire_of(names[i], texts[i]),
						   .cache_slot = (uint32_t)i,
						   .cache_gen = 100 + (uint32_t)i };
	assert_int_equal(zone_set_new(&set, members, n), want);
	memset(names, 0xff, sizeof(names));
	return set;
}

static void finds_the_deepest(void **state)
{
	struct zone_set *set = set_of(apexes, 6, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
		const struct lookup *row = &lookups[i];
		const struct zone_member *m;
		uint8_t qname[256];
		unsigned len = wire_of(qname, row->qname);

		print_message("  %s\n", row->name);
		m = zone_set_find(set, qname, len, row->qtype);
		assert_int_equal(m ? (int)m->cache_slot : -1, row->member);
		if (m) {
			assert_int_equal(m->cache_gen, 100 + row->member);
			assert_null(m->zone);
		}
	}
	zone_set_free(set);
}

static void gets_exactly(void **state)
{
	struct zone_set *set = set_of(apexes, 6, 0);
	uint8_t name[256];

	(void)state;
	assert_int_equal(zone_set_n(set), 6);
	for (size_t i = 0; i < 6; i++) {
		unsigned len = wire_of(name, apexes[i]);

		assert_int_equal(zone_set_get(set, name, len)->cache_slot, i);
		assert_memory_equal(zone_set_get(set, name, len)->apex, name, len);
	}
	assert_null(zone_set_get(set, name, wire_of(name, "c.b.example.com.")));
	zone_set_free(set);
}

static void serves_the_root(void **state)
{
	static const char *const texts[] = { ".", "com." };
	struct zone_set *set = set_of(texts, 2, 0);
	uint8_t name[256];

	(void)state;
	assert_int_equal(zone_set_find(set, name, wire_of(name, "."), DNS_TYPE_NS)->cache_slot, 0);
	assert_int_equal(zone_set_find(set, name, wire_of(name, "."), DNS_TYPE_DS)->cache_slot, 0);
	assert_int_equal(
		zone_set_find(set, name, wire_of(name, "a.b.org."), DNS_TYPE_A)->cache_slot, 0);
	assert_int_equal(zone_set_find(set, name, wire_of(name, "a.com."), DNS_TYPE_A)->cache_slot,
			 1);
	assert_int_equal(zone_set_find(set, name, wire_of(name, "com."), DNS_TYPE_DS)->cache_slot,
			 0);
	zone_set_free(set);
}

static void may_be_empty(void **state)
{
	struct zone_set *set = set_of(apexes, 0, 0);
	uint8_t name[256];

	(void)state;
	assert_null(zone_set_find(set, name, wire_of(name, "a.com."), DNS_TYPE_A));
	assert_int_equal(zone_set_n(set), 0);
	zone_set_free(set);
	zone_set_free(NULL);
}

static void refuses_bad_members(void **state)
{
	static const char *const twice[] = { "a.", "b.", "a." };
	struct zone_member bad = { .apex = (const uint8_t *)"\3com", .apex_len = 4 };
	struct zone_set *set;

	(void)state;
	assert_null(set_of(twice, 3, -EEXIST));
	assert_int_equal(zone_set_new(&set, &bad, 1), -EINVAL);
	assert_null(set);
}

static void holds_many(void **state)
{
	enum { N = 10000 };
	struct zone_member *members = calloc(N, sizeof(*members));
	uint8_t(*names)[256] = calloc(N, sizeof(*names)), qname[256];
	struct zone_set *set;
	char text[64];

	(void)state;
	assert_true(members && names);
	for (unsigned i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "z%u.test.", i);
		members[i].apex_len = wire_of(names[i], text);
		members[i].apex = names[i];
		members[i].cache_slot = i;
	}
	assert_int_equal(zone_set_new(&set, members, N), 0);
	for (unsigned i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "www.z%u.test.", i);
		assert_int_equal(zone_set_find(set, qname, wire_of(qname, text), 1)->cache_slot, i);
	}
	zone_set_free(set);
	free(members);
	free(names);
}

/* Zones come and go in turns, as the model says; a walk finds each once. */
static void changes_while_it_is_read(void **state)
{
	enum { N = 3000, STEPS = 60000 };
	static uint32_t slots[N]; /* 0: not there */
	struct zone_set *set = set_of(apexes, 0, 0);
	struct zone_set_place place = { 0 };
	const struct zone_member *m;
	size_t n = 0, n_seen = 0;
	uint64_t random = 1;
	char text[64];

	(void)state;
	for (uint32_t step = 1; step <= STEPS; step++) {
		/* first more come than go, in the second half more go */
		bool comes = (random >> 40) % 8 < (step < STEPS / 2 ? 6u : 2u);
		uint32_t i = (uint32_t)(random >> 16) % N;
		struct zone_member member = { .cache_slot = step };
		uint8_t name[256];

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		snprintf(text, sizeof(text), "z%u.test.", i);
		member.apex = name;
		member.apex_len = wire_of(name, text);
		if (comes)
			assert_int_equal(zone_set_put(set, &member), 0);
		else
			zone_set_remove(set, name, member.apex_len);
		n += comes && !slots[i];
		n -= !comes && slots[i];
		slots[i] = comes ? step : 0;
		m = zone_set_find(set, name, member.apex_len, DNS_TYPE_A);
		assert_int_equal(m ? m->cache_slot : 0, slots[i]);
		assert_int_equal(zone_set_n(set), n);
		if (step % 100 == 0)
			zone_set_reclaim(set);
		if (step % (STEPS / 4))
			continue;
		for (i = 0; i < N; i++) {
			snprintf(text, sizeof(text), "z%u.test.", i);
			m = zone_set_get(set, name, wire_of(name, text));
			assert_int_equal(m ? m->cache_slot : 0, slots[i]);
		}
	}
	while ((m = zone_set_next(set, &place)))
		n_seen++;
	assert_int_equal(n_seen, n);
	assert_true(n > 0);
	zone_set_free(set);
}

/* A reader that has a member, or looks for it, goes on until reclaim. */
static void keeps_what_readers_have(void **state)
{
	struct zone_set *set = set_of(apexes, 6, 0);
	uint8_t name[256];
	unsigned len = wire_of(name, apexes[1]);
	const struct zone_member *before = zone_set_get(set, name, len);
	struct zone_member next = { .apex = name, .apex_len = len, .cache_gen = 9 };

	(void)state;
	assert_int_equal(zone_set_put(set, &next), 0);
	assert_int_equal(before->cache_gen, 101);
	assert_int_equal(zone_set_get(set, name, len)->cache_gen, 9);
	zone_set_remove(set, name, len);
	zone_set_remove(set, name, len);
	assert_null(zone_set_get(set, name, len));
	assert_int_equal(zone_set_n(set), 5);
	assert_int_equal(before->cache_gen, 101);
	zone_set_reclaim(set);
	next.apex_len = 2;
	assert_int_equal(zone_set_put(set, &next), -EINVAL);
	zone_set_free(set);
}

/* However many zones come and go, one after the other, the directory keeps its single entry. */
static void does_not_grow_by_changes(void **state)
{
	struct zone_set *set = set_of(apexes, 0, 0);
	struct zone_set_place place = { 0 };
	uint8_t name[256];
	char text[64];

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		struct zone_member member = { .apex = name };

		snprintf(text, sizeof(text), "z%u.test.", i);
		member.apex_len = wire_of(name, text);
		assert_int_equal(zone_set_put(set, &member), 0);
		zone_set_remove(set, name, member.apex_len);
		zone_set_reclaim(set);
	}
	assert_null(zone_set_next(set, &place));
	assert_int_equal(place.bucket, 1);
	zone_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_deepest),
		cmocka_unit_test(gets_exactly),
		cmocka_unit_test(serves_the_root),
		cmocka_unit_test(may_be_empty),
		cmocka_unit_test(refuses_bad_members),
		cmocka_unit_test(holds_many),
		cmocka_unit_test(changes_while_it_is_read),
		cmocka_unit_test(keeps_what_readers_have),
		cmocka_unit_test(does_not_grow_by_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
