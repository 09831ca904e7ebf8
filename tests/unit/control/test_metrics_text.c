/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of metrics: families, labels, what has to be escaped, and growth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/metrics_text.h"

static void test_families(void **state)
{
	struct metrics_text out = { 0 };

	(void)state;
	metrics_text_family(&out, METRICS_COUNTER, "port_rx", "messages received");
	metrics_text_sample(&out, 7, "port", "udp", "worker", "0", NULL);
	metrics_text_sample(&out, UINT64_MAX, "port", "tcp", NULL);
	metrics_text_family(&out, METRICS_GAUGE, "ready", "1 when it answers");
	metrics_text_sample(&out, 0, NULL);
	assert_false(out.is_failed);
	assert_string_equal(out.text, "# HELP volley_port_rx_total messages received\n"
				      "# TYPE volley_port_rx_total counter\n"
				      "volley_port_rx_total{port=\"udp\",worker=\"0\"} 7\n"
				      "volley_port_rx_total{port=\"tcp\"} 18446744073709551615\n"
				      "# HELP volley_ready 1 when it answers\n"
				      "# TYPE volley_ready gauge\n"
				      "volley_ready 0\n");
	assert_int_equal(out.n, strlen(out.text));
	free(out.text);
}

/* In a label's text a quote too; in a help it stands for itself. */
static void test_escapes(void **state)
{
	struct metrics_text out = { 0 };

	(void)state;
	metrics_text_family(&out, METRICS_GAUGE, "x", "a\\b \"c\"\nd");
	metrics_text_sample(&out, 1, "zone", "a\\046b\"\n.", "empty", "", NULL);
	assert_string_equal(out.text, "# HELP volley_x a\\\\b \"c\"\\nd\n"
				      "# TYPE volley_x gauge\n"
				      "volley_x{zone=\"a\\\\046b\\\"\\n.\",empty=\"\"} 1\n");
	free(out.text);
}

static void test_growth(void **state)
{
	struct metrics_text out = { 0 };
	static char label[20000];
	size_t n;

	(void)state;
	memset(label, 'a', sizeof(label) - 1);
	metrics_text_family(&out, METRICS_GAUGE, "x", "y");
	n = out.n;
	for (unsigned int i = 0; i < 10; i++)
		metrics_text_sample(&out, i, "l", label, NULL);
	assert_false(out.is_failed);
	assert_int_equal(out.n, n + 10 * (strlen("volley_x{l=\"\"} 0\n") + strlen(label)));
	assert_int_equal(strlen(out.text), out.n);
	free(out.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
