/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The forwarder and upstreams that do not do all that it asks for: in which forms, and over which
 * transport, it asks again (docs/decisions/0057), and that forged replies do not profit from it.
 */
#include "forward_fixtures.h"

#include "resolver/forward_udp.h"

#define ANOTHER   "another1server--" /* a cookie of another client */
#define STEPS_MAX 8                  /* more than the ladder has */
static bool has_edns(const struct lab_message *query)
{
	return wire_load_be16(query->at + DNS_ARCOUNT_AT);
}

static bool has_cookie(const struct lab_message *query)
{
	size_t n;

	return lab_cookie(query, &n) != NULL;
}

static uint16_t port_of(const struct lab_message *query)
{
	return query->peer.sin_port;
}

static void close_tcp(void)
{
	close(lab.listener);
	lab.listener = -1;
}

static void give(const struct lab_message *query)
{
	struct lab_message reply = lab_reply(query, LAB_TRUE);

	lab_send(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
}

/* --- EDNS ------------------------------------------------------------------------------------- */

/* An error with the OPT record of the query. */
static void refuse(const struct lab_message *query, uint16_t rcode)
{
	struct lab_message m = *query;

	wire_store_be16(m.at + DNS_FLAGS_AT, (uint16_t)(DNS_FLAG_QR | DNS_FLAG_RD | rcode));
	lab_send(&lab, &m);
}

/* Refuses queries until one has no EDNS, and answers that one. */
static void refuse_edns(struct lab_message query, uint16_t rcode)
{
	for (unsigned int i = 0; i < STEPS_MAX && has_edns(&query); i++) {
		refuse(&query, rcode);
		assert_false(lab.is_over);
		query = lab_query(&lab);
	}
	assert_false(has_edns(&query));
	give(&query);
}

static void refuses_edns(uint16_t rcode)
{
	struct lab_message query = ask_and_take(WWW);

	refuse_edns(query, rcode);
	query = ask_and_take(OTHER); /* it is remembered */
	assert_false(has_edns(&query));
	give(&query);
}

static void formerr_with_the_opt_of_the_query_ends_without_edns(void **state)
{
	(void)state;
	refuses_edns(DNS_RCODE_FORMERR);
}

static void notimp_with_the_opt_of_the_query_ends_without_edns(void **state)
{
	(void)state;
	refuses_edns(DNS_RCODE_NOTIMP);
}

static void servfail_to_edns_ends_without_edns(void **state)
{
	(void)state;
	refuses_edns(DNS_RCODE_SERVFAIL);
}

static void servfail_of_a_server_with_edns_is_not_about_edns(void **state)
{
	struct lab_message query;

	(void)state;
	query = ask_and_take(WWW);
	assert_true(has_edns(&query));
	give(&query);
	query = ask_and_take(OTHER);
	refuse(&query, DNS_RCODE_SERVFAIL);
	assert_true(lab.is_over);
	assert_memory_equal(lab.address, "\0\0\0\0", 4);
	assert_false(lab_has_query(&lab));
}

/* Unlike SERVFAIL, these are about the form, also from a server that has answered with EDNS: a
 * filter before it may have changed. */
static void a_server_with_edns_may_refuse_the_form(uint16_t rcode)
{
	struct lab_message query = ask_and_take(WWW);

	assert_true(has_edns(&query));
	give(&query);
	query = ask_and_take(OTHER);
	assert_true(has_edns(&query));
	refuse_edns(query, rcode);
}

static void formerr_of_a_server_with_edns_is_about_the_form(void **state)
{
	(void)state;
	a_server_with_edns_may_refuse_the_form(DNS_RCODE_FORMERR);
}

static void notimp_of_a_server_with_edns_is_about_the_form(void **state)
{
	(void)state;
	a_server_with_edns_may_refuse_the_form(DNS_RCODE_NOTIMP);
}

static void badvers_of_a_server_with_edns_is_about_the_form(void **state)
{
	struct lab_message query, reply;

	(void)state;
	query = ask_and_take(WWW);
	give(&query);
	query = ask_and_take(OTHER);
	for (unsigned int i = 0; i < STEPS_MAX && has_edns(&query); i++) {
		reply = lab_error(&query, 0);
		lab_add_opt(&reply, DNS_RCODE_BADVERS, NULL, 0);
		lab_send(&lab, &reply);
		assert_false(lab.is_over);
		query = lab_query(&lab);
	}
	assert_false(has_edns(&query));
	give(&query);
}

static void what_cannot_be_read_is_asked_for_without_edns(void **state)
{
	struct lab_message query, reply;

	(void)state;
	query = ask_and_take(WWW);
	reply = lab_reply(&query, LAB_TRUE);
	reply.n -= 2;
	lab_send(&lab, &reply);
	query = lab_query(&lab);
	assert_false(has_edns(&query));
	give(&query);
}

/* --- Cookies ---------------------------------------------------------------------------------- */

static struct lab_message with_cookie(const struct lab_message *query, const char *address,
				      const void *cookie, size_t n)
{
	struct lab_message m = lab_reply(query, address);

	lab_add_opt(&m, 0, cookie, n);
	return m;
}

static void send_foreign(const struct lab_message *query)
{
	struct lab_message m = with_cookie(query, LAB_FORGED, ANOTHER, 16);

	lab_send(&lab, &m);
	assert_false(lab.is_over);
}

/* Its query has been given up. */
static void send_late(const struct lab_message *query)
{
	struct lab_message m = lab_reply(query, LAB_FORGED);

	lab_send(&lab, &m);
	assert_false(lab.is_over);
}

static void a_cookie_of_another_client_leads_to_tcp(void **state)
{
	struct lab_message query, reply;

	(void)state;
	query = ask_and_take(WWW);
	send_foreign(&query);
	query = lab_tcp_query(&lab);
	reply = with_cookie(&query, LAB_TRUE, ANOTHER, 16);
	lab_send_tcp(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	/* Over TCP it was the upstream itself, so it gets no cookies any more. */
	for (unsigned int i = 0; i < 2 * FORWARD_UDP_WRONG; i++) {
		query = ask_and_take(OTHER);
		assert_true(has_edns(&query) && !has_cookie(&query));
		reply = with_cookie(&query, LAB_TRUE, ANOTHER, 16);
		lab_send(&lab, &reply);
		lab_assert_answer(&lab, LAB_TRUE);
	}
	assert_int_equal(lab.counters.queries_tcp, 1);
	assert_int_equal(lab.counters.forged, 0);
}

static void a_cookie_of_another_client_where_there_is_no_tcp(void **state)
{
	struct lab_message first, query, reply;

	(void)state;
	close_tcp();
	first = ask_and_take(WWW);
	send_foreign(&first);
	query = lab_query(&lab);
	assert_true(has_edns(&query) && !has_cookie(&query));
	assert_true(wire_load_be16(query.at) != wire_load_be16(first.at) ||
		    port_of(&query) != port_of(&first));
	send_late(&first);
	reply = with_cookie(&query, LAB_TRUE, ANOTHER, 16);
	lab_send(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
}

/* An upstream that is known to send cookies loses none of their protection if it has no TCP. */
static void a_proven_cookie_is_not_given_up(void **state)
{
	struct lab_message query, reply;
	uint8_t cookie[24];
	size_t n;

	(void)state;
	close_tcp();
	query = ask_and_take(WWW);
	memcpy(cookie, lab_cookie(&query, &n), 8);
	memcpy(cookie + 8, "server-cookie-16", 16);
	reply = with_cookie(&query, LAB_TRUE, cookie, 24);
	lab_send(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	query = ask_and_take(OTHER);
	send_foreign(&query);
	reply = lab_reply(&query, LAB_FORGED); /* cannot be read: it may lack the cookie */
	reply.n -= 2;
	lab_send(&lab, &reply);
	assert_false(lab.is_over);
	assert_false(lab_has_query(&lab));
	reply = with_cookie(&query, LAB_TRUE, cookie, 24);
	lab_send(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
}

static struct lab_message badcookie(const struct lab_message *query)
{
	struct lab_message m = lab_error(query, 23);
	uint8_t cookie[16];
	size_t n;

	memcpy(cookie, lab_cookie(query, &n), 8);
	memcpy(cookie + 8, "anything", 8);
	lab_add_opt(&m, 23, cookie, 16);
	return m;
}

static void badcookie_over_tcp_ends_without_the_option(void **state)
{
	struct lab_message query, reply;

	(void)state;
	query = ask_and_take(WWW);
	for (unsigned int i = 0; i < 2; i++) {
		reply = badcookie(&query);
		lab_send(&lab, &reply);
		query = i ? lab_tcp_query(&lab) : lab_query(&lab);
	}
	reply = badcookie(&query);
	lab_write_tcp(&lab, &reply);
	query = lab_tcp_query(&lab);
	assert_true(has_edns(&query) && !has_cookie(&query));
	reply = lab_reply(&query, LAB_TRUE);
	lab_send_tcp(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
}

static void badcookie_where_there_is_no_tcp_ends_without_the_option(void **state)
{
	struct lab_message query, reply;

	(void)state;
	close_tcp();
	query = ask_and_take(WWW);
	for (unsigned int i = 0; i < STEPS_MAX && has_cookie(&query); i++) {
		reply = badcookie(&query);
		lab_send(&lab, &reply);
		assert_false(lab.is_over);
		query = lab_query(&lab);
	}
	assert_false(has_cookie(&query));
	give(&query);
	assert_true(lab.counters.badcookie <= 3);
}

/* The next query of a question that gets no reply, after n others. */
static struct lab_message nth_resent(const char *name, unsigned int n)
{
	struct lab_message query = ask_and_take(name);

	while (n--)
		query = lab_query(&lab);
	return query;
}

static int begin_with_short_waits(void **state)
{
	(void)state;
	lab_open_waiting(&lab, false, 50);
	return 0;
}

/* Some filters drop queries with options that they do not know. */
static void silence_to_cookies_ends_without_the_option(void **state)
{
	struct lab_message first, query;

	(void)state;
	first = ask_and_take(WWW);
	assert_true(has_cookie(&first));
	query = first;
	for (unsigned int i = 0; i < STEPS_MAX && has_cookie(&query); i++)
		query = lab_query(&lab);
	assert_true(has_edns(&query) && !has_cookie(&query));
	assert_true(wire_load_be16(query.at) != wire_load_be16(first.at) ||
		    port_of(&query) != port_of(&first));
	send_late(&first);
	give(&query);
	query = ask_and_take(OTHER);
	assert_true(has_edns(&query) && !has_cookie(&query));
	give(&query);
}

static void silence_of_a_server_that_answers_cookies_is_not_about_them(void **state)
{
	struct lab_message query;

	(void)state;
	query = ask_and_take(WWW);
	give(&query);
	query = nth_resent(OTHER, 3);
	assert_true(has_cookie(&query));
	give(&query);
}

/* A slow answer to a query without the option takes nothing from an upstream that was proven. */
static void silence_unlearns_no_cookie_that_was_proven_since(void **state)
{
	static struct resolver_question beside;
	struct lab_message slow, query;

	(void)state;
	slow = ask_and_take(WWW);
	for (unsigned int i = 0; i < STEPS_MAX && has_cookie(&slow); i++)
		slow = lab_query(&lab);
	assert_true(has_edns(&slow) && !has_cookie(&slow));
	/* lab_ask() would use the question again that still waits. */
	beside = (struct resolver_question){ .qtype = DNS_TYPE_A, .qclass = DNS_CLASS_IN };
	memcpy(beside.name, OTHER, sizeof(OTHER));
	(void)groups_join(&lab.groups, &beside);
	lab_turn(&lab);
	do
		query = lab_query(&lab);
	while (!has_cookie(&query));
	give(&query);
	lab.is_over = false;
	give(&slow);
	query = ask_and_take(THIRD);
	assert_true(has_cookie(&query));
	give(&query);
}

/* --- Length ----------------------------------------------------------------------------------- */

/* The answer with so many octets behind its end, which are ignored. */
static struct lab_message long_reply(const struct lab_message *query, const char *address)
{
	struct lab_message m = lab_reply(query, address);

	m.n = FORWARD_UDP_BYTES + 1;
	return m;
}

static void a_reply_that_is_too_long_leads_to_tcp(void **state)
{
	struct lab_message query, reply;

	(void)state;
	query = ask_and_take(WWW);
	reply = long_reply(&query, LAB_FORGED);
	lab_send(&lab, &reply);
	assert_false(lab.is_over);
	query = lab_tcp_query(&lab);
	reply = long_reply(&query, LAB_TRUE);
	lab_send_tcp(&lab, &reply);
	lab_assert_answer(&lab, LAB_TRUE);
	assert_int_equal(lab.counters.too_long, 1);
}

static void a_reply_that_is_too_long_where_there_is_no_tcp(void **state)
{
	struct lab_message query, reply;

	(void)state;
	close_tcp();
	query = ask_and_take(WWW);
	reply = long_reply(&query, LAB_FORGED);
	lab_send(&lab, &reply);
	assert_false(lab.is_over);
	for (unsigned int i = 0; i < 3; i++) {
		query = lab_query(&lab);
		reply = long_reply(&query, LAB_TRUE);
		lab_send(&lab, &reply);
		lab_assert_answer(&lab, LAB_TRUE);
		lab_ask(&lab, OTHER);
	}
	assert_int_equal(lab.counters.too_long, 1);
}

/* --- Letter case ------------------------------------------------------------------------------ */

static struct lab_message in_lower_case(const struct lab_message *query, const char *address)
{
	struct lab_message m = lab_reply(query, address);
	uint8_t *name = m.at + DNS_HEADER_BYTES;

	name_fold(name, name, name_bytes(name));
	memcpy(m.at + DNS_HEADER_BYTES + name_bytes(name), "\0\1\0\1", 4);
	memcpy(m.at + DNS_HEADER_BYTES + name_bytes(name) + 4, "\xc0\x0c", 2);
	return m;
}

static bool is_lower(const struct lab_message *query)
{
	struct lab_message m = in_lower_case(query, LAB_TRUE);

	return !memcmp(m.at + DNS_HEADER_BYTES, query->at + DNS_HEADER_BYTES,
		       name_bytes(m.at + DNS_HEADER_BYTES));
}

static void lower_case_where_there_is_no_tcp(void **state)
{
	struct lab_message query, reply;

	(void)state;
	close_tcp();
	query = ask_and_take(LONG);
	assert_false(is_lower(&query));
	for (unsigned int i = 0; i < 2; i++) {
		reply = in_lower_case(&query, i ? LAB_TRUE : LAB_FORGED);
		lab_send(&lab, &reply);
		if (!i)
			query = lab_query(&lab);
	}
	assert_true(is_lower(&query));
	lab_assert_answer(&lab, LAB_TRUE);
}

static void letter_case_that_was_kept_is_not_given_up(void **state)
{
	struct lab_message query, reply;

	(void)state;
	close_tcp();
	query = ask_and_take(LONG);
	give(&query);
	query = ask_and_take(LONG);
	reply = in_lower_case(&query, LAB_FORGED);
	lab_send(&lab, &reply);
	for (unsigned int i = 0; i < 5; i++) {
		assert_false(lab_has_query(&lab));
		(void)poll(NULL, 0, 1);
	}
	assert_memory_equal(lab.address, "\0\0\0\0", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(formerr_with_the_opt_of_the_query_ends_without_edns),
		TEST(notimp_with_the_opt_of_the_query_ends_without_edns),
		TEST(servfail_to_edns_ends_without_edns),
		TEST(servfail_of_a_server_with_edns_is_not_about_edns),
		TEST(formerr_of_a_server_with_edns_is_about_the_form),
		TEST(notimp_of_a_server_with_edns_is_about_the_form),
		TEST(badvers_of_a_server_with_edns_is_about_the_form),
		TEST(what_cannot_be_read_is_asked_for_without_edns),
		TEST(a_cookie_of_another_client_leads_to_tcp),
		TEST(a_cookie_of_another_client_where_there_is_no_tcp),
		TEST(a_proven_cookie_is_not_given_up),
		TEST(badcookie_over_tcp_ends_without_the_option),
		TEST(badcookie_where_there_is_no_tcp_ends_without_the_option),
		cmocka_unit_test_setup_teardown(silence_to_cookies_ends_without_the_option,
						begin_with_short_waits, end),
		TEST(silence_of_a_server_that_answers_cookies_is_not_about_them),
		cmocka_unit_test_setup_teardown(silence_unlearns_no_cookie_that_was_proven_since,
						begin_with_short_waits, end),
		TEST(a_reply_that_is_too_long_leads_to_tcp),
		TEST(a_reply_that_is_too_long_where_there_is_no_tcp),
		CASE_TEST(lower_case_where_there_is_no_tcp),
		CASE_TEST(letter_case_that_was_kept_is_not_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
