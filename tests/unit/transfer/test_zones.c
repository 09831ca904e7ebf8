/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "config/zone_pool.h"
#include "dns/name.h"
#include "transfer/secondary.h"
#include "transfer/transfer.h"
#include "transfer/transfer_thread.h"

#define N_ZONES 3000

static const uint8_t *apex_of(unsigned int i)
{
	static uint8_t apex[NAME_FOLDED_BYTES];
	char text[32];

	snprintf(text, sizeof(text), "z%u.test", i);
	assert_true(name_from_text(apex, sizeof(apex), text, strlen(text)) > 0);
	return apex;
}

static char *primaries[] = { (char[]){ "one" }, (char[]){ "two" }, NULL };
static struct config_rule rules[] = { { .key = (char[]){ "k1." } } };
static const struct config_zone config = {
	.primaries = primaries,
	.allow_transfer = { rules, 1 },
	.transfer_s = 17,
};

static void put(struct transfer_zones *zones, unsigned int i)
{
	struct transfer_zone *zone = transfer_zone_new(apex_of(i), &config);

	assert_non_null(zone);
	assert_int_equal(transfer_zones_insert(zones, zone), 0);
}

static void each_is_found_until_it_goes(void **state)
{
	struct transfer_zones zones = { 0 };
	struct transfer_zone *zone;
	unsigned int n = 0;

	(void)state;
	assert_null(transfer_zones_find(&zones, apex_of(0)));
	for (unsigned int i = 0; i < N_ZONES; i++)
		put(&zones, i);
	assert_int_equal(zones.n, N_ZONES);
	for (zone = transfer_zones_next(&zones, NULL); zone;
	     zone = transfer_zones_next(&zones, zone))
		n++;
	assert_int_equal(n, N_ZONES);
	for (unsigned int i = 0; i < N_ZONES; i++) {
		zone = transfer_zones_find(&zones, apex_of(i));
		assert_non_null(zone);
		transfer_zones_remove(&zones, zone);
		transfer_zone_free(zone);
		assert_null(transfer_zones_find(&zones, apex_of(i)));
	}
	assert_null(transfer_zones_next(&zones, NULL));
	free(zones.buckets);
}

/* Control's references and this thread's are counted together. */
static void settings_stay_as_long_as_a_zone_has_them(void **state)
{
	struct zone_pool *pool = zone_pool_new();
	struct config_zone first = { .transfer_s = 17 }, second = { .transfer_s = 18 };
	const struct config_zone *of_first = zone_pool_share(pool, &first);
	const struct config_zone *of_second = zone_pool_share(pool, &second);
	struct transfer_zone *zone = transfer_zone_new(apex_of(1), of_first);

	(void)state;
	assert_ptr_equal(zone->config, of_first);
	config_zone_unref(of_first);
	zone_pool_trim(pool);
	assert_int_equal(zone_pool_n(pool), 2);
	assert_int_equal(zone->config->transfer_s, 17);
	transfer_zone_adopt(zone, transfer_zone_new(apex_of(1), of_second));
	zone_pool_trim(pool);
	assert_int_equal(zone_pool_n(pool), 1);
	config_zone_unref(of_second);
	zone_pool_free(pool);
	assert_int_equal(zone->config->transfer_s, 18);
	transfer_zone_free(zone);
}

static void times_keep_their_bounds(void **state)
{
	static const struct {
		const char *name;
		uint32_t seconds, min, max, result;
	} rows[] = {
		{ "within", 100, 10, 1000, 100 },     { "too short", 1, 10, 1000, 10 },
		{ "too long", 5000, 10, 1000, 1000 }, { "no bounds", 5000, 0, 0, 5000 },
		{ "none at all", 0, 1, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (secondary_bound(rows[i].seconds, rows[i].min, rows[i].max) != rows[i].result)
			fail_msg("%s", rows[i].name);
	}
}

/* It is left alone for longer and longer, but not without end; one answer, and all is forgotten. */
static void who_does_not_answer_is_left_alone(void **state)
{
	struct peer peer = { 0 };
	uint64_t now_ns = 1, wait_ns, before_ns = 0;

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		assert_false(peer_is_shunned(&peer, now_ns));
		peer_is_dead(&peer, now_ns);
		assert_true(peer_is_shunned(&peer, now_ns));
		wait_ns = peer.dead_until_ns - now_ns;
		peer_is_dead(&peer, now_ns + 1); /* others were asking, too */
		assert_true(peer.dead_until_ns == now_ns + wait_ns);
		assert_true(wait_ns >= before_ns && wait_ns <= 64 * CLOCK_NS_PER_S);
		before_ns = wait_ns;
		now_ns = peer.dead_until_ns;
	}
	assert_true(before_ns == 64 * CLOCK_NS_PER_S);
	peer_is_dead(&peer, now_ns);
	peer_is_alive(&peer);
	assert_false(peer_is_shunned(&peer, now_ns));
	peer_is_dead(&peer, now_ns);
	assert_true(peer.dead_until_ns == now_ns + 2 * CLOCK_NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_found_until_it_goes),
		cmocka_unit_test(settings_stay_as_long_as_a_zone_has_them),
		cmocka_unit_test(times_keep_their_bounds),
		cmocka_unit_test(who_does_not_answer_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
