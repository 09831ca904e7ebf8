/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that are not ours, and what policies say of them. */
#include "rpz/rpz.h"
#include "engine/recursive_query.h"
#include "tests/unit/engine/recursion_rows.h"
#include "tests/unit/zone/zone_text.h"

static const char rules_text[] = "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\n"
				 "www.x CNAME .\nlocal.x A 192.0.2.7\ndrop.x CNAME rpz-drop.\n"
				 "tcp.x CNAME rpz-tcp-only.\n"
				 "alias.x 30 CNAME www.y.\n*.wild.x CNAME *.y.\n"
				 "ours.x CNAME ns1.example.com.\nnone.x CNAME none.example.com.\n";

#define EDE_OF_LIST 17

struct lists {
	struct zone *zone;
	struct rpz *rpz;
};

static void lists_open(struct lists *l)
{
	uint32_t slot, gen;
	const uint64_t digest[2] = { 9, 9 };
	struct rpz_list lists[1] = { 0 };

	l->zone = zone_of("rpz", rules_text);
	lists[0].zone = l->zone;
	lists[0].ede_code = EDE_OF_LIST;
	cache_zone_prepare(r.world.cache, (const uint8_t *)"\3rpz", 5, digest, &slot, &gen);
	cache_zone_commit(r.world.cache, slot, gen, digest);
	MUST(!rpz_new(&l->rpz, NULL, lists, 1, slot, gen));
	r.world.zones.rpz = l->rpz;
}

static void lists_close(struct lists *l)
{
	r.world.zones.rpz = NULL;
	rpz_free(l->rpz);
	zone_free(l->zone);
}

static void test_rpz(void **state)
{
	struct ask a = www;
	struct lists l;

	(void)state;
	lists_open(&l);
	for (unsigned int i = 0; i < 2; i++) {
		assert_false(ask(&r, &www));
		assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
		assert_int_equal(ede_of(&r.reply), EDE_OF_LIST);
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

static const struct upstream www_y = {
	"www.y.", T(A), 0, "www.y. 300 IN A 192.0.2.90\n", NULL, NULL
};

/* A CNAME to another name: the question goes on there, and the answer begins with the alias. */
static void test_rpz_alias(void **state)
{
	struct ask a = www, target = www;
	struct lists l;

	(void)state;
	lists_open(&l);
	a.name = "Alias.x";
	a.flags = RD | AD;
	assert_true(ask(&r, &a));
	assert_true(name_equal(r.pending.question.name, (const uint8_t *)"\3www\1y"));
	complete_as(&r, &www_y, EDNS_NO_EDE, RESOLVER_SECURE);
	check_answer("Alias.x. 30 IN CNAME www.y.\nwww.y. 300 IN A 192.0.2.90\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA); /* no AD: nobody has signed that */
	assert_int_equal(ede_of(&r.reply), EDE_OF_LIST);
	r.now_s += 10; /* the target is in the cache, by its own name */
	assert_false(ask(&r, &a));
	check_answer("Alias.x. 30 IN CNAME www.y.\nwww.y. 290 IN A 192.0.2.90\n");
	target.name = "www.y";
	check_hit(&target, "www.y. 290 IN A 192.0.2.90\n");
	a.name = "alias.x";
	a.type = T(CNAME);
	assert_false(ask(&r, &a));
	check_answer("alias.x. 30 IN CNAME www.y.\n");
	a.type = T(A);
	assert_false(ask(&r, &a)); /* that was another question */
	a.flags = 0;
	a.name = "b.wild.x";
	assert_false(ask(&r, &a));
	check_error(DNS_RCODE_REFUSED, DNS_EDE_NOT_AUTHORITATIVE);
	a.flags = RD;
	assert_true(ask(&r, &a));
	assert_true(name_equal(r.pending.question.name, (const uint8_t *)"\1b\4wild\1x\1y"));
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_SERVFAIL);
	lists_close(&l);
	recursing_flush(&r);
}

/* The target is one of our zones. */
static void test_rpz_alias_to_ours(void **state)
{
	struct ask a = www;
	struct lists l;

	(void)state;
	lists_open(&l);
	a.name = "ours.x";
	assert_false(ask(&r, &a));
	check_answer(
		"ours.x. 60 IN CNAME ns1.example.com.\nns1.example.com. 3600 IN A 192.0.2.1\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA);
	a.name = "none.x";
	assert_false(ask(&r, &a));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	check_answer("none.x. 60 IN CNAME none.example.com.\n");
	lists_close(&l);
	recursing_flush(&r);
}

/* A rule for the name comes while it is asked upstream: its answer is not given, and the question
 * goes on with the target. */
static void test_rpz_alias_comes(void **state)
{
	struct ask a = www;
	struct lists l;

	(void)state;
	a.name = "alias.x";
	assert_true(ask(&r, &a));
	lists_open(&l);
	assert_int_equal(complete(&r,
				  &(struct upstream){ .name = "alias.x.",
						      .qtype = T(A),
						      .answer = "alias.x. 300 IN A 192.0.2.80\n" }),
			 ENGINE_DEFERRED);
	assert_true(r.pending.submit);
	complete(&r, &www_y);
	check_answer("alias.x. 30 IN CNAME www.y.\nwww.y. 300 IN A 192.0.2.90\n");
	lists_close(&l);
	recursing_flush(&r);
}

/* Rules for names that an alias leads to: what they say comes behind the alias, and into the
 * cache. */
static void test_rpz_behind_alias(void **state)
{
	static const struct upstream to_www = {
		"a.z.", T(A), 0, "a.z. 300 IN CNAME www.x.\nwww.x. 300 IN A 192.0.2.80\n",
		NULL,   NULL
	};
	static const struct upstream to_alias = {
		"b.z.", T(A), 0, "b.z. 300 IN CNAME alias.x.\nalias.x. 300 IN A 192.0.2.80\n",
		NULL,   NULL
	};
	static const struct upstream to_tcp = {
		"c.z.", T(A), 0, "c.z. 300 IN CNAME tcp.x.\ntcp.x. 300 IN A 192.0.2.80\n",
		NULL,   NULL
	};
	struct ask a = www;
	struct lists l;

	(void)state;
	lists_open(&l);
	a.name = "a.z";
	assert_true(ask(&r, &a));
	complete(&r, &to_www);
	check_answer("a.z. 300 IN CNAME www.x.\n");
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	assert_int_equal(ede_of(&r.reply), EDE_OF_LIST);
	assert_false(ask(&r, &a));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	r.now_s += 300; /* no longer than upstream would say the same */
	assert_true(ask(&r, &a));
	a.name = "b.z";
	assert_true(ask(&r, &a));
	assert_int_equal(complete(&r, &to_alias), ENGINE_DEFERRED);
	complete(&r, &www_y);
	check_answer("b.z. 30 IN CNAME www.y.\nwww.y. 300 IN A 192.0.2.90\n");
	a.name = "c.z";
	for (unsigned int i = 0; i < 4; i++) { /* nothing of it is kept, neither of TCP */
		a.stream = i % 2;
		assert_true(ask(&r, &a));
		complete(&r, &to_tcp);
		assert_int_equal(reply_flags(&r.reply),
				 QR | RD | RA | (a.stream ? 0 : DNS_FLAG_TC));
	}
	lists_close(&l);
	recursing_flush(&r);
}

/* Its target's answer has ended and may be given stale: upstream is asked first, as for any
 * other. */
static void test_rpz_alias_to_what_has_ended(void **state)
{
	static const struct upstream to_alias = {
		"b.z.", T(A), 0, "b.z. 300 IN CNAME alias.x.\nalias.x. 300 IN A 192.0.2.80\n",
		NULL,   NULL
	};
	struct ask a = www;
	struct lists l;

	(void)state;
	lists_open(&l);
	r.rules.stale_s = 3600;
	a.name = "www.y";
	assert_true(ask(&r, &a));
	complete(&r, &www_y);
	r.now_s += 400;
	a.name = "b.z";
	assert_true(ask(&r, &a));
	assert_int_equal(complete(&r, &to_alias), ENGINE_DEFERRED);
	complete(&r, &www_y);
	check_answer("b.z. 30 IN CNAME www.y.\nwww.y. 300 IN A 192.0.2.90\n");
	lists_close(&l);
	recursing_flush(&r);
}

/* A list that comes while its name is asked upstream has the word, too. */
static void test_rpz_comes(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rpz),
		TEST(test_rpz_alias),
		TEST(test_rpz_alias_to_ours),
		TEST(test_rpz_alias_comes),
		TEST(test_rpz_behind_alias),
		TEST(test_rpz_alias_to_what_has_ended),
		TEST(test_rpz_comes),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
