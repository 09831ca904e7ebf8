/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that zones share: equal ones are one, and any difference makes others. */
#include "config/zone_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/fields.h"
#include "config/member.h"
#include "tests/unit/config/configtext.h"

static const char head[] = "server: {listen: [192.0.2.53], storage: /s}\n"
			   "keys: [{name: k, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]\n"
			   "remotes: [{name: r, address: [192.0.2.1]}]\n"
			   "signing: [{name: p}]\n"
			   "templates: [{name: t, primaries: [r]}, {name: u, primaries: [r]},\n"
			   "            {name: v}, {name: w}]\n"
			   "zones:\n"
			   "  - {name: made., file: /z/made, catalog: produce}\n";

/* A difference from a zone without other keys: keys of the zone before and after. */
static const struct {
	const char *leaf; /* of the key */
	const char *without, *with;
} differences[] = {
	{ "template", "template: t", "template: u" },
	{ "template", "template: v", "template: w" },
	{ "verify", "", "verify: [check]" },
	{ "verify", "verify: [check]", "verify: [check, more]" },
	{ "verify-timeout", "verify: [check]", "verify: [check], verify-timeout: 7s" },
	{ "primaries", "", "primaries: [r]" },
	{ "notify", "", "notify: [r]" },
	{ "allow-transfer", "", "allow-transfer: [any]" },
	{ "allow-transfer", "allow-transfer: [any]", "allow-transfer: [key k]" },
	{ "allow-transfer", "allow-transfer: [192.0.2.0/24]", "allow-transfer: [192.0.2.0/25]" },
	{ "allow-notify", "primaries: [r]", "primaries: [r], allow-notify: [192.0.2.7]" },
	{ "allow-update", "", "allow-update: [key k]" },
	{ "ixfr", "", "ixfr: false" },
	{ "journal-size", "", "journal-size: 3M" },
	{ "zonefile-sync", "", "zonefile-sync: 7s" },
	{ "max-transfer-size", "", "max-transfer-size: 7M" },
	{ "max-transfer-time", "", "max-transfer-time: 7s" },
	{ "refresh-min", "", "refresh-min: 7s" },
	{ "refresh-max", "", "refresh-max: 7h" },
	{ "retry-min", "", "retry-min: 7s" },
	{ "retry-max", "", "retry-max: 7h" },
	{ "expire-min", "", "expire-min: 7s" },
	{ "expire-max", "", "expire-max: 700h" },
	{ "signing", "", "signing: p" },
	{ "driver-denials", "", "driver-denials: off" },
	{ "zonemd", "", "zonemd: require" },
	{ "serial", "", "serial: increment" },
	{ "catalog", "", "catalog: produce" },
	{ "member-of", "", "member-of: made" },
	{ "group", "member-of: made", "member-of: made, group: G" },
	{ "groups", "catalog: consume, groups: [{template: t}]",
	  "catalog: consume, groups: [{template: u}]" },
	{ "groups", "catalog: consume, groups: [{template: t}]",
	  "catalog: consume, groups: [{template: t}, {group: X, template: t}]" },
};

#define N_DIFFERENCES (sizeof(differences) / sizeof(differences[0]))

/* The zones are made., a., b. and c.; a. differs from the others. */
static struct config *load_difference(const char *of_a, const char *of_others)
{
	const char *keys[] = { of_a, of_others, of_others };
	char text[4096];
	int n = snprintf(text, sizeof(text), "%s", head);

	for (int i = 0; i < 3; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      "  - {name: %c., file: /z/%c%s%s}\n", 'a' + i, 'a' + i,
			      *keys[i] ? ", " : "", keys[i]);
	return load_good(text);
}

static void any_difference_makes_other_settings(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_DIFFERENCES; i++) {
		struct config *config =
			load_difference(differences[i].without, differences[i].with);
		struct zone_pool *pool = zone_pool_new();
		const struct config_zone *a = zone_pool_share(pool, &config->zones[1]);
		const struct config_zone *b = zone_pool_share(pool, &config->zones[2]);
		const struct config_zone *c = zone_pool_share(pool, &config->zones[3]);

		if (a == b || b != c || zone_pool_n(pool) != 2)
			fail_msg("%s: %s", differences[i].leaf, differences[i].with);
		config_zone_unref(a);
		config_zone_unref(b);
		config_zone_unref(c);
		zone_pool_free(pool);
		config_free(config);
	}
}

/* A new key needs a row in the table above. */
static void each_key_is_compared(void **state)
{
	struct words_level level;

	(void)state;
	words_level_of(&level, "zones");
	for (unsigned int k = 0; k < level.n; k++) {
		const char *leaf = level.children[k].leaf;
		bool has_row = !strcmp(leaf, "name") || !strcmp(leaf, "file");

		for (size_t i = 0; i < N_DIFFERENCES; i++)
			has_row |= !strcmp(leaf, differences[i].leaf);
		if (!has_row)
			fail_msg("%s has no row", leaf);
	}
}

static void the_root_copy_has_settings_of_its_own(void **state)
{
	struct zone_pool *pool = zone_pool_new();
	struct config_zone plain = { 0 }, copy = { .is_root_copy = true };
	const struct config_zone *a = zone_pool_share(pool, &plain);
	const struct config_zone *b = zone_pool_share(pool, &copy);

	(void)state;
	assert_ptr_not_equal(a, b);
	assert_true(b->is_root_copy);
	config_zone_unref(a);
	config_zone_unref(b);
	zone_pool_free(pool);
}

static void name_and_file_stay(void **state)
{
	struct config *config = load_difference("notify: [r]", "notify: [r]");
	struct zone_pool *pool = zone_pool_new();
	const struct config_zone *a = zone_pool_share(pool, &config->zones[1]);
	const struct config_zone *b = zone_pool_share(pool, &config->zones[2]);

	(void)state;
	assert_ptr_equal(a, b);
	assert_null(a->name);
	assert_null(a->file);
	assert_string_equal(config->zones[1].name, "a.");
	assert_string_equal(config->zones[2].file, "/z/b");
	assert_null(config->zones[1].notify);
	config_free(config);
	assert_string_equal(a->notify[0], "r");
	config_zone_unref(a);
	config_zone_unref(b);
	zone_pool_free(pool);
}

/* Of as many different settings as zones, too. */
static void trimming_frees_what_no_zone_has(void **state)
{
	enum { N = 1000 };
	static const struct config_zone *settings[N];
	struct zone_pool *pool = zone_pool_new();

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		struct config_zone zone = { .transfer_s = i };

		settings[i] = zone_pool_share(pool, &zone);
		assert_int_equal(settings[i]->transfer_s, i);
	}
	assert_int_equal(zone_pool_n(pool), N);
	for (uint32_t i = 0; i < N; i += 2)
		config_zone_unref(settings[i]);
	zone_pool_trim(pool);
	assert_int_equal(zone_pool_n(pool), N / 2);
	for (uint32_t i = 1; i < N; i += 2) {
		struct config_zone zone = { .transfer_s = i };

		assert_ptr_equal(zone_pool_share(pool, &zone), settings[i]);
		config_zone_unref(settings[i]);
	}
	zone_pool_free(pool);
	for (uint32_t i = 1; i < N; i += 2) {
		assert_int_equal(settings[i]->transfer_s, i);
		config_zone_unref(settings[i]);
	}
}

/* Settings that were the last ones, and that trimming has freed, are made anew. */
static void the_last_ones_may_be_trimmed(void **state)
{
	struct zone_pool *pool = zone_pool_new();

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct config_zone zone = { .transfer_s = 7 };

		config_zone_unref(zone_pool_share(pool, &zone));
		assert_int_equal(zone_pool_n(pool), 1);
		zone_pool_trim(pool);
		assert_int_equal(zone_pool_n(pool), 0);
	}
	zone_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_difference_makes_other_settings),
		cmocka_unit_test(each_key_is_compared),
		cmocka_unit_test(the_root_copy_has_settings_of_its_own),
		cmocka_unit_test(name_and_file_stay),
		cmocka_unit_test(trimming_frees_what_no_zone_has),
		cmocka_unit_test(the_last_ones_may_be_trimmed),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
