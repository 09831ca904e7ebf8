/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that are not ours: who may ask for them, what goes upstream, what is made of what comes back, and
 * what the cache gives the next one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dns/edns.h"
#include "engine/policy.h"
#include "engine/recursion.h"
#include "tests/unit/engine/recursing.h"
#include "tests/unit/zone/zone_text.h"

#define T(t) DNS_TYPE_##t
#define RD   DNS_FLAG_RD
#define CD   DNS_FLAG_CD
#define AD   DNS_FLAG_AD
#define RA   DNS_FLAG_RA
#define QR   DNS_FLAG_QR
#define AA   DNS_FLAG_AA
#define SOA  "SOA ns.x. root.x. 1 2 3 4 60\n"

static const char zone_com[] = "$TTL 3600\n"
			       "@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n"
			       "@ NS ns1\n"
			       "ns1 A 192.0.2.1\n"
			       "out CNAME www.x.\n"
			       "sub NS ns.sub\n"
			       "ns.sub A 192.0.2.53\n";

static struct recursing r;

static const struct ask www = { .name = "www.x", .type = T(A), .flags = RD, .udp_size = 1232 };
static const struct upstream www_answer = { "www.x.",
					    T(A),
					    0,
					    "www.x. 300 IN A 192.0.2.80\n",
					    "x. 300 IN NS ns.x.\n",
					    "ns.x. 300 IN A 192.0.2.53\n" };
static const struct upstream no_such = { "www.x.",        T(A), DNS_RCODE_NXDOMAIN, NULL,
					 "x. 60 IN " SOA, NULL };

static int setup(void **state)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;

	(void)state;
	memset(&r, 0, sizeof(r));
	world_add_zone(&r.world, "example.com", zone_com);
	recursing_open(&r, &config);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	recursing_close(&r);
	world_free(&r.world);
	return 0;
}

static uint64_t counter(size_t offset)
{
	struct engine_counters c;

	engine_counters_read(r.world.engine, &c);
	return *(const uint64_t *)((const uint8_t *)&c + offset);
}

#define COUNTER(name) counter(offsetof(struct engine_counters, name))

static void check_error(uint16_t rcode, int ede_code)
{
	assert_int_equal(reply_rcode(&r.reply), rcode);
	assert_int_equal(ede_of(&r.reply), ede_code);
	assert_int_equal(reply_count(&r.reply, DNS_ANCOUNT_AT), 0);
}

static void check_answer(const char *expected)
{
	char *text = answer_of(&r.reply, LDNS_SECTION_ANSWER);

	assert_string_equal(text, expected);
	free(text);
}

static void check_hit(const struct ask *a, const char *expected)
{
	assert_false(ask(&r, a));
	check_answer(expected);
}

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

/* What our zones say stays what they say. */
static void test_our_zones(void **state)
{
	struct ask a = { .name = "no.example.com", .type = T(A), .flags = RD };

	(void)state;
	assert_false(ask(&r, &a));
	assert_int_equal(reply_flags(&r.reply), QR | AA | RD | DNS_RCODE_NXDOMAIN);
	a.name = "out.example.com";
	assert_false(ask(&r, &a));
	check_answer("out.example.com. 3600 IN CNAME www.x.\n");
	a.name = "a.sub.example.com";
	assert_false(ask(&r, &a));
	assert_int_equal(reply_flags(&r.reply), QR | RD);
	assert_int_equal(reply_count(&r.reply, DNS_NSCOUNT_AT), 1);
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

/* RFC 8020. */
static void test_cut(void **state)
{
	struct ask below = { .name = "a.B.www.x", .type = T(AAAA), .flags = RD, .udp_size = 1232 };
	char *text;

	(void)state;
	assert_true(ask(&r, &www));
	complete(&r, &no_such);
	assert_true(ask(&r, &below)); /* not signed: no proof */
	r.now_s += 60;
	assert_true(ask(&r, &www));
	complete_as(&r, &no_such, EDNS_NO_EDE, RESOLVER_SECURE);
	r.now_s += 20;
	assert_false(ask(&r, &below));
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | DNS_RCODE_NXDOMAIN);
	text = answer_of(&r.reply, LDNS_SECTION_AUTHORITY);
	assert_string_equal(text, "x. 40 IN " SOA);
	free(text);
	assert_int_equal(COUNTER(cut), 1);
	below.dnssec_ok = true; /* that has no proofs */
	assert_true(ask(&r, &below));
	below.dnssec_ok = false;
	below.name = "1.2.3.4.5.6.7.8.www.x";
	assert_false(ask(&r, &below));
	below.name = "1.2.3.4.5.6.7.8.9.www.x"; /* looked for so far only */
	assert_true(ask(&r, &below));
	below.name = "ww.x";
	assert_true(ask(&r, &below));
	below.name = "a.www.x";
	r.now_s += 40;
	assert_true(ask(&r, &below));
}

static void test_cut_behind_alias(void **state)
{
	const struct upstream u = { "www.x.",           T(A),
				    DNS_RCODE_NXDOMAIN, "www.x. 300 IN CNAME no.x.\n",
				    "x. 60 IN " SOA,    NULL };
	struct ask below = { .name = "a.www.x", .type = T(A), .flags = RD };

	(void)state;
	assert_true(ask(&r, &www));
	complete_as(&r, &u, EDNS_NO_EDE, RESOLVER_SECURE);
	assert_true(ask(&r, &below)); /* www.x itself exists */
}

static void go_stale(const struct upstream *u, uint32_t expired_s)
{
	r.rules.stale_s = 3600;
	assert_true(ask(&r, &www));
	complete_as(&r, u, EDNS_NO_EDE, RESOLVER_SECURE);
	r.now_s += (u->rcode ? 60 : 300) + expired_s;
}

/* RFC 8767: upstream has 1.8 s, then the stale answer goes out, and the question goes on. */
static void test_stale_in_time(void **state)
{
	struct upstream short_lived = www_answer;
	struct ask a = www;

	(void)state;
	a.flags = RD | AD;
	go_stale(&www_answer, 100);
	assert_true(ask(&r, &a));
	assert_true(r.pending.question.deadline_ns ==
		    r.now_s * CLOCK_NS_PER_S + 1800 * CLOCK_NS_PER_MS);
	r.now_s += 2;
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	check_answer("www.x. 30 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA); /* no AD any more */
	assert_int_equal(ede_of(&r.reply), DNS_EDE_STALE_ANSWER);
	assert_true(r.pending.submit); /* for the cache alone */
	assert_int_equal(r.pending.question.family, 0);
	assert_true(r.pending.question.deadline_ns ==
		    r.now_s * CLOCK_NS_PER_S + 5000 * CLOCK_NS_PER_MS);
	short_lived.answer = "www.x. 5 IN A 192.0.2.80\n";
	assert_int_equal(complete(&r, &short_lived), 0);
	assert_false(r.pending.submit);
	check_hit(&www, "www.x. 5 IN A 192.0.2.80\n");
	assert_int_equal(COUNTER(stale), 1);
	assert_int_equal(COUNTER(refreshed), 1);
	r.now_s += 5; /* upstream is well again */
	assert_true(ask(&r, &www));
}

/* Upstream fails at once: it is left alone for 30 s. */
static void test_stale_recheck(void **state)
{
	struct engine_counters before, after;

	(void)state;
	go_stale(&www_answer, 1);
	assert_true(ask(&r, &www));
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	check_answer("www.x. 30 IN A 192.0.2.80\n");
	assert_false(r.pending.submit);
	engine_counters_read(r.world.engine, &before);
	r.now_s += 29;
	check_hit(&www, "www.x. 30 IN A 192.0.2.80\n");
	assert_int_equal(ede_of(&r.reply), DNS_EDE_STALE_ANSWER);
	r.now_s += 1;
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	check_answer("www.x. 300 IN A 192.0.2.80\n");
	assert_int_equal(ede_of(&r.reply), EDNS_NO_EDE);
	engine_counters_read(r.world.engine, &after);
	assert_int_equal(after.stale - before.stale, 1);
	r.now_s += 300; /* forgotten: it is asked again when it has expired again */
	assert_true(ask(&r, &www));
}

static void test_stale_limits(void **state)
{
	(void)state;
	go_stale(&no_such, 3600);
	assert_false(ask_from(&r, &www, world_client, NULL)); /* no resolver: better than nothing */
	check_error(DNS_RCODE_NXDOMAIN, DNS_EDE_STALE_NXDOMAIN);
	assert_true(ask(&r, &www));
	complete_failed(&r, DNS_EDE_OTHER); /* our own limit is no failure of upstream */
	check_error(DNS_RCODE_NXDOMAIN, DNS_EDE_STALE_NXDOMAIN);
	assert_true(ask(&r, &www));
	r.now_s++;
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY); /* too old by now */
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_NO_REACHABLE_AUTHORITY);
	r.now_s += 6;
	assert_true(ask(&r, &www)); /* a failure is never stale data */
	assert_true(r.pending.question.deadline_ns ==
		    r.now_s * CLOCK_NS_PER_S + 5000 * CLOCK_NS_PER_MS);
}

/* A failure does not push out what is valid: another worker had an answer in the meantime. */
static void test_failure_beside_answer(void **state)
{
	struct engine_pending other;

	(void)state;
	assert_true(ask_from(&r, &www, world_client, &other));
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	r.pending = other;
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	check_answer("www.x. 300 IN A 192.0.2.80\n");
	check_hit(&www, "www.x. 300 IN A 192.0.2.80\n");
}

static void test_prefetch(void **state)
{
	(void)state;
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	r.now_s += 300 - 38;
	check_hit(&www, "www.x. 38 IN A 192.0.2.80\n");
	assert_false(r.pending.submit);
	r.now_s++; /* the last eighth */
	assert_false(
		ask_from(&r, &www, world_client, NULL)); /* nobody to do it: the next one may */
	check_hit(&www, "www.x. 37 IN A 192.0.2.80\n");
	assert_true(r.pending.submit);
	assert_false(r.pending.asked.has_client);
	assert_memory_equal(r.pending.question.name, "\3www\1x", 7);
	assert_int_equal(complete(&r, &www_answer), 0);
	check_hit(&www, "www.x. 300 IN A 192.0.2.80\n");
	assert_false(r.pending.submit);
	r.rules.prefetch = false;
	r.now_s += 300;
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	r.now_s += 299;
	check_hit(&www, "www.x. 1 IN A 192.0.2.80\n");
	assert_false(r.pending.submit);
}

/* What the driver names: by hash and place. */
static void test_driver_refresh(void **state)
{
	struct ask a = { .name = "ns1.example.com", .type = T(A) };
	struct engine_times times;
	const struct volley_entry *entry;
	struct volley_refresh refresh;
	struct cache_key key;

	(void)state;
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	cache_key_init(&key, r.world.cache, (const uint8_t *)"\3www\1x", 7, T(A), DNS_CLASS_IN, 0,
		       VOLLEY_VIEW_RECURSIVE);
	assert_int_equal(cache_lookup(r.world.cache, &key, r.now_s, false, &entry), CACHE_HIT);
	refresh = (struct volley_refresh){ .hash = entry->hash, .born_s = entry->born_s };
	times = times_of(&r);
	assert_true(engine_refresh(r.world.engine, &refresh, &times, &r.pending));
	assert_true(r.pending.submit);
	assert_memory_equal(r.pending.question.name, "\3www\1x", 7);
	assert_int_equal(r.pending.question.qtype, T(A));
	r.now_s += 250;
	assert_int_equal(complete(&r, &www_answer), 0);
	check_hit(&www, "www.x. 300 IN A 192.0.2.80\n");
	refresh.hash++;
	assert_false(engine_refresh(r.world.engine, &refresh, &times, &r.pending));
	assert_false(r.pending.submit);

	/* Not of our own zones. */
	assert_false(ask(&r, &a));
	cache_key_init(&key, r.world.cache, (const uint8_t *)"\3ns1\7example\3com", 17, T(A),
		       DNS_CLASS_IN, 0, VOLLEY_VIEW_PUBLIC);
	assert_int_equal(cache_lookup(r.world.cache, &key, r.now_s, false, &entry), CACHE_HIT);
	refresh = (struct volley_refresh){ .hash = entry->hash, .born_s = entry->born_s };
	assert_false(engine_refresh(r.world.engine, &refresh, &times, &r.pending));
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

/* ---- Policies --------------------------------------------------------------------------------- */

static const char rules_text[] = "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\n"
				 "www.x CNAME .\nlocal.x A 192.0.2.7\ndrop.x CNAME rpz-drop.\n"
				 "tcp.x CNAME rpz-tcp-only.\n";

struct lists {
	struct zone *zone;
	struct policy *policy;
};

static void lists_open(struct lists *l)
{
	uint32_t slot, gen, n_ignored;
	const uint64_t digest[2] = { 9, 9 };
	const struct zone *zones[1];

	l->zone = zone_of("rpz", rules_text);
	zones[0] = l->zone;
	cache_zone_prepare(r.world.cache, (const uint8_t *)"\3rpz", 5, digest, &slot, &gen);
	cache_zone_commit(r.world.cache, slot, gen, digest);
	MUST(!policy_new(&l->policy, NULL, zones, 1, slot, gen, &n_ignored));
	r.world.zones.policy = l->policy;
}

static void lists_close(struct lists *l)
{
	r.world.zones.policy = NULL;
	policy_free(l->policy);
	zone_free(l->zone);
}

static void test_policy(void **state)
{
	struct ask a = www;
	struct lists l;

	(void)state;
	lists_open(&l);
	for (unsigned int i = 0; i < 2; i++) {
		assert_false(ask(&r, &www));
		assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
		if (!i)
			assert_int_equal(ede_of(&r.reply), DNS_EDE_BLOCKED);
	}
	assert_int_equal(COUNTER(cache_hit), 1);
	assert_false(ask_from(&r, &www, stranger, &r.pending));
	check_error(DNS_RCODE_REFUSED, DNS_EDE_PROHIBITED);
	a.name = "local.x";
	check_hit(&a, "local.x. 60 IN A 192.0.2.7\n");
	a.name = "drop.x";
	assert_false(ask(&r, &a));
	assert_int_equal(r.reply.len, 0);
	assert_int_equal(COUNTER(dropped), 1);
	a.name = "tcp.x";
	assert_false(ask(&r, &a));
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | DNS_FLAG_TC);
	a.stream = true;
	assert_true(ask(&r, &a));
	complete(&r, &(struct upstream){ .name = "tcp.x.",
					 .qtype = T(A),
					 .answer = "tcp.x. 300 IN A 192.0.2.80\n" });
	check_answer("tcp.x. 300 IN A 192.0.2.80\n");
	a.stream = false; /* that was not for UDP */
	assert_false(ask(&r, &a));
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | DNS_FLAG_TC);
	lists_close(&l);
}

/* A list that comes while its name is asked upstream has the word, too. */
static void test_policy_comes(void **state)
{
	struct lists l;

	(void)state;
	assert_true(ask(&r, &www));
	lists_open(&l);
	complete(&r, &www_answer);
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	lists_close(&l);
	recursing_flush(&r);
}

static int group_setup(void **state)
{
	(void)state;
	rcu_register_thread();
	return 0;
}

static int group_teardown(void **state)
{
	(void)state;
	rcu_unregister_thread();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_asked_once),
		TEST(test_strangers),
		TEST(test_without_rd),
		TEST(test_nobody_to_ask),
		TEST(test_types),
		TEST(test_our_zones),
		TEST(test_ds_of_our_zone),
		TEST(test_private_zones),
		TEST(test_variants),
		TEST(test_ad),
		TEST(test_bogus),
		TEST(test_failures),
		TEST(test_unusable),
		TEST(test_poison),
		TEST(test_not_kept),
		TEST(test_zone_comes),
		TEST(test_cut),
		TEST(test_cut_behind_alias),
		TEST(test_stale_in_time),
		TEST(test_stale_recheck),
		TEST(test_stale_limits),
		TEST(test_failure_beside_answer),
		TEST(test_prefetch),
		TEST(test_driver_refresh),
		TEST(test_large),
		TEST(test_policy),
		TEST(test_policy_comes),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
