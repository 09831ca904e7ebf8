/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of upstream become answers: what is kept of them, in which order, with which TTLs, and
 * what is refused. The body is read again by ldns, behind a question in other letter case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/err.h"
#include "cache/convert.h"
#include "tests/unit/engine/upstream.h"
#include "tests/unit/engine/world.h"

#define T(type) DNS_TYPE_##type
#define SIG(type, signer) \
	"RRSIG " type " 13 2 300 20380101000000 20260101000000 7 " signer " AAAA\n"
#define SOA "SOA ns.x. root.x. 1 2 3 4 60\n"

static const struct convert_limits limits = { 86400, 0, 3600 };
static struct convert convert;

struct row {
	const char *label;
	struct upstream upstream;
	bool dnssec_ok;
	int error;
	const char *answer; /* expected; NULL: as upstream */
	const char *authority;
	uint32_t ttl_s;
	bool is_denial_of_target; /* upstream's rcode is not that of the answer */
};

static int run(const struct row *row, const struct convert_limits *l, struct cache_answer *a,
	       uint32_t *ttl_s)
{
	static uint8_t folded[NAME_FOLDED_BYTES];
	const struct convert_question question = { folded, row->upstream.qtype, row->dnssec_ok,
						   NULL };
	struct convert_source from;
	size_t n;
	uint8_t *wire = upstream_wire(&row->upstream, &n);
	int len = name_from_text(folded, sizeof(folded), row->upstream.name,
				 strlen(row->upstream.name));
	int err;

	MUST(len > 0);
	name_fold(folded, folded, (size_t)len);
	err = convert_from_wire(&from, wire, n) ?
		      convert_answer(&convert, &from, &question, l, a, ttl_s) :
		      ERR_FORMAT;
	free(wire);
	return err;
}

/* Header, a question in capitals, the body. */
static ldns_pkt *packet_of(const char *name, uint16_t qtype, const struct cache_answer *a)
{
	static uint8_t msg[DNS_MESSAGE_MAX];
	int len = name_from_text(msg + DNS_HEADER_BYTES, DNS_NAME_MAX, name, strlen(name));
	size_t at = DNS_HEADER_BYTES + (size_t)len;
	ldns_pkt *pkt;

	memset(msg, 0, DNS_HEADER_BYTES);
	wire_store_be16(msg + DNS_FLAGS_AT, (uint16_t)(DNS_FLAG_QR | a->flags));
	wire_store_be16(msg + DNS_QDCOUNT_AT, 1);
	wire_store_be16(msg + DNS_ANCOUNT_AT, a->ancount);
	wire_store_be16(msg + DNS_NSCOUNT_AT, a->nscount);
	wire_store_be16(msg + DNS_ARCOUNT_AT, a->arcount_full);
	wire_store_be16(msg + at, qtype);
	wire_store_be16(msg + at + 2, DNS_CLASS_IN);
	at += DNS_QUESTION_FIXED_BYTES;
	memcpy(msg + at, a->body, a->full_bytes);
	if (ldns_wire2pkt(&pkt, msg, at + a->full_bytes) != LDNS_STATUS_OK)
		fail_msg("%s: the body cannot be read", name);
	return pkt;
}

static void check_section(const struct row *row, const ldns_pkt *pkt, ldns_pkt_section section,
			  const char *expected)
{
	char *text = section_text(pkt, section);

	if (strcmp(text, expected ? expected : "") != 0)
		fail_msg("%s:\n%s--- is not\n%s", row->label, text, expected ? expected : "");
	free(text);
}

/* Each offset leads to a TTL: set to another value they are all that ldns then reads. */
static void check_ttls(const struct row *row, const struct cache_answer *a)
{
	unsigned int n = (unsigned int)a->ancount + a->nscount;
	struct cache_answer other = *a;
	uint8_t *body = malloc(a->full_bytes + 1u);
	ldns_rr_list *all;
	ldns_pkt *pkt;

	assert_int_equal(a->n_ttls, n);
	memcpy(body, a->body, a->full_bytes);
	for (unsigned int i = 0; i < a->n_ttls; i++) {
		assert_true(!i || a->ttls[i] > a->ttls[i - 1]);
		wire_store_be32(body + a->ttls[i], 1000 + i);
	}
	other.body = body;
	pkt = packet_of(row->upstream.name, row->upstream.qtype, &other);
	all = ldns_pkt_all_noquestion(pkt);
	assert_int_equal(ldns_rr_list_rr_count(all), n);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(ldns_rr_ttl(ldns_rr_list_rr(all, i)), 1000 + i);
	ldns_rr_list_deep_free(all);
	ldns_pkt_free(pkt);
	free(body);
}

static void check_row(const struct row *row, const struct convert_limits *l)
{
	struct cache_answer a;
	uint32_t ttl_s = 0;
	int err = run(row, l, &a, &ttl_s);
	ldns_pkt *pkt;

	if (err != row->error)
		fail_msg("%s: %s", row->label, err_text(err));
	if (err)
		return;
	pkt = packet_of(row->upstream.name, row->upstream.qtype, &a);
	check_section(row, pkt, LDNS_SECTION_ANSWER,
		      row->answer ? row->answer : row->upstream.answer);
	check_section(row, pkt, LDNS_SECTION_AUTHORITY,
		      row->authority ? row->authority : row->upstream.authority);
	check_section(row, pkt, LDNS_SECTION_ADDITIONAL, "");
	assert_int_equal(ldns_pkt_get_rcode(pkt),
			 row->is_denial_of_target ? 0 : row->upstream.rcode);
	assert_int_equal(a.short_bytes, a.full_bytes);
	if (ttl_s != row->ttl_s)
		fail_msg("%s: kept for %u s", row->label, ttl_s);
	check_ttls(row, &a);
	ldns_pkt_free(pkt);
}

static const struct row rows[] = {
	{ .label = "plain",
	  .upstream = { "www.x.", T(A), 0, "www.x. 300 IN A 192.0.2.1\n", .authority = NULL },
	  .ttl_s = 300 },
	{ .label = "the smallest TTL is that of all",
	  .upstream = { "www.x.", T(A), 0,
			"www.x. 300 IN A 192.0.2.1\nwww.x. 30 IN A 192.0.2.2\n" },
	  .answer = "www.x. 30 IN A 192.0.2.1\nwww.x. 30 IN A 192.0.2.2\n",
	  .ttl_s = 30 },
	{ .label = "the cap",
	  .upstream = { "www.x.", T(A), 0, "www.x. 864000 IN A 192.0.2.1\n" },
	  .answer = "www.x. 86400 IN A 192.0.2.1\n",
	  .ttl_s = 86400 },
	{ .label = "top bit of a TTL",
	  .upstream = { "www.x.", T(A), 0, "www.x. 2147483648 IN A 192.0.2.1\n" },
	  .answer = "www.x. 0 IN A 192.0.2.1\n",
	  .ttl_s = 0 },
	{ .label = "NS, additional: dropped",
	  .upstream = { "www.x.", T(A), 0, "www.x. 300 IN A 192.0.2.1\n", "x. 300 IN NS ns.x.\n",
			"ns.x. 300 IN A 192.0.2.53\n" },
	  .authority = "",
	  .ttl_s = 300 },
	{ .label = "records of other names in the answer: dropped",
	  .upstream = { "www.x.", T(A), 0,
			"bank. 300 IN A 192.0.2.66\nwww.x. 300 IN A 192.0.2.1\n"
			"mail.x. 300 IN A 192.0.2.66\nx. 300 IN NS ns.evil.\n" },
	  .answer = "www.x. 300 IN A 192.0.2.1\n",
	  .ttl_s = 300 },
	{ .label = "records of other types in the answer: dropped",
	  .upstream = { "www.x.", T(A), 0,
			"www.x. 300 IN TXT \"no\"\nwww.x. 300 IN A 192.0.2.1\n" },
	  .answer = "www.x. 300 IN A 192.0.2.1\n",
	  .ttl_s = 300 },
	{ .label = "SOA of a positive answer, of a zone elsewhere: dropped",
	  .upstream = { "www.x.", T(A), 0, "www.x. 300 IN A 192.0.2.1\n", "y. 300 IN " SOA },
	  .authority = "",
	  .ttl_s = 300 },
	{ .label = "an answer to something else",
	  .upstream = { "www.x.", T(A), 0, "mail.x. 300 IN A 192.0.2.1\n" },
	  .error = ERR_FORMAT },
	{ .label = "a chain, in its order",
	  .upstream = { "www.x.", T(A), 0,
			"c.y. 300 IN A 192.0.2.1\nB.y. 200 IN CNAME c.y.\n"
			"www.x. 100 IN CNAME b.y.\n" },
	  .answer = "www.x. 100 IN CNAME B.y.\nB.y. 200 IN CNAME c.y.\n"
		    "c.y. 300 IN A 192.0.2.1\n",
	  .ttl_s = 100 },
	{ .label = "a chain to nothing",
	  .upstream = { "www.x.", T(A), 0, "www.x. 100 IN CNAME b.y.\n", "y. 90 IN " SOA },
	  .authority = "y. 60 IN " SOA,
	  .ttl_s = 60 },
	{ .label = "a chain to nothing, with the SOA of the wrong zone",
	  .upstream = { "www.x.", T(A), 0, "www.x. 100 IN CNAME b.y.\n", "x. 90 IN " SOA },
	  .authority = "",
	  .ttl_s = 0 },
	{ .label = "an alias of itself",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME A.x.\n" },
	  .error = ERR_FORMAT },
	{ .label = "a chain that ends in itself",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME b.x.\nb.x. 9 IN CNAME a.x.\n" },
	  .error = ERR_FORMAT },
	{ .label = "a chain that ends in a loop",
	  .upstream = { "a.x.", T(A), 0,
			"a.x. 9 IN CNAME b.x.\nb.x. 9 IN CNAME c.x.\nc.x. 9 IN CNAME b.x.\n" },
	  .error = ERR_FORMAT },
	{ .label = "a DNAME to itself",
	  .upstream = { "a.x.", T(A), 0, "x. 9 IN DNAME X.\na.x. 9 IN CNAME a.x.\n" },
	  .error = ERR_FORMAT },
	{ .label = "a DNAME to itself, and its CNAME was asked for",
	  .upstream = { "a.x.", T(CNAME), 0, "x. 9 IN DNAME x.\na.x. 9 IN CNAME a.x.\n" },
	  .ttl_s = 9 },
	{ .label = "a DNAME to itself, asked for",
	  .upstream = { "x.", T(DNAME), 0, "x. 9 IN DNAME x.\n" },
	  .ttl_s = 9 },
	{ .label = "a DNAME to a name below it: it makes longer names for ever",
	  .upstream = { "a.x.", T(A), 0, "x. 9 IN DNAME b.x.\na.x. 9 IN CNAME a.b.x.\n" },
	  .error = ERR_FORMAT },
	{ .label = "two DNAMEs to each other",
	  .upstream = { "a.x.", T(A), 0,
			"x. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\n"
			"y. 9 IN DNAME x.\na.y. 9 IN CNAME a.x.\n" },
	  .error = ERR_FORMAT },
	{ .label = "a DNAME twice on the way",
	  .upstream = { "a.x.", T(A), 0,
			"x. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\na.y. 9 IN CNAME b.x.\n"
			"b.x. 9 IN CNAME b.y.\nb.y. 9 IN A 192.0.2.1\n" },
	  .ttl_s = 9 },
	{ .label = "an alias twice",
	  .upstream = { "a.x.", T(A), 0,
			"a.x. 9 IN CNAME b.x.\na.x. 7 IN CNAME B.x.\nb.x. 9 IN A 192.0.2.1\n" },
	  .answer = "a.x. 9 IN CNAME b.x.\nb.x. 9 IN A 192.0.2.1\n",
	  .ttl_s = 9 },
	{ .label = "a DNAME twice",
	  .upstream = { "a.x.", T(A), 0,
			"x. 9 IN DNAME y.\nx. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\n"
			"a.y. 9 IN A 192.0.2.1\n" },
	  .answer = "x. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\na.y. 9 IN A 192.0.2.1\n",
	  .ttl_s = 9 },
	{ .label = "a SOA twice",
	  .upstream = { "a.x.", T(A), 0, NULL, "x. 90 IN " SOA "x. 90 IN " SOA },
	  .authority = "x. 60 IN " SOA,
	  .ttl_s = 60 },
	{ .label = "the alias itself, and NXDOMAIN because of its target",
	  .upstream = { "a.x.", T(CNAME), 3, "a.x. 9 IN CNAME b.x.\n", "x. 90 IN " SOA },
	  .authority = "",
	  .ttl_s = 9,
	  .is_denial_of_target = true },
	{ .label = "the alias of a DNAME itself, and NXDOMAIN because of its target",
	  .upstream = { "a.x.", T(CNAME), 3, "x. 9 IN DNAME y.\na.x. 9 IN CNAME a.y.\n" },
	  .ttl_s = 9,
	  .is_denial_of_target = true },
	{ .label = "data and NXDOMAIN",
	  .upstream = { "a.x.", T(A), 3, "a.x. 9 IN A 192.0.2.1\n", "x. 90 IN " SOA },
	  .error = ERR_FORMAT },
	{ .label = "two CNAMEs at a name",
	  .upstream = { "a.x.", T(A), 0, "a.x. 9 IN CNAME b.x.\na.x. 9 IN CNAME c.x.\n" },
	  .error = ERR_FORMAT },
	{ .label = "CNAME asked for",
	  .upstream = { "a.x.", T(CNAME), 0, "a.x. 9 IN CNAME b.x.\nb.x. 9 IN CNAME a.x.\n" },
	  .answer = "a.x. 9 IN CNAME b.x.\n",
	  .ttl_s = 9 },
	{ .label = "DNAME",
	  .upstream = { "a.b.x.", T(A), 0,
			"b.x. 50 IN DNAME y.\na.b.x. 50 IN CNAME a.y.\na.y. 40 IN A 192.0.2.1\n" },
	  .ttl_s = 40 },
	{ .label = "DNAME of the name itself, asked for",
	  .upstream = { "b.x.", T(DNAME), 0, "b.x. 50 IN DNAME y.\n" },
	  .ttl_s = 50 },
	{ .label = "DNAME beside what it forbids",
	  .upstream = { "a.b.x.", T(A), 0, "b.x. 50 IN DNAME y.\na.b.x. 40 IN A 192.0.2.1\n" },
	  .error = ERR_FORMAT },
	{ .label = "DNAME that makes the name too long",
	  .upstream = { "a.b.x.", T(A), DNS_RCODE_YXDOMAIN, "b.x. 50 IN DNAME y.\n" },
	  .ttl_s = 50 },
	{ .label = "NXDOMAIN: the SOA's TTL",
	  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN, NULL, "x. 30 IN " SOA },
	  .ttl_s = 30 },
	{ .label = "NXDOMAIN: MINIMUM",
	  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN, NULL, "x. 300 IN " SOA },
	  .authority = "x. 60 IN " SOA,
	  .ttl_s = 60 },
	{ .label = "NXDOMAIN: the cap",
	  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN, NULL,
			"x. 90000 IN SOA ns.x. root.x. 1 2 3 4 90000\n" },
	  .authority = "x. 3600 IN SOA ns.x. root.x. 1 2 3 4 90000\n",
	  .ttl_s = 3600 },
	{ .label = "NXDOMAIN without SOA",
	  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN },
	  .ttl_s = 0 },
	{ .label = "NXDOMAIN with data",
	  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN, "no.x. 300 IN A 192.0.2.1\n" },
	  .error = ERR_FORMAT },
	{ .label = "NXDOMAIN behind an alias",
	  .upstream = { "a.x.", T(A), DNS_RCODE_NXDOMAIN, "a.x. 300 IN CNAME no.x.\n",
			"x. 60 IN " SOA },
	  .ttl_s = 60 },
	{ .label = "NODATA", .upstream = { "no.x.", T(A), 0, NULL, "x. 60 IN " SOA }, .ttl_s = 60 },
	{ .label = "a referral",
	  .upstream = { "no.x.", T(A), 0, NULL, "x. 60 IN NS ns.x.\n" },
	  .authority = "",
	  .ttl_s = 0 },
	{ .label = "signatures without DO",
	  .upstream = { "www.x.", T(A), 0,
			"www.x. 300 IN A 192.0.2.1\nwww.x. 300 IN " SIG("A", "x.") },
	  .answer = "www.x. 300 IN A 192.0.2.1\n",
	  .ttl_s = 300 },
	{ .label = "signatures with DO, and those of other types",
	  .upstream = { "www.x.", T(A), 0,
			"www.x. 300 IN A 192.0.2.1\nwww.x. 200 IN " SIG(
				"A", "x.") "www.x. 300 IN " SIG("TXT", "x.") },
	  .answer = "www.x. 300 IN A 192.0.2.1\nwww.x. 200 IN " SIG("A", "x."),
	  .dnssec_ok = true,
	  .ttl_s = 200 },
	{ .label = "proofs without DO",
	  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN, NULL,
			"x. 60 IN " SOA
			"x. 60 IN " SIG("SOA", "x.") "x. 60 IN NSEC z.x. NS SOA\nx. 60 IN " SIG(
				"NSEC", "x.") },
	  .authority = "x. 60 IN " SOA,
	  .ttl_s = 60 },
	{ .label = "proofs with DO",
	  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN, NULL,
			"x. 60 IN " SOA
			"x. 60 IN " SIG("SOA", "x.") "x. 60 IN NSEC z.x. NS SOA \nx. 60 IN " SIG(
				"NSEC", "x.") },
	  .dnssec_ok = true,
	  .ttl_s = 60 },
	{ .label = "proof of a wildcard",
	  .upstream = { "a.w.x.", T(A), 0,
			"a.w.x. 300 IN A 192.0.2.1\na.w.x. 300 IN " SIG("A", "x."),
			"*.w.x. 60 IN NSEC x. A \n*.w.x. 60 IN " SIG("NSEC", "x.") },
	  .dnssec_ok = true,
	  .ttl_s = 60 },
	{ .label = "proofs of zones that nobody asked about, and unsigned ones",
	  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN, NULL,
			"x. 60 IN " SOA "a.y. 60 IN NSEC z.y. A \na.y. 60 IN " SIG(
				"NSEC", "y.") "a.x. 60 IN NSEC b.x. A \n"
					      "b.y. 60 IN NSEC z.y. A \nb.y. 60 IN " SIG("NSEC",
											 "x.") },
	  .dnssec_ok = true,
	  .authority = "x. 60 IN " SOA,
	  .ttl_s = 60 },
	{ .label = "NSEC asked for, without DO",
	  .upstream = { "a.x.", T(NSEC), 0, "a.x. 60 IN NSEC b.x. A \n" },
	  .ttl_s = 60 },
	{ .label = "RRSIG asked for",
	  .upstream = { "a.x.", T(RRSIG), 0,
			"a.x. 60 IN " SIG("A", "x.") "a.x. 50 IN " SIG(
				"TXT", "x.") "a.x. 40 IN A 192.0.2.1\n" },
	  .answer = "a.x. 60 IN " SIG("A", "x.") "a.x. 50 IN " SIG("TXT", "x."),
	  .ttl_s = 50 },
	{ .label = "ANY without DO",
	  .upstream = { "a.x.", T(ANY), 0,
			"a.x. 60 IN A 192.0.2.1\na.x. 50 IN MX 1 a.x.\na.x. 60 IN A 192.0.2.2\n"
			"a.x. 40 IN " SIG(
				"A", "x.") "a.x. 40 IN NSEC b.x. A \nb.x. 1 IN A 192.0.2.3\n" },
	  .answer = "a.x. 60 IN A 192.0.2.1\na.x. 60 IN A 192.0.2.2\na.x. 50 IN MX 1 a.x.\n",
	  .ttl_s = 50 },
	{ .label = "ANY of an alias",
	  .upstream = { "a.x.", T(ANY), 0, "a.x. 60 IN CNAME b.x.\nb.x. 1 IN A 192.0.2.3\n" },
	  .answer = "a.x. 60 IN CNAME b.x.\n",
	  .ttl_s = 60 },
	{ .label = "another class",
	  .upstream = { "a.x.", T(TXT), 0, "a.x. 60 IN TXT \"in\"\na.x. 5 CH TXT \"chaos\"\n" },
	  .answer = "a.x. 60 IN TXT \"in\"\n",
	  .ttl_s = 60 },
	{ .label = "names in data",
	  .upstream = { "a.x.", T(ANY), 0,
			"a.x. 60 IN NS ns.a.x.\na.x. 60 IN PTR P.a.x.\na.x. 60 IN MX 10 mx.a.x.\n"
			"a.x. 60 IN SRV 1 2 3 srv.a.x.\na.x. 60 IN RP r.a.x. t.a.x.\n"
			"a.x. 60 IN AFSDB 1 afs.a.x.\na.x. 60 IN RT 1 rt.a.x.\n"
			"a.x. 60 IN KX 1 kx.a.x.\na.x. 60 IN PX 1 p.a.x. q.a.x.\n"
			"a.x. 60 IN MINFO m.a.x. n.a.x.\n"
			"a.x. 60 IN NAPTR 1 2 \"s\" \"SIP+D2U\" \"\" naptr.a.x.\n"
			"a.x. 60 IN SOA ns.a.x. root.a.x. 1 2 3 4 5\n" },
	  .ttl_s = 60 },
	{ .label = "the root",
	  .upstream = { ".", T(NS), 0, ". 60 IN NS a.root-servers.net.\n" },
	  .ttl_s = 60 },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_row(&rows[i], &limits);
}

/* Names of data that point back, by types that no new server compresses, too: RFC 3597 section
 * 4. */
/* long: a table */
static void test_pointers_in_data(void **state)
{
	static const struct {
		uint16_t type;
		uint16_t n_before; /* octets before the first name */
		uint16_t n_names;
		const char *answer;
		const char *rest; /* behind the names */
		uint16_t n_rest;
	} types[] = {
		{ DNS_TYPE_NS, 0, 1, "a.x. 60 IN NS a.x.\n", "", 0 },
		{ DNS_TYPE_DNAME, 0, 1, "a.x. 60 IN DNAME a.x.\n", "", 0 },
		{ DNS_TYPE_KX, 2, 1, "a.x. 60 IN KX 0 a.x.\n", "", 0 },
		{ DNS_TYPE_SRV, 6, 1, "a.x. 60 IN SRV 0 0 0 a.x.\n", "", 0 },
		{ DNS_TYPE_PX, 2, 2, "a.x. 60 IN PX 0 a.x. a.x.\n", "", 0 },
		/* against RFC 3597 section 4, but all take it */
		{ DNS_TYPE_NSEC, 0, 1, "a.x. 60 IN NSEC a.x. A \n", "\0\1\x40", 3 },
		{ DNS_TYPE_RRSIG, 18, 1,
		  "a.x. 60 IN RRSIG TYPE0 0 0 0 19700101000000 19700101000000 0 a.x. AAAA\n",
		  "\0\0\0", 3 },
		{ DNS_TYPE_HTTPS, 2, 1, "a.x. 60 IN HTTPS 0 a.x. alpn=h2\n", "\0\1\0\3\2h2", 7 },
		{ DNS_TYPE_LP, 2, 1, "a.x. 60 IN LP 0 a.x.\n", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		uint8_t wire[64] =
			"\0\0\x81\x80\0\1\0\1\0\0\0\0\1a\1x\0\0\0\0\1\xc0\x0c\0\0\0\1\0\0\0\x3c";
		uint8_t folded[NAME_FOLDED_BYTES] = "\1a\1x";
		const struct convert_question question = { folded, types[i].type, false, NULL };
		uint16_t n_rdata =
			(uint16_t)(types[i].n_before + 2 * types[i].n_names + types[i].n_rest);
		struct convert_source from;
		struct cache_answer a;
		uint32_t ttl_s;
		ldns_pkt *pkt;
		char *text;

		wire_store_be16(wire + 17, types[i].type);
		wire_store_be16(wire + 23, types[i].type);
		wire_store_be16(wire + 31, n_rdata);
		for (unsigned k = 0; k < types[i].n_names; k++)
			wire_store_be16(wire + 33 + types[i].n_before + 2 * k, 0xc00c);
		memcpy(wire + 33 + n_rdata - types[i].n_rest, types[i].rest, types[i].n_rest);
		assert_true(convert_from_wire(&from, wire, 33u + n_rdata));
		assert_int_equal(convert_answer(&convert, &from, &question, &limits, &a, &ttl_s),
				 0);
		pkt = packet_of("a.x.", types[i].type, &a);
		text = section_text(pkt, LDNS_SECTION_ANSWER);
		assert_string_equal(text, types[i].answer);
		free(text);
		ldns_pkt_free(pkt);
	}
}

static void test_floor(void **state)
{
	static const struct convert_limits floor = { 3600, 120, 90 };
	static const struct row some[] = {
		{ .label = "the floor",
		  .upstream = { "www.x.", T(A), 0, "www.x. 5 IN A 192.0.2.1\n" },
		  .answer = "www.x. 120 IN A 192.0.2.1\n",
		  .ttl_s = 120 },
		{ .label = "the floor, of a TTL of 0",
		  .upstream = { "www.x.", T(A), 0, "www.x. 0 IN A 192.0.2.1\n" },
		  .answer = "www.x. 120 IN A 192.0.2.1\n",
		  .ttl_s = 120 },
		{ .label = "a denial: its cap wins",
		  .upstream = { "no.x.", T(A), DNS_RCODE_NXDOMAIN, NULL, "x. 5 IN " SOA },
		  .authority = "x. 90 IN " SOA,
		  .ttl_s = 90 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++)
		check_row(&some[i], &floor);
}

/* An alias of 16 steps is followed, one of 17 is not. */
static void test_long_chain(void **state)
{
	for (unsigned int n = CONVERT_CHAIN_MAX; n <= CONVERT_CHAIN_MAX + 1; n++) {
		char text[2048];
		struct row row = { .label = "chain", .ttl_s = 9 };
		size_t at = 0;

		for (unsigned int i = 0; i < n; i++)
			at += (size_t)sprintf(text + at, "a%u.x. 9 IN CNAME a%u.x.\n", i, i + 1);
		sprintf(text + at, "a%u.x. 9 IN A 192.0.2.1\n", n);
		row.upstream = (struct upstream){ .name = "a0.x.", .qtype = T(A), .answer = text };
		row.error = n > CONVERT_CHAIN_MAX ? ERR_FORMAT : 0;
		check_row(&row, &limits);
	}
	(void)state;
}

/* As many records as fit: every one comes, and in time. */
static void test_large(void **state)
{
	const unsigned int n = 4000;
	char *text = malloc(n * 40);
	struct row row = { .label = "large", .ttl_s = 9 };
	size_t at = 0;

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		at += (size_t)sprintf(text + at, "a.x. 9 IN A 10.0.%u.%u\n", i / 256, i % 256);
	row.upstream = (struct upstream){ .name = "a.x.", .qtype = T(A), .answer = text };
	check_row(&row, &limits);
	free(text);
}

/* Cut anywhere, and with any octet changed: an error or an answer, never more than that. */
static void test_broken(void **state)
{
	static uint8_t folded[NAME_FOLDED_BYTES] = "\1a\1b\1x";
	const struct convert_question question = { folded, T(A), true, NULL };
	const struct upstream u = {
		"a.b.x.",
		T(A),
		0,
		"b.x. 50 IN DNAME y.\nb.x. 9 IN " SIG(
			"DNAME", "x.") "a.b.x. 50 IN CNAME a.y.\na.y. 40 IN A 192.0.2.1\n",
		"a.y. 60 IN NSEC z.y. A \na.y. 60 IN " SIG("NSEC", "y.") "y. 60 IN " SOA,
		NULL
	};
	struct convert_source from;
	struct cache_answer a;
	uint32_t ttl_s;
	size_t n;
	uint8_t *wire = upstream_wire(&u, &n);

	(void)state;
	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *part = malloc(cut ? cut : 1);

		memcpy(part, wire, cut);
		if (convert_from_wire(&from, part, cut))
			assert_true(convert_answer(&convert, &from, &question, &limits, &a,
						   &ttl_s) < 0);
		free(part);
	}
	for (size_t i = 0; i < n * 256; i++) {
		uint8_t was = wire[i / 256];

		wire[i / 256] = (uint8_t)i;
		if (convert_from_wire(&from, wire, n) &&
		    !convert_answer(&convert, &from, &question, &limits, &a, &ttl_s))
			ldns_pkt_free(packet_of("a.b.x.", T(A), &a));
		wire[i / 256] = was;
	}
	free(wire);
}

static void put_record(struct wire_writer *w, const char *owner, size_t owner_bytes, uint16_t type,
		       const char *data, uint16_t data_bytes)
{
	wire_write_bytes(w, owner, owner_bytes);
	wire_write_be16(w, type);
	wire_write_be16(w, DNS_CLASS_IN);
	wire_write_be32(w, 9);
	wire_write_be16(w, data_bytes);
	wire_write_bytes(w, data, data_bytes);
}

/* A chain of 15 aliases from a.x, and n DNAME records whose owners are at two places in turn. */
static int convert_dnames(unsigned int n)
{
	static uint8_t folded[NAME_FOLDED_BYTES] = "\1a\1x";
	static uint8_t wire[DNS_MESSAGE_MAX];
	const struct convert_question question = { folded, T(A), false, NULL };
	char name[] = "\1a\1x", next[] = "\1b\1x", to_y[] = "\xc0\x15", to_z[] = "\xc0\x25";
	struct convert_source from;
	struct cache_answer a;
	struct wire_writer w;
	uint32_t ttl_s;

	wire_writer_init(&w, wire, sizeof(wire));
	wire_write_be32(&w, 0x8180);
	wire_write_be16(&w, 1);
	wire_write_be16(&w, (uint16_t)(n + 18));
	wire_write_be32(&w, 0);
	wire_write_bytes(&w, name, sizeof(name));
	wire_write_be32(&w, T(A) << 16 | DNS_CLASS_IN);
	put_record(&w, "\1y\1x", 5, T(DNAME), "", 1); /* at 0x15, of 16 octets */
	put_record(&w, "\1z\1x", 5, T(DNAME), "", 1);
	for (unsigned int i = 0; i < 15; i++) {
		put_record(&w, name, sizeof(name), T(CNAME), next, sizeof(next));
		name[1]++;
		next[1]++;
	}
	put_record(&w, name, sizeof(name), T(A), "\xc0\0\2\1", 4);
	for (unsigned int i = 0; i < n; i++)
		put_record(&w, i % 2 ? to_y : to_z, 2, T(DNAME), "", 1);
	assert_int_equal(w.error, 0);
	assert_true(convert_from_wire(&from, wire, w.at));
	return convert_answer(&convert, &from, &question, &limits, &a, &ttl_s);
}

static void test_work(void **state)
{
	(void)state;
	assert_int_equal(convert_dnames(1000), 0);
	assert_int_equal(convert_dnames(4000), ERR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),  cmocka_unit_test(test_pointers_in_data),
		cmocka_unit_test(test_floor), cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_large), cmocka_unit_test(test_broken),
		cmocka_unit_test(test_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
