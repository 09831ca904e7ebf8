/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of zones, page by page: which zones, in which order, and that no page is long. */
#include "report/zone_list.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"

#define N_ZONES 3000u

static struct config_zone own;
static struct zones_entry *all[N_ZONES]; /* in canonical order: z0000.test. and so on */
static char names[N_ZONES][16];
static uint8_t apexes[N_ZONES][NAME_FOLDED_BYTES];
static size_t n_all;
static size_t n_walked;
static uint64_t spent_ns; /* that each walk takes at least */

/* As zones_walk(). */
static void walk_given(const void *user, const uint8_t *from, bool is_with, zones_walk_fn *each,
		       void *each_user)
{
	const uint64_t end_ns = clock_ns() + spent_ns;

	(void)user;
	while (spent_ns && clock_ns() < end_ns)
		;
	for (size_t i = 0; i < n_all; i++) {
		int order = from ? name_canonical_cmp(all[i]->apex, from) : 1;

		if (order < 0 || (!order && !is_with))
			continue;
		n_walked++;
		if (!each(each_user, all[i]))
			return;
	}
}

static void add_given(const char *name, enum zones_state state)
{
	uint8_t wire[DNS_NAME_MAX];
	int len = name_from_text(wire, sizeof(wire), name, strlen(name));
	struct zones_entry *entry = calloc(1, sizeof(*entry));

	assert_true(len > 0 && n_all < N_ZONES && entry);
	name_fold(apexes[n_all], wire, (size_t)len);
	snprintf(names[n_all], sizeof(names[n_all]), "%s", name);
	entry->config = &own;
	entry->name = names[n_all];
	entry->file = "none";
	entry->apex = apexes[n_all];
	entry->apex_len = (unsigned int)len;
	entry->state = state;
	all[n_all++] = entry;
}

static int forget_given(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_all; i++)
		free(all[i]);
	n_all = n_walked = 0;
	spent_ns = 0;
	return 0;
}

static void add_many(void)
{
	char name[16];

	for (unsigned int i = 0; i < N_ZONES; i++) {
		snprintf(name, sizeof(name), "z%04u.test.", i);
		add_given(name, ZONES_SERVING);
	}
}

static json_t *pack_args(const char *words)
{
	char text[256], *save, *word;
	json_t *args = json_array();

	snprintf(text, sizeof(text), "%s", words);
	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
		json_array_append_new(args, json_string(word));
	return args;
}

static json_t *ask_page(const char *words)
{
	const struct zone_list_source source = { .walk = walk_given };
	struct zone_list_want want;
	char err[256] = "";
	json_t *args = pack_args(words), *page;

	if (zone_list_read(&want, args, err, sizeof(err)))
		fail_msg("%s: %s", words, err);
	page = zone_list_page(&source, &want);
	assert_non_null(page);
	json_decref(args);
	return page;
}

static const char *name_at(const json_t *page, size_t i)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(page, "zones"), i), "name"));
}

static size_t count_rows(const json_t *page)
{
	return json_array_size(json_object_get(page, "zones"));
}

/* Asks for all pages. The names, with spaces between them, of at most CAP octets. */
static unsigned int ask_pages(const char *words, char *found, size_t cap)
{
	char next[64] = "", with[256];
	unsigned int n_pages = 0;

	*found = 0;
	do {
		json_t *page;

		if (*next)
			snprintf(with, sizeof(with), "%s --after %s", words, next);
		else
			snprintf(with, sizeof(with), "%s", words);
		page = ask_page(with);
		for (size_t i = 0; i < count_rows(page); i++) {
			assert_true(strlen(found) + sizeof(names[0]) + 2 < cap);
			strcat(found, *found ? " " : "");
			strcat(found, name_at(page, i));
		}
		snprintf(next, sizeof(next), "%s",
			 json_is_string(json_object_get(page, "next")) ?
				 json_string_value(json_object_get(page, "next")) :
				 "");
		json_decref(page);
		n_pages++;
	} while (*next);
	return n_pages;
}

/* However long a page takes on a busy machine, all pages together have each zone once. */
static void test_pages(void **state)
{
	static char found[(N_ZONES + 2) * 16], expected[(N_ZONES + 2) * 16];

	(void)state;
	add_many();
	for (unsigned int i = 0; i < N_ZONES; i++) {
		strcat(expected, i ? " " : "");
		strcat(expected, names[i]);
	}
	assert_true(ask_pages("", found, sizeof(found)) >= N_ZONES / ZONE_LIST_ROWS);
	assert_string_equal(found, expected);
	assert_true(ask_pages("--names", found, sizeof(found)) >= N_ZONES / ZONE_LIST_NAMES);
	assert_string_equal(found, expected);
}

static void test_page_is_short(void **state)
{
	json_t *page;

	(void)state;
	add_many();
	page = ask_page("");
	assert_in_range(count_rows(page), 1, ZONE_LIST_ROWS);
	assert_string_equal(json_string_value(json_object_get(page, "next")),
			    name_at(page, count_rows(page) - 1));
	json_decref(page);
	assert_in_range(n_walked, 1, ZONE_LIST_ROWS + 1);
}

/* A page ends when its time is over: with one row at least, or without any if none of the zones
 * that were looked at is wanted. */
static void test_slow_page_ends(void **state)
{
	char found[64];
	json_t *page;

	(void)state;
	spent_ns = ZONE_LIST_NS;
	add_many();
	page = ask_page("");
	assert_int_equal(count_rows(page), 1);
	assert_string_equal(json_string_value(json_object_get(page, "next")), "z0000.test.");
	json_decref(page);
	n_walked = 0;
	page = ask_page("--state stale");
	assert_int_equal(count_rows(page), 0);
	assert_non_null(json_object_get(page, "next"));
	json_decref(page);
	assert_int_equal(n_walked, ZONE_LIST_LOOK);
	assert_int_equal(ask_pages("--after z2997.test.", found, sizeof(found)), 2);
	assert_string_equal(found, "z2998.test. z2999.test.");
}

/* Zones that come and go between two pages: the place is a name, and the name need not exist. */
static void test_place_is_a_name(void **state)
{
	char found[256];

	(void)state;
	add_given("a.test.", ZONES_SERVING);
	add_given("c.test.", ZONES_SERVING);
	ask_pages("--after b.test", found, sizeof(found));
	assert_string_equal(found, "c.test.");
	ask_pages("--after a.test.", found, sizeof(found));
	assert_string_equal(found, "c.test.");
	ask_pages("--after c.test.", found, sizeof(found));
	assert_string_equal(found, "");
	ask_pages("--after A.TEST", found, sizeof(found));
	assert_string_equal(found, "c.test.");
}

static void test_wants(void **state)
{
	static const struct {
		const char *words, *found;
	} rows[] = {
		{ "", ". com. a.com. b.com. x.b.com. b.org. bb.org." },
		{ "--state stale", "b.com. bb.org." },
		{ "--state loading", "a.com. x.b.com." },
		{ "--state serving", ". com. b.org." },
		{ "*.com", "a.com. b.com. x.b.com." },
		{ "*.com --after a.com", "b.com. x.b.com." },
		{ "*.com --after b.org", "" },
		{ "*.com --after .", "a.com. b.com. x.b.com." },
		{ "*.org --after a.com", "b.org. bb.org." },
		{ "b*", "b.com. b.org. bb.org." },
		{ "B.COM", "b.com." },
		{ "?.com", "a.com. b.com." },
		{ "nothing.com", "" },
		{ "*.com --state stale", "b.com." },
		{ "--state stale --names *.org", "bb.org." },
	};
	char found[256];

	(void)state;
	add_given(".", ZONES_SERVING);
	add_given("com.", ZONES_SERVING);
	add_given("a.com.", ZONES_SERVING);
	all[n_all - 1]->loading.is_queued = true;
	add_given("b.com.", ZONES_STALE);
	add_given("x.b.com.", ZONES_NEW);
	add_given("b.org.", ZONES_SERVING);
	add_given("bb.org.", ZONES_STALE);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ask_pages(rows[i].words, found, sizeof(found));
		if (strcmp(found, rows[i].found) != 0)
			fail_msg("%s: %s", rows[i].words, found);
	}
}

/* Only the zones below the domain of a pattern are looked at. */
static void test_domain_is_walked(void **state)
{
	char found[256];

	(void)state;
	add_given("a.com.", ZONES_SERVING);
	add_given("b.com.", ZONES_SERVING);
	add_given("a.net.", ZONES_SERVING);
	add_given("a.org.", ZONES_SERVING);
	add_given("b.org.", ZONES_SERVING);
	n_walked = 0;
	ask_pages("*.net", found, sizeof(found));
	assert_string_equal(found, "a.net.");
	assert_int_equal(n_walked, 2); /* and the one after it */
}

/* A page that was not cut by its time: on a busy machine a page may have fewer rows. */
static json_t *ask_full_page(const char *words, size_t n_rows)
{
	json_t *page = ask_page(words);

	for (int i = 0; i < 1000 && count_rows(page) < n_rows; i++) {
		json_decref(page);
		page = ask_page(words);
	}
	assert_int_equal(count_rows(page), n_rows);
	return page;
}

static void test_limit(void **state)
{
	json_t *page;

	(void)state;
	add_many();
	page = ask_full_page("--limit 2", 2);
	assert_string_equal(json_string_value(json_object_get(page, "next")), "z0001.test.");
	json_decref(page);
	page = ask_full_page("--limit 2 --after z2997.test.", 2);
	assert_null(json_object_get(page, "next"));
	json_decref(page);
}

static void test_names_alone(void **state)
{
	json_t *page;

	(void)state;
	add_given("a.test.", ZONES_SERVING);
	page = ask_page("--names");
	assert_int_equal(json_object_size(json_array_get(json_object_get(page, "zones"), 0)), 1);
	json_decref(page);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *words;
		int code;
		const char *sentence;
	} rows[] = {
		{ "--state fine", -EINVAL,
		  "fine: a zone has no such state; give loading, failed, serving, stale, awaited, "
		  "expired" },
		{ "--state", -EINVAL, "--state: it needs a value" },
		{ "--limit 0", -EINVAL, "--limit 0: give a number from 1 to 4294967295" },
		{ "--limit x", -EINVAL, "--limit x: give a number from 1 to 4294967295" },
		{ "--limit 4294967296", -EINVAL,
		  "--limit 4294967296: give a number from 1 to 4294967295" },
		{ "--after a..b", ERR_LABEL_EMPTY, "--after a..b: " },
		{ "--what", -EINVAL,
		  "--what: give at most one pattern, and --state, --after, --limit or --names" },
		{ "a b", -EINVAL, "b: give at most one pattern" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct zone_list_want want;
		char err[256] = "";
		json_t *args = pack_args(rows[i].words);
		int code = zone_list_read(&want, args, err, sizeof(err));

		if (code != rows[i].code ||
		    strncmp(err, rows[i].sentence, strlen(rows[i].sentence)) != 0)
			fail_msg("%s: %d, %s", rows[i].words, code, err);
		json_decref(args);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_pages, forget_given),
		cmocka_unit_test_teardown(test_page_is_short, forget_given),
		cmocka_unit_test_teardown(test_slow_page_ends, forget_given),
		cmocka_unit_test_teardown(test_place_is_a_name, forget_given),
		cmocka_unit_test_teardown(test_wants, forget_given),
		cmocka_unit_test_teardown(test_domain_is_walked, forget_given),
		cmocka_unit_test_teardown(test_limit, forget_given),
		cmocka_unit_test_teardown(test_names_alone, forget_given),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
