/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact lines of volleyctl top at 80 columns, and views that fit their windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/result_text.h"
#include "client/top_view.h"

#define LONG_NAME "an-owner-with-a-name-that-is-far-too-long-for-a-line.of-eighty-columns.example."

static const char *const before_text =
	"{'time_ms':1000,'shed':10,'answers':{'total':1000,'by_rcode':{'NOERROR':1000},"
	"'by_qtype':{'A':1000},'by_way':[{'transport':'udp','way':'driver','answers':900},"
	"{'transport':'tcp','way':'worker','answers':100}],"
	"'by_zone':[{'zone':'example.','answers':1000}]}}";
static const char *const now_text =
	"{'time_ms':3000,'shed':30,'one_in':4,'limited_prefixes':1,"
	"'answers':{'total':5000,'by_rcode':{'NOERROR':4000,'NXDOMAIN':1000},"
	"'by_qtype':{'A':1000,'TXT':4000},"
	"'by_way':[{'transport':'udp','way':'driver','answers':3900},"
	"{'transport':'tcp','way':'worker','answers':1100}],"
	"'by_zone':[{'zone':'example.','answers':1000},{'zone':'none','answers':4000}]},"
	"'clients':[{'prefix':'192.0.2.0/24','share_percent':75.0,'error_percent':1.5},"
	"{'prefix':'2001:db8:1234::/48','share_percent':25.0,'error_percent':0.5}],"
	"'names':[{'name':'" LONG_NAME "','share_percent':100.0,'error_percent':0.0}],"
	"'limited':[{'prefix':'192.0.2.0/24','over_s':61,'over_per_second':1500,'slipped':1000,"
	"'dropped':2000000}]}";

#define HEAD                                                                     \
	"2,000 answers/s    1 in 4 sampled    limited prefixes 1    shed/s 10\n" \
	"60 s=#  most 2,000\n"                                                   \
	"from  driver/udp 75.0 %  worker/tcp 25.0 %\n"                           \
	"\n"

struct row {
	enum top_kind kind;
	const char *table;
};

static const struct row rows[] = {
	{ TOP_CLIENTS,
	  "CLIENTS                                             SHARE       +-     ANSWERS/S\n"
	  "192.0.2.0/24                                       75.0 %    1.5 %         1,500\n"
	  "2001:db8:1234::/48                                 25.0 %    0.5 %           500\n" },
	{ TOP_NAMES,
	  "NAME                                                SHARE       +-     ANSWERS/S\n"
	  "an-owner-with-a-name-that-is-far-too-long-fo...   100.0 %    0.0 %         2,000\n" },
	{ TOP_TYPES,
	  "TYPE                                                SHARE              ANSWERS/S\n"
	  "TXT                                               100.0 %                  2,000\n" },
	{ TOP_RCODES,
	  "RCODE                                               SHARE              ANSWERS/S\n"
	  "NOERROR                                            75.0 %                  1,500\n"
	  "NXDOMAIN                                           25.0 %                    500\n" },
	{ TOP_ZONES,
	  "ZONE                                                SHARE              ANSWERS/S\n"
	  "none                                              100.0 %                  2,000\n" },
	{ TOP_LIMITED,
	  "PREFIX                        OVER FOR     OVER/S       SLIPPED       DROPPED\n"
	  "192.0.2.0/24                 1 min 1 s      1,500         1,000     2,000,000\n" },
};

static json_t *read_json(const char *text)
{
	char *copy = strdup(text);
	json_t *value;

	assert_non_null(copy);
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	value = json_loads(copy, 0, NULL);
	assert_non_null(value);
	free(copy);
	return value;
}

static json_t *read_rates(double *total)
{
	json_t *before = read_json(before_text), *now = read_json(now_text);

	*total = top_view_rates(now, before);
	json_decref(before);
	return now;
}

static char *draw(const struct top_view *view, const json_t *now)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	top_view_draw(out, view, now);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_each_view(void **state)
{
	struct top_view view = { .width = 80 };
	double total;
	json_t *now = read_rates(&total);

	(void)state;
	assert_true(fabs(total - 2000) < 1e-9);
	top_view_remember(&view, total / 2);
	top_view_remember(&view, total);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text, wanted[1024];

		view.kind = rows[i].kind;
		text = draw(&view, now);
		snprintf(wanted, sizeof(wanted), "%s%s", HEAD, rows[i].table);
		assert_string_equal(text, wanted);
		free(text);
	}
	json_decref(now);
}

/* Each window size, with a full history, whose bars have three octets each. */
static void test_window(void **state)
{
	struct top_view view = { .is_utf8 = true };
	double total;
	json_t *now = read_rates(&total);

	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		top_view_remember(&view, i);
	assert_int_equal(view.n_history, TOP_HISTORY);
	for (view.width = TOP_WIDTH_MIN; view.width <= 200; view.width++)
		for (view.height = 1; view.height <= 12; view.height++) {
			char *text, *rest, *line;
			unsigned int n = 0;

			view.kind = view.height % TOP_N_KINDS;
			text = rest = draw(&view, now);
			while ((line = strsep(&rest, "\n")) && rest) {
				assert_in_range(units_width(line), 0, view.width);
				n++;
			}
			assert_in_range(n, 1, view.height);
			free(text);
		}
	json_decref(now);
}

/* The help names the key of each view, and has its place. */
static void test_help_of_keys(void **state)
{
	struct top_view view = { .width = 80, .is_help = true };
	double total;
	json_t *now = read_rates(&total);
	char *text = draw(&view, now), word[32];

	(void)state;
#define TOP_HELP(name, kind)                                         \
	snprintf(word, sizeof(word), "\n%c  %s: ", (kind)[0], kind); \
	assert_non_null(strstr(text, word));
	TOP_VIEW_LIST(TOP_HELP)
#undef TOP_HELP
	assert_null(strstr(text, "CLIENTS"));
	free(text);
	json_decref(now);
}

/* A new daemon counts from 0, but no rate is below 0. The first reply has no rates. */
static void test_no_rates_below_zero(void **state)
{
	json_t *before = read_json(before_text), *now = read_json(now_text);

	(void)state;
	json_object_set_new(now, "time_ms", json_integer(5));
	assert_true(top_view_rates(before, now) == 0);
	assert_true(top_view_rates(now, now) == 0);
	json_decref(before);
	json_decref(now);
}

static void test_find(void **state)
{
	enum top_kind kind = TOP_CLIENTS;

	(void)state;
	assert_true(top_view_find(&kind, "zones") && kind == TOP_ZONES);
	assert_true(top_view_find(&kind, "l") && kind == TOP_LIMITED);
	assert_false(top_view_find(&kind, "zo"));
	assert_false(top_view_find(&kind, ""));
	assert_int_equal(kind, TOP_LIMITED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_view),    cmocka_unit_test(test_window),
		cmocka_unit_test(test_help_of_keys), cmocka_unit_test(test_no_rates_below_zero),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests_name("top_view", tests, NULL, NULL);
}
