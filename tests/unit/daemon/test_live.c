/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How rarely answers are looked at, and that a load which grows is told before the second is
 * over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/live.h"
#include "report/report_view.h"

static void test_every(void **state)
{
	static const struct {
		double answers_per_s;
		uint32_t every;
	} rows[] = {
		{ 0, 1 },
		{ 1, 1 },
		{ LIVE_EVENTS_PER_S, 1 },
		{ LIVE_EVENTS_PER_S + 1, 2 },
		{ 100.0 * LIVE_EVENTS_PER_S, 100 },
		{ 1e30, 1u << 20 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(live_every(rows[i].answers_per_s), rows[i].every);
}

static bool is_readable(const struct live *live)
{
	struct pollfd fd = { .fd = live_fd(live), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void test_growing_load(void **state)
{
	const struct tap_event event = { .family = AF_INET };
	const struct tap_event ours = { .family = AF_INET, .way = TAP_FORWARDER };
	const struct report_source reports = { NULL, NULL };
	struct live *live = live_new(NULL, &reports);

	(void)state;
	assert_non_null(live);
	for (unsigned int i = 0; i < 2 * LIVE_EVENTS_PER_S - 1; i++) {
		live_note(live, &event);
		live_note(live, &ours);
	}
	assert_false(is_readable(live));
	live_note(live, &event);
	assert_true(is_readable(live));
	live_free(live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every),
		cmocka_unit_test(test_growing_load),
	};

	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
