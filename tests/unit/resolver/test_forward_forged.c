/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forwarder among replies that somebody forges: what does not fit is counted, and a question on
 * whose socket it came goes to TCP.
 */
#include "forward_fixtures.h"

#include "resolver/forward_udp.h"

/* --- Guesses ---------------------------------------------------------------------------------- */

static void send_with_id(const struct lab_message *reply, uint16_t id)
{
	struct lab_message m = *reply;

	wire_store_be16(m.at, id);
	(void)sendto(lab.udp, m.at, m.n, 0, (struct sockaddr *)&m.peer, sizeof(m.peer));
}

/* All but the right one, from the one behind it on. */
static void the_right_id_behind_all_others_is_not_taken(void **state)
{
	struct lab_message query, forged, tcp, reply;
	uint16_t id;

	(void)state;
	query = ask_and_take(WWW);
	forged = lab_reply(&query, LAB_FORGED);
	id = wire_load_be16(query.at);
	for (uint32_t i = 1; i <= 65535; i++) {
		send_with_id(&forged, (uint16_t)(id + i));
		/* Later rarely: on a busy machine the query over TCP would not wait for so many
		 * turns. */
		if (i <= 4 * FORWARD_UDP_WRONG || i % 64 == 0)
			lab_turn(&lab);
	}
	lab_send(&lab, &forged);
	assert_false(lab.is_over);
	assert_false(lab_has_query(&lab));
	tcp = lab_tcp_query(&lab);
	reply = lab_reply(&tcp, LAB_TRUE);
	lab_send_tcp(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	assert_int_equal(lab.counters.forged, 1);
	assert_true(lab.counters.unmatched <= FORWARD_UDP_WRONG);
}

/* In one burst of the socket, so nothing happens between them. */
static void guesses_of_one_burst_are_counted_one_by_one(void **state)
{
	struct lab_message query, forged;

	(void)state;
	query = ask_and_take(WWW);
	forged = lab_reply(&query, LAB_FORGED);
	for (unsigned int i = 0; i <= FORWARD_UDP_WRONG; i++) {
		struct lab_message m = forged;

		if (i < FORWARD_UDP_WRONG)
			m.at[0] ^= (uint8_t)(i + 1);
		(void)sendto(lab.udp, m.at, m.n, 0, (struct sockaddr *)&m.peer, sizeof(m.peer));
	}
	lab_turn(&lab);
	assert_false(lab.is_over);
	(void)lab_tcp_query(&lab);
}

static void a_wrong_question_is_a_guess_as_well(void **state)
{
	struct lab_message query, forged;

	(void)state;
	query = ask_and_take(WWW);
	forged = lab_reply(&query, LAB_FORGED);
	forged.at[DNS_HEADER_BYTES + 1] ^= 1;
	for (unsigned int i = 0; i < FORWARD_UDP_WRONG; i++)
		lab_send(&lab, &forged);
	forged = lab_reply(&query, LAB_FORGED);
	lab_send(&lab, &forged);
	assert_false(lab.is_over);
	(void)lab_tcp_query(&lab);
}

static void fewer_wrong_replies_change_nothing(void **state)
{
	struct lab_message query, reply;

	(void)state;
	query = ask_and_take(WWW);
	reply = lab_reply(&query, LAB_FORGED);
	for (uint16_t i = 1; i < FORWARD_UDP_WRONG; i++) {
		send_with_id(&reply, (uint16_t)(wire_load_be16(query.at) + i));
		lab_turn(&lab);
	}
	reply = lab_reply(&query, LAB_TRUE);
	lab_send(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	assert_int_equal(lab.counters.queries_tcp, 0);
	assert_int_equal(lab.counters.unmatched, FORWARD_UDP_WRONG - 1);
}

/* A network that doubles messages, and a server that is late: nobody guesses there. */
static void replies_to_queries_of_the_past_are_no_guesses(void **state)
{
	struct lab_message query, reply;

	(void)state;
	for (unsigned int i = 0; i < 50; i++) {
		query = ask_and_take(WWW);
		reply = lab_reply(&query, LAB_TRUE);
		lab_send(&lab, &reply);
		lab_assert_answer(&lab, LAB_TRUE);
		lab_send(&lab, &reply);
	}
	assert_int_equal(lab.counters.queries_tcp, 0);
	assert_int_equal(lab.counters.forged, 0);
	assert_true(lab.counters.sockets <= FORWARD_UDP_CURRENT);
}

/* --- Letter case ------------------------------------------------------------------------------ */

static void lower(struct lab_message *m)
{
	uint8_t *name = m->at + DNS_HEADER_BYTES;

	for (size_t i = 0; i < name_bytes(m->at + DNS_HEADER_BYTES); i++)
		if (name[i] >= 'A' && name[i] <= 'Z')
			name[i] |= 0x20;
}

static bool has_upper(const struct lab_message *query)
{
	struct lab_message m = *query;

	lower(&m);
	return memcmp(m.at, query->at, query->n) != 0;
}

static void case_is_random_and_compared(void **state)
{
	struct lab_message query, reply;

	(void)state;
	query = ask_and_take(LONG);
	assert_true(has_upper(&query));
	reply = lab_reply(&query, LAB_FORGED);
	lower(&reply);
	lab_send(&lab, &reply);
	assert_false(lab.is_over);
	assert_int_equal(lab.counters.miscased, 1);
	/* What has the right case comes too late for the query that was moved. */
	reply = lab_reply(&query, LAB_FORGED);
	lab_send(&lab, &reply);
	assert_false(lab.is_over);
	query = lab_tcp_query(&lab);
	assert_true(has_upper(&query));
	reply = lab_reply(&query, LAB_TRUE);
	lab_send_tcp(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	/* Over TCP it has kept the case, so the other reply was forged. */
	query = ask_and_take(LONG);
	assert_true(has_upper(&query));
}

static void a_server_that_does_not_keep_the_case_is_remembered(void **state)
{
	struct lab_message query, reply;

	(void)state;
	query = ask_and_take(LONG);
	reply = lab_reply(&query, LAB_TRUE);
	lower(&reply);
	lab_send(&lab, &reply);
	query = lab_tcp_query(&lab);
	reply = lab_reply(&query, LAB_TRUE);
	lower(&reply);
	lab_send_tcp(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	for (unsigned int i = 0; i < 10; i++) {
		query = ask_and_take(LONG);
		assert_false(has_upper(&query));
		reply = lab_reply(&query, LAB_TRUE);
		lab_send(&lab, &reply);
		lab_assert_answer(&lab, LAB_TRUE);
	}
	assert_int_equal(lab.counters.queries_tcp, 1);
}

/* --- Cookies ---------------------------------------------------------------------------------- */

static void answer(const struct lab_message *query, const void *cookie, size_t n)
{
	struct lab_message reply = lab_reply(query, LAB_TRUE);

	lab_add_opt(&reply, 0, cookie, n);
	lab_send(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
}

/* Learns a server cookie of 16 octets; all 24 to cookie. */
static void learn(uint8_t cookie[24])
{
	struct lab_message query;
	const uint8_t *sent;
	size_t n;

	query = ask_and_take(WWW);
	sent = lab_cookie(&query, &n);
	assert_int_equal(n, 8);
	memcpy(cookie, sent, 8);
	memcpy(cookie + 8, "server-cookie-16", 16);
	answer(&query, cookie, 24);
}

static void a_server_cookie_comes_back(void **state)
{
	uint8_t cookie[24];
	struct lab_message query;
	const uint8_t *sent;
	size_t n;

	(void)state;
	learn(cookie);
	query = ask_and_take(OTHER);
	sent = lab_cookie(&query, &n);
	assert_int_equal(n, 24);
	assert_memory_equal(sent, cookie, 24);
	answer(&query, cookie, 24);
}

static void a_wrong_client_cookie_is_not_taken(void **state)
{
	struct lab_message query, forged;
	uint8_t cookie[24];

	(void)state;
	learn(cookie);
	query = ask_and_take(OTHER);
	forged = lab_reply(&query, LAB_FORGED);
	cookie[0] ^= 1;
	lab_add_opt(&forged, 0, cookie, 24);
	lab_send(&lab, &forged);
	assert_false(lab.is_over);
	cookie[0] ^= 1;
	answer(&query, cookie, 24);
	assert_int_equal(lab.counters.unmatched, 1);
}

static void wrong_client_cookies_are_guesses(void **state)
{
	struct lab_message query, forged;
	uint8_t cookie[24];

	(void)state;
	learn(cookie);
	query = ask_and_take(OTHER);
	forged = lab_reply(&query, LAB_FORGED);
	cookie[0] ^= 1;
	lab_add_opt(&forged, 0, cookie, 24);
	for (unsigned int i = 0; i < FORWARD_UDP_WRONG; i++)
		lab_send(&lab, &forged);
	(void)lab_tcp_query(&lab);
}

static void a_cookie_that_is_missing_is_asked_for_over_tcp(void **state)
{
	struct lab_message query, reply;
	uint8_t cookie[24];

	(void)state;
	learn(cookie);
	query = ask_and_take(OTHER);
	reply = lab_reply(&query, LAB_FORGED);
	lab_send(&lab, &reply);
	assert_false(lab.is_over);
	query = lab_tcp_query(&lab);
	reply = lab_reply(&query, LAB_TRUE);
	lab_send_tcp(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	assert_int_equal(lab.counters.no_cookie, 1);
	/* It has none over TCP either: from now on it goes without. */
	query = ask_and_take(WWW);
	answer(&query, NULL, 0);
}

static void a_server_without_cookies_goes_on_without(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct lab_message query;

		query = ask_and_take(WWW);
		answer(&query, NULL, 0);
	}
	assert_int_equal(lab.counters.queries_tcp, 0);
}

#define BADCOOKIE 23

static struct lab_message badcookie(const struct lab_message *query, const uint8_t cookie[24])
{
	struct lab_message m = lab_error(query, BADCOOKIE);

	lab_add_opt(&m, BADCOOKIE, cookie, 24);
	return m;
}

static void badcookie_is_asked_again_and_then_over_tcp(void **state)
{
	struct lab_message query, reply;
	uint8_t cookie[24];
	const uint8_t *sent;
	size_t n;

	(void)state;
	learn(cookie);
	query = ask_and_take(OTHER);
	cookie[23] ^= 1;
	reply = badcookie(&query, cookie);
	lab_send(&lab, &reply);
	query = lab_query(&lab);
	sent = lab_cookie(&query, &n);
	assert_int_equal(n, 24);
	assert_memory_equal(sent, cookie, 24);
	reply = badcookie(&query, cookie);
	lab_send(&lab, &reply);
	assert_false(lab.is_over);
	query = lab_tcp_query(&lab);
	reply = lab_reply(&query, LAB_TRUE);
	lab_add_opt(&reply, 0, cookie, 24);
	lab_send_tcp(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	assert_int_equal(lab.counters.badcookie, 2);
}

static void a_server_that_refuses_the_option_is_asked_without(void **state)
{
	struct lab_message query, reply;
	size_t n;

	(void)state;
	query = ask_and_take(WWW);
	reply = lab_error(&query, DNS_RCODE_FORMERR);
	lab_add_opt(&reply, DNS_RCODE_FORMERR, NULL, 0);
	lab_send(&lab, &reply);
	for (unsigned int i = 0; i < 3; i++) {
		query = lab_query(&lab);
		assert_null(lab_cookie(&query, &n));
		assert_int_equal(wire_load_be16(query.at + DNS_ARCOUNT_AT), 1);
		answer(&query, NULL, 0);
		lab_ask(&lab, WWW);
	}
	assert_int_equal(lab.counters.queries_tcp, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_right_id_behind_all_others_is_not_taken),
		TEST(guesses_of_one_burst_are_counted_one_by_one),
		TEST(a_wrong_question_is_a_guess_as_well),
		TEST(fewer_wrong_replies_change_nothing),
		TEST(replies_to_queries_of_the_past_are_no_guesses),
		CASE_TEST(case_is_random_and_compared),
		CASE_TEST(a_server_that_does_not_keep_the_case_is_remembered),
		TEST(a_server_cookie_comes_back),
		TEST(a_wrong_client_cookie_is_not_taken),
		TEST(wrong_client_cookies_are_guesses),
		TEST(a_cookie_that_is_missing_is_asked_for_over_tcp),
		TEST(a_server_without_cookies_goes_on_without),
		TEST(badcookie_is_asked_again_and_then_over_tcp),
		TEST(a_server_that_refuses_the_option_is_asked_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
