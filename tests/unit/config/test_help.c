/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of words hold together, and what is printed of them has all of them. */
#include "config/help.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/value.h"
#include "config/words.h"

/* A default is the text that config.c reads when the key is absent: it must be readable. */
static void test_defaults_are_accepted(void **state)
{
	const struct words_key *key;

	(void)state;
	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		uint64_t value;

		if (!key->fallback || key->type == WORDS_PATH || key->type == WORDS_SOCKET ||
		    !strcmp(key->fallback, "[]"))
			continue;
		if (value_read_number(key, key->fallback, &value))
			fail_msg("%s: its default %s is refused", key->path, key->fallback);
	}
}

struct accepts_row {
	const char *path;
	const char *text;
};

static const struct accepts_row accepts_rows[] = {
	{ "server.workers", "auto or a whole number from 1 to 1024" },
	{ "interfaces[].xdp", "auto, native, generic or off" },
	{ "interfaces[].zero-copy", "auto, on or off" },
	{ "cache.size", "a size from 8M to 69G: bytes, or a number with K, M, G or T behind it" },
	{ "recursion.query-timeout",
	  "a time from 100ms to 1m: seconds, or a number with ms, s, m, h or d behind it" },
	{ "cache.orphan-serve",
	  "a time from 0 to 7d: seconds, or a number with s, m, h or d behind it" },
};

static void test_accepts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(accepts_rows) / sizeof(accepts_rows[0]); i++) {
		const struct words_key *key = words_find_key(accepts_rows[i].path);
		char buf[160];

		assert_non_null(key);
		words_accepts(key, buf, sizeof(buf));
		assert_string_equal(buf, accepts_rows[i].text);
	}
	assert_null(words_find_key("cache"
				   ".siz"));
}

/* Numbers are an order without gaps, whatever table a key is in. */
static void test_keys_by_number(void **state)
{
	const struct words_key *key;
	unsigned int i;

	(void)state;
	for (i = 0; (key = words_key_at(i)); i++) {
		assert_int_equal(words_key_number(key), i);
		assert_ptr_equal(words_find_key(key->path), key);
	}
	assert_int_equal(i, words_host_keys.n + words_zone_keys.n + words_recursion_keys.n +
				    words_limit_keys.n + words_block_keys.n + words_tap_keys.n);
}

/* No type may fall through to words that say nothing, and none may be cut by the usual buffer. */
static void test_every_key_accepts_something(void **state)
{
	const struct words_key *key;

	(void)state;
	for (unsigned int i = 0; (key = words_key_at(i)); i++) {
		char buf[160];

		words_accepts(key, buf, sizeof(buf));
		if (!strcmp(buf, "something else") || strlen(buf) + 1 >= sizeof(buf))
			fail_msg("%s: %s", key->path, buf);
	}
}

struct command_row {
	const char *argv[4];
	const char *name;
	int n_words;
};

static const struct command_row command_rows[] = {
	{ { "status" }, "status", 1 },
	{ { "zone", "status", "a." }, "zone status", 2 },
	{ { "zone", "list" }, "zone list", 2 },
	{ { "stop", "--keep" }, "stop", 1 },
	{ { "zone" }, NULL, 0 },
	{ { "zone", "stat" }, NULL, 0 },
	{ { "zone status" }, NULL, 0 },
	{ { "" }, NULL, 0 },
	{ { NULL }, NULL, 0 },
};

static void test_commands(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(command_rows) / sizeof(command_rows[0]); i++) {
		const struct command_row *row = &command_rows[i];
		const struct words_command *command;
		int argc = 0, n_words;

		while (row->argv[argc])
			argc++;
		command = words_find_command(argc, (char *const *)row->argv, &n_words);
		if (row->name)
			assert_string_equal(command->name, row->name);
		else
			assert_null(command);
		assert_int_equal(n_words, row->n_words);
	}
}

static void test_meant(void **state)
{
	static const struct {
		const char *argv[4];
		const char *meant;
	} rows[] = {
		{ { "zone", "relaod", "example.com" }, "zone reload" },
		{ { "staus" }, "status" },
		{ { "statsu", "--json" }, "status" },
		{ { "reload" }, "zone reload" },
		{ { "restart" }, NULL },
		{ { NULL }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *meant;
		int argc = 0;

		while (rows[i].argv[argc])
			argc++;
		meant = help_find_meant(argc, (char *const *)rows[i].argv);
		assert_string_equal(meant ? meant : "none", rows[i].meant ? rows[i].meant : "none");
	}
}

static void read_help(void (*put)(FILE *), char *buf, size_t cap)
{
	FILE *out = fmemopen(buf, cap, "w");

	assert_non_null(out);
	put(out);
	assert_int_equal(fclose(out), 0);
}

static void test_help(void **state)
{
	char buf[8192];

	(void)state;
	read_help(help_put_volleyctl, buf, sizeof(buf));
	for (const struct words_command *command = words_commands; command->name; command++)
		assert_non_null(strstr(buf, command->name));
	for (const struct words_option *option = words_volleyctl_options; option->flags; option++)
		assert_non_null(strstr(buf, option->flags));
	for (const char *line = strtok(buf, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 80)
			fail_msg("too wide: %s", line);
	read_help(help_put_volleyd, buf, sizeof(buf));
	for (const struct words_option *option = words_volleyd_options; option->flags; option++)
		assert_non_null(strstr(buf, option->flags));
}

static int fill(const char *template, char *buf, size_t cap)
{
	FILE *in = fmemopen((void *)template, strlen(template), "r");
	FILE *out = fmemopen(buf, cap, "w");
	int ret;

	assert_non_null(in);
	assert_non_null(out);
	ret = help_fill_man(out, in, "1.2.3");
	fclose(in);
	fclose(out);
	return ret;
}

static void test_man(void **state)
{
	static char buf[65536];
	const struct words_key *key;

	(void)state;
	assert_int_equal(
		fill(".Os Volley @version@ x\n.Sh A\n@volleyd-exits@\nend\n", buf, sizeof(buf)), 0);
	assert_non_null(strstr(buf, ".Os Volley 1.2.3 x\n.Sh A\n.Bl -tag -width Ds\n.It 0\n"));
	assert_non_null(strstr(buf, ".El\nend\n"));
	assert_int_equal(fill("@keys@\n", buf, sizeof(buf)), 0);
	for (unsigned int i = 0; (key = words_key_at(i)); i++)
		assert_non_null(strstr(buf, key->path));
	assert_non_null(strstr(buf, "Default:\n256M\n"));
	assert_int_equal(fill("@commands@\n@volleyctl-options@\n@volleyctl-exits@\n"
			      "@volleyd-options@\n",
			      buf, sizeof(buf)),
			 0);
	for (const struct words_command *command = words_commands; command->name; command++)
		assert_non_null(strstr(buf, command->name));
	assert_non_null(strstr(buf, ".It Fl s , Fl -socket Ar PATH\n"));
	assert_int_equal(fill("@nothing@\n", buf, sizeof(buf)), -EINVAL);
}

/* Every counter of `volleyctl stats` is in the page, under the name that JSON gives it. */
static void test_man_counters(void **state)
{
	static char buf[65536];

	(void)state;
	assert_int_equal(fill("@reasons@\n", buf, sizeof(buf)), 0);
	for (int i = 0; i < VOLLEY_N_REASONS; i++) {
		char key[WORDS_REASON_BYTES], item[WORDS_REASON_BYTES + 8];

		snprintf(item, sizeof(item), ".It Cm %s\n",
			 words_reason_key((enum volley_reason)i, key));
		assert_non_null(strstr(buf, item));
	}
	assert_non_null(strstr(buf, ".It Cm up-no-room\nno room in the frame for the answer\n"));
	assert_int_equal(fill("@engine-counters@\n", buf, sizeof(buf)), 0);
	assert_non_null(strstr(
		buf,
		".It Cm too_large\nthe answer fits no DNS message: TC=1 over UDP, SERVFAIL over "
		"TCP\n"));
	assert_non_null(strstr(buf, ".It Cm truncated\nanswered with TC=1\n"));
	assert_int_equal(fill("@resolver-counters@\n", buf, sizeof(buf)), 0);
	assert_non_null(strstr(buf, ".It Cm asked\nquestions submitted\n"));
	assert_non_null(strstr(buf, ".It Cm outstanding\n"));
	assert_int_equal(fill("@responder-counters@\n", buf, sizeof(buf)), 0);
	assert_non_null(strstr(buf, ".It Cm taken\n"));
}

/* A line of words that began with a dot would be a request to troff, and so be lost. */
static void test_man_lines(void **state)
{
	static char buf[1 << 17];

	(void)state;
	assert_int_equal(fill("@keys@\n@commands@\n@volleyd-options@\n@reasons@\n"
			      "@engine-counters@\n@resolver-counters@\n@responder-counters@\n",
			      buf, sizeof(buf)),
			 0);
	assert_non_null(strstr(buf, " \\&.lock "));
	for (const char *line = strtok(buf, "\n"); line; line = strtok(NULL, "\n")) {
		bool is_request = !strncmp(line, ".It ", 4) || !strncmp(line, ".Bl ", 4) ||
				  !strcmp(line, ".El") || !strcmp(line, ".br");

		if (strlen(line) > 80 || (*line == '.' && !is_request))
			fail_msg("%s", line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_accepted),
		cmocka_unit_test(test_accepts),
		cmocka_unit_test(test_keys_by_number),
		cmocka_unit_test(test_every_key_accepts_something),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_meant),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_man),
		cmocka_unit_test(test_man_counters),
		cmocka_unit_test(test_man_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
