/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets of DNS cookies, in the configuration and in files. */
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/unit/config/configtext.h"

#define COOKIES(x) "server:\n  listen: [192.0.2.53]\n  cookies: {" x "}\n"
#define A          "000102030405060708090a0b0c0d0e0f"
#define B          "101112131415161718191A1B1C1D1E1F"

static const struct refusal refusals[] = {
	{ "both", COOKIES("secret: " A ", secret-files: [a]"),
	  "3: server.cookies.secret: is given beside secret-files: keep one of them" },
	{ "no file", COOKIES("secret-files: []"),
	  "3: server.cookies.secret-files: has no file: leave it out" },
	{ "five files", COOKIES("secret-files: [a, b, c, d, e]"),
	  "3: server.cookies.secret-files: has 5 files, give at most 4" },
	{ "one file, not in a list", COOKIES("secret-files: a"),
	  "3: server.cookies.secret-files: has the wrong shape, give a list of paths of files" },
	{ "a file that is not there", COOKIES("secret-files: [/nowhere/f]"),
	  "3: server.cookies.secret-files[0]: /nowhere/f cannot be read: No such file" },
	{ "a time that is too long", COOKIES("rotate: 37d"),
	  "3: server.cookies.rotate: \"37d\" is not accepted, give a time from 0 to 36d" },
};

static void test_refusals(void **state)
{
	(void)state;
	assert_refused(refusals, sizeof(refusals) / sizeof(refusals[0]));
}

static const char *in_folder(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", tmpfolder, name);
	return path;
}

static void write_secret(const char *name, const char *text, mode_t mode)
{
	FILE *out = fopen(in_folder(name), "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(in_folder(name), mode), 0);
}

static void test_files(void **state)
{
	static const uint8_t a[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct config *config;

	(void)state;
	write_secret("a", A "\n", 0640);
	write_secret("b", "0x" B, 0600);
	write_secret("copy", A, 0600);
	config = load_good(COOKIES("secret-files: [b, a, copy]"));
	assert_int_equal(config->n_cookie_secrets, 2);
	assert_int_equal(config->cookie_secrets[0].secret[15], 0x1f);
	assert_string_equal(config->cookie_secrets[0].file, in_folder("b"));
	assert_memory_equal(config->cookie_secrets[1].secret, a, sizeof(a));
	assert_string_equal(config->cookie_secrets[1].file, in_folder("a"));
	config_free(config);
}

static const struct {
	const char *text;
	mode_t mode;
	const char *says;
} bad_files[] = {
	{ A, 0604, ":3: server.cookies.secret-files[0]: everyone can read or write /" },
	{ A, 0602, ":3: server.cookies.secret-files[0]: everyone can read or write /" },
	{ A "00", 0600,
	  "a does not hold 32 hexadecimal digits: the output of openssl rand -hex 16" },
	{ "0x0x" A, 0600, "a does not hold 32 hexadecimal digits" },
	{ A "\n" B, 0600, "a does not hold 32 hexadecimal digits" },
	{ "", 0600, "a does not hold 32 hexadecimal digits" },
};

static void test_bad_files(void **state)
{
	struct config *config;
	char err[512];

	(void)state;
	for (size_t i = 0; i < sizeof(bad_files) / sizeof(bad_files[0]); i++) {
		write_secret("a", bad_files[i].text, bad_files[i].mode);
		assert_int_equal(load(&config, COOKIES("secret-files: [a]"), err, sizeof(err)),
				 ERR_CONFIG);
		if (!strstr(err, bad_files[i].says) || strstr(err, "0001"))
			fail_msg("file %zu: %s", i, err);
	}
}

static int remove_files(void **state)
{
	static const char *const names[] = { "a", "b", "copy" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_folder(names[i]));
	return tmpfolder_remove(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_bad_files),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, remove_files);
}
