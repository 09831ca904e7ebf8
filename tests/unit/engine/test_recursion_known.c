/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that are not ours, and what is known of them already: a name above that does not exist,
 * answers that have expired or are about to.
 */
#include "engine/recursive_query.h"
#include "tests/unit/engine/recursion_rows.h"

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
	assert_false(ask(&r, &below));
	r.rules.cuts = false;
	assert_true(ask(&r, &below));
	r.rules.cuts = true;
	r.rules.dns64 = true;
	assert_false(ask(&r, &below));
	below.type = T(PTR); /* of the prefix: it is made where the zones have nothing */
	assert_true(ask(&r, &below));
	r.rules.dns64 = false;
	assert_false(ask(&r, &below));
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

/* No time is given to upstream: the stale answer goes out, and one question goes on behind it, for
 * all who ask in 30 s. */
static void test_stale_at_once(void **state)
{
	(void)state;
	r.rules.stale_wait_ms = 0;
	r.rules.stale_ttl_s = 7;
	go_stale(&www_answer, 100);
	check_hit(&www, "www.x. 7 IN A 192.0.2.80\n");
	assert_int_equal(ede_of(&r.reply), DNS_EDE_STALE_ANSWER);
	assert_true(r.pending.submit);
	assert_false(r.pending.asked.has_client);
	assert_true(r.pending.question.is_refresh);
	r.pending.submit = false;
	r.now_s += 29;
	check_hit(&www, "www.x. 7 IN A 192.0.2.80\n");
	assert_false(r.pending.submit);
	r.now_s += 1; /* it was lost */
	check_hit(&www, "www.x. 7 IN A 192.0.2.80\n");
	assert_true(r.pending.submit);
	assert_int_equal(complete(&r, &www_answer), 0);
	check_hit(&www, "www.x. 300 IN A 192.0.2.80\n");
	r.now_s += 301; /* it came: the next time it is asked for at once */
	check_hit(&www, "www.x. 7 IN A 192.0.2.80\n");
	assert_true(r.pending.submit);
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

/* Room was needed in the cache meanwhile: 1.8 s were too short to say that upstream has failed. */
static void test_stale_pushed_out(void **state)
{
	struct cache_key key;

	(void)state;
	go_stale(&www_answer, 1);
	assert_true(ask(&r, &www));
	cache_key_init(&key, r.world.cache, (const uint8_t *)"\3www\1x", 7, T(A), DNS_CLASS_IN, 0,
		       VOLLEY_VIEW_RECURSIVE);
	assert_int_equal(cache_withdraw(r.world.cache, &key), 0);
	r.now_s += 2;
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_true(r.pending.submit);
	r.now_s += 5;
	assert_int_equal(complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY), 0);
	assert_false(r.pending.submit);
	assert_false(ask(&r, &www)); /* now it is known */
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_SERVFAIL);
	r.now_s += 5;
	assert_true(ask(&r, &www));
	r.now_s += 5; /* a deadline that was none for a stale answer */
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_false(r.pending.submit);
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
	r.now_s += 300 - 31;
	check_hit(&www, "www.x. 31 IN A 192.0.2.80\n");
	assert_false(r.pending.submit);
	r.now_s++; /* the last tenth */
	assert_false(
		ask_from(&r, &www, world_client, NULL)); /* nobody to do it: the next one may */
	check_hit(&www, "www.x. 30 IN A 192.0.2.80\n");
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

/* Also a long life has a last tenth, in which one question is asked, however many clients ask. */
static void test_prefetch_of_long_lives(void **state)
{
	static const struct {
		uint32_t ttl_s, window_s;
		const char *before, *in;
	} rows[] = {
		{ 3600, 360, "www.x. 361 IN A 192.0.2.80\n", "www.x. 360 IN A 192.0.2.80\n" },
		{ 86400, 8640, "www.x. 8641 IN A 192.0.2.80\n", "www.x. 8640 IN A 192.0.2.80\n" },
		{ 604800, 60480, "www.x. 60481 IN A 192.0.2.80\n",
		  "www.x. 60480 IN A 192.0.2.80\n" },
	};
	char text[64];

	(void)state;
	r.rules.max_ttl_s = 604800;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct upstream answer = www_answer;

		snprintf(text, sizeof(text), "www.x. %u IN A 192.0.2.80\n", rows[i].ttl_s);
		answer.answer = text;
		recursing_flush(&r);
		assert_true(ask(&r, &www));
		complete(&r, &answer);
		r.now_s += rows[i].ttl_s - rows[i].window_s - 1;
		check_hit(&www, rows[i].before);
		assert_false(r.pending.submit);
		r.now_s++;
		check_hit(&www, rows[i].in);
		assert_true(r.pending.submit);
		check_hit(&www, rows[i].in);
		assert_false(r.pending.submit); /* another client has asked upstream */
	}
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
	assert_int_equal(r.pending.question.memory, 1);
	assert_true(r.pending.question.is_refresh);
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

/* ---- Memories -------------------------------------------------------------------------------- */

static void refresh_www(uint8_t memory)
{
	check_hit(&www, "www.x. 1 IN A 192.0.2.80\n");
	assert_true(r.pending.submit);
	assert_int_equal(r.pending.question.memory, memory);
	assert_true(r.pending.question.is_refresh);
	complete(&r, &www_answer);
}

/*
 * What is fetched anew is asked of the memory it is not from; what has expired, of the memory it is
 * from, which knows the zone's servers.
 */
static void test_memories_take_turns(void **state)
{
	(void)state;
	r.rules.prefetch = true;
	r.pending.question.memory = 1; /* of a question before */
	assert_true(ask(&r, &www));
	assert_int_equal(r.pending.question.memory, 0);
	complete(&r, &www_answer);
	for (uint8_t n = 0; n < 4; n++) {
		r.now_s += 299;
		refresh_www(!(n % 2));
	}
	for (uint8_t n = 0; n < 4; n++) {
		r.now_s += 301;
		assert_true(ask(&r, &www));
		assert_int_equal(r.pending.question.memory, 0);
		assert_false(r.pending.question.is_refresh); /* nothing of it is known any more */
		complete(&r, &www_answer);
	}
	r.now_s += 299;
	refresh_www(1);
	r.now_s += 301;
	assert_true(ask(&r, &www));
	assert_int_equal(r.pending.question.memory, 1);
	complete(&r, &www_answer);
	recursing_flush(&r);
	r.pending.question.memory = 1;
	assert_true(ask(&r, &www));
	assert_int_equal(r.pending.question.memory, 0);
}

/* Another question was first: where that was asked counts. */
static void test_memory_is_the_one_that_was_asked(void **state)
{
	(void)state;
	r.rules.prefetch = true;
	assert_true(ask(&r, &www));
	r.pending.question.memory = 1;
	complete(&r, &www_answer);
	r.now_s += 299;
	refresh_www(0);
}

/* A stale answer has gone out, and the question goes on where it is. */
static void test_memory_stays_when_asked_on(void **state)
{
	(void)state;
	go_stale(&www_answer, 100);
	r.pending.question.memory = 1; /* of a question before */
	assert_true(ask(&r, &www));
	assert_int_equal(r.pending.question.memory, 0);
	r.now_s += 2;
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_true(r.pending.submit);
	assert_int_equal(r.pending.question.memory, 0);
}

/* A stale answer goes out at once: the question behind it is for the memory that knows the servers
 * of the zone. */
static void test_memory_behind_a_stale_answer(void **state)
{
	(void)state;
	r.rules.stale_wait_ms = 0;
	go_stale(&www_answer, 100);
	check_hit(&www, "www.x. 30 IN A 192.0.2.80\n");
	assert_true(r.pending.submit);
	assert_int_equal(r.pending.question.memory, 0);
	r.pending.question.memory = 1; /* as if it had come from there */
	complete(&r, &www_answer);
	r.now_s += 400;
	check_hit(&www, "www.x. 30 IN A 192.0.2.80\n");
	assert_true(r.pending.submit);
	assert_int_equal(r.pending.question.memory, 1);
}

/* libunbound is given the same bound, so there it has ended, too. */
static void test_memory_after_the_longest_life(void **state)
{
	(void)state;
	r.rules.max_ttl_s = 200;
	assert_true(ask(&r, &www));
	assert_int_equal(r.pending.question.memory, 0);
	complete(&r, &www_answer);
	for (uint8_t n = 0; n < 4; n++) {
		r.now_s += 201;
		assert_true(ask(&r, &www));
		assert_int_equal(r.pending.question.memory, 0);
		complete(&r, &www_answer);
	}
}

/* The question of an answer that ended so long ago, completed with TTL 0; its TTL then. */
static int ttl_of_last(uint32_t ended_s, bool is_known)
{
	struct upstream last = www_answer;

	last.answer = "www.x. 0 IN A 192.0.2.80\n";
	recursing_flush(&r);
	assert_true(ask(&r, &www));
	complete(&r, &www_answer);
	r.now_s += 300 + ended_s;
	assert_true(ask(&r, &www));
	r.pending.question.is_known = is_known;
	complete(&r, &last);
	if (ask(&r, &www)) /* it is not kept */
		return 0;
	check_answer("www.x. 1 IN A 192.0.2.80\n");
	r.now_s++;
	assert_true(ask(&r, &www));
	return 1;
}

/* A memory counts TTLs by other seconds: what has just ended here, and not there, is asked for once
 * a second. */
static void test_last_second(void **state)
{
	(void)state;
	assert_int_equal(ttl_of_last(0, true), 1);
	assert_int_equal(ttl_of_last(1, true), 1);
	assert_int_equal(ttl_of_last(2, true), 0);
	assert_int_equal(ttl_of_last(0, false), 0); /* the servers say 0 now */
}

static void test_last_second_of_a_failure(void **state)
{
	(void)state;
	assert_true(ask(&r, &www));
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	r.now_s += RECURSION_SERVFAIL_S;
	assert_true(ask(&r, &www));
	r.pending.question.is_known = true;
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_false(ask(&r, &www));
	r.now_s++;
	assert_true(ask(&r, &www));
	r.pending.question.is_known = false;
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	r.now_s += RECURSION_SERVFAIL_S - 1;
	assert_false(ask(&r, &www));
}

/* What was asked with DO is there without it. */
static void test_stale_of_other_do(void **state)
{
	static const struct upstream with_signature = {
		"www.x.",
		T(A),
		0,
		"www.x. 300 IN A 192.0.2.80\nwww.x. 300 IN RRSIG A 13 2 300 20380101000000 "
		"20200101000000 1 x. AAAA\n",
		NULL,
		NULL
	};
	struct ask with = www, without = www;

	(void)state;
	with.dnssec_ok = true;
	without.flags = RD | AD;
	r.rules.stale_s = 1000;
	assert_true(ask(&r, &with));
	complete_as(&r, &with_signature, EDNS_NO_EDE, RESOLVER_SECURE);
	assert_int_equal(reply_count(&r.reply, DNS_ANCOUNT_AT), 2);
	r.now_s += 100; /* valid still */
	assert_true(ask(&r, &without));
	assert_true(r.pending.is_hurried);
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	check_answer("www.x. 200 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | AD);
	assert_int_equal(ede_of(&r.reply), EDNS_NO_EDE);
	r.now_s += 300;
	assert_true(ask(&r, &without));
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	check_answer("www.x. 30 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA);
	assert_int_equal(ede_of(&r.reply), DNS_EDE_STALE_ANSWER);
	r.now_s += 1; /* upstream is left alone */
	check_hit(&without, "www.x. 30 IN A 192.0.2.80\n");
	assert_int_equal(ede_of(&r.reply), DNS_EDE_STALE_ANSWER);
}

static void set_bits(struct ask *a, unsigned int bits)
{
	*a = www;
	a->dnssec_ok = bits & 1;
	a->flags = (uint16_t)(RD | (bits & 2 ? CD : 0));
}

/* With which DO and CD bits a name was asked before makes no difference. */
static void test_stale_of_other_bits(void **state)
{
	struct ask before, after;

	(void)state;
	r.rules.stale_s = 1000;
	for (unsigned int i = 0; i < 16; i++) {
		set_bits(&before, i & 3);
		set_bits(&after, i >> 2);
		assert_true(ask(&r, &before));
		complete(&r, &www_answer);
		r.now_s += 400;
		assert_true(ask(&r, &after));
		assert_true(r.pending.is_hurried);
		complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
		check_answer("www.x. 30 IN A 192.0.2.80\n");
		assert_int_equal(reply_flags(&r.reply) & AD, 0);
		recursing_flush(&r);
		r.now_s += 100;
	}
}

/* What is known as bogus is for clients with CD alone. */
static void test_stale_bogus(void **state)
{
	struct ask with = www, without = www;

	(void)state;
	with.flags = RD | CD;
	r.rules.stale_s = 1000;
	assert_true(ask(&r, &with));
	complete_as(&r, &www_answer, EDNS_NO_EDE, RESOLVER_BOGUS);
	assert_int_equal(ede_of(&r.reply), DNS_EDE_DNSSEC_BOGUS);
	r.now_s += 400;
	assert_true(ask(&r, &without));
	assert_false(r.pending.is_hurried);
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_SERVFAIL);
	with.dnssec_ok = true;
	assert_true(ask(&r, &with));
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	check_answer("www.x. 30 IN A 192.0.2.80\n");
}

/* Upstream validates: if it replies with a failure, the reason may be that the answer is bogus. */
static void test_stale_where_upstream_validates(void **state)
{
	struct ask with = www;

	(void)state;
	with.flags = RD | CD;
	r.rules.stale_s = 1000;
	r.rules.keeps_cd = true;
	assert_true(ask(&r, &with));
	complete(&r, &www_answer);
	for (unsigned int i = 0; i < 2; i++) { /* valid, expired */
		assert_true(ask(&r, &www));
		assert_true(r.pending.is_hurried);
		complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
		assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_SERVFAIL);
		r.now_s += 400;
	}
	assert_true(ask(&r, &www));
	complete_failed(&r, DNS_EDE_NETWORK_ERROR); /* it is silent */
	check_answer("www.x. 30 IN A 192.0.2.80\n");
	check_hit(&www, "www.x. 30 IN A 192.0.2.80\n");
	r.rules.stale_wait_ms = 0;
	r.now_s += 100;
	assert_true(ask(&r, &www));
	assert_false(r.pending.is_hurried);
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_SERVFAIL);
}

static void test_stale_without_rd(void **state)
{
	struct ask without = www;

	(void)state;
	without.flags = 0;
	assert_false(ask(&r, &without));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_REFUSED);
	go_stale(&www_answer, 100);
	check_hit(&without, "www.x. 30 IN A 192.0.2.80\n");
	without.dnssec_ok = true;
	check_hit(&without, "www.x. 30 IN A 192.0.2.80\n");
	assert_int_equal(ede_of(&r.reply), DNS_EDE_STALE_ANSWER);
}

/* A fresh answer that may not be kept ends the stale ones, whatever their bits. */
static void test_stale_ends_with_an_answer_that_is_not_kept(void **state)
{
	static const struct upstream fresh[] = {
		{ "www.x.", T(A), 0, "www.x. 0 IN A 192.0.2.81\n", NULL, NULL },
		{ "www.x.", T(A), DNS_RCODE_NXDOMAIN, NULL, NULL, NULL }, /* without a SOA */
	};
	struct ask with = www;

	(void)state;
	with.dnssec_ok = true;
	r.rules.stale_s = 1000;
	r.rules.stale_wait_ms = 0;
	for (size_t i = 0; i < sizeof(fresh) / sizeof(fresh[0]); i++) {
		assert_true(ask(&r, &with));
		complete(&r, &www_answer);
		r.now_s += 400;
		assert_false(ask(&r, &www)); /* the stale one, and a question behind it */
		assert_true(r.pending.submit);
		complete(&r, &fresh[i]);
		assert_true(ask(&r, &www));
		assert_true(ask(&r, &with));
		complete(&r, &fresh[i]);
		r.now_s += 100;
	}
}

/* An extended error is said each time, to queries with EDNS. */
static void test_errors_are_kept(void **state)
{
	static const struct {
		int ede;
		enum resolver_security security;
	} rows[] = { { DNS_EDE_DNSSEC_BOGUS, RESOLVER_BOGUS },
		     { 7, RESOLVER_BOGUS },
		     { DNS_EDE_NO_REACHABLE_AUTHORITY, RESOLVER_INSECURE } };
	struct ask plain = www;

	(void)state;
	plain.udp_size = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_true(ask(&r, &www));
		complete_as(&r, NULL, rows[i].ede, rows[i].security);
		for (unsigned int again = 0; again < 3; again++) {
			check_error(DNS_RCODE_SERVFAIL, rows[i].ede);
			assert_false(ask(&r, &www));
		}
		assert_int_equal(COUNTER(cache_hit), 4 * i + 3);
		assert_false(ask(&r, &plain));
		assert_int_equal(reply_count(&r.reply, DNS_ARCOUNT_AT), 0);
		recursing_flush(&r);
	}
	assert_true(ask(&r, &www)); /* and of none there is none */
	complete(&r, &www_answer);
	check_hit(&www, "www.x. 300 IN A 192.0.2.80\n");
	assert_int_equal(ede_of(&r.reply), EDNS_NO_EDE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cut),
		TEST(test_cut_behind_alias),
		TEST(test_stale_in_time),
		TEST(test_stale_at_once),
		TEST(test_stale_recheck),
		TEST(test_stale_limits),
		TEST(test_stale_pushed_out),
		TEST(test_failure_beside_answer),
		TEST(test_prefetch),
		TEST(test_prefetch_of_long_lives),
		TEST(test_driver_refresh),
		TEST(test_memories_take_turns),
		TEST(test_memory_is_the_one_that_was_asked),
		TEST(test_memory_stays_when_asked_on),
		TEST(test_memory_behind_a_stale_answer),
		TEST(test_memory_after_the_longest_life),
		TEST(test_last_second),
		TEST(test_last_second_of_a_failure),
		TEST(test_stale_of_other_do),
		TEST(test_stale_of_other_bits),
		TEST(test_stale_bogus),
		TEST(test_stale_where_upstream_validates),
		TEST(test_stale_without_rd),
		TEST(test_stale_ends_with_an_answer_that_is_not_kept),
		TEST(test_errors_are_kept),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
