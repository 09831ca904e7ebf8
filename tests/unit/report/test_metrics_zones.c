/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of zones: storage, when they expire, and of how many each by itself. */
#include "report/metrics_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char remote[] = "main";
static char *primaries[] = { remote, NULL };
static struct config_zone own, others = { .primaries = primaries };

static const struct zones_entry zones[] = {
	{ .config = &own, .name = "a.test.", .state = ZONES_SERVING },
	{ .config = &own,
	  .name = "b.test.",
	  .state = ZONES_STALE,
	  .stored.error = { "b.zone: No space left on device" },
	  .stored.known = { .expires_wall_s = 5 } }, /* it was a secondary's */
	{ .config = &own,
	  .name = "c.test.",
	  .state = ZONES_SERVING,
	  .stored.warning = { "the journal" } },
	{ .config = &others,
	  .name = "d.test.",
	  .state = ZONES_SERVING,
	  .stored.known = { .expires_wall_s = 1800000000 } },
	{ .config = &others,
	  .name = "e.test.",
	  .state = ZONES_EXPIRED,
	  .stored.known = { .expires_wall_s = 1700000000 } },
	{ .config = &others, .name = "f.test.", .state = ZONES_AWAITED },
};

static const struct zones_entry *at(const void *user, size_t i)
{
	return (const struct zones_entry *)user + i;
}

static void tell(const struct zones_entry *(*zone_at)(const void *, size_t), const void *user,
		 size_t n, struct metrics_text *out)
{
	metrics_zones(&(struct metrics_zone_list){ .at = zone_at, .user = user, .n = n }, 0, out);
}

/* All samples of a family, in the order of the text. */
static void assert_family(const struct metrics_text *out, const char *family, const char *expected)
{
	char head[METRICS_NAME_CAP + 32], *from, *end;
	size_t n;

	snprintf(head, sizeof(head), "# TYPE %s gauge\n", family);
	from = strstr(out->text, head);
	if (!from)
		fail_msg("%s is not told", family);
	from += strlen(head);
	end = strstr(from, "# HELP ");
	n = end ? (size_t)(end - from) : strlen(from);
	if (n != strlen(expected) || memcmp(from, expected, n) != 0)
		fail_msg("%s: %.*s", family, (int)n, from);
}

static void test_each(void **state)
{
	static const char *const rows[][2] = {
		{ "volley_zone_storage_error", "volley_zone_storage_error{zone=\"a.test.\"} 0\n"
					       "volley_zone_storage_error{zone=\"b.test.\"} 1\n"
					       "volley_zone_storage_error{zone=\"c.test.\"} 0\n"
					       "volley_zone_storage_error{zone=\"d.test.\"} 0\n"
					       "volley_zone_storage_error{zone=\"e.test.\"} 0\n"
					       "volley_zone_storage_error{zone=\"f.test.\"} 0\n" },
		{ "volley_zone_storage_warning",
		  "volley_zone_storage_warning{zone=\"a.test.\"} 0\n"
		  "volley_zone_storage_warning{zone=\"b.test.\"} 0\n"
		  "volley_zone_storage_warning{zone=\"c.test.\"} 1\n"
		  "volley_zone_storage_warning{zone=\"d.test.\"} 0\n"
		  "volley_zone_storage_warning{zone=\"e.test.\"} 0\n"
		  "volley_zone_storage_warning{zone=\"f.test.\"} 0\n" },
		{ "volley_zone_expires_timestamp_seconds",
		  "volley_zone_expires_timestamp_seconds{zone=\"d.test.\"} 1800000000\n"
		  "volley_zone_expires_timestamp_seconds{zone=\"e.test.\"} 1700000000\n" },
		{ "volley_zone_serial", "" },
	};
	struct metrics_text out = { 0 };

	(void)state;
	tell(at, zones, sizeof(zones) / sizeof(zones[0]), &out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_family(&out, rows[i][0], rows[i][1]);
	free(out.text);
}

static void test_sums(void **state)
{
	static const char *const rows[][2] = {
		{ "volley_zones_storage_error", "volley_zones_storage_error 1\n" },
		{ "volley_zones_storage_warning", "volley_zones_storage_warning 1\n" },
		{ "volley_zones_expires_timestamp_seconds",
		  "volley_zones_expires_timestamp_seconds 1700000000\n" },
	};
	struct metrics_text out = { 0 };

	(void)state;
	tell(at, zones, sizeof(zones) / sizeof(zones[0]), &out);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_family(&out, rows[i][0], rows[i][1]);
	assert_non_null(strstr(out.text, "volley_zones{state=\"serving\"} 3\n"));
	free(out.text);
}

static void test_none(void **state)
{
	struct metrics_text out = { 0 };

	(void)state;
	tell(at, zones, 0, &out);
	assert_family(&out, "volley_zones_storage_error", "volley_zones_storage_error 0\n");
	assert_family(&out, "volley_zones_expires_timestamp_seconds", "");
	assert_family(&out, "volley_zone_state", "");
	free(out.text);
}

static const struct zones_entry *same(const void *user, size_t i)
{
	(void)i;
	return user;
}

static bool is_second(const void *user, const struct zones_entry *entry)
{
	(void)user;
	return entry == &zones[1];
}

/* The last one is b.test. */
static const struct zones_entry *many_at(const void *user, size_t i)
{
	(void)user;
	return i == METRICS_ZONES_MAX ? &zones[1] : &zones[3];
}

static size_t n_lines(const char *text, const char *begin)
{
	size_t n = 0;

	for (const char *at = strstr(text, begin); at; at = strstr(at + 1, begin))
		n++;
	return n;
}

/* Of more than can be told by themselves those that come first are, and then others; sums are told
 * of any number. */
static void test_many(void **state)
{
	const struct metrics_zone_list list = { .at = many_at,
						.n = METRICS_ZONES_MAX + 1,
						.first = { &zones[1] },
						.n_first = 1,
						.is_first = is_second };
	struct metrics_text few = { 0 }, many = { 0 };

	(void)state;
	tell(same, &zones[3], METRICS_ZONES_MAX, &few);
	assert_int_equal(n_lines(few.text, "volley_zone_storage_error{zone=\"d.test.\"}"),
			 METRICS_ZONES_MAX);
	metrics_zones(&list, 0, &many);
	assert_int_equal(n_lines(many.text, "volley_zone_storage_error{zone=\"d.test.\"}"),
			 METRICS_ZONES_MAX - 1);
	assert_int_equal(n_lines(many.text, "volley_zone_storage_error{zone=\"b.test.\"} 1"), 1);
	assert_family(&many, "volley_zones_expires_timestamp_seconds",
		      "volley_zones_expires_timestamp_seconds 1800000000\n");
	free(few.text);
	free(many.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
