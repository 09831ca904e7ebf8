/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a signed zone adds under DO, and where. The signatures here are of no use but to be counted;
 * tests/diff/test_validate.py has real ones checked by validators.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/engine/world.h"

#define SIG(type, labels) \
	" RRSIG " type " 13 " #labels " 300 20380101000000 20260101000000 1 z.test. AAAA\n"

static const char zone_text[] =
	"$TTL 300\n"
	"@ SOA ns root 1 2 3 4 60\n@" SIG("SOA", 2) "@ NS ns\n@" SIG("NS", 2) "@ DNSKEY 257 3 13 AAAA\n@" SIG(
		"DNSKEY",
		2) "@ 60 NSEC a.z.test. NS SOA RRSIG NSEC DNSKEY\n"
		   "@ 60" SIG("NSEC", 2) "a A 192.0.2.1\na" SIG("A", 3) "a AAAA 2001:db8::1\na" SIG("AAAA", 3) "a 60 NSEC c.z.test. A AAAA RRSIG NSEC\na 60" SIG("NSEC", 3) "c CNAME x.w\nc" SIG("CNAME", 3) "c 60 NSEC cc.z.test. CNAME RRSIG NSEC\nc 60" SIG("NSEC", 3) "cc CNAME none\ncc" SIG("CNAME", 3) "cc 60 NSEC d.z.test. CNAME RRSIG NSEC\ncc 60" SIG("NSEC", 3) "d DNAME w\nd" SIG("DNAME", 3) "d 60 NSEC m.z.test. DNAME RRSIG NSEC\nd 60" SIG(
			   "NSEC",
			   3) "m MX 1 a\nm" SIG("MX",
						3) "m 60 NSEC ns.z.test. MX RRSIG NSEC\nm 60" SIG("NSEC",
												  3) "ns A 192.0.2.2\nns" SIG("A",
															      3) "ns 60 NSEC s.z.test. A RRSIG NSEC\nns 60" SIG("NSEC",
																						3) "s NS ns.s\nns.s A 192.0.2.3\ns DS 1 13 2 0011223344556677889900112233445566778899001122334455"
																						   "667788990011\ns" SIG("DS", 3) "s 60 NSEC u.z.test. NS DS RRSIG NSEC\ns 60" SIG("NSEC", 3) "u NS ns.s\nu 60 NSEC *.v.z.test. NS RRSIG NSEC\nu 60" SIG(
																							   "NSEC",
																							   3) "*.v CNAME y.w\n*.v" SIG("CNAME",
																										       3) "*.v 60 NSEC *.w.z.test. CNAME RRSIG NSEC\n*.v 60" SIG("NSEC",
																																		 3) "*.w A 192.0.2.4\n*.w" SIG("A",
																																					       3) "*.w 60 NSEC z.test. A RRSIG NSEC\n*.w 60" SIG("NSEC",
																																												 3);

/* Each record by its type, RRSIG with the type that it covers; in their order. */
static const struct {
	const char *what;
	const char *name;
	uint16_t type;
	bool dnssec_ok;
	const char *answer, *authority, *additional;
} rows[] = {
#define T(t) DNS_TYPE_##t
	{ "positive", "a.z.test", T(A), true, "A RRSIG:A ", "NS RRSIG:NS ", "A RRSIG:A " },
	{ "positive without DO", "a.z.test", T(A), false, "A ", "NS ", "A " },
	{ "additional", "m.z.test", T(MX), true, "MX RRSIG:MX ", "NS RRSIG:NS ",
	  "A RRSIG:A AAAA RRSIG:AAAA A RRSIG:A " },
	{ "apex NS once", "z.test", T(NS), true, "NS RRSIG:NS ", "", "A RRSIG:A " },
	{ "DNSKEY", "z.test", T(DNSKEY), true, "DNSKEY RRSIG:DNSKEY ", "", "" },
	{ "RRSIG", "a.z.test", T(RRSIG), true, "RRSIG:A RRSIG:AAAA RRSIG:NSEC ", "NS RRSIG:NS ",
	  "A RRSIG:A " },
	{ "RRSIG without DO", "ns.z.test", T(RRSIG), false, "RRSIG:A RRSIG:NSEC ", "NS ", "A " },
	{ "NSEC", "a.z.test", T(NSEC), true, "NSEC RRSIG:NSEC ", "NS RRSIG:NS ", "A RRSIG:A " },
	{ "ANY, one", "a.z.test", T(ANY), true, "A RRSIG:A ", "", "" },
	{ "NODATA", "a.z.test", T(TXT), true, "", "SOA RRSIG:SOA NSEC RRSIG:NSEC ", "" },
	{ "NODATA without DO", "a.z.test", T(TXT), false, "", "SOA ", "" },
	{ "NODATA between labels", "v.z.test", T(A), true, "", "SOA RRSIG:SOA NSEC RRSIG:NSEC ",
	  "" },
	{ "NXDOMAIN, two proofs", "b.z.test", T(A), true, "",
	  "SOA RRSIG:SOA NSEC RRSIG:NSEC NSEC RRSIG:NSEC ", "" },
	{ "NXDOMAIN without DO", "b.z.test", T(A), false, "", "SOA ", "" },
	{ "wildcard: the proof, then NS", "x.w.z.test", T(A), true, "A RRSIG:A ",
	  "NSEC RRSIG:NSEC NS RRSIG:NS ", "A RRSIG:A " },
	{ "wildcard without DO", "x.w.z.test", T(A), false, "A ", "NS ", "A " },
	{ "two wildcards, two proofs", "x.v.z.test", T(A), true, "CNAME RRSIG:CNAME A RRSIG:A ",
	  "NSEC RRSIG:NSEC NSEC RRSIG:NSEC NS RRSIG:NS ", "A RRSIG:A " },
	{ "alias to nothing", "cc.z.test", T(A), true, "CNAME RRSIG:CNAME ",
	  "SOA RRSIG:SOA NSEC RRSIG:NSEC NSEC RRSIG:NSEC ", "" },
	{ "DNAME: the made alias is not signed", "x.d.z.test", T(A), true,
	  "DNAME RRSIG:DNAME CNAME A RRSIG:A ", "NSEC RRSIG:NSEC NS RRSIG:NS ", "A RRSIG:A " },
	{ "referral, signed", "x.s.z.test", T(A), true, "", "NS DS RRSIG:DS ", "A " },
	{ "referral, signed, without DO", "x.s.z.test", T(A), false, "", "NS ", "A " },
	{ "referral, unsigned", "u.z.test", T(A), true, "", "NS NSEC RRSIG:NSEC ", "A " },
	{ "DS", "s.z.test", T(DS), true, "DS RRSIG:DS ", "", "" },
	{ "no DS", "u.z.test", T(DS), true, "", "SOA RRSIG:SOA NSEC RRSIG:NSEC ", "" },
#undef T
};

static struct world world;

static int setup(void **state)
{
	const struct engine_config config = ENGINE_CONFIG_INIT;

	world_begin(&world, state);
	world_add_zone(&world, "z.test", zone_text);
	world_open(&world, &config);
	return 0;
}

static void put_type(char *out, size_t cap, const ldns_rr *rr)
{
	char *type = ldns_rr_type2str(ldns_rr_get_type(rr));
	char *covered = ldns_rr_get_type(rr) == LDNS_RR_TYPE_RRSIG ?
				ldns_rdf2str(ldns_rr_rrsig_typecovered(rr)) :
				NULL;
	size_t used = strlen(out);

	snprintf(out + used, cap - used, "%s%s%s ", type, covered ? ":" : "",
		 covered ? covered : "");
	free(type);
	free(covered);
}

static bool same_types(const char *what, const ldns_pkt *pkt, ldns_pkt_section section,
		       const char *expected)
{
	ldns_rr_list *list = ldns_pkt_get_section_clone(pkt, section);
	char text[512] = "";
	bool same;

	for (size_t i = 0; i < ldns_rr_list_rr_count(list); i++)
		put_type(text, sizeof(text), ldns_rr_list_rr(list, i));
	ldns_rr_list_deep_free(list);
	same = strcmp(text, expected) == 0;
	if (!same)
		print_error("%s: section %d is %s and should be %s\n", what, section, text,
			    expected);
	return same;
}

static void test_rows(void **state)
{
	unsigned int n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ask ask = {
			.name = rows[i].name,
			.type = rows[i].type,
			.udp_size = 1232,
			.dnssec_ok = rows[i].dnssec_ok,
		};
		struct reply r, first, hit;
		ldns_pkt *pkt;

		send_ask(world.uncached, &ask, &r);
		assert_int_equal(ldns_wire2pkt(&pkt, r.bytes, r.len), LDNS_STATUS_OK);
		n_wrong += !same_types(rows[i].what, pkt, LDNS_SECTION_ANSWER, rows[i].answer);
		n_wrong +=
			!same_types(rows[i].what, pkt, LDNS_SECTION_AUTHORITY, rows[i].authority);
		n_wrong +=
			!same_types(rows[i].what, pkt, LDNS_SECTION_ADDITIONAL, rows[i].additional);
		ldns_pkt_free(pkt);
		send_ask(world.engine, &ask, &first);
		send_ask(world.engine, &ask, &hit);
		assert_true(same_reply(&r, &first) && same_reply(&r, &hit));
	}
	assert_int_equal(n_wrong, 0);
}

/* The signatures go by the TTL of what they cover, and under the name that was asked. */
static void test_owner_and_ttl(void **state)
{
	struct ask ask = {
		.name = "x.w.z.test",
		.type = DNS_TYPE_A,
		.udp_size = 1232,
		.dnssec_ok = true,
		.flags = DNS_FLAG_AD | DNS_FLAG_CD,
	};
	struct reply r;
	ldns_pkt *pkt;
	char *text;

	(void)state;
	send_ask(world.uncached, &ask, &r);
	assert_int_equal(reply_flags(&r), DNS_FLAG_QR | DNS_FLAG_AA | DNS_FLAG_CD);
	assert_int_equal(ldns_wire2pkt(&pkt, r.bytes, r.len), LDNS_STATUS_OK);
	text = section_text(pkt, LDNS_SECTION_ANSWER);
	assert_string_equal(text, "x.w.z.test. 300 IN A 192.0.2.4\n"
				  "x.w.z.test. 300 IN RRSIG A 13 3 300 20380101000000 "
				  "20260101000000 1 z.test. AAAA\n");
	free(text);
	text = section_text(pkt, LDNS_SECTION_AUTHORITY);
	assert_non_null(strstr(text, "*.w.z.test. 60 IN RRSIG NSEC"));
	free(text);
	ldns_pkt_free(pkt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_owner_and_ttl),
	};

	return cmocka_run_group_tests(tests, setup, world_end);
}
