/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aliases and cuts that lead out of our zones, and aliases of local data: for who may recurse, and
 * for who may not. */
#include "rpz/rpz.h"
#include "tests/unit/engine/recursion_rows.h"
#include "tests/unit/zone/zone_text.h"

static const char zone_corp[] = "$TTL 3600\n"
				"@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n"
				"@ NS ns1\n"
				"ns1 A 192.0.2.1\n"
				"out CNAME www.x.\n"
				"far CNAME out\n"
				"*.wild CNAME www.x.\n"
				"d DNAME x.\n"
				"down CNAME a.sub\n"
				"next CNAME www.corp.\n"
				"local CNAME lan.\n"
				"self CNAME self\n"
				"sub NS ns.sub\n"
				"ns.sub A 192.0.2.53\n";

static const struct upstream a_sub = {
	"a.sub.example.com.", T(A), 0, "a.sub.example.com. 300 IN A 192.0.2.90\n", NULL, NULL
};

static int setup_corp(void **state)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;

	(void)state;
	memset(&r, 0, sizeof(r));
	world_add_zone(&r.world, "example.com", zone_corp);
	recursing_open(&r, &config);
	return 0;
}

static struct ask question(const char *name)
{
	return (struct ask){ .name = name, .type = T(A), .flags = RD, .udp_size = 1232 };
}

/* Is the answer to the question in the cache, in this view? */
static bool is_cached(const char *name, uint8_t view)
{
	uint8_t folded[NAME_FOLDED_BYTES] = { 0 };
	int n = name_from_text(folded, sizeof(folded), name, strlen(name));
	const struct volley_entry *entry;
	struct cache_key key;

	MUST(n > 0);
	name_fold(folded, folded, (size_t)n);
	cache_key_init(&key, r.world.cache, folded, (uint32_t)n, T(A), DNS_CLASS_IN, 0, view);
	return cache_lookup(r.world.cache, &key, r.now_s, false, &entry) == CACHE_HIT;
}

static bool is_cached_anywhere(const char *name)
{
	for (uint8_t view = 0; view < VOLLEY_N_VIEWS; view++)
		if (is_cached(name, view))
			return true;
	return false;
}

/* The question goes upstream, for this name. */
static void asks_for(const struct ask *a, const char *name)
{
	char text[NAME_TEXT_MAX];

	assert_true(ask(&r, a));
	name_to_text(text, sizeof(text), r.pending.question.name);
	assert_string_equal(text, name);
}

static const struct {
	const char *name, *answer;
} aliases[] = {
	{ "Out.example.com", "Out.example.com. 3600 IN CNAME www.x.\n" },
	{ "far.example.com",
	  "far.example.com. 3600 IN CNAME out.example.com.\nout.example.com. 3600 IN CNAME www.x.\n" },
	{ "q.wild.example.com", "q.wild.example.com. 3600 IN CNAME www.x.\n" },
	{ "www.d.example.com",
	  "d.example.com. 3600 IN DNAME x.\nwww.d.example.com. 3600 IN CNAME www.x.\n" },
};

static void test_aliases(void **state)
{
	char expected[512];

	(void)state;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
		struct ask a = question(aliases[i].name);

		a.flags |= AD;
		asks_for(&a, "www.x.");
		complete_as(&r, &www_answer, EDNS_NO_EDE, RESOLVER_SECURE);
		snprintf(expected, sizeof(expected), "%swww.x. 300 IN A 192.0.2.80\n",
			 aliases[i].answer);
		check_answer(expected);
		assert_int_equal(reply_flags(&r.reply), QR | AA | RD | RA); /* no AD */
		assert_int_equal(reply_count(&r.reply, DNS_NSCOUNT_AT), 0);
		r.now_s += 10; /* the target is known now */
		assert_false(ask(&r, &a));
		snprintf(expected, sizeof(expected), "%swww.x. 290 IN A 192.0.2.80\n",
			 aliases[i].answer);
		check_answer(expected);
		assert_false(is_cached_anywhere(aliases[i].name));
		recursing_flush(&r);
	}
}

/* Who may not recurse, or does not want it, gets what the zone says; from the cache, too, but not
 * from that of the others. */
static void test_the_others(void **state)
{
	static struct reply first;

	(void)state;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
		struct ask a = question(aliases[i].name);

		assert_false(ask_from(&r, &a, stranger, &r.pending));
		check_answer(aliases[i].answer);
		assert_int_equal(reply_flags(&r.reply), QR | AA | RD);
		first = r.reply;
		assert_true(is_cached(aliases[i].name, VOLLEY_VIEW_ITERATIVE));
		assert_false(is_cached(aliases[i].name, VOLLEY_VIEW_PUBLIC));
		asks_for(&a, "www.x.");
		complete(&r, &www_answer);
		assert_false(ask_from(&r, &a, stranger, &r.pending));
		assert_int_equal(r.reply.len, first.len);
		assert_memory_equal(r.reply.bytes, first.bytes, first.len);
		assert_int_equal(COUNTER(cache_hit), i + 1);
		a.flags = 0;
		assert_false(ask(&r, &a));
		check_answer(aliases[i].answer);
		assert_int_equal(reply_flags(&r.reply), QR | AA | RA);
		recursing_flush(&r);
	}
	r.world.zones.recursion = NULL; /* then all are alike */
	for (unsigned int i = 0; i < 2; i++) {
		struct ask a = question("self.example.com"), b = question("a.sub.example.com");

		assert_false(ask(&r, &a));
		assert_false(ask(&r, &b));
		assert_int_equal(reply_flags(&r.reply), QR | RD);
		assert_true(is_cached("a.sub.example.com", VOLLEY_VIEW_PUBLIC));
	}
}

/* The rcode is that of the last name; a failure has no part of the answer. */
static void test_ends(void **state)
{
	struct ask a = question("out.example.com");
	char *text;

	(void)state;
	asks_for(&a, "www.x.");
	complete(&r, &no_such);
	check_answer("out.example.com. 3600 IN CNAME www.x.\n");
	assert_int_equal(reply_flags(&r.reply), QR | AA | RD | RA | DNS_RCODE_NXDOMAIN);
	text = answer_of(&r.reply, LDNS_SECTION_AUTHORITY);
	assert_string_equal(text, "x. 60 IN " SOA);
	free(text);
	recursing_flush(&r);
	asks_for(&a, "www.x.");
	complete_failed(&r, DNS_EDE_NO_REACHABLE_AUTHORITY);
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_NO_REACHABLE_AUTHORITY);
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | DNS_RCODE_SERVFAIL);
	assert_false(ask_from(&r, &a, world_client, NULL)); /* that is known, too */
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_NO_REACHABLE_AUTHORITY);
	recursing_flush(&r);
	assert_false(ask_from(&r, &a, world_client, NULL));
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_NOT_READY);
}

/* Below a cut all of it is upstream's, and is cached as such. */
static void test_cuts(void **state)
{
	struct ask a = question("a.sub.example.com"), down = question("down.example.com");

	(void)state;
	assert_false(ask_from(&r, &a, stranger, &r.pending));
	assert_int_equal(reply_flags(&r.reply), QR | RD);
	assert_int_equal(reply_count(&r.reply, DNS_NSCOUNT_AT), 1);
	assert_true(is_cached("a.sub.example.com", VOLLEY_VIEW_ITERATIVE));
	a.flags |= AD;
	asks_for(&a, "a.sub.example.com.");
	complete_as(&r, &a_sub, EDNS_NO_EDE, RESOLVER_SECURE);
	check_answer("a.sub.example.com. 300 IN A 192.0.2.90\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | AD);
	assert_true(is_cached("a.sub.example.com", VOLLEY_VIEW_RECURSIVE));
	check_hit(&a, "a.sub.example.com. 300 IN A 192.0.2.90\n");
	check_hit(&down, "down.example.com. 3600 IN CNAME a.sub.example.com.\n"
			 "a.sub.example.com. 300 IN A 192.0.2.90\n");
	assert_int_equal(reply_flags(&r.reply), QR | AA | RD | RA);
	a.name = "b.sub.example.com";
	a.flags = 0;
	assert_false(ask(&r, &a));
	assert_int_equal(reply_flags(&r.reply), QR | RA);
	assert_int_equal(reply_count(&r.reply, DNS_NSCOUNT_AT), 1);
	a.name = "sub.example.com";
	a.type = T(DS); /* the zone above has it */
	a.flags = RD;
	assert_false(ask(&r, &a));
	assert_true(reply_flags(&r.reply) & AA);
}

/* A loop within the zone is the zone's answer, as ever. */
static void test_loop_of_zone(void **state)
{
	struct ask a = question("self.example.com");

	(void)state;
	check_hit(&a, "self.example.com. 3600 IN CNAME self.example.com.\n");
	assert_true(is_cached("self.example.com", VOLLEY_VIEW_PUBLIC));
}

/* ---- Local data and lists -------------------------------------------------------------------- */

static const char local_text[] =
	"$TTL 60\n@ SOA ns. root. 1 2 3 4 5\n@ NS ns.\n"
	"lan CNAME www.x.\nnear.lan CNAME ns1.example.com.\n"
	"more.lan CNAME out.example.com.\n"
	"a.loop CNAME b.loop.\nb.loop CNAME a.loop.\nme.loop CNAME me.loop.\n";
static const char list_text[] = "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\n"
				"www.x CNAME .\nto.y CNAME out.example.com.\n";

struct rules {
	struct zone *local, *list;
	struct rpz *rpz;
};

static void rules_open(struct rules *l, const char *local, const char *list)
{
	static uint64_t digest[2] = { 9, 9 };
	struct rpz_list lists[1] = { { .ede_code = DNS_EDE_BLOCKED } };
	uint32_t slot, gen;

	l->local = local ? zone_of(".", local) : NULL;
	l->list = zone_of("rpz", list ? list : "@ 60 SOA ns root 1 2 3 4 5\n@ 60 NS ns\n");
	lists[0].zone = l->list;
	digest[0]++; /* what an earlier one said is dead */
	cache_zone_prepare(r.world.cache, (const uint8_t *)"\3rpz", 5, digest, &slot, &gen);
	cache_zone_commit(r.world.cache, slot, gen, digest);
	MUST(!rpz_new(&l->rpz, l->local, lists, 1, slot, gen));
	r.world.zones.rpz = l->rpz;
}

static void rules_close(struct rules *l)
{
	r.world.zones.rpz = NULL;
	rpz_free(l->rpz);
	if (l->local)
		zone_free(l->local);
	zone_free(l->list);
}

static void test_local_data(void **state)
{
	struct ask a = question("lan");
	struct rules l;

	(void)state;
	rules_open(&l, local_text, NULL);
	asks_for(&a, "www.x.");
	complete(&r, &www_answer);
	check_answer("lan. 60 IN CNAME www.x.\nwww.x. 300 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA);
	assert_int_equal(ede_of(&r.reply), EDNS_NO_EDE);
	assert_false(is_cached_anywhere("lan"));
	a.flags = 0; /* the alias alone, and not for the others */
	check_hit(&a, "lan. 60 IN CNAME www.x.\n");
	assert_false(is_cached_anywhere("lan"));
	a = question("near.lan");
	check_hit(&a,
		  "near.lan. 60 IN CNAME ns1.example.com.\nns1.example.com. 3600 IN A 192.0.2.1\n");
	a = question("more.lan");
	check_hit(&a,
		  "more.lan. 60 IN CNAME out.example.com.\nout.example.com. 3600 IN CNAME www.x.\n"
		  "www.x. 300 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA); /* local data has the first name */
	a = question("local.example.com");
	check_hit(&a, "local.example.com. 3600 IN CNAME lan.\nlan. 60 IN CNAME www.x.\n"
		      "www.x. 300 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | AA | RD | RA);
	rules_close(&l);
}

static void test_loops(void **state)
{
	struct ask a = question("a.loop"), me = question("me.loop");
	struct rules l;

	(void)state;
	rules_open(&l, local_text, NULL);
	assert_false(ask(&r, &a));
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_OTHER);
	check_hit(&me, "me.loop. 60 IN CNAME me.loop.\n");
	rules_close(&l);
}

/* A list is asked about a target as if the client had asked for it; not behind a rule of a list. */
static void test_lists(void **state)
{
	struct ask a = question("out.example.com"), to = question("to.y");
	struct rules l;

	(void)state;
	rules_open(&l, NULL, list_text);
	assert_false(ask(&r, &a));
	check_answer("out.example.com. 3600 IN CNAME www.x.\n");
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	assert_int_equal(ede_of(&r.reply), DNS_EDE_BLOCKED);
	recursing_flush(&r);
	rules_close(&l);
	rules_open(&l, NULL,
		   "@ 60 SOA ns root 1 2 3 4 5\n@ 60 NS ns\nto.y 60 CNAME out.example.com.\n");
	asks_for(&to, "www.x.");
	complete(&r, &www_answer);
	check_answer("to.y. 60 IN CNAME out.example.com.\nout.example.com. 3600 IN CNAME www.x.\n"
		     "www.x. 300 IN A 192.0.2.80\n");
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA);
	assert_int_equal(ede_of(&r.reply), DNS_EDE_BLOCKED);
	rules_close(&l);
}

/* The alias goes away while upstream is asked: what comes is no answer any more, and the client
 * asks again. */
static void test_alias_goes(void **state)
{
	struct ask a = question("lan");
	struct rules l;

	(void)state;
	rules_open(&l, local_text, NULL);
	asks_for(&a, "www.x.");
	rules_close(&l);
	complete(&r, &www_answer);
	check_error(DNS_RCODE_SERVFAIL, DNS_EDE_NOT_READY);
	asks_for(&a, "lan.");
}

/* ---- DNSSEC ---------------------------------------------------------------------------------- */

static bool has_record(ldns_pkt_section section, const char *words)
{
	char *text = answer_of(&r.reply, section);
	bool has = strstr(text, words) != NULL;

	free(text);
	return has;
}

#define SIGNATURE(of, signer) \
	of " 300 IN RRSIG A 13 2 300 20380101000000 20200101000000 1 " signer " AAAA\n"

/* Signatures of both parts, and the proof that the wildcard stands for the name. */
static void test_signed(void **state)
{
	static const char zone[] =
		"$TTL 3600\n@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n@ NS ns1\nns1 A "
		"192.0.2.1\n"
		"*.w CNAME www.x.\n"
		"*.w RRSIG CNAME 13 3 3600 20380101000000 20200101000000 1 example.com. AAAA\n"
		"*.w NSEC @ CNAME RRSIG NSEC\n"
		"*.w RRSIG NSEC 13 3 300 20380101000000 20200101000000 1 example.com. AAAA\n"
		"@ NSEC ns1 NS SOA RRSIG NSEC\n"
		"@ RRSIG NSEC 13 2 300 20380101000000 20200101000000 1 example.com. AAAA\n"
		"ns1 NSEC *.w A RRSIG NSEC\n"
		"ns1 RRSIG NSEC 13 3 300 20380101000000 20200101000000 1 example.com. AAAA\n";
	const struct engine_config config = ENGINE_CONFIG_INIT;
	struct upstream u = www_answer;
	struct ask a = question("q.w.example.com");

	(void)state;
	memset(&r, 0, sizeof(r));
	world_add_zone(&r.world, "example.com", zone);
	recursing_open(&r, &config);
	u.answer = "www.x. 300 IN A 192.0.2.80\n" SIGNATURE("www.x.", "x.");
	for (unsigned int i = 0; i < 2; i++) {
		a.dnssec_ok = !i;
		asks_for(&a, "www.x.");
		complete_as(&r, &u, EDNS_NO_EDE, RESOLVER_SECURE);
		assert_true(
			has_record(LDNS_SECTION_ANSWER, "q.w.example.com. 3600 IN CNAME www.x."));
		assert_true(has_record(LDNS_SECTION_ANSWER, "www.x. 300 IN A 192.0.2.80"));
		assert_int_equal(has_record(LDNS_SECTION_ANSWER, "RRSIG CNAME"), !i);
		assert_int_equal(has_record(LDNS_SECTION_ANSWER, "RRSIG A"), !i);
		assert_int_equal(has_record(LDNS_SECTION_AUTHORITY, "IN NSEC "), !i);
		assert_int_equal(has_record(LDNS_SECTION_AUTHORITY, "RRSIG NSEC"), !i);
		assert_int_equal(reply_flags(&r.reply), QR | AA | RD | RA);
	}
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_corp, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_aliases),      TEST(test_the_others),
		TEST(test_ends),         TEST(test_cuts),
		TEST(test_loop_of_zone), TEST(test_local_data),
		TEST(test_loops),        TEST(test_lists),
		TEST(test_alias_goes),   cmocka_unit_test_teardown(test_signed, teardown),
	};

	(void)setup;
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
