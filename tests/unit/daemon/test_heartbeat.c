/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Until when programs may answer: ours, during a resize those of both caches, and those of earlier
 * daemons. */
#include "daemon/heartbeat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#define ORPHAN_S 60u

static struct volley_state first, second;
static uint32_t old_until_s;

static int begin(void **state)
{
	static struct heartbeat h;

	heartbeat_init(&h, ORPHAN_S);
	first.serve_until_s = second.serve_until_s = old_until_s = 0;
	*state = &h;
	return 0;
}

static int end(void **state)
{
	heartbeat_fini(*state);
	return 0;
}

static void assert_serves(uint32_t until_s, uint32_t for_s)
{
	uint32_t now_s = clock_coarse_s();

	assert_in_range(until_s, now_s + for_s - 5, now_s + for_s);
}

static void test_one_cache_or_two(void **state)
{
	struct heartbeat *h = *state;

	heartbeat_serve_by(h, &first, NULL);
	assert_serves(first.serve_until_s, ORPHAN_S);
	assert_int_equal(second.serve_until_s, 0);
	heartbeat_serve_by(h, &second, &first);
	assert_serves(second.serve_until_s, ORPHAN_S);
	heartbeat_stop(h, false);
	assert_int_equal(first.serve_until_s, 0);
	assert_int_equal(second.serve_until_s, 0);
}

static void test_keep(void **state)
{
	struct heartbeat *h = *state;

	heartbeat_serve_by(h, &first, NULL);
	heartbeat_stop(h, true);
	assert_serves(first.serve_until_s, ORPHAN_S);
}

static void test_late_heartbeats(void **state)
{
	struct heartbeat *h = *state;

	h->orphan_s = 0;
	heartbeat_serve_by(h, &first, NULL);
	assert_in_range(first.serve_until_s, clock_coarse_s() + 1, clock_coarse_s() + 3);
}

static void test_earlier_daemons(void **state)
{
	struct heartbeat *h = *state;

	heartbeat_keep_old(h, &old_until_s);
	heartbeat_serve_by(h, &first, NULL);
	assert_serves(old_until_s, ORPHAN_S);
	heartbeat_let_old_go(h);
	old_until_s = 17;
	heartbeat_serve_by(h, &first, NULL);
	assert_int_equal(old_until_s, 17);
	heartbeat_keep_old(h, &old_until_s);
	heartbeat_silence_old(h);
	assert_int_equal(old_until_s, 0);
	heartbeat_serve_by(h, &first, NULL);
	assert_int_equal(old_until_s, 0);
}

static void test_the_thread(void **state)
{
	struct heartbeat *h = *state;

	heartbeat_serve_by(h, &first, NULL);
	assert_int_equal(heartbeat_start(h), 0);
	heartbeat_stop(h, false);
	assert_int_equal(first.serve_until_s, 0);
	assert_false(h->has_thread);
}

static void test_kinds_of_blocks(void **state)
{
	struct heartbeat *h = *state;

	heartbeat_serve_by(h, &first, &second);
	heartbeat_put_block_kinds(h, 5);
	assert_int_equal(first.block_kinds, 5);
	assert_int_equal(second.block_kinds, 5);
}

static void test_the_watchdog(void **state)
{
	static struct health_watch watch;
	struct heartbeat *h = *state;

	h->is_watched = true;
	watch.heartbeats.workers[1].n_looks = HEALTH_LOOKS_MAX;
	heartbeat_watch(h, &watch, 1);
	assert_int_not_equal(h->well_ns, 0);
	heartbeat_watch(h, &watch, 2);
	assert_int_equal(h->well_ns, 0);
	watch.heartbeats.workers[1].n_looks = 0;
	heartbeat_watch(h, &watch, 2);
	assert_int_not_equal(h->well_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_cache_or_two, begin, end),
		cmocka_unit_test_setup_teardown(test_keep, begin, end),
		cmocka_unit_test_setup_teardown(test_late_heartbeats, begin, end),
		cmocka_unit_test_setup_teardown(test_earlier_daemons, begin, end),
		cmocka_unit_test_setup_teardown(test_the_thread, begin, end),
		cmocka_unit_test_setup_teardown(test_kinds_of_blocks, begin, end),
		cmocka_unit_test_setup_teardown(test_the_watchdog, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
