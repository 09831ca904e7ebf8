/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that are not ours: who may ask for them, what goes upstream, what is made of what comes
 * back. */
#include "tests/unit/engine/recursion_rows.h"

static void test_asked_once(void **state)
{
	struct ask a = { .name = "wWw.X", .type = T(A), .flags = RD, .udp_size = 1232 };

	(void)state;
	assert_true(ask(&r, &a));
	assert_memory_equal(r.pending.question.name, "\3www\1x", 7);
	assert_int_equal(r.pending.question.qtype, T(A));
	assert_int_equal(r.pending.question.qclass, DNS_CLASS_IN);
	assert_false(r.pending.question.checking_disabled);
	assert_int_equal(r.pending.question.family, AF_INET);
	assert_memory_equal(r.pending.question.client, world_client, 4);
	assert_true(r.pending.question.deadline_ns ==
		    r.now_s * CLOCK_NS_PER_S + 5000 * CLOCK_NS_PER_MS);
	assert_true(complete(&r, &www_answer));
	assert_false(r.pending.submit);
	assert_memory_equal(r.reply.bytes + DNS_HEADER_BYTES, "\3wWw\1X", 7);
	assert_int_equal(wire_load_be16(r.reply.bytes), 0x1234);
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA);
	assert_int_equal(reply_count(&r.reply, DNS_NSCOUNT_AT), 0);
	assert_int_equal(reply_count(&r.reply, DNS_ARCOUNT_AT), 1);
	check_answer("wWw.X. 300 IN A 192.0.2.80\n");

	r.now_s += 100;
	check_hit(&a, "wWw.X. 200 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA);
	r.now_s += 199;
	check_hit(&www, "www.x. 1 IN A 192.0.2.80\n");
	r.now_s += 1;
	assert_true(ask(&r, &www));
	assert_int_equal(COUNTER(deferred), 2);
	assert_int_equal(COUNTER(finished), 1);
}

/* However long upstream says: nothing stays for longer than recursion.max-ttl, and nobody is told
 * of more. */
static void test_max_ttl(void **state)
{
	static const struct upstream week = { .name = "www.x.",
					      .qtype = T(A),
					      .answer = "www.x. 604800 IN CNAME a.x.\n"
							"a.x. 604800 IN A 192.0.2.80\n" };
	struct ask a = www;

	(void)state;
	r.rules.max_ttl_s = 120;
	assert_true(ask(&r, &www));
	complete(&r, &week);
	check_answer("www.x. 120 IN CNAME a.x.\na.x. 120 IN A 192.0.2.80\n");
	r.now_s += 119;
	check_hit(&a, "www.x. 1 IN CNAME a.x.\na.x. 1 IN A 192.0.2.80\n");
	r.now_s += 1;
	assert_true(ask(&r, &www));
}

static void test_strangers(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) { /* also what is in the cache */
		assert_false(ask_from(&r, &www, stranger, &r.pending));
		check_error(DNS_RCODE_REFUSED, DNS_EDE_PROHIBITED);
		assert_int_equal(reply_flags(&r.reply), QR | RD | DNS_RCODE_REFUSED);
		assert_int_equal(COUNTER(prohibited), i + 1);
		if (!i) {
			assert_true(ask(&r, &www));
			complete(&r, &www_answer);
		}
	}
	check_hit(&www, "www.x. 300 IN A 192.0.2.80\n");
}

static void test_without_rd(void **state)
{
	struct ask a = www;

	(void)state;
	a.flags = 0;
	assert_false(ask(&r, &a));
	check_error(DNS_RCODE_REFUSED, DNS_EDE_NOT_AUTHORITATIVE);
	assert_false(ask_from(&r, &a, stranger, &r.pending));
	check_error(DNS_RCODE_REFUSED, DNS_EDE_NOT_AUTHORITATIVE);
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	check_hit(&a, "www.x. 300 IN A 192.0.2.80\n");
	r.world.zones.recursion = NULL;
	assert_false(ask(&r, &www));
	check_error(DNS_RCODE_REFUSED, DNS_EDE_NOT_AUTHORITATIVE);
}

static void test_nobody_to_ask(void **state)
{
	(void)state;
	assert_false(ask_from(&r, &www, world_client, NULL));
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_NOT_READY);
	assert_int_equal(COUNTER(not_asked), 1);
	assert_true(ask(&r, &www)); /* that was not cached */
}

static void test_types(void **state)
{
	static const struct {
		uint16_t type;
		bool asked;
	} rows[] = { { T(A), true },     { T(ANY), true },  { T(DS), true },
		     { 65280, true },    { T(OPT), false }, { T(MAILB), false },
		     { T(TKEY), false }, { 0, false },      { 128, false } };
	struct ask a = www;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		a.type = rows[i].type;
		if (ask(&r, &a) != rows[i].asked)
			fail_msg("type %u", a.type);
		if (!rows[i].asked)
			check_error(DNS_RCODE_NOTIMP, DNS_EDE_NOT_SUPPORTED);
	}
	a.type = T(AXFR);
	a.stream = true;
	assert_false(ask(&r, &a));
	check_error(DNS_RCODE_NOTAUTH, DNS_EDE_NOT_AUTHORITATIVE);
	a.type = T(A);
	a.class = DNS_CLASS_CH;
	assert_false(ask(&r, &a));
}

/* What our zones say stays what they say; what leads out of them: test_follow.c. */
static void test_our_zones(void **state)
{
	struct ask a = { .name = "no.example.com", .type = T(A), .flags = RD };

	(void)state;
	assert_false(ask(&r, &a));
	assert_int_equal(reply_flags(&r.reply), QR | AA | RD | DNS_RCODE_NXDOMAIN);
	a.name = "out.example.com";
	a.type = T(CNAME);
	assert_false(ask(&r, &a));
	check_answer("out.example.com. 3600 IN CNAME www.x.\n");
}

/* The DS of our zone is upstream's; who may not recurse gets that the zone has none, as ever. */
static void test_ds_of_our_zone(void **state)
{
	const struct upstream ds = { "example.com.",
				     T(DS),
				     0,
				     "example.com. 300 IN DS 1 13 2 "
				     "00000000000000000000000000000000"
				     "00000000000000000000000000000000\n",
				     NULL,
				     NULL };
	struct ask a = { .name = "example.com", .type = T(DS), .flags = RD };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		assert_false(ask_from(&r, &a, stranger, &r.pending));
		assert_int_equal(reply_flags(&r.reply), QR | AA | RD);
		assert_int_equal(reply_count(&r.reply, DNS_ANCOUNT_AT), 0);
		if (i)
			break;
		assert_true(ask(&r, &a));
		complete(&r, &ds);
		assert_int_equal(reply_count(&r.reply, DNS_ANCOUNT_AT), 1);
	}
	assert_false(ask(&r, &a));
	assert_int_equal(reply_count(&r.reply, DNS_ANCOUNT_AT), 1);
	assert_int_equal(COUNTER(cache_hit), 1);
	a.name = "sub.example.com"; /* the zone has it, or has it not */
	assert_false(ask(&r, &a));
	assert_true(reply_flags(&r.reply) & AA);
	r.world.zones.recursion = NULL;
	a.name = "example.com";
	assert_false(ask(&r, &a));
	assert_int_equal(reply_flags(&r.reply), QR | AA | RD);
}

/* server.allow: strangers get nothing of our zones, and what is cached is not theirs. */
static void test_private_zones(void **state)
{
	const struct clients_prefix prefixes[] = { { AF_INET, 24, { 192, 0, 2 }, 7 },
						   { AF_INET, 24, { 203, 0, 113 }, 3 } };
	struct ask a = { .name = "ns1.example.com", .type = T(A), .udp_size = 1232 };
	const uint8_t recursing[4] = { 203, 0, 113, 9 };
	uint64_t hits;

	(void)state;
	recursing_set_clients(&r, prefixes, 2);
	for (unsigned int i = 0; i < 2; i++) {
		assert_false(ask(&r, &a));
		check_answer("ns1.example.com. 3600 IN A 192.0.2.1\n");
		assert_false(ask_from(&r, &a, stranger, NULL));
		check_error(DNS_RCODE_REFUSED, DNS_EDE_PROHIBITED);
		assert_false(ask_from(&r, &a, recursing, &r.pending));
		check_error(DNS_RCODE_REFUSED, DNS_EDE_PROHIBITED);
	}
	hits = COUNTER(cache_hit);
	assert_int_equal(hits, 1);
	recursing_set_clients(&r, prefixes + 1, 1); /* no prefix is private: everyone may */
	assert_false(ask_from(&r, &a, stranger, NULL));
	check_answer("ns1.example.com. 3600 IN A 192.0.2.1\n");
	assert_int_equal(COUNTER(cache_hit), hits); /* not that of the private view */
}

/* DO and CD are questions of their own. */
static void test_variants(void **state)
{
	struct ask a = www;

	(void)state;
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	a.dnssec_ok = true;
	assert_true(ask(&r, &a));
	complete(&r, &www_answer);
	a.flags = RD | CD;
	assert_true(ask(&r, &a));
	assert_true(r.pending.question.checking_disabled);
	complete(&r, &www_answer);
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | CD);
	check_hit(&a, "www.x. 300 IN A 192.0.2.80\n");
	a.type = T(AAAA);
	assert_true(ask(&r, &a));
}

static void test_ad(void **state)
{
	struct ask a = www;

	(void)state;
	assert_true(ask(&r, &www));
	complete_as(&r, &www_answer, EDNS_NO_EDE, RESOLVER_SECURE);
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA);
	a.flags = RD | AD;
	check_hit(&a, "www.x. 300 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | AD);
}

/* With CD=1, what is bogus is given, for a minute. */
static void test_bogus(void **state)
{
	struct ask a = www;

	(void)state;
	a.flags = RD | CD;
	assert_true(ask(&r, &a));
	complete_as(&r, &www_answer, EDNS_NO_EDE, RESOLVER_BOGUS);
	check_answer("www.x. 60 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | CD);
	assert_true(ask(&r, &www)); /* not for who has CD=0 */
	complete_as(&r, NULL, DNS_EDE_DNSSEC_BOGUS, RESOLVER_BOGUS);
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_DNSSEC_BOGUS);
	r.now_s += 59;
	assert_false(ask(&r, &www));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_SERVFAIL);
	assert_false(ask(&r, &a));
	r.now_s += 1;
	assert_true(ask(&r, &www));
	assert_true(ask(&r, &a));
}

static void test_failures(void **state)
{
	static const struct {
		const char *label;
		int ede_code, said;
		uint32_t kept_s;
	} rows[] = {
		{ "unreachable", DNS_EDE_NO_REACHABLE_AUTHORITY, DNS_EDE_NO_REACHABLE_AUTHORITY,
		  5 },
		{ "not said why", EDNS_NO_EDE, DNS_EDE_NO_REACHABLE_AUTHORITY, 5 },
		{ "a limit of ours", DNS_EDE_OTHER, DNS_EDE_OTHER, 0 },
		{ "the resolver stops", DNS_EDE_NOT_READY, DNS_EDE_NOT_READY, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_true(ask(&r, &www));
		complete_failed(&r, rows[i].ede_code);
		check_error(DNS_RCODE_SERVFAIL, rows[i].said);
		assert_int_equal(reply_flags(&r.reply), QR | RD | RA | DNS_RCODE_SERVFAIL);
		if (!rows[i].kept_s)
			continue;
		r.now_s += rows[i].kept_s - 1;
		if (ask(&r, &www))
			fail_msg("%s: not kept", rows[i].label);
		assert_int_equal(reply_flags(&r.reply), QR | RD | RA | DNS_RCODE_SERVFAIL);
		r.now_s += 1;
	}
	assert_true(ask(&r, &www));
}

/* Upstream's own SERVFAIL, and messages that are none. */
static void test_unusable(void **state)
{
	const struct upstream other = { "w.x.",          T(A), DNS_RCODE_NXDOMAIN, NULL,
					"x. 60 IN " SOA, NULL };
	struct upstream u = www_answer;

	(void)state;
	u.rcode = DNS_RCODE_SERVFAIL;
	assert_true(ask(&r, &www));
	complete(&r, &u);
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_int_equal(COUNTER(unusable), 0);
	r.now_s += 10;
	assert_true(ask(&r, &www));
	complete(&r, &other);
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_INVALID_DATA);
	u = www_answer;
	u.answer = "mail.x. 300 IN A 192.0.2.80\n";
	r.now_s += 10;
	assert_true(ask(&r, &www));
	complete(&r, &u);
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_INVALID_DATA);
	assert_int_equal(COUNTER(unusable), 2);
}

/* Nothing that came along is an answer to anything else. */
static void test_poison(void **state)
{
	const struct upstream u = { "www.x.",
				    T(A),
				    0,
				    "www.x. 300 IN CNAME w.y.\nw.y. 300 IN A 192.0.2.80\n"
				    "bank.z. 300 IN A 192.0.2.66\n",
				    "z. 300 IN NS ns.evil.\n",
				    "ns.x. 300 IN A 192.0.2.66\n" };
	static const char *const names[] = { "w.y", "bank.z", "ns.x", "z", "x" };

	(void)state;
	assert_true(ask(&r, &www));
	complete(&r, &u);
	check_answer("www.x. 300 IN CNAME w.y.\nw.y. 300 IN A 192.0.2.80\n");
	assert_int_equal(reply_count(&r.reply, DNS_NSCOUNT_AT), 0);
	assert_int_equal(reply_count(&r.reply, DNS_ARCOUNT_AT), 1); /* OPT */
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct ask a = { .name = names[i], .type = T(A), .flags = RD };

		assert_true(ask(&r, &a));
		a.type = T(NS);
		assert_true(ask(&r, &a));
	}
}

static void test_not_kept(void **state)
{
	struct upstream u = www_answer;

	(void)state;
	u.answer = "www.x. 0 IN A 192.0.2.80\n";
	assert_true(ask(&r, &www));
	complete(&r, &u);
	check_answer("www.x. 0 IN A 192.0.2.80\n");
	assert_true(ask(&r, &www));
	recursing_flush(&r); /* it was asked before that */
	complete(&r, &www_answer);
	check_answer("www.x. 300 IN A 192.0.2.80\n");
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	check_hit(&www, "www.x. 300 IN A 192.0.2.80\n");
	recursing_flush(&r);
	assert_true(ask(&r, &www));
}

/* A zone that comes while its name is asked upstream has the word from then on. */
static void test_zone_comes(void **state)
{
	struct zone_set *before = r.world.zones.set;

	(void)state;
	assert_true(ask(&r, &www));
	world_add_zone(&r.world, "x", "@ 5 SOA ns root 1 2 3 4 5\n@ 5 NS ns\nwww 5 A 192.0.2.5\n");
	world_publish(&r.world);
	zone_set_free(before);
	complete(&r, &www_answer);
	check_answer("www.x. 300 IN A 192.0.2.80\n");
	check_hit(&www, "www.x. 5 IN A 192.0.2.5\n");
}

/* Truncated over UDP, whole over TCP, from one entry. */
static void test_large(void **state)
{
	char *text = malloc(200 * 40);
	struct upstream u = { .name = "www.x.", .qtype = T(A), .answer = text };
	struct ask a = www;
	size_t at = 0;

	(void)state;
	for (unsigned int i = 0; i < 200; i++)
		at += (size_t)sprintf(text + at, "www.x. 9 IN A 10.0.0.%u\n", i);
	assert_true(ask(&r, &www));
	complete(&r, &u);
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | DNS_FLAG_TC);
	a.stream = true;
	assert_false(ask(&r, &a));
	assert_int_equal(reply_count(&r.reply, DNS_ANCOUNT_AT), 200);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_asked_once),     TEST(test_strangers),
		TEST(test_without_rd),     TEST(test_nobody_to_ask),
		TEST(test_types),          TEST(test_our_zones),
		TEST(test_ds_of_our_zone), TEST(test_private_zones),
		TEST(test_variants),       TEST(test_ad),
		TEST(test_bogus),          TEST(test_failures),
		TEST(test_unusable),       TEST(test_poison),
		TEST(test_not_kept),       TEST(test_zone_comes),
		TEST(test_large),          TEST(test_max_ttl),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
