/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/upstreams.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"

#define MS       CLOCK_NS_PER_MS
#define NOW      (1000 * CLOCK_NS_PER_S)
#define BOTH     3
#define WAIT_MAX 2000 /* ms */
#define ROOM     5000

static struct upstreams us;
static struct random rnd;

static int take(const char *const *list, bool has_names, bool allow_localhost, char *err,
		size_t cap)
{
	const struct upstreams_config config = {
		.addresses = list,
		.has_names = has_names,
		.allow_localhost = allow_localhost,
		.wait_max_ms = WAIT_MAX,
		.window_max = ROOM,
	};

	return upstreams_init(&us, &config, err, cap);
}

static int begin(void **state)
{
	const char *const two[] = { "192.0.2.1", "192.0.2.2", NULL };
	char err[128];

	(void)state;
	random_init(&rnd);
	return take(two, false, false, err, sizeof(err));
}

/* How often the first was chosen of a thousand times. */
static unsigned int times_first(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		uint8_t chosen = upstreams_choose(&us, BOTH, &rnd);

		assert_in_range(chosen, 0, 1);
		n += !chosen;
	}
	return n;
}

static void measure(struct upstream *u, uint64_t rtt_ns, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		upstream_on_reply(&us, u, rtt_ns, NOW);
}

static const struct {
	const char *list[UPSTREAMS_MAX + 2];
	const char *words; /* NULL: taken */
	bool has_names;
} lists[] = {
	{ { "192.0.2.1", "192.0.2.1@5353", "2001:db8::1", "2001:db8::1@65535" }, NULL, false },
	{ { "example" }, "forward example: ADDRESS", false },
	{ { "192.0.2.1@" }, "192.0.2.1@:", false },
	{ { "192.0.2.1@65536" }, "ADDRESS@PORT", false },
	{ { "192.0.2.1@0" }, "ADDRESS@PORT", false },
	{ { "192.0.2.1@domain" }, "ADDRESS@PORT", false },
	{ { "192.0.2.1#name" }, "ADDRESS@PORT", false },
	{ { "192.0.2.1", "127.3.2.1@53" }, "query-localhost", false },
	{ { "::1" }, "query-localhost", false },
	{ { "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1",
	    "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1",
	    "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.17", false },
	  "192.0.2.17: these are too many",
	  false },
	{ { "192.0.2.1@853" }, "forward 192.0.2.1@853: for TLS ADDRESS@853#NAME", true },
	{ { "192.0.2.1#a" }, "ADDRESS@853#NAME", true },
	{ { "192.0.2.1#a@853" }, "ADDRESS@853#NAME", true },
	{ { "192.0.2.1@853#" }, "ADDRESS@853#NAME", true },
	{ { "192.0.2.1@853#." }, "ADDRESS@853#NAME", true },
	{ { "192.0.2.1@853#a", "192.0.2.2@853" }, "192.0.2.2@853:", true },
	{ { "192.0.2.1@0#a" }, "ADDRESS@PORT#NAME", true },
	{ { "127.0.0.1@853#a" }, "query-localhost", true },
};

static void addresses_are_read_or_what_is_wrong_is_said(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		char err[256] = "";
		int code = take(lists[i].list, lists[i].has_names, false, err, sizeof(err));

		assert_int_equal(code, lists[i].words ? ERR_CONFIG : 0);
		assert_true(!lists[i].words || strstr(err, lists[i].words));
	}
}

static void names_are_without_the_last_dot(void **state)
{
	const char *const list[] = { "192.0.2.1@853#dns.example", "2001:db8::1@8853#a.", NULL };
	char err[128];

	(void)state;
	assert_int_equal(take(list, true, false, err, sizeof(err)), 0);
	assert_string_equal(us.all[0].name, "dns.example");
	assert_string_equal(us.all[1].name, "a");
	assert_int_equal(ntohs(((struct sockaddr_in6 *)&us.all[1].address)->sin6_port), 8853);
}

static void ports_and_families(void **state)
{
	const struct sockaddr_in6 *in6 = (void *)&us.all[1].address;
	const struct sockaddr_in *in = (void *)&us.all[0].address;
	const char *const list[] = { "127.0.0.1", "2001:db8::1@5353", NULL };
	char err[128];

	(void)state;
	assert_int_equal(take(list, false, true, err, sizeof(err)), 0);
	assert_int_equal(us.n, 2);
	assert_int_equal(in->sin_family, AF_INET);
	assert_int_equal(ntohs(in->sin_port), 53);
	assert_int_equal(in6->sin6_family, AF_INET6);
	assert_int_equal(ntohs(in6->sin6_port), 5353);
	assert_int_equal(us.all[1].address_bytes, sizeof(*in6));
}

static void the_waiting_time_follows_the_measured_one(void **state)
{
	struct upstream *u = &us.all[0];

	(void)state;
	assert_int_equal(upstream_wait_ns(&us, u, 0), UPSTREAM_WAIT_FIRST_NS);
	upstream_on_reply(&us, u, 100 * MS, NOW);
	assert_int_equal(u->srtt_ns, 100 * MS);
	assert_int_equal(upstream_wait_ns(&us, u, 0), 300 * MS); /* RFC 6298 2.2: R + 4 R/2 */
	upstream_on_reply(&us, u, 180 * MS, NOW);
	assert_int_equal(u->srtt_ns, 110 * MS);           /* 7/8 100 + 1/8 180 */
	assert_int_equal(u->rttvar_ns, 57 * MS + MS / 2); /* 3/4 50 + 1/4 80 */
	measure(u, MS, 200);
	assert_int_equal(upstream_wait_ns(&us, u, 0), UPSTREAM_WAIT_MIN_NS);
	measure(u, 10000 * MS, 200);
	assert_int_equal(upstream_wait_ns(&us, u, 0), WAIT_MAX * MS);
}

static void the_waiting_time_doubles_until_it_is_measured_again(void **state)
{
	struct upstream *u = &us.all[0];

	(void)state;
	measure(u, MS, 200);
	assert_int_equal(upstream_wait_ns(&us, u, 1), 2 * UPSTREAM_WAIT_MIN_NS);
	assert_int_equal(upstream_wait_ns(&us, u, 3), 8 * UPSTREAM_WAIT_MIN_NS);
	assert_int_equal(upstream_wait_ns(&us, u, 200), WAIT_MAX * MS);
	/* A whole burst is one silence: only what is sent after it counts again. */
	for (unsigned int i = 0; i < 50; i++)
		upstream_on_silence(u, NOW, NOW + 50 * MS);
	assert_int_equal(upstream_wait_ns(&us, u, 0), 2 * UPSTREAM_WAIT_MIN_NS);
	upstream_on_silence(u, NOW + 60 * MS, NOW + 160 * MS);
	assert_int_equal(upstream_wait_ns(&us, u, 0), 4 * UPSTREAM_WAIT_MIN_NS);
	upstream_on_reply(&us, u, 0, NOW + 200 * MS); /* to which sending, is not known */
	assert_int_equal(upstream_wait_ns(&us, u, 0), 4 * UPSTREAM_WAIT_MIN_NS);
	upstream_on_reply(&us, u, MS, NOW + 200 * MS);
	assert_int_equal(upstream_wait_ns(&us, u, 0), UPSTREAM_WAIT_MIN_NS);
}

static void the_faster_one_is_chosen_and_the_like_by_turns(void **state)
{
	(void)state;
	assert_in_range(times_first(), 350, 650);
	measure(&us.all[0], 10 * MS, 1);
	assert_int_equal(times_first(), 1000);
	measure(&us.all[1], 11 * MS, 1);
	assert_in_range(times_first(), 350, 650);
	measure(&us.all[1], 2 * MS, 100);
	assert_int_equal(times_first(), 0);
	assert_int_equal(upstreams_choose(&us, 1, &rnd), 0);
	assert_int_equal(upstreams_choose(&us, 0, &rnd), UPSTREAM_NONE);
}

static void one_that_is_silent_or_fails_is_passed_over(void **state)
{
	struct upstream *u = &us.all[0];

	(void)state;
	measure(u, MS, 100);
	measure(&us.all[1], 90 * MS, 100);
	assert_int_equal(times_first(), 1000);
	upstream_on_silence(u, NOW, NOW + 50 * MS);
	assert_int_equal(times_first(), 0);
	upstream_on_reply(&us, u, 0, NOW);
	assert_int_equal(times_first(), 1000);
	upstream_on_silence(u, NOW, NOW + 50 * MS);
	upstream_on_reply(&us, u, MS, NOW);
	for (unsigned int i = 0; i < UPSTREAM_FAILING; i++) {
		measure(&us.all[1], 20 * MS, 10);
		assert_int_equal(times_first(), 1000);
		upstream_on_outcome(u, false, NOW);
	}
	assert_int_equal(times_first(), 0);
	upstream_on_outcome(u, true, NOW);
	assert_int_equal(times_first(), 1000);
}

static void one_without_room_is_passed_over(void **state)
{
	(void)state;
	measure(&us.all[0], MS, 1);
	us.all[0].n_in_flight = us.all[0].window - 1;
	assert_int_equal(times_first(), 1000);
	us.all[0].n_in_flight = us.all[0].window;
	assert_int_equal(times_first(), 0);
	us.all[1].n_in_flight = us.all[1].window;
	assert_int_equal(upstreams_choose(&us, BOTH, &rnd), UPSTREAM_NONE);
}

/* n replies, evenly over a second that begins at `begin_ns`, while the window is full or empty. */
static void answer_for_a_second(struct upstream *u, uint32_t n, uint64_t begin_ns, bool full)
{
	for (uint32_t i = 1; i <= n; i++) {
		u->n_in_flight = full ? u->window : 0;
		upstream_on_reply(&us, u, MS, begin_ns + (uint64_t)i * CLOCK_NS_PER_S / n);
	}
}

static void the_window_grows_with_replies_up_to_those_of_a_second(void **state)
{
	struct upstream *u = &us.all[0];

	(void)state;
	assert_int_equal(u->window, UPSTREAM_WINDOW_FIRST);
	u->replies_since_ns = NOW;
	answer_for_a_second(u, 100, NOW, false);
	assert_int_equal(u->window, UPSTREAM_WINDOW_FIRST); /* nobody needs more */
	answer_for_a_second(u, 100, NOW + CLOCK_NS_PER_S, true);
	assert_int_equal(u->window, UPSTREAM_WINDOW_FIRST + 100);
	answer_for_a_second(u, 20000, NOW + 2 * CLOCK_NS_PER_S, true);
	assert_int_equal(u->window, ROOM);
	answer_for_a_second(u, 3000, NOW + 3 * CLOCK_NS_PER_S, true);
	assert_in_range(u->window, 2990, 3800);
	answer_for_a_second(u, 10, NOW + 4 * CLOCK_NS_PER_S, true);
	assert_in_range(u->window, UPSTREAM_WINDOW_KEPT, UPSTREAM_WINDOW_KEPT + 10);
}

static void one_that_answers_in_turn_has_a_line(void **state)
{
	struct upstream *u = &us.all[0];

	(void)state;
	assert_false(upstream_has_line(&us, u, NOW - 500 * MS, NOW)); /* never heard */
	upstream_on_reply(&us, u, 600 * MS, NOW);
	assert_true(upstream_has_line(&us, u, NOW - 599 * MS, NOW));
	assert_false(upstream_has_line(&us, u, NOW - 600 * MS, NOW)); /* the others were quicker */
	upstream_on_reply(&us, u, 700 * MS, NOW);                     /* out of turn */
	assert_true(upstream_has_line(&us, u, NOW - 599 * MS, NOW));
	assert_true(upstream_has_line(&us, u, NOW, NOW + UPSTREAM_LINE_NS - 1));
	assert_false(upstream_has_line(&us, u, NOW, NOW + UPSTREAM_LINE_NS));
	upstream_on_reply(&us, u, 0, NOW + WAIT_MAX * MS);
	assert_true(upstream_has_line(&us, u, NOW + 1, NOW + WAIT_MAX * MS));
	assert_false(upstream_has_line(&us, u, NOW, NOW + WAIT_MAX * MS));
}

static void long_silence_is_down_and_one_reply_ends_it(void **state)
{
	struct upstream *u = &us.all[0];
	unsigned int n;

	(void)state;
	upstream_on_reply(&us, u, MS, NOW);
	/* Many at once are no long silence, and few in a long time are not many. */
	for (n = 0; n < 50; n++)
		upstream_on_silence(u, NOW, NOW + 50 * MS);
	assert_false(u->down);
	upstream_on_reply(&us, u, MS, NOW + 60 * MS);
	for (n = 1; n < UPSTREAM_DOWN_QUERIES; n++)
		upstream_on_silence(u, NOW + n * 1000 * MS, NOW + (n + 1) * 1000 * MS);
	assert_false(u->down);
	upstream_on_silence(u, NOW + n * 1000 * MS, NOW + (n + 1) * 1000 * MS);
	assert_true(u->down);
	assert_int_equal(upstreams_down(&us, BOTH), 1);
	assert_int_equal(upstreams_down(&us, 2), 0);
	u->n_in_flight = UPSTREAM_DOWN_MAX - 1;
	assert_int_equal(upstreams_choose(&us, 1, &rnd), 0);
	u->n_in_flight = UPSTREAM_DOWN_MAX;
	assert_int_equal(upstreams_choose(&us, 1, &rnd), UPSTREAM_NONE);
	upstream_on_reply(&us, u, 0, NOW);
	assert_int_equal(upstreams_choose(&us, 1, &rnd), 0);
}

static void probes_come_now_and_then_and_sooner_to_the_ill(void **state)
{
	struct upstream *u = &us.all[0];

	(void)state;
	assert_true(upstream_wants_probe(u, NOW)); /* never asked */
	assert_false(upstream_wants_probe(u, NOW));
	upstream_on_reply(&us, u, MS, NOW);
	assert_false(upstream_wants_probe(u, NOW + UPSTREAM_PROBE_NS - 1));
	assert_true(upstream_wants_probe(u, NOW + UPSTREAM_PROBE_NS));
	upstream_on_reply(&us, u, MS, NOW);
	upstream_on_silence(u, NOW, NOW);
	assert_false(upstream_wants_probe(u, NOW + UPSTREAM_PROBE_ILL_NS - 1));
	assert_true(upstream_wants_probe(u, NOW + UPSTREAM_PROBE_ILL_NS));
	assert_false(upstream_wants_probe(u, NOW + 2 * UPSTREAM_PROBE_ILL_NS - 1));
	assert_true(upstream_wants_probe(u, NOW + 2 * UPSTREAM_PROBE_ILL_NS));
}

static void random_numbers_are_even(void **state)
{
	unsigned int n_seen[5] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 50000; i++) {
		uint32_t value = random_below(&rnd, 5);

		assert_in_range(value, 0, 4);
		n_seen[value]++;
	}
	for (unsigned int i = 0; i < 5; i++)
		assert_in_range(n_seen[i], 9400, 10600);
	assert_int_equal(random_below(&rnd, 1), 0);
	assert_int_not_equal(random_u64(&rnd), random_u64(&rnd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_read_or_what_is_wrong_is_said),
		cmocka_unit_test(names_are_without_the_last_dot),
		cmocka_unit_test(ports_and_families),
		cmocka_unit_test_setup(the_waiting_time_follows_the_measured_one, begin),
		cmocka_unit_test_setup(the_waiting_time_doubles_until_it_is_measured_again, begin),
		cmocka_unit_test_setup(the_faster_one_is_chosen_and_the_like_by_turns, begin),
		cmocka_unit_test_setup(one_that_is_silent_or_fails_is_passed_over, begin),
		cmocka_unit_test_setup(one_without_room_is_passed_over, begin),
		cmocka_unit_test_setup(the_window_grows_with_replies_up_to_those_of_a_second,
				       begin),
		cmocka_unit_test_setup(one_that_answers_in_turn_has_a_line, begin),
		cmocka_unit_test_setup(long_silence_is_down_and_one_reply_ends_it, begin),
		cmocka_unit_test_setup(probes_come_now_and_then_and_sooner_to_the_ill, begin),
		cmocka_unit_test_setup(random_numbers_are_even, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
