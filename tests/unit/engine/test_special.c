/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that have no place in the public DNS: engine/special.h. */
#include "engine/special.h"

#include "rpz/rpz.h"
#include "tests/unit/engine/recursion_rows.h"
#include "tests/unit/zone/zone_text.h"

#define SOA_OF(zone) zone " 10800 IN SOA " zone " nobody.invalid. 1 3600 1200 604800 10800\n"
#define ONE6         "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa."

static const char *const stubs[] = { "168.192.in-addr.arpa.", "a.corp.test.", "x.", "deep.y.",
				     NULL };
static const char *const insecure[] = { "nta.y.", NULL };
static const char *const off[] = { "172.in-addr.arpa.", "ip6.arpa.", NULL };

static struct special *special;

static int setup_special(void **state)
{
	const struct special_config config = { .stubs = stubs, .insecure = insecure };

	setup(state);
	MUST(!special_new(&special, &config));
	r.rules.special = special;
	return 0;
}

static int teardown_special(void **state)
{
	special_free(special);
	return teardown(state);
}

static void set(const struct special_config *config)
{
	special_free(special);
	MUST(!special_new(&special, config));
	r.rules.special = special;
}

static const struct row {
	const char *name;
	uint16_t type;
	uint16_t rcode;
	const char *answer;    /* "": none, and then an SOA; NULL: asked upstream */
	const char *authority; /* the SOA's owner is in it */
} rows[] = {
	{ "a.onion", T(A), DNS_RCODE_NXDOMAIN, "", SOA_OF("onion.") },
	{ "a.b.c.onion", T(AAAA), DNS_RCODE_NXDOMAIN, "", SOA_OF("onion.") },
	{ "onion", T(A), 0, "", SOA_OF("onion.") },
	{ "onion", T(SOA), 0, SOA_OF("onion."), "" },
	{ "onion", T(NS), 0, "onion. 10800 IN NS onion.\n", "" },
	{ "onion", T(ANY), 0, SOA_OF("onion."), "" },
	{ "onion", T(DS), 0, NULL, NULL },
	{ "a.onion", T(DS), DNS_RCODE_NXDOMAIN, "", SOA_OF("onion.") },
	{ "onion.net", T(A), 0, NULL, NULL },
	{ "localhost", T(A), 0, "localhost. 10800 IN A 127.0.0.1\n", "" },
	{ "a.b.localhost", T(AAAA), 0, "a.b.localhost. 10800 IN AAAA ::1\n", "" },
	{ "a.localhost", T(ANY), 0, "a.localhost. 10800 IN A 127.0.0.1\n", "" },
	{ "a.localhost", T(MX), 0, "", SOA_OF("localhost.") },
	{ "localhost", T(NS), 0, "localhost. 10800 IN NS localhost.\n", "" },
	{ "1.0.0.127.in-addr.arpa", T(PTR), 0, "1.0.0.127.in-addr.arpa. 10800 IN PTR localhost.\n",
	  "" },
	{ "1.0.0.127.in-addr.arpa", T(A), 0, "", SOA_OF("127.in-addr.arpa.") },
	{ "0.127.in-addr.arpa", T(PTR), 0, "", SOA_OF("127.in-addr.arpa.") },
	{ "2.0.0.127.in-addr.arpa", T(PTR), DNS_RCODE_NXDOMAIN, "", SOA_OF("127.in-addr.arpa.") },
	{ ONE6, T(PTR), 0, ONE6 " 10800 IN PTR localhost.\n", "" },
	{ ONE6, T(SOA), 0, SOA_OF(ONE6), "" },
	{ "9.9.31.172.in-addr.arpa", T(PTR), DNS_RCODE_NXDOMAIN, "",
	  SOA_OF("31.172.in-addr.arpa.") },
	{ "9.9.32.172.in-addr.arpa", T(PTR), 0, NULL, NULL },
	{ "arpa", T(A), 0, NULL, NULL },
	/* stubs */
	{ "168.192.in-addr.arpa", T(SOA), 0, NULL, NULL },
	{ "1.168.192.in-addr.arpa", T(PTR), 0, NULL, NULL },
	{ "www.a.corp.test", T(A), 0, NULL, NULL },
	{ "a.corp.test", T(A), 0, NULL, NULL },
	{ "a.corp.test", T(DS), 0, "", SOA_OF("test.") },
	{ "corp.test", T(A), 0, "", SOA_OF("test.") },
	{ "b.corp.test", T(A), DNS_RCODE_NXDOMAIN, "", SOA_OF("test.") },
};

static void check(const struct row *row)
{
	const struct ask a = { .name = row->name, .type = row->type, .flags = RD, .udp_size = 1232 };
	char *answer, *authority;

	if (ask(&r, &a) != !row->answer)
		fail_msg("%s: answered or asked", row->name);
	if (!row->answer)
		return;
	if (reply_flags(&r.reply) != (QR | AA | RD | RA | row->rcode))
		fail_msg("%s: flags %x", row->name, reply_flags(&r.reply));
	answer = answer_of(&r.reply, LDNS_SECTION_ANSWER);
	authority = answer_of(&r.reply, LDNS_SECTION_AUTHORITY);
	assert_string_equal(answer, row->answer);
	assert_string_equal(authority, row->authority);
	free(answer);
	free(authority);
}

/* Twice: the second answer is the cache's. */
static void test_each_kind(void **state)
{
	uint64_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		check(&rows[i]);
		check(&rows[i]);
		n += rows[i].answer != NULL;
	}
	assert_int_equal(COUNTER(cache_hit), n);
	assert_int_equal(COUNTER(published), n);
	r.now_s += 1000000; /* these TTLs do not age */
	check(&rows[0]);
	assert_int_equal(COUNTER(cache_hit), n + 1);
}

/* Those who may not recurse are told nothing, and who does not set RD is answered too, as by local
 * data. */
static void test_who_asks(void **state)
{
	struct ask a = { .name = "a.onion", .type = T(A), .flags = RD };

	(void)state;
	assert_false(ask_from(&r, &a, stranger, &r.pending));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_REFUSED);
	a.flags = 0;
	assert_false(ask(&r, &a));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	assert_false(ask_from(&r, &a, stranger, &r.pending));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_REFUSED);
}

static void test_off(void **state)
{
	const struct special_config some = { .off = off }, none = { .is_off = true };
	const struct row asked = { "9.16.172.in-addr.arpa", T(PTR), 0, NULL, NULL };

	(void)state;
	set(&some);
	check(&rows[0]);
	check(&asked);
	check(&(struct row){ "1.d.f.ip6.arpa", T(PTR), 0, NULL, NULL });
	recursing_flush(&r);
	set(&none);
	check(&(struct row){ "a.onion", T(A), 0, NULL, NULL });
	check(&(struct row){ "localhost", T(A), 0, NULL, NULL });
}

/* RFC 8020: a zone above says nothing of a stub zone, or of a name that is not validated. */
/* The name that is found is the one that answers. */
static void test_which_name_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t name[NAME_FOLDED_BYTES] = { 0 };
		char text[NAME_TEXT_MAX] = "";
		const uint8_t *at;
		int n = name_from_text(name, DNS_NAME_MAX, rows[i].name, strlen(rows[i].name));

		assert_true(n > 0);
		name_fold(name, name, (size_t)n);
		at = special_find(special, name, rows[i].type);
		assert_int_equal(at != NULL, rows[i].answer != NULL);
		if (!at || !*rows[i].authority)
			continue;
		assert_true(name_to_text(text, sizeof(text), at) > 0);
		assert_memory_equal(rows[i].authority, text, strlen(text));
	}
}

static void test_no_cut_into_what_stands_apart(void **state)
{
	const struct upstream no_y = { "y.", T(A), DNS_RCODE_NXDOMAIN, NULL, ". 60 IN " SOA, NULL };
	const struct ask y = { .name = "y", .type = T(A), .flags = RD, .udp_size = 1232 };
	struct ask below = y;

	(void)state;
	assert_true(ask(&r, &y));
	complete_as(&r, &no_y, EDNS_NO_EDE, RESOLVER_SECURE);
	below.name = "www.other.y";
	assert_false(ask(&r, &below));
	assert_int_equal(COUNTER(cut), 1);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "deep.y", "www.deep.y", "nta.y", "a.b.nta.y" };

		below.name = names[i];
		if (!ask(&r, &below))
			fail_msg("%s", names[i]);
	}
	below.name = "eep.y";
	assert_false(ask(&r, &below));
}

/* Within a stub zone its own denials hold. */
static void test_a_cut_in_a_stub(void **state)
{
	struct ask below = { .name = "a.www.x", .type = T(A), .flags = RD, .udp_size = 1232 };

	(void)state;
	assert_true(ask(&r, &www));
	complete_as(&r, &no_such, EDNS_NO_EDE, RESOLVER_SECURE);
	assert_false(ask(&r, &below));
	assert_int_equal(COUNTER(cut), 1);
}

#define SPECIAL(name) cmocka_unit_test_setup_teardown(name, setup_special, teardown_special)

static const char rules_text[] = "$TTL 60\n@ SOA ns root 1 2 3 4 5\n@ NS ns\n"
				 "32.200.2.0.192.rpz-client-ip CNAME rpz-passthru.\n"
				 "a.localhost CNAME .\nb.localhost CNAME rpz-tcp-only.\n";

/* A rule lets one client pass, or one over TCP: the special answer that it gets is not kept for the
 * others. */
static void test_rules_for_some(void **state)
{
	static const uint8_t other[4] = { 192, 0, 2, 7 };
	struct ask a = { .name = "a.localhost", .type = T(A), .flags = RD, .udp_size = 1232 };
	struct rpz_list list = { .zone = zone_of("rpz", rules_text) };
	struct rpz *rpz;

	(void)state;
	MUST(!rpz_new(&rpz, NULL, &list, 1, 0, 0));
	r.world.zones.rpz = rpz;
	check_hit(&a, "a.localhost. 10800 IN A 127.0.0.1\n");
	assert_false(ask_from(&r, &a, other, &r.pending));
	assert_int_equal(reply_rcode(&r.reply), DNS_RCODE_NXDOMAIN);
	a.name = "b.localhost";
	a.stream = true;
	assert_false(ask_from(&r, &a, other, &r.pending));
	check_answer("b.localhost. 10800 IN A 127.0.0.1\n");
	a.stream = false;
	assert_false(ask_from(&r, &a, other, &r.pending));
	assert_int_equal(reply_flags(&r.reply), QR | RD | RA | DNS_FLAG_TC);
	r.world.zones.rpz = NULL;
	rpz_free(rpz);
	zone_free((struct zone *)list.zone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPECIAL(test_each_kind),
		SPECIAL(test_who_asks),
		SPECIAL(test_off),
		SPECIAL(test_which_name_answers),
		SPECIAL(test_no_cut_into_what_stands_apart),
		SPECIAL(test_a_cut_in_a_stub),
		SPECIAL(test_rules_for_some),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
