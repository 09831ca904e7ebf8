/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Zones made from templates: what they have, and where their files are. */
#include "config/member.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/config/configtext.h"

#define LONG_LABEL "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."

static const char text[] = "server: {listen: [192.0.2.53], storage: /s}\n"
			   "keys: [{name: k, secret: MDEyMzQ1Njc4OWFiY2RlZg==}]\n"
			   "remotes: [{name: r, address: [192.0.2.1]}]\n"
			   "templates:\n"
			   "  - name: all\n"
			   "    file: \"/z/100%%/%s/%s.db\"\n"
			   "    verify: [check, --hard]\n"
			   "    primaries: [r]\n"
			   "    notify: [r]\n"
			   "    allow-transfer: [any, key k]\n"
			   "    journal-size: 3M\n"
			   "    member-of: made\n"
			   "    group: G\n"
			   "  - name: plain\n"
			   "zones:\n"
			   "  - name: made\n"
			   "    catalog: produce\n"
			   "  - name: catalog\n"
			   "    catalog: consume\n"
			   "    groups: [{template: plain}, {group: X, template: all}]\n"
			   "  - name: strict\n"
			   "    catalog: consume\n"
			   "    groups: [{group: X, template: all}]\n";

static void test_member(void **state)
{
	struct config *config = load_good(text);
	struct config_zone zone;

	(void)state;
	assert_int_equal(config_member_zone(config, "all", "example.com.", &zone), 0);
	assert_string_equal(zone.name, "example.com.");
	assert_string_equal(zone.template_name, "all");
	assert_string_equal(zone.file, "/z/100%/example.com/example.com.db");
	assert_string_equal(zone.verify.argv[1], "--hard");
	assert_string_equal(zone.primaries[0], "r");
	assert_null(zone.primaries[1]);
	assert_int_equal(zone.allow_transfer.n, 2);
	assert_string_equal(zone.allow_transfer.rules[1].key, "k.");
	assert_int_equal(zone.journal_bytes, 3 << 20);
	assert_int_equal(zone.transfer_s, 7200);
	assert_string_equal(zone.member_of, "made.");
	assert_string_equal(zone.member_group, "G");
	config_zone_fini(&zone);
	assert_null(zone.name);
	assert_int_equal(config_member_zone(config, "plain", "example.com.", &zone), 0);
	assert_string_equal(zone.file, "/s/zones/example.com.zone");
	config_zone_fini(&zone);
	config_zone_fini(&zone);
	assert_int_equal(config_member_zone(config, "made.", "a.", &zone), ERR_NOT_FOUND);
	assert_null(zone.file);
	config_free(config);
}

/* Only what is written as the file is a pattern, not the folder before it. */
static void test_folder_like_a_pattern(void **state)
{
	char folder[256], path[300], want[300], err[512];
	struct config *config;
	FILE *out;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/100%%s", tmpfolder);
	snprintf(path, sizeof(path), "%s/volley.yaml", folder);
	snprintf(want, sizeof(want), "%s/a.db", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(LISTEN "templates: [{name: t, file: \"%s.db\"}]\n"
				 "zones: [{name: a, template: t}]\n",
			  out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(config_load(&config, path, err, sizeof(err)), 0);
	assert_string_equal(config->zones[0].file, want);
	config_free(config);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_copy(void **state)
{
	struct config *config = load_good(text);
	struct config_zone zone;

	(void)state;
	assert_int_equal(config_zone_copy(&zone, &config->zones[1]), 0);
	config_free(config);
	assert_string_equal(zone.name, "catalog.");
	assert_string_equal(zone.file, "/s/zones/catalog.zone");
	assert_int_equal(zone.catalog, CONFIG_CATALOG_CONSUME);
	assert_int_equal(zone.n_groups, 2);
	assert_null(zone.groups[0].group);
	assert_string_equal(zone.groups[1].group, "X");
	assert_string_equal(zone.groups[1].template_name, "all");
	config_zone_fini(&zone);
}

static void test_groups(void **state)
{
	struct config *config = load_good(text);
	const struct config_zone *open = &config->zones[1], *strict = &config->zones[2];

	(void)state;
	assert_string_equal(config_find_group(open, NULL), "plain");
	assert_string_equal(config_find_group(open, "x"), "plain");
	assert_string_equal(config_find_group(open, "X"), "all");
	assert_string_equal(config_find_group(strict, "X"), "all");
	assert_null(config_find_group(strict, "x"));
	assert_null(config_find_group(strict, NULL));
	config_free(config);
}

struct path_row {
	const char *name;
	const char *pattern;
	const char *path;
};

static const struct path_row path_rows[] = {
	{ "example.com.", "%s.zone", "example.com.zone" },
	{ "example.com.", "a/%s/%s", "a/example.com/example.com" },
	{ "example.com.", "%%s", "%s" },
	{ ".", "%s.zone", "@.zone" },
	{ "\\@.", "%s.zone", "\\@.zone" },
	{ "a/b.example.", "%s", "a\\047b.example" },
	{ "..\\/x.", "z/%s", "z/..\\\\047x" },
	{ "example.com.", NULL, "/s/zones/example.com.zone" },
};

static void test_paths(void **state)
{
	struct config config = { .storage = (char[]){ "/s" } };

	(void)state;
	for (size_t i = 0; i < sizeof(path_rows) / sizeof(path_rows[0]); i++) {
		char *path = config_zone_path(&config, path_rows[i].pattern, path_rows[i].name);

		assert_non_null(path);
		assert_string_equal(path, path_rows[i].path);
		free(path);
	}
}

/* Names that a file cannot have: none is cut, so no two meet. */
static void test_long_names(void **state)
{
	struct config config = { .storage = (char[]){ "/s" } };
	char *one =
		config_zone_path(&config, "%s", LONG_LABEL LONG_LABEL LONG_LABEL "aaaaaaaaaaa.");
	char *two =
		config_zone_path(&config, "%s", LONG_LABEL LONG_LABEL LONG_LABEL "aaaaaaaaaab.");

	(void)state;
	assert_int_equal(strlen(one), 33);
	assert_int_equal(one[0], '@');
	assert_int_equal(strspn(one + 1, "0123456789abcdef"), 32);
	assert_string_not_equal(one, two);
	free(one);
	free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_member),     cmocka_unit_test(test_copy),
		cmocka_unit_test(test_groups),     cmocka_unit_test(test_paths),
		cmocka_unit_test(test_long_names), cmocka_unit_test(test_folder_like_a_pattern),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
