/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which answers a flush takes, and how the cache is counted: over answers that the engine has
 * given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <jansson.h>

#include "cache/entry_walk.h"
#include "census/cache_census.h"
#include "census/cache_match.h"
#include "tests/lib/wholewalk.h"
#include "tests/unit/engine/world.h"

static const char zone_text[] = "$TTL 300\n"
				"@ SOA ns root 1 2 3 4 60\n@ NS ns\nns A 192.0.2.1\n"
				"www A 192.0.2.2\nwww AAAA 2001:db8::1\n"
				"a.www A 192.0.2.3\nxwww A 192.0.2.4\n"
				"alias CNAME www\nnowhere CNAME none\noutside CNAME www.y.test.\n"
				"sub NS ns.sub\nns.sub A 192.0.2.5\n"
				"old DNAME www\n";

static const struct {
	const char *name;
	uint16_t type;
	enum answer_kind kind;
} asked[] = {
	{ "www.z.test", DNS_TYPE_A, ANSWER_POSITIVE },
	{ "www.z.test", DNS_TYPE_AAAA, ANSWER_POSITIVE },
	{ "www.z.test", DNS_TYPE_MX, ANSWER_NODATA },
	{ "www.z.test", DNS_TYPE_ANY, ANSWER_ANY },
	{ "a.www.z.test", DNS_TYPE_A, ANSWER_POSITIVE },
	{ "xwww.z.test", DNS_TYPE_A, ANSWER_POSITIVE },
	{ "alias.z.test", DNS_TYPE_A, ANSWER_ALIAS },
	{ "alias.z.test", DNS_TYPE_CNAME, ANSWER_POSITIVE },
	{ "alias.z.test", DNS_TYPE_MX, ANSWER_NODATA }, /* RFC 2308 section 2.2 */
	{ "nowhere.z.test", DNS_TYPE_A, ANSWER_NXDOMAIN },
	{ "outside.z.test", DNS_TYPE_A, ANSWER_ALIAS },
	{ "a.old.z.test", DNS_TYPE_A, ANSWER_ALIAS },
	{ "a.sub.z.test", DNS_TYPE_A, ANSWER_REFERRAL },
	{ "none.z.test", DNS_TYPE_A, ANSWER_NXDOMAIN },
	{ "www.x.test", DNS_TYPE_A, ANSWER_POSITIVE },
	{ "a\\003www.z.test", DNS_TYPE_A, ANSWER_NXDOMAIN }, /* ends as www.z.test, but no label */
};

#define N_ASKED (sizeof(asked) / sizeof(asked[0]))

static struct world world;

static int open_world(void **state)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;
	static struct reply reply;

	world_begin(&world, state);
	world_add_zone(&world, "z.test", zone_text);
	world_add_zone(&world, "x.test",
		       "$TTL 300\n@ SOA ns root 1 2 3 4 60\n@ NS ns.z.test.\n"
		       "www A 192.0.2.9\n");
	world_open(&world, &config);
	for (size_t i = 0; i < N_ASKED; i++)
		send_ask(world.engine,
			 &(struct ask){ .name = asked[i].name, .type = asked[i].type }, &reply);
	return 0;
}

/* --- Kinds ------------------------------------------------------------------------------------ */

static size_t which(const struct volley_entry *e)
{
	uint8_t wire[DNS_NAME_MAX];

	for (size_t i = 0; i < N_ASKED; i++) {
		int len = name_from_text(wire, sizeof(wire), asked[i].name, strlen(asked[i].name));

		if (ntohs(e->key.qtype) == asked[i].type && len == e->key.name_bytes &&
		    !memcmp(wire, e->name, (size_t)len))
			return i;
	}
	fail();
	return 0;
}

static enum walk_step see_kind(void *user, const struct volley_entry *e)
{
	size_t *n = user, i = which(e);

	if (answer_kind(e) != asked[i].kind)
		fail_msg("%s %u: %s", asked[i].name, asked[i].type,
			 answer_kind_text(answer_kind(e)));
	(*n)++;
	return WALK_ON;
}

static void test_kinds(void **state)
{
	size_t n = 0;

	(void)state;
	whole_walk(world.cache, see_kind, &n);
	assert_int_equal(n, N_ASKED);
}

/* --- Matches ---------------------------------------------------------------------------------- */

static const struct match_row {
	const char *words[2];
	const char *taken; /* a letter for each that is asked, from a */
} match_rows[] = {
	{ { "--all", NULL }, "abcdefghijklmnop" },
	{ { "WWW.z.test", NULL }, "abcd" },
	{ { "www.z.test.", "aaaa" }, "b" },
	{ { "--subtree", "www.z.test" }, "abcde" },
	{ { "--subtree", "z.test" }, "abcdefghijklmnp" },
	{ { "--subtree", "." }, "abcdefghijklmnop" },
	{ { "--subtree", "ww.z.test" }, "" },
	{ { "--type", "MX" }, "ci" },
	{ { "--zone", "x.test" }, "o" },
	{ { "--negative", NULL }, "cijnp" },
};

struct taken {
	struct cache_match match;
	char letters[N_ASKED + 1];
};

static enum walk_step see_match(void *user, const struct volley_entry *e)
{
	struct taken *taken = user;

	if (cache_match_has(&taken->match, e))
		taken->letters[which(e)] = 'x';
	return WALK_ON;
}

static json_t *pack_words(const char *const words[2])
{
	json_t *args = json_array();

	for (size_t i = 0; i < 2 && words[i]; i++)
		json_array_append_new(args, json_string(words[i]));
	return args;
}

static void test_matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(match_rows) / sizeof(match_rows[0]); i++) {
		const struct match_row *row = &match_rows[i];
		json_t *args = pack_words(row->words);
		char err[200] = "", want[N_ASKED + 1];
		struct taken taken;
		const char *zone;

		memset(taken.letters, '-', N_ASKED);
		memset(want, '-', N_ASKED);
		for (const char *c = row->taken; *c; c++)
			want[*c - 'a'] = 'x';
		taken.letters[N_ASKED] = want[N_ASKED] = 0;
		assert_int_equal(cache_match_read(&taken.match, args, &zone, err, sizeof(err)), 0);
		assert_int_equal(zone != NULL, !strcmp(row->words[0], "--zone"));
		taken.match.zone_slot = world.members[1].cache_slot;
		whole_walk(world.cache, see_match, &taken);
		assert_string_equal(taken.letters, want);
		json_decref(args);
	}
}

static void test_refusals(void **state)
{
	static const char *const rows[][2] = {
		{ NULL, NULL },        { "--all", "x" },        { "--subtree", NULL },
		{ "--nothing", "x" },  { "--type", "XYZ" },     { "a..b", NULL },
		{ "a.test", "XYZ" },   { "--subtree", "a..b" }, { "--zone", NULL },
		{ "--negative", "a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *args = pack_words(rows[i]);
		struct cache_match match;
		char err[200] = "";
		const char *zone;

		assert_true(cache_match_read(&match, args, &zone, err, sizeof(err)) < 0);
		assert_true(*err);
		json_decref(args);
	}
}

/* --- Census ----------------------------------------------------------------------------------- */

static enum walk_step count(void *user, const struct volley_entry *e)
{
	census_add(user, e, cache_entry_verdict(world.cache, e, WORLD_NOW_S + 10),
		   WORLD_NOW_S + 10);
	return WALK_ON;
}

static void test_census(void **state)
{
	struct census *census = census_new(cache_state(world.cache)->n_zones);
	uint32_t largest[3];

	(void)state;
	whole_walk(world.cache, count, census);
	assert_int_equal(census->all.entries, N_ASKED);
	assert_int_equal(census->by_type[DNS_TYPE_MX].entries, 2);
	assert_int_equal(census->by_kind[ANSWER_ALIAS].entries, 3);
	assert_int_equal(census->by_zone[world.members[1].cache_slot].entries, 1);
	assert_int_equal(census->by_variant[0][0].entries, N_ASKED);
	assert_int_equal(census->age.most_s, 10);
	assert_int_equal(census_median_s(&census->age), 10);
	assert_int_equal(census->left.n, 0);
	assert_int_equal(census->n_stale, 0);
	assert_int_equal(census_largest(census->by_type, CENSUS_TYPES, largest, 3), 3);
	assert_int_equal(largest[0], DNS_TYPE_A);
	assert_true(census->by_type[largest[1]].bytes >= census->by_type[largest[2]].bytes);
	census_free(census);
}

static void test_census_of_views(void **state)
{
	struct census *census = census_new(2);

	(void)state;
	for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++)
		for (int i = 0; i <= view; i++) {
			const struct volley_entry e = {
				.bytes = 64,
				.body_offset = sizeof(e),
				.key = { .view = view, .flags = VOLLEY_KEY_DO },
			};

			census_add(census, &e, CACHE_HIT, 0);
		}
	for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++) {
		assert_int_equal(census->by_variant[view][VOLLEY_KEY_DO].entries, view + 1);
		assert_int_equal(census->by_variant[view][0].entries, 0);
	}
	census_free(census);
}

static void add_age(struct census *census, uint32_t age_s)
{
	struct volley_entry e = { .bytes = 64, .expires_s = UINT32_MAX - 1 };

	e.body_offset = sizeof(e);
	census_add(census, &e, CACHE_STALE, age_s);
}

/* Never too high, and at most 1/32 too low. */
static void test_median(void **state)
{
	static const uint32_t ages[] = {
		0, 1, 63, 64, 65, 127, 128, 1000, 86400, 1u << 31, ~0u - 2
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
		struct census *census = census_new(2);

		add_age(census, ages[i]);
		add_age(census, ages[i]);
		add_age(census, 0);
		assert_true(census_median_s(&census->age) <= ages[i]);
		assert_true(census_median_s(&census->age) >= ages[i] - ages[i] / 32);
		assert_int_equal(census->n_stale, 3);
		assert_int_equal(census->left.n, 3);
		census_free(census);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),           cmocka_unit_test(test_matches),
		cmocka_unit_test(test_refusals),        cmocka_unit_test(test_census),
		cmocka_unit_test(test_census_of_views), cmocka_unit_test(test_median),
	};

	return cmocka_run_group_tests(tests, open_world, world_end);
}
