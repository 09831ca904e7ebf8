/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules for name servers: which questions are asked for them, in which order, and what becomes of
 * the answer that they are for. */
#include "rpz/rpz.h"
#include "engine/recursive_query.h"
#include "engine/servers.h"
#include "tests/unit/engine/recursion_rows.h"
#include "tests/unit/zone/zone_text.h"

#define HEAD    "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\n"
#define N_WIRES 64

static struct zone *zones[2], *local;
static struct rpz *rpz;
static uint8_t *wires[N_WIRES]; /* of answers that are held */
static unsigned int n_wires;

static void lists_open(const char *first, const char *second)
{
	static uint64_t digest[2] = { 9, 9 };
	struct rpz_list lists[2] = { 0 };
	uint32_t slot, gen;

	zones[0] = zone_of("rpz", first);
	zones[1] = zone_of("second", second);
	lists[0].zone = zones[0];
	lists[1].zone = zones[1];
	digest[1]++;
	cache_zone_prepare(r.world.cache, (const uint8_t *)"\3rpz", 5, digest, &slot, &gen);
	cache_zone_commit(r.world.cache, slot, gen, digest);
	MUST(!rpz_new(&rpz, local, lists, 2, slot, gen));
	r.world.zones.rpz = rpz;
}

static void lists_close(void)
{
	r.world.zones.rpz = NULL;
	rpz_free(rpz);
	zone_free(zones[0]);
	zone_free(zones[1]);
	while (n_wires)
		free(wires[--n_wires]);
}

/* As complete(), but the answer stays; true: the client waits for another question. */
static bool answer_with(const struct upstream *u)
{
	struct resolver_question *q = &r.pending.question;
	struct engine_times times = times_of(&r);
	size_t n;

	MUST(n_wires < N_WIRES);
	q->ede_code = EDNS_NO_EDE;
	q->security = RESOLVER_INSECURE;
	q->rcode = u ? u->rcode : DNS_RCODE_SERVFAIL;
	q->msg_bytes = 0;
	q->msg = wires[n_wires++] = u ? upstream_wire(u, &q->msg_bytes) : NULL;
	n = engine_finish(r.world.engine, &r.pending, &times, r.reply.bytes, sizeof(r.reply.bytes));
	rcu_quiescent_state();
	r.reply.len = n == ENGINE_DEFERRED ? 0 : n;
	return n == ENGINE_DEFERRED;
}

static bool gives(const char *name, uint16_t type, const char *answer, const char *authority)
{
	return answer_with(&(struct upstream){
		.name = name, .qtype = type, .answer = answer, .authority = authority });
}

static void check_asked(const char *name, uint16_t type)
{
	char text[NAME_TEXT_MAX];

	name_to_text(text, sizeof(text), r.pending.question.name);
	assert_string_equal(text, name);
	assert_int_equal(r.pending.question.qtype, type);
	assert_true(r.pending.submit);
}

static struct ask question(const char *name)
{
	return (struct ask){ .name = name, .type = T(A), .flags = RD, .udp_size = 1232 };
}

/* Asks for an address of the name, and has it answered. */
static bool begin(const char *name, const char *absolute)
{
	struct ask a = question(name);
	char record[300];

	snprintf(record, sizeof(record), "%s 300 IN A 192.0.2.80\n", absolute);
	assert_true(ask(&r, &a));
	check_asked(absolute, T(A));
	return gives(absolute, T(A), record, NULL);
}

static const char by_name[] = HEAD "ns.h.x.rpz-nsdname CNAME .\n";
static const char nothing[] = HEAD "other.x CNAME .\n";

static void test_names(void **state)
{
	struct ask ns = { .name = "a.x", .type = T(NS), .flags = RD, .udp_size = 1232 };
	struct ask a = question("w.v.u.a.x");

	(void)state;
	lists_open(by_name, nothing);
	assert_true(begin("w.v.u.a.x", "w.v.u.a.x."));
	check_asked("w.v.u.a.x.", T(NS));
	assert_true(gives("w.v.u.a.x.", T(NS), NULL, "a.x. 60 IN " SOA)); /* the apex at once */
	check_asked("a.x.", T(NS));
	assert_false(gives("a.x.", T(NS), "a.x. 300 IN NS ok.x.\na.x. 300 IN NS NS.h.X.\n", NULL));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	assert_false(ask(&r, &a));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	assert_int_equal(COUNTER(cache_hit), 1);
	assert_true(begin("v.a.x", "v.a.x.")); /* the servers of a.x are known */
	check_asked("v.a.x.", T(NS));
	assert_false(gives("v.a.x.", T(NS), NULL, "a.x. 60 IN " SOA));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	assert_true(ask(&r, &ns)); /* but no client is told of them */
	assert_false(gives("a.x.", T(NS), "a.x. 300 IN NS ns.h.x.\n", NULL));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	lists_close();
}

/* The answer at the end of an alias is judged, and the client's question is still the one that it
 * asked. */
static void test_at_the_end_of_an_alias(void **state)
{
	struct ask a = question("alias.lan");

	(void)state;
	local = zone_of(".", HEAD "alias.lan CNAME w.f.x.\n");
	lists_open(by_name, nothing);
	for (unsigned int n = 0; n < 2; n++) {
		const char *servers = n ? "f.x. 300 IN NS ns.h.x.\n" : "f.x. 300 IN NS ok.x.\n";

		recursing_flush(&r);
		assert_true(ask(&r, &a));
		check_asked("w.f.x.", T(A));
		assert_true(gives("w.f.x.", T(A), "w.f.x. 300 IN A 192.0.2.80\n", NULL));
		check_asked("w.f.x.", T(NS));
		assert_true(gives("w.f.x.", T(NS), NULL, "f.x. 60 IN " SOA));
		check_asked("f.x.", T(NS));
		assert_false(gives("f.x.", T(NS), servers, NULL));
		assert_int_equal(reply_rcode(&r.reply), n ? DNS_RCODE_NXDOMAIN : DNS_RCODE_NOERROR);
		check_answer(n ? "alias.lan. 60 IN CNAME w.f.x.\n" :
				 "alias.lan. 60 IN CNAME w.f.x.\nw.f.x. 300 IN A 192.0.2.80\n");
	}
	lists_close();
	zone_free(local);
	local = NULL;
}

/* The zones above are looked at, too; no name of one label, and none where nothing is known of a
 * name above. */
static void test_zones_above(void **state)
{
	(void)state;
	lists_open(by_name, nothing);
	assert_true(begin("w.b.x", "w.b.x."));
	assert_true(gives("w.b.x.", T(NS), "w.b.x. 300 IN NS ok.x.\n", NULL));
	check_asked("b.x.", T(NS));
	assert_false(gives("b.x.", T(NS), "b.x. 300 IN NS ok.x.\n", NULL));
	check_answer("w.b.x. 300 IN A 192.0.2.80\n");
	assert_false(begin("x", "x."));
	assert_true(
		begin("c.x", "c.x.")); /* a denial of an alias's target says nothing of the name */
	assert_false(gives("c.x.", T(NS), "c.x. 300 IN CNAME d.y.\n", "y. 60 IN " SOA));
	assert_true(begin("w.e.x", "w.e.x."));
	assert_false(gives("w.e.x.", T(NS), NULL, "x. 60 IN " SOA)); /* the zone has one label */
	lists_close();
}

static void test_addresses(void **state)
{
	static const char rules[] = HEAD
		"32.1.2.0.192.rpz-nsip CNAME .\n32.zz.db8.2001.rpz-nsip A 192.0.2.9\n";

	(void)state;
	lists_open(rules, nothing);
	assert_true(begin("f.x", "f.x."));
	assert_true(gives("f.x.", T(NS), "f.x. 300 IN NS ns1.y.\nf.x. 300 IN NS ns2.y.\n", NULL));
	check_asked("ns1.y.", T(A));
	assert_true(gives("ns1.y.", T(A), "ns1.y. 300 IN A 192.0.2.2\n", NULL));
	check_asked("ns1.y.", T(AAAA));
	assert_true(gives("ns1.y.", T(AAAA), "ns1.y. 300 IN AAAA 2001:db8::1\n", NULL));
	check_asked("ns2.y.", T(A)); /* perhaps one with a longer prefix */
	assert_true(gives("ns2.y.", T(A), "ns2.y. 300 IN A 192.0.2.1\n", NULL));
	check_asked("ns2.y.", T(AAAA));
	assert_false(gives("ns2.y.", T(AAAA), NULL, "y. 60 IN " SOA));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	lists_close();
	lists_open(HEAD "32.1.2.0.192.rpz-nsip CNAME .\n", by_name);
	assert_true(begin("g.x", "g.x."));
	assert_true(gives("g.x.", T(NS), "g.x. 300 IN NS ns3.y.\n", NULL));
	assert_false(gives("ns3.y.", T(A), NULL, "y. 60 IN " SOA)); /* no rule for AAAA */
	lists_close();
}

/* What is decided already needs no servers. */
static void test_only_what_is_needed(void **state)
{
	struct ask a = question("other.x");

	(void)state;
	lists_open(nothing, by_name);
	assert_false(ask(&r, &a)); /* in an earlier list */
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	lists_close();
	lists_open(by_name, HEAD "*.x CNAME *.\n");
	assert_true(begin("h.x", "h.x."));
	assert_false(gives("h.x.", T(NS), "h.x. 300 IN NS ok.y.\n", NULL));
	check_answer(""); /* the rule of the second list */
	lists_close();
	lists_open(HEAD "ns.h.x.rpz-nsdname CNAME .\n32.1.2.0.192.rpz-nsip CNAME .\n", nothing);
	assert_true(begin("i.x", "i.x."));
	assert_false(gives("i.x.", T(NS), "i.x. 300 IN NS ns.h.x.\n", NULL)); /* before rpz-nsip */
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	lists_close();
}

static void test_behind_an_alias(void **state)
{
	struct ask a = question("j.x");

	(void)state;
	lists_open(by_name, nothing);
	assert_true(ask(&r, &a));
	assert_true(
		gives("j.x.", T(A), "j.x. 300 IN CNAME k.y.\nk.y. 300 IN A 192.0.2.80\n", NULL));
	check_asked("j.x.", T(NS));
	assert_true(gives("j.x.", T(NS), "j.x. 300 IN NS ok.y.\n", NULL));
	check_asked("k.y.", T(NS));
	assert_false(gives("k.y.", T(NS), "k.y. 300 IN NS ns.h.x.\n", NULL));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	check_answer("j.x. 300 IN CNAME k.y.\n");
	lists_close();
}

/* The answer is given, and cached for a short time only; the failure, too. */
static void test_failures(void **state)
{
	struct ask a = question("l.x");

	(void)state;
	lists_open(by_name, nothing);
	assert_true(begin("l.x", "l.x."));
	assert_false(answer_with(NULL));
	check_answer("l.x. 300 IN A 192.0.2.80\n");
	r.now_s += RECURSION_SERVFAIL_S - 1;
	check_hit(&a, "l.x. 296 IN A 192.0.2.80\n");
	r.now_s++;
	assert_true(begin("l.x", "l.x."));
	assert_false(gives("l.x.", T(NS), "l.x. 300 IN NS ok.y.\n", NULL));
	r.now_s += 200; /* now all is known */
	check_hit(&a, "l.x. 100 IN A 192.0.2.80\n");
	assert_true(begin("m.x", "m.x."));
	r.now_s += r.rules.timeout_ms / 1000; /* the client's time */
	assert_false(gives("m.x.", T(NS), NULL, "w. 60 IN " SOA));
	assert_true(begin("w.n.x", "w.n.x."));
	r.now_s += r.rules.timeout_ms / 1000;
	assert_false(
		gives("w.n.x.", T(NS), NULL, "n.x. 60 IN " SOA)); /* none is asked for behind it */
	check_answer("w.n.x. 300 IN A 192.0.2.80\n");
	lists_close();
}

static void test_limit(void **state)
{
	char name[128] = "o.x.", text[160], record[160];
	struct ask a = { .type = T(A), .flags = RD, .udp_size = 1232 };
	unsigned int n = 0;

	(void)state;
	lists_open(by_name, nothing);
	for (unsigned int i = 0; i < SERVERS_ASKED_MAX + 4; i++) {
		snprintf(text, sizeof(text), "a.%s", name);
		memcpy(name, text, strlen(text) + 1);
	}
	a.name = name;
	snprintf(record, sizeof(record), "%s 300 IN A 192.0.2.80\n", name);
	assert_true(ask(&r, &a));
	for (bool waits = gives(name, T(A), record, NULL); waits; n++) {
		name_to_text(text, sizeof(text), r.pending.question.name);
		waits = gives(text, T(NS), NULL, NULL);
	}
	assert_int_equal(n, SERVERS_ASKED_MAX);
	check_answer(record);
	lists_close();
}

/* While servers are asked for, another policy is put in place: it judges, from the beginning. */
static void test_another_rpz(void **state)
{
	struct zone *old[2];
	struct rpz *old_rpz;

	(void)state;
	lists_open(by_name, nothing);
	assert_true(begin("p.x", "p.x."));
	memcpy(old, zones, sizeof(old));
	old_rpz = rpz;
	lists_open(HEAD "ok.y.rpz-nsdname CNAME *.\n", nothing);
	rpz_free(old_rpz);
	zone_free(old[0]);
	zone_free(old[1]);
	if (gives("p.x.", T(NS), "p.x. 300 IN NS ok.y.\n",
		  NULL)) /* of a TTL that is cached: known */
		fail_msg("asked twice");
	check_answer("");
	assert_true(begin("q.x", "q.x."));
	r.world.zones.rpz = NULL;
	assert_false(gives("q.x.", T(NS), "q.x. 300 IN NS ok.y.\n", NULL));
	check_answer("q.x. 300 IN A 192.0.2.80\n");
	lists_close();
}

/* Nobody waits: the same rules before the answer enters the cache. A client with a rule of its own
 * leaves nothing there. */
static void test_without_a_client(void **state)
{
	const struct engine_times times = times_of(&r);
	struct ask a = question("s.x");

	(void)state;
	lists_open(by_name, nothing);
	assert_true(ask(&r, &a));
	recursion_ask_again(r.world.engine, &r.pending, &times);
	assert_true(gives("s.x.", T(A), "s.x. 300 IN A 192.0.2.80\n", NULL));
	assert_false(gives("s.x.", T(NS), "s.x. 300 IN NS ok.y.\n", NULL));
	check_hit(&a, "s.x. 300 IN A 192.0.2.80\n");
	lists_close();
	lists_open(HEAD "32.200.2.0.192.rpz-client-ip CNAME rpz-passthru.\n", by_name);
	assert_false(begin("t.x", "t.x.")); /* that list comes first */
	check_answer("t.x. 300 IN A 192.0.2.80\n");
	r.world.zones.rpz = NULL;
	a.name = "t.x";
	assert_true(ask(&r, &a));
	lists_close();
}

/* An answer that nobody has judged by the servers of its own name. */
static void test_a_target_is_not_kept(void **state)
{
	struct ask target = question("u.y");

	(void)state;
	lists_open(by_name, HEAD "alias.x CNAME u.y.\n");
	assert_true(begin("alias.x", "alias.x."));
	assert_true(gives("alias.x.", T(NS), "alias.x. 300 IN NS ok.y.\n", NULL));
	check_asked("u.y.", T(A));
	assert_false(gives("u.y.", T(A), "u.y. 300 IN A 192.0.2.81\n", NULL));
	check_answer("alias.x. 60 IN CNAME u.y.\nu.y. 300 IN A 192.0.2.81\n");
	assert_true(ask(&r, &target));
	lists_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_names),
		TEST(test_at_the_end_of_an_alias),
		TEST(test_zones_above),
		TEST(test_addresses),
		TEST(test_only_what_is_needed),
		TEST(test_behind_an_alias),
		TEST(test_failures),
		TEST(test_limit),
		TEST(test_another_rpz),
		TEST(test_without_a_client),
		TEST(test_a_target_is_not_kept),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
