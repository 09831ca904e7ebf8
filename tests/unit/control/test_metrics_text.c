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

/* A duration at a bound is below it; buckets have those before them, too. */
static void test_histograms(void **state)
{
	struct metrics_text out = { 0 };
	struct histogram h = { .sum_ns = 0 }, sum = { .sum_ns = 0 };

	(void)state;
	histogram_add(&h, 10000, 2);
	histogram_add(&h, 10001, 1);
	histogram_add(&h, 5000000001, 1);
	histogram_read(&h, &sum);
	metrics_text_family(&out, METRICS_HISTOGRAM, "took_seconds", "time");
	metrics_text_histogram(&out, &sum, "kind", "tcp");
	metrics_text_standard(&out, METRICS_COUNTER, "process_cpu_seconds_total", "time");
	metrics_text_decimal(&out, 1500000000);
	assert_non_null(strstr(out.text,
			       "# TYPE volley_took_seconds histogram\n"
			       "volley_took_seconds_bucket{kind=\"tcp\",le=\"1e-05\"} 2\n"
			       "volley_took_seconds_bucket{kind=\"tcp\",le=\"2.5e-05\"} 3\n"));
	assert_non_null(strstr(out.text, "volley_took_seconds_bucket{kind=\"tcp\",le=\"5\"} 3\n"
					 "volley_took_seconds_bucket{kind=\"tcp\",le=\"+Inf\"} 4\n"
					 "volley_took_seconds_count{kind=\"tcp\"} 4\n"
					 "volley_took_seconds_sum{kind=\"tcp\"} 5.000030002\n"));
	assert_non_null(strstr(out.text, "# TYPE process_cpu_seconds_total counter\n"
					 "process_cpu_seconds_total 1.500000000\n"));
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
		cmocka_unit_test(test_histograms),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
