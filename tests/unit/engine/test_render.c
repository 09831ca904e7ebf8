/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is answered from zones: each row is a question and the records of its answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/engine/world.h"

static const char zone_com[] = "$TTL 3600\n"
			       "@ SOA ns1 hostmaster 1 7200 3600 1209600 300\n"
			       "@ NS ns1\n"
			       "@ NS ns2.example.org.\n"
			       "@ MX 10 mail\n"
			       "@ MX 20 ns1\n"
			       "ns1 A 192.0.2.1\n"
			       "ns1 AAAA 2001:db8::1\n"
			       "mail A 192.0.2.3\n"
			       "www 60 A 192.0.2.80\n"
			       "alias CNAME www\n"
			       "alias2 CNAME alias\n"
			       "loop CNAME loop2\n"
			       "loop2 CNAME loop\n"
			       "self CNAME self\n"
			       "out CNAME www.example.net.\n"
			       "cross CNAME www.example.org.\n"
			       "unloaded CNAME www.example.edu.\n"
			       "dangling CNAME nothere\n"
			       "todeleg CNAME x.sub\n"
			       "towild CNAME foo.wild\n"
			       "tonodata CNAME txt\n"
			       "txt TXT \"hello\"\n"
			       "*.wild A 192.0.2.9\n"
			       "*.wc CNAME www\n"
			       "*.wcl CNAME x.wcl\n"
			       "sub NS ns.sub\n"
			       "sub NS ns1\n"
			       "sub NS ns.sib\n"
			       "sub NS ns.example.net.\n"
			       "ns.sub A 192.0.2.53\n"
			       "ns.sub AAAA 2001:db8::53\n"
			       "sib NS ns.sib\n"
			       "sib2 NS ns.sib\n"
			       "sib2 NS ns2.sib\n"
			       "ns.sib A 192.0.2.54\n"
			       "ns2.sib A 192.0.2.55\n"
			       "other NS ns.example.net.\n"
			       "secure NS ns.example.net.\n"
			       "secure DS 1 13 2 00112233445566778899aabbccddeeff"
			       "00112233445566778899aabbccddeeff\n"
			       "ent.a.b A 192.0.2.4\n"
			       "dn DNAME tree\n"
			       "again.tree CNAME x.dn\n"
			       "x.tree A 192.0.2.5\n"
			       "long DNAME "
			       "a23456789012345678901234567890123456789012345678901234567890."
			       "a23456789012345678901234567890123456789012345678901234567890."
			       "a23456789012345678901234567890123456789012345678901234567890\n"
			       "_sip._tcp SRV 1 1 5060 mail\n"
			       "web A 192.0.2.8\n"
			       "web HTTPS 1 . alpn=h2\n"
			       "here HTTPS 0 web\n"
			       "nowhere HTTPS 0 .\n"
			       "selfish HTTPS 0 selfish\n"
			       "kx KX 1 web\n"
			       "MiXed A 192.0.2.6\n"
			       "c01 CNAME c02\nc02 CNAME c03\nc03 CNAME c04\nc04 CNAME c05\n"
			       "c05 CNAME c06\nc06 CNAME c07\nc07 CNAME c08\nc08 CNAME c09\n"
			       "c09 CNAME c10\nc10 CNAME c11\nc11 CNAME c12\nc12 CNAME c13\n"
			       "c13 CNAME c14\nc14 CNAME c15\nc15 CNAME c16\nc16 CNAME c17\n"
			       "c17 CNAME c18\nc18 A 192.0.2.7\n";

static const char zone_org[] = "$TTL 3600\n"
			       "@ SOA ns1.example.com. hostmaster 7 7200 3600 1209600 86400\n"
			       "@ NS ns1.example.com.\n"
			       "www A 192.0.2.81\n";

/* Lines that come often. */
#define SOA                                                                             \
	"example.com. 300 IN SOA ns1.example.com. hostmaster.example.com. 1 7200 3600 " \
	"1209600 300\n"
#define NS                                           \
	"example.com. 3600 IN NS ns1.example.com.\n" \
	"example.com. 3600 IN NS ns2.example.org.\n"
#define NS1_A     "ns1.example.com. 3600 IN A 192.0.2.1\n"
#define NS1_AAAA  "ns1.example.com. 3600 IN AAAA 2001:db8::1\n"
#define WEB_A     "web.example.com. 3600 IN A 192.0.2.8\n"
#define WEB_HTTPS "web.example.com. 3600 IN HTTPS 1 . alpn=h2\n"
#define WWW       "www.example.com. 60 IN A 192.0.2.80\n"
#define SUB_NS                                              \
	"sub.example.com. 3600 IN NS ns.sib.example.com.\n" \
	"sub.example.com. 3600 IN NS ns.sub.example.com.\n" \
	"sub.example.com. 3600 IN NS ns.example.net.\n"     \
	"sub.example.com. 3600 IN NS ns1.example.com.\n"
#define NS_SUB                                       \
	"ns.sub.example.com. 3600 IN A 192.0.2.53\n" \
	"ns.sub.example.com. 3600 IN AAAA 2001:db8::53\n"
#define NS_SIB "ns.sib.example.com. 3600 IN A 192.0.2.54\n"

enum setting { USUAL, MINIMAL, ANY_FULL };

struct row {
	const char *what;
	enum setting setting;
	const char *name;
	uint16_t type;
	uint16_t flags; /* without QR */
	const char *answer, *authority, *additional;
};

#define T(t) DNS_TYPE_##t
#define AA   DNS_FLAG_AA

static const struct row rows[] = {
	{ "positive", USUAL, "www.example.com", T(A), AA, WWW, NS, NS1_A NS1_AAAA },
	{ "positive, minimal", MINIMAL, "www.example.com", T(A), AA, WWW, "", "" },
	{ "letter case of the file", USUAL, "mixed.example.com", T(A), AA,
	  "mixed.example.com. 3600 IN A 192.0.2.6\n", NS, NS1_A NS1_AAAA },
	{ "apex SOA has its own TTL", MINIMAL, "example.com", T(SOA), AA,
	  "example.com. 3600 IN SOA ns1.example.com. hostmaster.example.com. 1 7200 3600 1209600 "
	  "300\n",
	  "", "" },
	{ "apex NS once only", USUAL, "example.com", T(NS), AA, NS, "", NS1_A NS1_AAAA },
	{ "addresses in the answer are not repeated", USUAL, "ns1.example.com", T(A), AA, NS1_A, NS,
	  NS1_AAAA },
	{ "MX and NS with one target", USUAL, "example.com", T(MX), AA,
	  "example.com. 3600 IN MX 10 mail.example.com.\n"
	  "example.com. 3600 IN MX 20 ns1.example.com.\n",
	  NS, "mail.example.com. 3600 IN A 192.0.2.3\n" NS1_A NS1_AAAA },
	{ "SRV", USUAL, "_sip._tcp.example.com", T(SRV), AA,
	  "_sip._tcp.example.com. 3600 IN SRV 1 1 5060 mail.example.com.\n", NS,
	  "mail.example.com. 3600 IN A 192.0.2.3\n" NS1_A NS1_AAAA },
	{ "KX", USUAL, "kx.example.com", T(KX), AA,
	  "kx.example.com. 3600 IN KX 1 web.example.com.\n", NS, WEB_A NS1_A NS1_AAAA },
	{ "HTTPS at its own addresses", USUAL, "web.example.com", T(HTTPS), AA, WEB_HTTPS, NS,
	  WEB_A NS1_A NS1_AAAA },
	{ "HTTPS as an alias", USUAL, "here.example.com", T(HTTPS), AA,
	  "here.example.com. 3600 IN HTTPS 0 web.example.com.\n", NS,
	  WEB_A WEB_HTTPS NS1_A NS1_AAAA },
	{ "HTTPS as an alias for itself", MINIMAL, "selfish.example.com", T(HTTPS), AA,
	  "selfish.example.com. 3600 IN HTTPS 0 selfish.example.com.\n", "", "" },
	{ "HTTPS as an alias for itself, in full", USUAL, "selfish.example.com", T(HTTPS), AA,
	  "selfish.example.com. 3600 IN HTTPS 0 selfish.example.com.\n", NS, NS1_A NS1_AAAA },
	{ "HTTPS that is not offered", USUAL, "nowhere.example.com", T(HTTPS), AA,
	  "nowhere.example.com. 3600 IN HTTPS 0 .\n", NS, NS1_A NS1_AAAA },
	{ "NODATA", USUAL, "www.example.com", T(AAAA), AA, "", SOA, "" },
	{ "NODATA at an empty non-terminal", USUAL, "a.b.example.com", T(A), AA, "", SOA, "" },
	{ "NODATA for an obsolete type", USUAL, "www.example.com", T(MAILB), AA, "", SOA, "" },
	{ "NXDOMAIN", USUAL, "nothere.example.com", T(A), AA | DNS_RCODE_NXDOMAIN, "", SOA, "" },
	{ "NXDOMAIN, minimal has it too", MINIMAL, "nothere.example.com", T(A),
	  AA | DNS_RCODE_NXDOMAIN, "", SOA, "" },
	{ "NXDOMAIN below a leaf", USUAL, "x.www.example.com", T(A), AA | DNS_RCODE_NXDOMAIN, "",
	  SOA, "" },

	{ "CNAME", USUAL, "alias.example.com", T(A), AA,
	  "alias.example.com. 3600 IN CNAME www.example.com.\n" WWW, NS, NS1_A NS1_AAAA },
	{ "CNAME itself", MINIMAL, "alias.example.com", T(CNAME), AA,
	  "alias.example.com. 3600 IN CNAME www.example.com.\n", "", "" },
	{ "two CNAMEs", MINIMAL, "alias2.example.com", T(A), AA,
	  "alias2.example.com. 3600 IN CNAME alias.example.com.\n"
	  "alias.example.com. 3600 IN CNAME www.example.com.\n" WWW,
	  "", "" },
	{ "CNAME to nothing", USUAL, "dangling.example.com", T(A), AA | DNS_RCODE_NXDOMAIN,
	  "dangling.example.com. 3600 IN CNAME nothere.example.com.\n", SOA, "" },
	{ "CNAME to another type", USUAL, "tonodata.example.com", T(A), AA,
	  "tonodata.example.com. 3600 IN CNAME txt.example.com.\n", SOA, "" },
	{ "CNAME to a wildcard", MINIMAL, "towild.example.com", T(A), AA,
	  "towild.example.com. 3600 IN CNAME foo.wild.example.com.\n"
	  "foo.wild.example.com. 3600 IN A 192.0.2.9\n",
	  "", "" },
	{ "CNAME to a delegation", MINIMAL, "todeleg.example.com", T(A), AA,
	  "todeleg.example.com. 3600 IN CNAME x.sub.example.com.\n", SUB_NS, NS_SUB NS_SIB },
	{ "CNAME out of our zones", USUAL, "out.example.com", T(A), AA,
	  "out.example.com. 3600 IN CNAME www.example.net.\n", "", "" },
	{ "CNAME to another zone of ours", USUAL, "cross.example.com", T(A), AA,
	  "cross.example.com. 3600 IN CNAME www.example.org.\n"
	  "www.example.org. 3600 IN A 192.0.2.81\n",
	  "example.org. 3600 IN NS ns1.example.com.\n", "" },
	{ "CNAME to a zone that is not loaded", USUAL, "unloaded.example.com", T(A), AA,
	  "unloaded.example.com. 3600 IN CNAME www.example.edu.\n", "", "" },
	{ "CNAME to itself", USUAL, "self.example.com", T(A), AA,
	  "self.example.com. 3600 IN CNAME self.example.com.\n", "", "" },
	{ "CNAME loop", USUAL, "loop.example.com", T(A), AA,
	  "loop.example.com. 3600 IN CNAME loop2.example.com.\n"
	  "loop2.example.com. 3600 IN CNAME loop.example.com.\n",
	  "", "" },

	{ "wildcard", MINIMAL, "a.b.wild.example.com", T(A), AA,
	  "a.b.wild.example.com. 3600 IN A 192.0.2.9\n", "", "" },
	{ "wildcard, other type", USUAL, "a.wild.example.com", T(AAAA), AA, "", SOA, "" },
	{ "the wildcard's own name", MINIMAL, "*.wild.example.com", T(A), AA,
	  "*.wild.example.com. 3600 IN A 192.0.2.9\n", "", "" },
	{ "wildcard CNAME", MINIMAL, "x.wc.example.com", T(A), AA,
	  "x.wc.example.com. 3600 IN CNAME www.example.com.\n" WWW, "", "" },
	{ "wildcard CNAME into itself", USUAL, "a.wcl.example.com", T(A), AA,
	  "a.wcl.example.com. 3600 IN CNAME x.wcl.example.com.\n"
	  "x.wcl.example.com. 3600 IN CNAME x.wcl.example.com.\n",
	  "", "" },

	{ "DNAME", MINIMAL, "x.dn.example.com", T(A), AA,
	  "dn.example.com. 3600 IN DNAME tree.example.com.\n"
	  "x.dn.example.com. 3600 IN CNAME x.tree.example.com.\n"
	  "x.tree.example.com. 3600 IN A 192.0.2.5\n",
	  "", "" },
	{ "DNAME to nothing", USUAL, "y.dn.example.com", T(A), AA | DNS_RCODE_NXDOMAIN,
	  "dn.example.com. 3600 IN DNAME tree.example.com.\n"
	  "y.dn.example.com. 3600 IN CNAME y.tree.example.com.\n",
	  SOA, "" },
	{ "CNAME below a DNAME", MINIMAL, "y.dn.example.com", T(CNAME), AA,
	  "dn.example.com. 3600 IN DNAME tree.example.com.\n"
	  "y.dn.example.com. 3600 IN CNAME y.tree.example.com.\n",
	  "", "" },
	{ "the same DNAME twice on the way", MINIMAL, "again.dn.example.com", T(A), AA,
	  "dn.example.com. 3600 IN DNAME tree.example.com.\n"
	  "again.dn.example.com. 3600 IN CNAME again.tree.example.com.\n"
	  "again.tree.example.com. 3600 IN CNAME x.dn.example.com.\n"
	  "x.dn.example.com. 3600 IN CNAME x.tree.example.com.\n"
	  "x.tree.example.com. 3600 IN A 192.0.2.5\n",
	  "", "" },
	{ "ANY below a DNAME", MINIMAL, "x.dn.example.com", T(ANY), AA,
	  "dn.example.com. 3600 IN DNAME tree.example.com.\n"
	  "x.dn.example.com. 3600 IN CNAME x.tree.example.com.\n"
	  "x.tree.example.com. 3600 IN A 192.0.2.5\n",
	  "", "" },
	{ "the DNAME's own name", USUAL, "dn.example.com", T(A), AA, "", SOA, "" },
	{ "DNAME to a name that is too long", MINIMAL,
	  "a23456789012345678901234567890123456789012345678901234567890."
	  "a23456789012345678901234567890.long.example.com",
	  T(A), AA | DNS_RCODE_YXDOMAIN,
	  "long.example.com. 3600 IN DNAME "
	  "a23456789012345678901234567890123456789012345678901234567890."
	  "a23456789012345678901234567890123456789012345678901234567890."
	  "a23456789012345678901234567890123456789012345678901234567890.example.com.\n",
	  "", "" },

	{ "referral", USUAL, "x.sub.example.com", T(A), 0, "", SUB_NS,
	  NS_SUB NS_SIB NS1_A NS1_AAAA },
	{ "referral, minimal: sibling glue stays", MINIMAL, "x.sub.example.com", T(A), 0, "",
	  SUB_NS, NS_SUB NS_SIB },
	{ "referral for the glue's own name", MINIMAL, "ns.sub.example.com", T(A), 0, "", SUB_NS,
	  NS_SUB NS_SIB },
	{ "referral at the cut", MINIMAL, "sub.example.com", T(NS), 0, "", SUB_NS, NS_SUB NS_SIB },
	{ "referral for ANY", MINIMAL, "sub.example.com", T(ANY), 0, "", SUB_NS, NS_SUB NS_SIB },
	{ "referral without in-domain glue", MINIMAL, "sib2.example.com", T(A), 0, "",
	  "sib2.example.com. 3600 IN NS ns.sib.example.com.\n"
	  "sib2.example.com. 3600 IN NS ns2.sib.example.com.\n",
	  NS_SIB "ns2.sib.example.com. 3600 IN A 192.0.2.55\n" },
	{ "referral without glue", USUAL, "x.other.example.com", T(A), 0, "",
	  "other.example.com. 3600 IN NS ns.example.net.\n", "" },
	{ "DS at an unsigned cut", USUAL, "sub.example.com", T(DS), AA, "", SOA, "" },
	{ "DS at the parent, without NS", USUAL, "secure.example.com", T(DS), AA,
	  "secure.example.com. 3600 IN DS 1 13 2 "
	  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
	  "", "" },

	{ "ANY, one RRset", USUAL, "ns1.example.com", T(ANY), AA, NS1_A, "", "" },
	{ "ANY, all", ANY_FULL, "ns1.example.com", T(ANY), AA, NS1_A NS1_AAAA, NS, "" },
	{ "ANY at an alias", USUAL, "alias.example.com", T(ANY), AA,
	  "alias.example.com. 3600 IN CNAME www.example.com.\n", "", "" },
	{ "ANY, all, at the apex", ANY_FULL, "example.org", T(ANY), AA,
	  "example.org. 3600 IN NS ns1.example.com.\n"
	  "example.org. 3600 IN SOA ns1.example.com. hostmaster.example.org. 7 7200 3600 1209600 "
	  "86400\n",
	  "", "" },
	{ "ANY at an empty non-terminal", USUAL, "b.example.com", T(ANY), AA, "", SOA, "" },
	{ "ANY of nothing", USUAL, "nothere.example.com", T(ANY), AA | DNS_RCODE_NXDOMAIN, "", SOA,
	  "" },

	{ "negative TTL is the smaller one", USUAL, "nothere.example.org", T(A),
	  AA | DNS_RCODE_NXDOMAIN, "",
	  "example.org. 3600 IN SOA ns1.example.com. hostmaster.example.org. 7 7200 3600 1209600 "
	  "86400\n",
	  "" },
	{ "not our zone", USUAL, "www.example.net", T(A), DNS_RCODE_REFUSED, "", "", "" },
	{ "above our zones", USUAL, "com", T(A), DNS_RCODE_REFUSED, "", "", "" },
	{ "zone not loaded", USUAL, "www.example.edu", T(A), DNS_RCODE_SERVFAIL, "", "", "" },
};

static struct world world;
static struct engine *engines[3];

static int setup(void **state)
{
	struct engine_config configs[3] = {
		ENGINE_CONFIG_INIT,
		ENGINE_CONFIG_INIT,
		ENGINE_CONFIG_INIT,
	};

	world_begin(&world, state);
	world_add_zone(&world, "example.com", zone_com);
	world_add_zone(&world, "example.org", zone_org);
	world_load_zone(&world, "example.edu", NULL);
	world_publish(&world);
	configs[MINIMAL].minimal_responses = true;
	configs[ANY_FULL].any = ENGINE_ANY_FULL;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(engine_new(&engines[i], &configs[i], NULL, &world.zones), 0);
	return 0;
}

static int teardown(void **state)
{
	for (unsigned int i = 0; i < 3; i++)
		engine_free(engines[i]);
	return world_end(state);
}

static bool same_section(const char *what, const char *where, const ldns_pkt *pkt,
			 ldns_pkt_section section, const char *expected)
{
	char *text = section_text(pkt, section);
	bool same = strcmp(text, expected) == 0;

	if (!same)
		print_error("%s: %s is\n%sand should be\n%s", what, where, text, expected);
	free(text);
	return same;
}

static bool row_holds(const struct row *row)
{
	struct ask ask = { .name = row->name, .type = row->type, .udp_size = 4096 };
	struct reply r;
	ldns_pkt *pkt;
	int holds;

	send_ask(engines[row->setting], &ask, &r);
	if (ldns_wire2pkt(&pkt, r.bytes, r.len)) {
		print_error("%s: not a DNS message\n", row->what);
		return false;
	}
	holds = same_section(row->what, "answer", pkt, LDNS_SECTION_ANSWER, row->answer);
	holds &= same_section(row->what, "authority", pkt, LDNS_SECTION_AUTHORITY, row->authority);
	holds &= same_section(row->what, "additional", pkt, LDNS_SECTION_ADDITIONAL,
			      row->additional);
	if (reply_flags(&r) != (DNS_FLAG_QR | row->flags)) {
		print_error("%s: flags are %04x\n", row->what, reply_flags(&r));
		holds = false;
	}
	ldns_pkt_free(pkt);
	return holds;
}

static void test_rows(void **state)
{
	unsigned int n_wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		n_wrong += !row_holds(&rows[i]);
	assert_int_equal(n_wrong, 0);
}

static void test_long_chain_is_cut(void **state)
{
	struct ask ask = { .name = "c01.example.com", .type = T(A), .udp_size = 4096 };
	struct reply r;

	(void)state;
	send_ask(engines[MINIMAL], &ask, &r);
	assert_int_equal(reply_flags(&r), DNS_FLAG_QR | DNS_FLAG_AA);
	assert_int_equal(reply_count(&r, DNS_ANCOUNT_AT), 17);
	ask.name = "c02.example.com"; /* 16 aliases, then the address */
	send_ask(engines[MINIMAL], &ask, &r);
	assert_int_equal(reply_count(&r, DNS_ANCOUNT_AT), 17);
	assert_memory_equal(r.bytes + r.len - 11 - 4, "\300\0\2\7", 4);
}

/* The record of an answer begins with a pointer to the question's name, whatever its length. */
static void test_owner_is_the_question(void **state)
{
	struct ask ask = { .name = "www.example.com", .type = T(A) };
	struct reply r;

	(void)state;
	send_ask(engines[MINIMAL], &ask, &r);
	assert_int_equal(r.len, 12 + 17 + 4 + 16);
	assert_memory_equal(r.bytes + 33, "\300\14\0\1\0\1\0\0\0\74\0\4\300\0\2\120", 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_long_chain_is_cut),
		cmocka_unit_test(test_owner_is_the_question),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
