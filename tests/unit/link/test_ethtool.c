/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Channels as drivers report them, and drivers of this machine that report nothing. */
#include "link/ethtool.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct {
	const char *what;
	struct ethtool_channels channels;
	struct ethtool_queues queues;
} rows[] = {
	{ "nothing", { 0 }, { 1, 0, 0 } },
	{ "combined",
	  { .combined_count = 4, .max_combined = 16 },
	  { .n_rx = 4, .n_rx_max = 16, .n_tx = 0 } },
	{ "separate, as of a veth",
	  { .rx_count = 2, .tx_count = 3, .max_rx = 8, .max_tx = 8 },
	  { .n_rx = 2, .n_rx_max = 8, .n_tx = 3 } },
	{ "both",
	  { .combined_count = 4, .rx_count = 1, .tx_count = 2, .max_combined = 6, .max_rx = 9 },
	  { .n_rx = 5, .n_rx_max = 6, .n_tx = 6 } },
	{ "more than the most",
	  { .combined_count = 8, .max_combined = 4 },
	  { .n_rx = 8, .n_rx_max = 8, .n_tx = 0 } },
	{ "no most", { .combined_count = 8 }, { .n_rx = 8, .n_rx_max = 0, .n_tx = 0 } },
};

static void test_channels(void **state)
{
	struct ethtool_queues queues;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("  %s\n", rows[i].what);
		ethtool_take_channels(&rows[i].channels, &queues);
		assert_int_equal(queues.n_rx, rows[i].queues.n_rx);
		assert_int_equal(queues.n_rx_max, rows[i].queues.n_rx_max);
		assert_int_equal(queues.n_tx, rows[i].queues.n_tx);
	}
}

/* A loopback device has no channels and no statistics, and the other link is none. */
static void test_of_this_machine(void **state)
{
	static const char *const names[] = { "lo", "not.there" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ethtool_gstrings *strings = (void *)names;
		struct ethtool_queues queues;

		ethtool_count_queues(names[i], &queues);
		assert_int_equal(queues.n_rx, 1);
		assert_int_equal(queues.n_rx_max, 0);
		assert_false(ethtool_takes_tags_out(names[i]));
		assert_int_not_equal(ethtool_names(names[i], ETH_SS_STATS, 16, &strings), 0);
		assert_null(strings);
	}
}

/* The kernel itself names the features of each link. */
static void test_names(void **state)
{
	struct ethtool_gstrings *names;

	(void)state;
	assert_int_equal(ethtool_names("lo", ETH_SS_FEATURES, 1024, &names), 0);
	assert_true(names->len > 1);
	free(names);
	assert_int_equal(ethtool_names("lo", ETH_SS_FEATURES, 1, &names), -E2BIG);
	assert_null(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_of_this_machine),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
