/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events in the log, as text and as JSON, and how many lines of a kind the audit writes. */
#include "base/audit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/base/capture.h"

#define S 1000000000ull

/* Each test has a time of its own, because periods belong to the process. */
static uint64_t now_ns = 100 * S;

static int begin(void **state)
{
	now_ns += 100 * S;
	log_set_format(LOG_TEXT);
	if (capture(state))
		return -1;
	log_open("tester", LOG_LEVEL_INFO);
	return 0;
}

static int end(void **state)
{
	log_set_format(LOG_TEXT);
	return release(state);
}

static const struct {
	const char *name;
	const char *text;
	const char *line; /* after the word of the event */
} text_rows[] = {
	{ "a word", "example.com.", " a=example.com.\n" },
	{ "a space", "no rule", " a=\"no rule\"\n" },
	{ "nothing", "", " a=\"\"\n" },
	{ "a quote", "say \"x\"", " a=\"say \\\"x\\\"\"\n" },
	{ "a backslash", "a\\b", " a=\"a\\\\b\"\n" },
	{ "an equals sign", "a=b", " a=\"a=b\"\n" },
	{ "a newline", "a\nb", " a=a?b\n" },
	{ "not told", NULL, "\n" },
};

static void test_text(void **state)
{
	char got[4096], want[4096] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(text_rows) / sizeof(text_rows[0]); i++) {
		const struct log_field field = { "a", text_rows[i].text };
		size_t n = strlen(want);

		log_event(LOG_LEVEL_NOTICE, "thing", &field, 1);
		snprintf(want + n, sizeof(want) - n, "tester[%d]: notice: thing%s", (int)getpid(),
			 text_rows[i].line);
	}
	taken(got, sizeof(got));
	assert_string_equal(got, want);
}

static const char *member(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void test_json(void **state)
{
	const struct log_field fields[] = { { "zone", "a\"b\\c" },
					    { "left-out", NULL },
					    { "octets", "\303\244 \377" } };
	char got[4096], *second;
	json_t *object;

	(void)state;
	log_set_format(LOG_JSON);
	log_event(LOG_LEVEL_WARN, "thing", fields, 3);
	log_info("a line with \"quotes\" and \n a newline");
	taken(got, sizeof(got));
	second = strchr(got, '\n') + 1;
	object = json_loadb(got, (size_t)(second - got), 0, NULL);
	assert_non_null(object);
	assert_string_equal(member(object, "event"), "thing");
	assert_string_equal(member(object, "level"), "warning");
	assert_string_equal(member(object, "program"), "tester");
	assert_int_equal(json_integer_value(json_object_get(object, "pid")), getpid());
	assert_string_equal(member(object, "zone"), "a\"b\\c");
	assert_null(json_object_get(object, "left-out"));
	assert_string_equal(member(object, "octets"), "\303\244 ?");
	assert_int_equal(strlen(member(object, "time")), strlen("2026-11-26T08:00:00.000000Z"));
	json_decref(object);
	object = json_loads(second, 0, NULL);
	assert_string_equal(member(object, "message"), "a line with \"quotes\" and ? a newline");
	assert_string_equal(member(object, "level"), "info");
	json_decref(object);
}

/* Two names of the maximum length, with octets that are escaped twice, followed by words. */
static void name_of(char *text, const char *octet)
{
	*text = '\0';
	for (int i = 0; i < 250; i++)
		strcat(text, octet);
}

static void assert_cut(const char *whole, const json_t *object, const char *field)
{
	const char *text = member(object, field);

	assert_non_null(text);
	assert_in_range(strlen(text), 100, strlen(whole));
	assert_memory_equal(text, whole, strlen(text));
}

/* Too long an event is cut; a line of JSON stays a complete object. */
static void test_long(void **state)
{
	char text[2 * LOG_LINE_BYTES], key[1024], zone[1024], got[5 * LOG_LINE_BYTES], *next = got,
										       *line;
	const struct log_field field = { "a", text };
	const struct log_field names[] = { { "key", key },
					   { "zone", zone },
					   { "reason", "\303\244" } };
	json_t *object;

	(void)state;
	memset(text, '"', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	name_of(key, "\\001");
	name_of(zone, "\303\244");
	log_event(LOG_LEVEL_INFO, "thing", &field, 1);
	log_set_format(LOG_JSON);
	log_event(LOG_LEVEL_INFO, "thing", &field, 1);
	log_event(LOG_LEVEL_INFO, "thing", names, 3);
	log_info("%s", text);
	taken(got, sizeof(got));
	line = strsep(&next, "\n");
	assert_in_range(strlen(line), LOG_LINE_BYTES - 8, LOG_LINE_BYTES - 1);
	assert_int_equal(line[strlen(line) - 1], '"');
	object = json_loads(strsep(&next, "\n"), 0, NULL);
	assert_cut(text, object, "a");
	json_decref(object);
	object = json_loads(strsep(&next, "\n"), 0, NULL);
	assert_cut(key, object, "key");
	assert_cut(zone, object, "zone");
	assert_string_equal(member(object, "reason"), "\303\244");
	json_decref(object);
	object = json_loads(next, 0, NULL);
	assert_non_null(object);
	assert_in_range(strlen(member(object, "message")), LOG_LINE_BYTES / 4, LOG_LINE_BYTES / 2);
	json_decref(object);
}

static unsigned int count_of(const char *text, const char *word)
{
	unsigned int n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

static void refuse(unsigned int n, uint64_t at_ns)
{
	const struct log_field field = { "zone", "example." };

	for (unsigned int i = 0; i < n; i++)
		audit(AUDIT_NOTIFY_REFUSED, at_ns, &field, 1);
}

static void test_flood(void **state)
{
	char got[65536];

	(void)state;
	refuse(1000, now_ns);
	refuse(1, now_ns + AUDIT_PERIOD_NS - 1);
	audit_tick(now_ns + AUDIT_PERIOD_NS - 1);     /* not over yet */
	audit(AUDIT_UPDATE_REFUSED, now_ns, NULL, 0); /* another kind */
	audit_tick(now_ns + AUDIT_PERIOD_NS);
	audit_tick(now_ns + AUDIT_PERIOD_NS + S); /* once */
	refuse(1, now_ns + AUDIT_PERIOD_NS);
	taken(got, sizeof(got));
	assert_int_equal(count_of(got, "notify-refused zone=example."), AUDIT_LINES + 1);
	assert_int_equal(count_of(got, "omitted="), 1);
	assert_int_equal(count_of(got, "notify-refused omitted=981\n"), 1);
	assert_int_equal(count_of(got, "update-refused\n"), 1);
}

/* The first event of the next period first reports what the last period left out. */
static void test_flood_without_tick(void **state)
{
	char got[65536], *omitted, *last;

	(void)state;
	refuse(30, now_ns);
	refuse(5, now_ns + AUDIT_PERIOD_NS);
	refuse(1, now_ns + AUDIT_PERIOD_NS - S); /* another thread is a little behind */
	taken(got, sizeof(got));
	assert_int_equal(count_of(got, "zone=example."), AUDIT_LINES + 6);
	omitted = strstr(got, "omitted=10\n");
	assert_non_null(omitted);
	last = strstr(omitted, "zone=");
	assert_int_equal(count_of(last, "zone="), 6);
}

static void test_changes_are_all_written(void **state)
{
	char got[65536];

	(void)state;
	for (int i = 0; i < 100; i++)
		audit(AUDIT_COMMAND, now_ns, NULL, 0);
	taken(got, sizeof(got));
	assert_int_equal(count_of(got, "command\n"), 100);
}

static void test_address(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
	static const uint8_t v6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	char text[AUDIT_ADDRESS_CAP];

	assert_string_equal(audit_address(text, AF_INET, mapped + 12), "192.0.2.1");
	assert_string_equal(audit_address(text, AF_INET6, mapped), "192.0.2.1");
	assert_string_equal(audit_address(text, AF_INET6, v6), "2001:db8::1");
	(void)state;
}

#define captured(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		captured(test_text),
		captured(test_json),
		captured(test_long),
		captured(test_flood),
		captured(test_flood_without_tick),
		captured(test_changes_are_all_written),
		cmocka_unit_test(test_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
