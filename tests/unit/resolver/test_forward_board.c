/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "forward_lab.h"

#include "resolver/forward_board.h"

#define NAME "\3www\3lab\0"

static struct lab lab;

static int setup(void **state)
{
	(void)state;
	lab_open(&lab, false);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lab_close(&lab);
	return 0;
}

static struct forward_seen read_board(void)
{
	const struct forward_ways *ways = &lab.board.ways;
	struct forward_seen seen;

	assert_int_equal(ways->n_upstreams, 1);
	assert_false(ways->tcp_only || ways->has_tls || ways->caps_for_id);
	assert_int_equal(lab.board.named[0].address.ss_family, AF_INET);
	assert_string_equal(lab.board.named[0].name, "");
	forward_board_get(&lab.board, 0, &seen);
	return seen;
}

static void wait_for_the_end(void)
{
	for (unsigned int i = 0; i < LAB_WAIT && !lab.is_over; i++) {
		lab_turn(&lab);
		usleep(1000);
	}
	assert_true(lab.is_over);
}

static void it_begins_with_what_is_known_of_nobody(void **state)
{
	struct forward_seen seen = read_board();

	(void)state;
	assert_int_equal(seen.heard_ns | seen.sent | seen.srtt_ns | seen.in_flight, 0);
	assert_int_equal(seen.window, 64);
	assert_int_equal(seen.wait_ns, UPSTREAM_WAIT_FIRST_NS);
}

static void an_answer_is_on_it(void **state)
{
	struct lab_message query, reply;
	struct forward_seen seen;

	(void)state;
	lab_ask(&lab, NAME);
	query = lab_query(&lab);
	seen = read_board();
	assert_int_equal(seen.in_flight, 1);
	assert_int_equal(seen.sent, 1);
	assert_int_equal(seen.heard_ns, 0);
	reply = lab_reply(&query, LAB_TRUE);
	lab_send(&lab, &reply);
	wait_for_the_end();
	seen = read_board();
	assert_int_equal(seen.in_flight, 0);
	assert_int_equal(seen.answers, 1);
	assert_int_equal(seen.failures | seen.timeouts | seen.silent | seen.failing | seen.down, 0);
	assert_true(seen.srtt_ns && seen.heard_ns <= clock_ns() && seen.heard_ns);
}

static void failures_and_timeouts_are_on_it(void **state)
{
	struct lab_message query, reply;
	struct forward_seen seen;

	(void)state;
	lab_ask(&lab, NAME);
	query = lab_query(&lab);
	query = lab_query(&lab); /* once more: no reply came in time */
	seen = read_board();
	assert_int_equal(seen.sent, 2);
	assert_int_equal(seen.timeouts, 1);
	assert_int_equal(seen.silent, 1);
	reply = lab_error(&query, DNS_RCODE_SERVFAIL);
	lab_add_opt(&reply, 0, NULL, 0);
	lab_send(&lab, &reply);
	query = lab_query(&lab); /* without EDNS, which it may not support */
	reply = lab_error(&query, DNS_RCODE_SERVFAIL);
	lab_send(&lab, &reply);
	wait_for_the_end();
	seen = read_board();
	assert_int_equal(seen.failures, 1);
	assert_int_equal(seen.failing, 1);
	assert_int_equal(seen.silent | seen.answers, 0);
	assert_int_equal(seen.timeouts, 1);
}

#define WITH_LAB(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_LAB(it_begins_with_what_is_known_of_nobody),
		WITH_LAB(an_answer_is_on_it),
		WITH_LAB(failures_and_timeouts_are_on_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
