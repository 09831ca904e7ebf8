/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each fault of the table is in status, in health, in metrics and in volleyctl(8). */
#include "report/faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/help.h"
#include "config/words.h"

#define SENTENCE "eth0: a sentence: mend it"

/* A view with one fault, as of a daemon that has begun nothing else. */
struct seen {
	struct report_view view;
	struct config config;
	char sentence[128]; /* as people read it */
};

static void seen_init(struct seen *seen, int fault)
{
	*seen = (struct seen){ .view.faults = { NULL } };
	seen->view.faults[fault] = SENTENCE;
	seen->view.config = seen->view.configured = &seen->config;
	snprintf(seen->sentence, sizeof(seen->sentence), "%s" SENTENCE, words_faults[fault].before);
}

static bool is_the_only_one(const json_t *list, const char *text)
{
	return json_array_size(list) == 1 &&
	       !strcmp(json_string_value(json_array_get(list, 0)), text);
}

static void test_the_table_has_names(void **state)
{
	(void)state;
	for (int i = 0; i < N_FAULTS; i++)
		assert_non_null(words_faults[i].name);
	assert_null(words_faults[N_FAULTS].name);
}

/* Status has reasons and warnings in one list. */
static void test_status(void **state)
{
	static const struct health_options all = { .zones = HEALTH_ALL };

	(void)state;
	for (int i = 0; i < N_FAULTS; i++) {
		json_t *list = json_array();
		struct health h = { .options = &all, .reasons = list, .warnings = list };
		struct seen seen;

		seen_init(&seen, i);
		faults_say(&h, &seen.view);
		if (!is_the_only_one(list, seen.sentence))
			fail_msg("%s is not in status", words_faults[i].name);
		json_decref(list);
	}
}

static void check_health(int fault, bool is_strict)
{
	const struct health_options options = { .is_strict = is_strict };
	struct health h = { &options, json_array(), json_array(), false, 0 };
	bool is_reason = words_faults[fault].is_reason || is_strict;
	struct seen seen;

	seen_init(&seen, fault);
	faults_say(&h, &seen.view);
	if (!is_the_only_one(is_reason ? h.reasons : h.warnings, seen.sentence) ||
	    json_array_size(is_reason ? h.warnings : h.reasons))
		fail_msg("%s is no %s of health", words_faults[fault].name,
			 is_reason ? "reason" : "warning");
	json_decref(h.reasons);
	json_decref(h.warnings);
}

static void test_health(void **state)
{
	(void)state;
	for (int i = 0; i < N_FAULTS; i++) {
		check_health(i, false);
		check_health(i, true);
	}
}

/* One sample is 1, and all others are 0. */
static void test_metrics(void **state)
{
	(void)state;
	for (int i = 0; i < N_FAULTS; i++) {
		struct metrics_text out = { 0 };
		struct seen seen;

		seen_init(&seen, i);
		faults_metrics(&seen.view, &out);
		for (int k = 0; k < N_FAULTS; k++) {
			char sample[128];

			snprintf(sample, sizeof(sample), "volley_fault{fault=\"%s\"} %d\n",
				 words_faults[k].name, k == i);
			if (!strstr(out.text, sample))
				fail_msg("not in metrics: %s", sample);
		}
		free(out.text);
	}
}

static void test_man_page(void **state)
{
	FILE *in = fopen("docs/man/volleyctl.8.in", "re");
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_true(in && out);
	assert_int_equal(help_fill_man(out, in, "1"), 0);
	assert_int_equal(fclose(out), 0);
	fclose(in);
	for (int i = 0; i < N_FAULTS; i++) {
		char item[128];

		snprintf(item, sizeof(item), ".It Cm %s , No a %s\n", words_faults[i].name,
			 words_faults[i].is_reason ? "reason" : "warning");
		if (!strstr(text, item))
			fail_msg("not in volleyctl(8): %s", item);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_table_has_names),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_health),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_man_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
