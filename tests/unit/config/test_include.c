/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations of several files: what they say together, and where a mistake stands. */
#include "config/document.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/settings.h"
#include "configtext.h"

struct one {
	const char *name;
	const char *text;
};

#define FILES_CAP 5

struct row {
	const char *name;
	const char *text; /* of the first file */
	struct one more[FILES_CAP];
	const char *want; /* the tree, or behind a '!' the refusal, %s is the folder */
};

static const struct row rows[] = {
	{ "no file fits",
	  "include: conf.d/*.yaml\n" LISTEN,
	  { { NULL, NULL } },
	  "{\"server\":{\"listen\":[\"192.0.2.53\"]}}" },
	{ "an empty list",
	  LISTEN "include: []\n",
	  { { NULL, NULL } },
	  "{\"server\":{\"listen\":[\"192.0.2.53\"]}}" },
	{ "lists are joined, in the order of names",
	  "include: conf.d/*.yaml\n" LISTEN "zones:\n- {name: a, file: a}\n",
	  { { "conf.d/2.yaml", "zones:\n- {name: c, file: c}\n" },
	    { "conf.d/1.yaml", "zones:\n- {name: b, file: b}\nserver: {listen: [192.0.2.54]}\n" },
	    { "conf.d/3.other", "nothing of ours" } },
	  "{\"server\":{\"listen\":[\"192.0.2.53\",\"192.0.2.54\"]},\"zones\":[{\"name\":\"a\",\"file\":\"a\"},"
	  "{\"name\":\"b\",\"file\":\"b\"},{\"name\":\"c\",\"file\":\"c\"}]}" },
	/* In octets; a folder gives them in any order. */
	{ "the order of many",
	  "include: conf.d/*\n",
	  { { "conf.d/z", "server: {listen: [192.0.2.5]}\n" },
	    { "conf.d/a", "server: {listen: [192.0.2.3]}\n" },
	    { "conf.d/10", "server: {listen: [192.0.2.1]}\n" },
	    { "conf.d/b", "server: {listen: [192.0.2.4]}\n" },
	    { "conf.d/9", "server: {listen: [192.0.2.2]}\n" } },
	  "{\"server\":{\"listen\":[\"192.0.2.1\",\"192.0.2.2\",\"192.0.2.3\",\"192.0.2.4\",\"192.0.2.5\"]}}" },
	{ "maps are joined",
	  "include: [conf.d/1.yaml, conf.d/2.yaml]\n" LISTEN "log: {level: info}\n",
	  { { "conf.d/1.yaml", "log:\n  format: json\n" }, { "conf.d/2.yaml", "" } },
	  "{\"server\":{\"listen\":[\"192.0.2.53\"]},\"log\":{\"level\":\"info\",\"format\":\"json\"}}" },
	{ "an included file includes another, relative to itself",
	  "include: conf.d/1.yaml\n" LISTEN,
	  { { "conf.d/1.yaml", "include: 2.yaml\n" }, { "conf.d/2.yaml", "log: {level: info}\n" } },
	  "{\"server\":{\"listen\":[\"192.0.2.53\"]},\"log\":{\"level\":\"info\"}}" },
	{ "texts stay as they are",
	  "include: conf.d/1.yaml\n" LISTEN,
	  { { "conf.d/1.yaml", "server:\n  nsid: \"a: \\\"\\\\#\\u00e9\\u2028\\U0001f600\"\n" } },
	  "{\"server\":{\"listen\":[\"192.0.2.53\"],\"nsid\":\"a: "
	  "\\\"\\\\#\u00e9\u2028\U0001f600\"}}" },
	{ "a value that two files give",
	  "include: conf.d/1.yaml\n" LISTEN "log:\n  level: info\n",
	  { { "conf.d/1.yaml", "log:\n\n  level: info\n" } },
	  "!%1$s/conf.d/1.yaml:3: log.level: is given twice, first in %1$s/file:5: keep one of them" },
	{ "a value and a list",
	  "include: conf.d/1.yaml\n" LISTEN,
	  { { "conf.d/1.yaml", "server:\n  listen: 192.0.2.1\n" } },
	  "!%1$s/conf.d/1.yaml:2: server.listen: is given twice, first in %1$s/file:3: keep" },
	{ "no YAML",
	  "include: conf.d/1.yaml\n" LISTEN,
	  { { "conf.d/1.yaml", "log:\n\tlevel: info\n" } },
	  "!%1$s/conf.d/1.yaml:2: this is not YAML" },
	{ "no map",
	  "include: conf.d/1.yaml\n" LISTEN,
	  { { "conf.d/1.yaml", "- a\n" } },
	  "!%1$s/conf.d/1.yaml:1: has the wrong shape" },
	{ "an unknown key",
	  "include: conf.d/1.yaml\n" LISTEN,
	  { { "conf.d/1.yaml", "\n\nlog:\n  lvl: info\n" } },
	  "!%1$s/conf.d/1.yaml:4: log.lvl: unknown key" },
	{ "a value that is not accepted",
	  "include: conf.d/*\n" LISTEN "zones:\n- {name: a, file: a}\n",
	  { { "conf.d/1", "zones:\n- name: b\n  file: b\n- name: c\n  file: c\n  ixfr: 7\n" } },
	  "!%1$s/conf.d/1:6: zones[2].ixfr: \"7\" is not accepted" },
	{ "an item of the first file behind others",
	  "include: conf.d/*\n" LISTEN "log: {level: x}\n",
	  { { "conf.d/1", "zones:\n- {name: b, file: b}\n" } },
	  "!%1$s/file:4: log.level: \"x\" is not accepted" },
	{ "a zone that two files give",
	  "include: conf.d/*\n" LISTEN "zones:\n- {name: a, file: a}\n",
	  { { "conf.d/1", "\nzones:\n- {name: A., file: b}\n" } },
	  "!%1$s/conf.d/1:3: zones[1].name: \"a.\" is given twice, first in %1$s/file:5" },
	{ "a file that is not there",
	  LISTEN "include: conf.d/1.yaml\n",
	  { { NULL, NULL } },
	  "!%1$s/file:3: include: %1$s/conf.d/1.yaml cannot be read: No such file" },
	{ "a folder",
	  "include: conf.d\n" LISTEN,
	  { { "conf.d/1", "" } },
	  "!%1$s/file:1: include: %1$s/conf.d cannot be read: Is a directory" },
	{ "a map",
	  "include: {a: b}\n" LISTEN,
	  { { NULL, NULL } },
	  "!%1$s/file:1: include: has the wrong shape" },
	{ "itself",
	  "include: file\n",
	  { { NULL, NULL } },
	  "!%1$s/file:1: include: %1$s/file: files are included 8 levels deep: does one include "
	  "itself?" },
	{ "not at the top",
	  LISTEN "  include: conf.d/1\n",
	  { { NULL, NULL } },
	  "!%1$s/file:3: server.include: unknown key" },
};

static void put_files(const struct one *files, bool are_there)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/conf.d", tmpfolder);
	if (are_there)
		assert_int_equal(mkdir(path, 0700), 0);
	for (const struct one *at = files; at < files + FILES_CAP && at->name; at++) {
		snprintf(path, sizeof(path), "%s/%s", tmpfolder, at->name);
		if (!are_there) {
			unlink(path);
			continue;
		}
		out = fopen(path, "w");
		assert_non_null(out);
		assert_true(fputs(at->text, out) >= 0);
		assert_int_equal(fclose(out), 0);
	}
	snprintf(path, sizeof(path), "%s/conf.d", tmpfolder);
	if (!are_there)
		rmdir(path);
}

/* "%1$s/file" is the name of the first file. */
static void make_want(char *want, size_t cap, const char *format)
{
	size_t used = 0;

	for (; *format && used + 1 < cap; format++) {
		if (!strncmp(format, "%1$s/file:", 10)) {
			used += (size_t)snprintf(want + used, cap - used, "%s:", file);
			format += 9;
		} else if (!strncmp(format, "%1$s/file", 9)) {
			used += (size_t)snprintf(want + used, cap - used, "%s", file);
			format += 8;
		} else if (!strncmp(format, "%1$s", 4)) {
			used += (size_t)snprintf(want + used, cap - used, "%s", tmpfolder);
			format += 3;
		} else {
			want[used++] = *format;
		}
	}
	want[used] = '\0';
}

static bool holds(const struct row *row)
{
	struct config *config = NULL;
	char err[512], want[1024], *have = NULL;
	int ret = load(&config, row->text, err, sizeof(err));
	json_t *tree = NULL;
	bool is_right;

	make_want(want, sizeof(want), row->want);
	if (!ret && !settings_read(&tree, config->text, config->n_text, NULL))
		have = json_dumps(tree, JSON_COMPACT);
	is_right = *want == '!' ? ret && !strncmp(err, want + 1, strlen(want + 1)) :
				  have && !strcmp(have, want);
	if (!is_right)
		print_error("%s: returned %d\n  want %s\n  have %s\n", row->name, ret, want,
			    have ? have : err);
	free(have);
	json_decref(tree);
	config_free(config);
	return is_right;
}

static void test_include(void **state)
{
	size_t n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct row row = rows[i];
		char text[512];

		/* The file of the group has a name of its own. */
		if (!strcmp(row.name, "itself")) {
			snprintf(text, sizeof(text), "include: %s\n", file);
			row.text = text;
		}
		put_files(row.more, true);
		n_wrong += !holds(&row);
		put_files(row.more, false);
	}
	assert_int_equal(n_wrong, 0);
}

/* What is loaded as another file includes what is beside that. */
static void test_included_from_the_folder_of_the_other(void **state)
{
	static const struct one more[FILES_CAP] = { { "conf.d/1", "log: {level: error}\n" } };
	struct config *config;
	char err[512], path[256];
	int fd;

	(void)state;
	config_free(load_good(LISTEN "include: conf.d/*\n"));
	put_files(more, true);
	snprintf(path, sizeof(path), "%s/conf.d/volley.yaml", tmpfolder);
	fd = open(file, O_RDONLY);
	assert_int_equal(config_load_as(&config, fd, file, path, err, sizeof(err)), 0);
	assert_int_equal(config->log_level, LOG_LEVEL_INFO); /* there is no conf.d/conf.d */
	config_free(config);
	assert_int_equal(config_load_as(&config, fd, file, file, err, sizeof(err)), 0);
	close(fd);
	assert_int_equal(config->log_level, LOG_LEVEL_ERROR);
	config_free(config);
	put_files(more, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_included_from_the_folder_of_the_other),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
