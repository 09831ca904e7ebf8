/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which secrets of DNS cookies are published, in which order, and what is kept of them. */
#include "abuse/cookies.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "tests/lib/tmpfolder.h"

#define NOW   1800000000u
#define STEPS 16

/* Each set that was told to the driver; before the next one all readers were waited for. */
static struct world {
	struct engine_data published;
	struct cookies *cookies;
	struct cookie_secrets steps[STEPS];
	unsigned int n_steps, n_graces;
	int grace_error;
} world;

static void tell(void *user)
{
	struct world *w = user;

	assert_true(w->n_steps < STEPS);
	assert_int_equal(w->n_graces, w->n_steps ? w->n_steps - 1 : 0);
	w->steps[w->n_steps++] = *w->published.cookies;
}

static int grace(void *user)
{
	struct world *w = user;

	w->n_graces++;
	return w->grace_error;
}

static const char *kept(void)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/cookies", tmpfolder);
	return path;
}

static void open_world(const char *storage)
{
	const struct cookies_env env = { &world.published, storage, tell, grace, &world };

	world = (struct world){ 0 };
	assert_int_equal(cookies_new(&world.cookies, &env), 0);
}

/* `letters` are the secrets, "": none are given. */
static int configure(const char *letters, uint64_t now_s)
{
	struct config config = { .cookie_rotate_s = 86400 };
	char err[256];

	for (; letters[config.n_cookie_secrets]; config.n_cookie_secrets++)
		memset(config.cookie_secrets[config.n_cookie_secrets].secret,
		       letters[config.n_cookie_secrets], 16);
	return cookies_configure(world.cookies, &config, now_s, err, sizeof(err));
}

static int rotate(uint64_t now_s)
{
	char err[256];

	return cookies_rotate(world.cookies, now_s, err, sizeof(err));
}

/* The secrets of a set, as letters. */
static const char *letters_of(const struct cookie_secrets *set)
{
	static char text[COOKIE_SECRETS_MAX + 1];

	for (uint32_t i = 0; i < set->n; i++)
		text[i] = (char)set->keys[i][0];
	text[set->n] = '\0';
	return text;
}

static int close_world(void **state)
{
	(void)state;
	cookies_free(world.cookies);
	assert_null(world.published.cookies);
	world.cookies = NULL;
	unlink(kept());
	return 0;
}

/* --- Given by the configuration --------------------------------------------------------------- */

static const struct {
	const char *before, *after, *steps[2];
} rolls[] = {
	{ "a", "a", { NULL } },
	{ "a", "ab", { "ab" } },  /* RFC 9018 section 5: accepted first, */
	{ "ab", "ba", { "ba" } }, /* then used, */
	{ "ba", "b", { "b" } },   /* then the old one goes */
	{ "a", "ba", { "ab", "ba" } },
	{ "a", "b", { "ab", "b" } },
	{ "abcd", "ebcd", { "aebc", "ebcd" } },
	{ "abcd", "edcb", { "aebc", "edcb" } },
	{ "abcd", "efcd", { "aecd", "efcd" } },
	{ "abcd", "efgh", { "aebc", "efgh" } },
};

static void test_steps_of_a_roll(void **state)
{
	for (size_t i = 0; i < sizeof(rolls) / sizeof(rolls[0]); i++) {
		unsigned int n = 0;

		open_world(NULL);
		assert_int_equal(configure(rolls[i].before, NOW), 0);
		assert_string_equal(letters_of(&world.steps[0]), rolls[i].before);
		assert_int_equal(world.n_steps, 1);
		assert_int_equal(world.n_graces, 0); /* nobody reads yet */
		assert_int_equal(configure(rolls[i].after, NOW), 0);
		for (; n < 2 && rolls[i].steps[n]; n++)
			assert_string_equal(letters_of(&world.steps[1 + n]), rolls[i].steps[n]);
		assert_int_equal(world.n_steps, 1 + n);
		assert_int_equal(world.n_graces, n);
		close_world(state);
	}
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* The digest of a secret stays, its state and since when change with what it is for. */
static void test_report_of_given_ones(void **state)
{
	json_t *before, *after, *first, *second;
	char digest[16];

	(void)state;
	open_world(NULL);
	assert_int_equal(configure("ab", NOW), 0);
	before = cookies_report(world.cookies);
	first = json_array_get(json_object_get(before, "secrets"), 0);
	assert_string_equal(text_of(before, "source"), "configuration");
	assert_string_equal(text_of(first, "state"), "active");
	assert_int_equal(strlen(text_of(first, "digest")), 8);
	snprintf(digest, sizeof(digest), "%s", text_of(first, "digest"));
	json_decref(before);
	assert_int_equal(configure("ab", NOW + 5), 0);
	assert_int_equal(configure("cab", NOW + 9), 0);
	after = cookies_report(world.cookies);
	first = json_array_get(json_object_get(after, "secrets"), 0);
	second = json_array_get(json_object_get(after, "secrets"), 1);
	assert_string_not_equal(text_of(first, "digest"), digest);
	assert_string_equal(text_of(second, "digest"), digest);
	assert_string_equal(text_of(second, "state"), "accepted");
	assert_int_equal(json_integer_value(json_object_get(second, "since_at")), NOW + 9);
	second = json_array_get(json_object_get(after, "secrets"), 2);
	assert_int_equal(json_integer_value(json_object_get(second, "since_at")), NOW);
	json_decref(after);
	assert_int_equal(rotate(NOW), -EOPNOTSUPP);
	cookies_tick(world.cookies, NOW + 10 * 86400);
	assert_string_equal(letters_of(world.published.cookies), "cab");
}

/* When the readers of the first step are not known, nobody may make cookies with the new secret. */
static void test_without_a_grace_period(void **state)
{
	(void)state;
	open_world(NULL);
	assert_int_equal(configure("a", NOW), 0);
	world.grace_error = -EPERM;
	assert_int_equal(configure("b", NOW), -EPERM);
	assert_string_equal(letters_of(world.published.cookies), "ab");
	world.grace_error = 0;
	assert_int_equal(configure("b", NOW), 0);
	assert_string_equal(letters_of(world.published.cookies), "b");
}

/* --- Made here -------------------------------------------------------------------------------- */

static struct cookie_secrets published(void)
{
	return *world.published.cookies;
}

static void test_rotation(void **state)
{
	struct cookie_secrets first, second;

	(void)state;
	open_world(NULL);
	assert_int_equal(configure("", NOW), 0);
	first = published();
	assert_int_equal(first.n, 1);
	cookies_tick(world.cookies, NOW + 86399);
	assert_int_equal(world.n_steps, 1);
	cookies_tick(world.cookies, NOW + 86400);
	second = published();
	assert_int_equal(second.n, 2);
	assert_false(cookie_secrets_have(&first, second.keys[0]));
	assert_memory_equal(second.keys[1], first.keys[0], 16);
	assert_memory_equal(world.steps[1].keys[0], first.keys[0], 16); /* the step between */
	assert_memory_equal(world.steps[1].keys[1], second.keys[0], 16);
	cookies_tick(world.cookies, NOW + 86400 + 3600);
	assert_int_equal(published().n, 2);
	cookies_tick(world.cookies, NOW + 86400 + 3601); /* its last cookie is too old now */
	assert_int_equal(published().n, 1);
	assert_memory_equal(published().keys[0], second.keys[0], 16);
	assert_int_equal(world.n_graces, world.n_steps - 1);
}

/* Four are known at most: the oldest goes. */
static void test_many_rotations(void **state)
{
	uint8_t made[5][16];

	(void)state;
	open_world(NULL);
	assert_int_equal(configure("", NOW), 0);
	for (unsigned int i = 0; i < 5; i++) {
		memcpy(made[i], published().keys[0], 16);
		if (i < 4)
			assert_int_equal(rotate(NOW + i), 0);
	}
	assert_int_equal(published().n, 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_memory_equal(published().keys[i], made[4 - i], 16);
}

/* The clock was set back by a year: what was begun in the future is as if begun now. */
static void test_clock_set_back(void **state)
{
	const uint64_t before = NOW - 31536000;

	(void)state;
	open_world(NULL);
	assert_int_equal(configure("", NOW), 0);
	assert_int_equal(rotate(NOW), 0);
	cookies_tick(world.cookies, before);
	assert_int_equal(published().n, 2);
	cookies_tick(world.cookies, before + 3601);
	assert_int_equal(published().n, 1);
	cookies_tick(world.cookies, before + 86400);
	assert_int_equal(published().n, 2);
}

static void test_kept_over_a_start(void **state)
{
	struct cookie_secrets before;
	struct stat st;

	open_world(tmpfolder);
	assert_int_equal(configure("", NOW), 0);
	assert_int_not_equal(access(kept(), F_OK), 0); /* the storage may be another one's still */
	cookies_tick(world.cookies, NOW + 1);
	assert_int_equal(stat(kept(), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(rotate(NOW + 2), 0);
	before = published();
	cookies_free(world.cookies);
	open_world(tmpfolder);
	assert_int_equal(configure("", NOW + 3), 0);
	assert_int_equal(published().n, 2);
	assert_memory_equal(published().keys, before.keys, 32);
	cookies_tick(world.cookies, NOW + 2 + 3601);
	assert_int_equal(published().n, 1);
	close_world(state);
}

static void write_kept(const char *text, mode_t mode)
{
	FILE *f = fopen(kept(), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(kept(), mode), 0);
}

#define HEAD "volley-cookies 1\n"
#define LINE "61616161616161616161616161616161 1800000000\n"

static const struct {
	const char *text;
	mode_t mode;
	int err;
} files[] = {
	{ HEAD LINE, 0600, 0 },
	{ HEAD LINE LINE LINE LINE, 0640, 0 },
	{ HEAD LINE, 0604, -EPERM },
	{ HEAD LINE LINE LINE LINE LINE, 0600, ERR_FORMAT },
	{ HEAD, 0600, ERR_FORMAT },
	{ "", 0600, ERR_FORMAT },
	{ "volley-cookies 2\n" LINE, 0600, ERR_FORMAT },
	{ HEAD "6161616161616161616161616161616 1800000000\n", 0600, ERR_FORMAT },
	{ HEAD "61616161616161616161616161616161 18000", 0600, ERR_FORMAT },
	{ HEAD "61616161616161616161616161616161 -\n", 0600, ERR_FORMAT },
	{ HEAD "6161616161616161616161616161616161 1\n", 0600, ERR_FORMAT },
};

static void test_files(void **state)
{
	struct cookies_known known;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		write_kept(files[i].text, files[i].mode);
		if (cookies_file_read(kept(), &known) != files[i].err)
			fail_msg("file %zu", i);
		assert_true(files[i].err ? !known.n : known.n && known.secrets[0].since_s == NOW);
	}
	open_world(tmpfolder); /* what cannot be read does not keep volleyd from starting */
	assert_int_equal(configure("", NOW), 0);
	assert_int_equal(published().n, 1);
	assert_memory_not_equal(world.published.cookies->keys[0], "aaaaaaaaaaaaaaaa", 16);
	close_world(state);
}

static void limit_descriptors(rlim_t n)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = n ? n : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* It may be readable at the next start, and clients have cookies by its secrets. */
static void test_unread_file_stays(void **state)
{
	struct cookies_known known;
	json_t *o;

	(void)state;
	write_kept(HEAD LINE, 0600);
	open_world(tmpfolder);
	limit_descriptors(3);
	assert_int_equal(configure("", NOW), 0);
	limit_descriptors(0);
	assert_int_equal(published().n, 1);
	cookies_tick(world.cookies, NOW);
	assert_int_equal(rotate(NOW), 0);
	cookies_tick(world.cookies, NOW + 1);
	o = cookies_report(world.cookies);
	assert_string_equal(json_string_value(json_object_get(o, "error")), err_text(-EMFILE));
	json_decref(o);
	assert_int_equal(cookies_file_read(kept(), &known), 0);
	assert_int_equal(known.n, 1);
	assert_int_equal(known.secrets[0].secret[0], 'a');
	close_world(state);
}

/* A mistake of a person who edited the file must not cost the secrets in it. */
static void test_malformed_file_stays(void **state)
{
	char text[sizeof(HEAD LINE "x")] = "";
	json_t *o;
	FILE *f;

	(void)state;
	write_kept(HEAD LINE "x", 0600);
	open_world(tmpfolder);
	assert_int_equal(configure("", NOW), 0);
	cookies_tick(world.cookies, NOW);
	assert_int_equal(rotate(NOW), 0);
	o = cookies_report(world.cookies);
	assert_string_equal(text_of(o, "error"), "it is not as volleyd wrote it");
	json_decref(o);
	f = fopen(kept(), "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, f), sizeof(text) - 1);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, HEAD LINE "x");
	close_world(state);
}

/* A folder that is gone: the secrets are rotated all the same, and the report says that they are
 * not kept. */
static void test_not_kept(void **state)
{
	json_t *o;

	(void)state;
	open_world("/nowhere");
	assert_int_equal(configure("", NOW), 0);
	cookies_tick(world.cookies, NOW);
	assert_int_equal(rotate(NOW), 0);
	o = cookies_report(world.cookies);
	assert_string_equal(text_of(o, "error"), "No such file or directory");
	assert_string_equal(text_of(o, "kept_in"), "/nowhere/cookies");
	json_decref(o);
}

/* From one to the other and back, by reloads: a given secret is accepted for an hour more, ours are
 * kept. */
static void test_given_then_made(void **state)
{
	struct cookie_secrets own;

	(void)state;
	open_world(tmpfolder);
	assert_int_equal(configure("", NOW), 0);
	cookies_tick(world.cookies, NOW);
	own = published();
	assert_int_equal(configure("a", NOW + 1), 0);
	assert_string_equal(letters_of(world.published.cookies), "a");
	assert_int_equal(configure("", NOW + 2), 0);
	assert_memory_equal(published().keys[0], own.keys[0], 16);
	assert_int_equal(published().n, 2);
	assert_int_equal(published().keys[1][0], 'a');
	cookies_tick(world.cookies, NOW + 2 + 3601);
	assert_int_equal(published().n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_of_a_roll),
		cmocka_unit_test_teardown(test_report_of_given_ones, close_world),
		cmocka_unit_test_teardown(test_without_a_grace_period, close_world),
		cmocka_unit_test_teardown(test_rotation, close_world),
		cmocka_unit_test_teardown(test_many_rotations, close_world),
		cmocka_unit_test_teardown(test_clock_set_back, close_world),
		cmocka_unit_test(test_kept_over_a_start),
		cmocka_unit_test(test_files),
		cmocka_unit_test_teardown(test_unread_file_stays, close_world),
		cmocka_unit_test_teardown(test_malformed_file_stays, close_world),
		cmocka_unit_test_teardown(test_not_kept, close_world),
		cmocka_unit_test_teardown(test_given_then_made, close_world),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
