/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files the runner opens: those of its configuration, whatever it is asked for. */
#include "config/runner_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/lib/tmpfolder.h"

static const char text[] =
	"server: {listen: [127.0.0.1], storage: store, tls: {certificate: cert, key: key}}\n"
	"dnstap: {file: tap}\n"
	"keys: [{name: k, algorithm: hmac-sha256, secret-file: tsig}]\n"
	"signing: [{name: p, key-folder: signing-keys}]\n"
	"templates: [{name: t, file: \"members/%s.zone\"}, {name: u, file: \"100%%/%s\"}]\n"
	"recursion: {allow: [127.0.0.1], root-hints: hints, rpz: [{name: r.test, file: rpz}]}\n"
	"policy: {block: [{file: blocked}]}\n"
	"zones: [{name: a.test, file: a.zone}, {name: b.test, file: /nowhere/b.zone}]\n"
	"include: \"conf/*.yaml\"\n";

struct row {
	const char *path;
	const char *from;
	int code; /* 0: it is opened */
};

/* Below the folder of the configuration, unless absolute. All files are there. */
static const struct row rows[] = {
	{ "a.zone", "", 0 },
	{ "cert", "", 0 },
	{ "key", "", 0 },
	{ "tsig", "", 0 },
	{ "hints", "", 0 },
	{ "rpz", "", 0 },
	{ "blocked", "", 0 },
	{ "volley.yaml", "", 0 },
	{ "conf/more.yaml", "", 0 },
	{ "conf/other", "", -EACCES },
	{ "beside", "", -EACCES },
	{ "./a.zone", "", -EACCES },
	{ "conf/../a.zone", "", -EACCES },
	{ "", "", -EACCES },
	{ "/etc/shadow", "", -EACCES },
	{ "tap", "", -EACCES },
	{ "/nowhere/b.zone", "", -ENOENT },
	{ "store/keys/Kold", "", 0 },
	{ "store/other", "", -EACCES },
	{ "signing-keys/Kx", "", 0 },
	{ "signing-keys/deep/Kx", "", -EACCES },
	{ "signing-keys/..", "", -EACCES },
	{ "members/x.test.zone", "", 0 },
	{ "members/x.zone.zone", "", -ENOENT },
	{ "members/deep/x.zone", "", -EACCES },
	{ "members/.zone", "", -EACCES },
	{ "members/...zone", "", -EACCES },
	{ "members/x.test.zon", "", -EACCES },
	{ "100%/y", "", 0 },
	{ "100%/..", "", -EACCES },
	{ "100%%/y", "", -EACCES },
	/* a.zone has: $INCLUDE one.inc, and with a quotation mark, a comment and an origin */
	{ "one.inc", "a.zone", 0 },
	{ "two.inc", "a.zone", 0 },
	{ "deep/three.inc", "a.zone", 0 },
	{ "deep/four.inc", "deep/three.inc", 0 },
	{ "beside", "a.zone", -EACCES },
	{ "beside", "one.inc", -EACCES },
	{ "one.inc", "", -EACCES },
	{ "one.inc", "beside", -EACCES },
	{ "five.inc", "deep/four.inc", -EACCES },
	{ "two.in", "a.zone", -EACCES },
	{ "/etc/shadow", "a.zone", -EACCES },
};

static const char *const files[] = {
	"cert",
	"key",
	"hints",
	"rpz",
	"blocked",
	"conf/other",
	"beside",
	"tap",
	"store/keys/Kold",
	"store/other",
	"signing-keys/Kx",
	"signing-keys/deep/Kx",
	"members/x.test.zone",
	"members/deep/x.zone",
	"members/.zone",
	"members/...zone",
	"100%/y",
	"100%%/y",
	"two.inc",
	"five.inc",
	"two.in",
	"deep/four.inc",
};

static const char *const folders[] = {
	"conf",    "store",        "store/keys", "signing-keys", "signing-keys/deep",
	"members", "members/deep", "100%",       "100%%",        "deep",
};

static struct runner_opener opener;
static struct runner_files sets[2];

static char *at(const char *name, char room[PATH_MAX])
{
	snprintf(room, PATH_MAX, "%s%s%s", *name && *name != '/' ? tmpfolder : "",
		 *name && *name != '/' ? "/" : "", name);
	return room;
}

static void put_text(const char *name, const char *content)
{
	char room[PATH_MAX];
	FILE *out = fopen(at(name, room), "w");

	assert_non_null(out);
	assert_true(fputs(content, out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(room, 0600), 0);
}

static void make_files(void)
{
	char room[PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_int_equal(mkdir(at(folders[i], room), 0700), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put_text(files[i], "");
	put_text("volley.yaml", text);
	put_text("conf/more.yaml", "{}\n");
	put_text("tsig", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n");
	put_text("a.zone",
		 "$TTL 1h\nbeside A 192.0.2.1\n$INCLUDE one.inc\r\n  $include\t\"two.inc\""
		 "\n$INCLUDE deep/three.inc sub ; a comment\n; $INCLUDE beside\n"
		 "$INCLUDEbeside\nx TXT $INCLUDE beside\n");
	put_text("one.inc", "$INCLUDE not-beside\n");
	put_text("deep/three.inc", "$INCLUDE four.inc;\n");
	put_text("deep/four.inc", "$INCLUDE five.inc\n"); /* that is deep/five.inc */
}

static void opens_what_the_configuration_names(void **state)
{
	char path[PATH_MAX], from[PATH_MAX], err[512];
	struct runner_files first = { 0 };
	struct config *config;

	(void)state;
	make_files();
	if (config_load(&config, at("volley.yaml", path), err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(runner_opener_init(&opener), 0);
	assert_int_equal(runner_files_collect(&first, &opener, config), 0);
	config_free(config);
	/* as after a reload of the same text */
	assert_int_equal(runner_files_copy(&sets[1], &first), 0);
	runner_files_fini(&first);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = runner_files_open(&opener, sets, 2, at(rows[i].path, path),
					   at(rows[i].from, from));

		if ((fd < 0 ? fd : 0) != rows[i].code)
			fail_msg("%s from \"%s\": %s", rows[i].path, rows[i].from,
				 err_text(fd < 0 ? fd : 0));
		if (fd >= 0)
			close(fd);
	}
}

static void lists_folders(void **state)
{
	static const struct row of_folders[] = {
		{ "conf", "", 0 },          { "signing-keys", "", 0 },
		{ "store/keys", "", 0 },    { "store", "", -EACCES },
		{ "members", "", -EACCES }, { "signing-keys/deep", "", -EACCES },
		{ "a.zone", "", -EACCES },  { "signing-keys/", "", -EACCES },
	};
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(of_folders) / sizeof(of_folders[0]); i++) {
		int fd = runner_files_open_folder(&opener, sets, 2, at(of_folders[i].path, path));

		if ((fd < 0 ? fd : 0) != of_folders[i].code)
			fail_msg("%s: %s", of_folders[i].path, err_text(fd < 0 ? fd : 0));
		if (fd >= 0)
			close(fd);
	}
	runner_files_fini(&sets[1]);
	assert_int_equal(runner_files_open(&opener, sets, 2, at("a.zone", path), ""), -EACCES);
}

static int open_from(const char *name, const char *from)
{
	char path[PATH_MAX];
	int fd = runner_files_open(&opener, sets, 2, at(name, path), from);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* A chain is asked for from its first file on, so the oldest included files may be forgotten. */
static void remembers_the_last_included_files(void **state)
{
	const struct config config = { .path = tmpfolder_file };
	char first[PATH_MAX], name[32];
	FILE *out = fopen(tmpfolder_file, "w");

	(void)state;
	assert_non_null(out);
	for (int i = 0; i <= RUNNER_INCLUDED_MAX; i++)
		fprintf(out, "$INCLUDE %d.inc\n", i);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(runner_files_collect(&sets[0], &opener, &config), 0);
	put_text("0.inc", "$INCLUDE beside\n");
	at("0.inc", first);
	assert_int_equal(open_from("beside", first), -EACCES);
	assert_int_equal(open_from("0.inc", tmpfolder_file), 0);
	assert_int_equal(open_from("beside", first), 0);
	for (int i = 1; i <= RUNNER_INCLUDED_MAX; i++) {
		snprintf(name, sizeof(name), "%d.inc", i);
		assert_int_equal(open_from(name, tmpfolder_file), -ENOENT);
	}
	assert_int_equal(open_from("beside", first), -EACCES);
	assert_int_equal(open_from("0.inc", tmpfolder_file), 0);
	assert_int_equal(open_from("beside", first), 0);
	runner_files_fini(&sets[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_what_the_configuration_names),
		cmocka_unit_test(lists_folders),
		cmocka_unit_test(remembers_the_last_included_files),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove_all);
}
