/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lookups in one tricky zone, the properties of a snapshot, and its digest.
 */
#include <stdlib.h>

#include "tests/lib/zonenode.h"
#include "zone_text.h"

static const char tricky[] =
	"$TTL 300\n"
	"@ 1000 IN SOA ns host 7 2 3 4 60\n"
	"@ IN NS ns\n@ IN NS ns.sub\n@ IN NS ns.elsewhere.net.\n"
	"ns IN A 192.0.2.1\n"
	"MiXed IN A 192.0.2.2\n"
	"alias IN CNAME ns\n"
	"a.b.ent IN TXT x\n"
	"*.wild IN A 192.0.2.3\n*.wild IN TXT w\nhost.wild IN A 192.0.2.4\n"
	"x.below.wild IN A 192.0.2.5\n"
	"*.walias IN CNAME ns\n"
	"sub IN NS ns.sub\nsub IN DS 1 8 2 AABB\nns.sub IN A 192.0.2.6\nsub IN A 192.0.2.7\n"
	"*.sub IN A 192.0.2.8\n"
	"deeper.sub IN NS ns.deeper.sub\nns.deeper.sub IN A 192.0.2.9\n"
	"dn IN DNAME elsewhere.net.\ndn IN A 192.0.2.10\n"
	"*.wcut IN NS ns\n"
	"*.*.star IN A 192.0.2.11\n"
	"cut.entcut IN NS ns\n";

struct lookup {
	const char *name, *qname;
	uint16_t qtype;
	enum zone_status status;
	bool wildcard;
	const char *node, *cut, *encloser;
	int n; /* records of rrset, 0: no rrset */
};

#define E "example.com."
static const struct lookup lookups[] = {
	{ "the apex", E, DNS_TYPE_NS, ZONE_ANSWER, false, E, "-", E, 3 },
	{ "the apex has no DS", E, DNS_TYPE_DS, ZONE_NODATA, false, E, "-", E, 0 },
	{ "a host", "ns." E, DNS_TYPE_A, ZONE_ANSWER, false, "ns." E, "-", "ns." E, 1 },
	{ "a host, folded", "mixed." E, DNS_TYPE_A, ZONE_ANSWER, false, "MiXed." E, "-", "MiXed." E,
	  1 },
	{ "a type that is not there", "ns." E, DNS_TYPE_AAAA, ZONE_NODATA, false, "ns." E, "-",
	  "ns." E, 0 },
	{ "ANY gives the node", "ns." E, DNS_TYPE_ANY, ZONE_ANSWER, false, "ns." E, "-", "ns." E,
	  0 },
	{ "no such name", "nope." E, DNS_TYPE_A, ZONE_NXDOMAIN, false, "-", "-", E, 0 },
	{ "no such name, deep", "x.y.ns." E, DNS_TYPE_A, ZONE_NXDOMAIN, false, "-", "-", "ns." E,
	  0 },
	{ "a label that only begins the same", "n." E, DNS_TYPE_A, ZONE_NXDOMAIN, false, "-", "-",
	  E, 0 },
	{ "an alias", "alias." E, DNS_TYPE_A, ZONE_CNAME, false, "alias." E, "-", "alias." E, 1 },
	{ "an alias, asked for", "alias." E, DNS_TYPE_CNAME, ZONE_ANSWER, false, "alias." E, "-",
	  "alias." E, 1 },
	{ "an alias, ANY", "alias." E, DNS_TYPE_ANY, ZONE_ANSWER, false, "alias." E, "-",
	  "alias." E, 0 },
	{ "an alias, RRSIG stays", "alias." E, DNS_TYPE_RRSIG, ZONE_NODATA, false, "alias." E, "-",
	  "alias." E, 0 },
	{ "an empty non-terminal", "ent." E, DNS_TYPE_A, ZONE_NODATA, false, "ent." E, "-",
	  "ent." E, 0 },
	{ "an empty non-terminal, ANY", "b.ent." E, DNS_TYPE_ANY, ZONE_NODATA, false, "b.ent." E,
	  "-", "b.ent." E, 0 },
	{ "below an empty non-terminal", "c.ent." E, DNS_TYPE_A, ZONE_NXDOMAIN, false, "-", "-",
	  "ent." E, 0 },
	{ "a wildcard", "q.wild." E, DNS_TYPE_A, ZONE_ANSWER, true, "*.wild." E, "-", "wild." E,
	  1 },
	{ "a wildcard, two labels", "p.q.wild." E, DNS_TYPE_A, ZONE_ANSWER, true, "*.wild." E, "-",
	  "wild." E, 1 },
	{ "a wildcard without the type", "q.wild." E, DNS_TYPE_MX, ZONE_NODATA, true, "*.wild." E,
	  "-", "wild." E, 0 },
	{ "a wildcard, ANY", "q.wild." E, DNS_TYPE_ANY, ZONE_ANSWER, true, "*.wild." E, "-",
	  "wild." E, 0 },
	{ "the wildcard itself", "*.wild." E, DNS_TYPE_A, ZONE_ANSWER, false, "*.wild." E, "-",
	  "*.wild." E, 1 },
	{ "below the wildcard itself", "q.*.wild." E, DNS_TYPE_A, ZONE_NXDOMAIN, false, "-", "-",
	  "*.wild." E, 0 },
	{ "a name hides the wildcard", "host.wild." E, DNS_TYPE_TXT, ZONE_NODATA, false,
	  "host.wild." E, "-", "host.wild." E, 0 },
	{ "and below the name", "q.host.wild." E, DNS_TYPE_A, ZONE_NXDOMAIN, false, "-", "-",
	  "host.wild." E, 0 },
	{ "an empty non-terminal hides it", "below.wild." E, DNS_TYPE_A, ZONE_NODATA, false,
	  "below.wild." E, "-", "below.wild." E, 0 },
	{ "and below that", "q.below.wild." E, DNS_TYPE_A, ZONE_NXDOMAIN, false, "-", "-",
	  "below.wild." E, 0 },
	{ "a wildcard alias", "q.walias." E, DNS_TYPE_A, ZONE_CNAME, true, "*.walias." E, "-",
	  "walias." E, 1 },
	{ "at a cut", "sub." E, DNS_TYPE_A, ZONE_DELEGATION, false, "sub." E, "sub." E, "sub." E,
	  1 },
	{ "at a cut, NS", "sub." E, DNS_TYPE_NS, ZONE_DELEGATION, false, "sub." E, "sub." E,
	  "sub." E, 1 },
	{ "at a cut, ANY", "sub." E, DNS_TYPE_ANY, ZONE_DELEGATION, false, "sub." E, "sub." E,
	  "sub." E, 1 },
	{ "at a cut, DS is ours", "sub." E, DNS_TYPE_DS, ZONE_ANSWER, false, "sub." E, "-",
	  "sub." E, 1 },
	{ "at a cut without DS", "cut.entcut." E, DNS_TYPE_DS, ZONE_NODATA, false, "cut.entcut." E,
	  "-", "cut.entcut." E, 0 },
	{ "glue is no answer", "ns.sub." E, DNS_TYPE_A, ZONE_DELEGATION, false, "sub." E, "sub." E,
	  "sub." E, 1 },
	{ "below a cut", "x.y.sub." E, DNS_TYPE_A, ZONE_DELEGATION, false, "sub." E, "sub." E,
	  "sub." E, 1 },
	{ "below a cut, DS", "x.sub." E, DNS_TYPE_DS, ZONE_DELEGATION, false, "sub." E, "sub." E,
	  "sub." E, 1 },
	{ "the upper of two cuts", "x.deeper.sub." E, DNS_TYPE_A, ZONE_DELEGATION, false, "sub." E,
	  "sub." E, "sub." E, 1 },
	{ "above a cut, nothing", "entcut." E, DNS_TYPE_A, ZONE_NODATA, false, "entcut." E, "-",
	  "entcut." E, 0 },
	{ "at a DNAME", "dn." E, DNS_TYPE_A, ZONE_ANSWER, false, "dn." E, "-", "dn." E, 1 },
	{ "below a DNAME", "x.y.dn." E, DNS_TYPE_A, ZONE_DNAME, false, "dn." E, "-", "dn." E, 1 },
	{ "a wildcard cut", "q.wcut." E, DNS_TYPE_A, ZONE_DELEGATION, true, "*.wcut." E,
	  "*.wcut." E, "wcut." E, 1 },
	{ "an asterisk below an asterisk", "q.*.star." E, DNS_TYPE_A, ZONE_ANSWER, true,
	  "*.*.star." E, "-", "*.star." E, 1 },
	{ "the upper asterisk owns nothing", "q.star." E, DNS_TYPE_A, ZONE_NODATA, true,
	  "*.star." E, "-", "star." E, 0 },
};

static void finds(void **state)
{
	struct zone *z = zone_of("example.com", tricky);

	(void)state;
	for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
		const struct lookup *row = &lookups[i];
		char node[NAME_TEXT_MAX], cut[NAME_TEXT_MAX], encloser[NAME_TEXT_MAX];
		struct zone_result r;
		uint8_t qname[256];
		unsigned len = wire_of(qname, row->qname);

		print_message("  %s\n", row->name);
		zone_find(z, qname, len, row->qtype, &r);
		assert_int_equal(r.status, row->status);
		assert_int_equal(r.wildcard, row->wildcard);
		assert_string_equal(owner_text(z, r.node, node), row->node);
		assert_string_equal(owner_text(z, r.cut, cut), row->cut);
		assert_string_equal(owner_text(z, r.encloser, encloser), row->encloser);
		assert_int_equal(r.rrset ? r.rrset->n : 0, row->n);
	}
	zone_free(z);
}

struct address {
	const char *name, *target;
	uint16_t type;
	enum zone_place place;
	uint8_t last; /* octet of the address; 0: none */
};

static const struct address addresses[] = {
	{ "inside", "ns." E, DNS_TYPE_A, ZONE_PLACE_INSIDE, 1 },
	{ "inside, other type", "ns." E, DNS_TYPE_AAAA, ZONE_PLACE_INSIDE, 0 },
	{ "glue", "ns.sub." E, DNS_TYPE_A, ZONE_PLACE_GLUE, 6 },
	{ "glue at the cut", "sub." E, DNS_TYPE_A, ZONE_PLACE_GLUE, 7 },
	{ "glue below two cuts", "ns.deeper.sub." E, DNS_TYPE_A, ZONE_PLACE_GLUE, 9 },
	{ "no wildcard among glue", "x.sub." E, DNS_TYPE_A, ZONE_PLACE_GLUE, 0 },
	{ "a wildcard", "x.wild." E, DNS_TYPE_A, ZONE_PLACE_INSIDE, 3 },
	{ "nothing", "x.y." E, DNS_TYPE_A, ZONE_PLACE_INSIDE, 0 },
	{ "below a DNAME", "x.dn." E, DNS_TYPE_A, ZONE_PLACE_INSIDE, 0 },
	{ "another zone", "ns.elsewhere.net.", DNS_TYPE_A, ZONE_PLACE_OUTSIDE, 0 },
	{ "the root", ".", DNS_TYPE_A, ZONE_PLACE_OUTSIDE, 0 },
	{ "the parent", "com.", DNS_TYPE_A, ZONE_PLACE_OUTSIDE, 0 },
};

static void finds_addresses(void **state)
{
	struct zone *z = zone_of("example.com", tricky);

	(void)state;
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		const struct address *row = &addresses[i];
		const struct zone_rrset *rrset;
		struct zone_rdata rd = { 0 };
		enum zone_place place;
		uint8_t name[256];
		unsigned len = wire_of(name, row->target);

		print_message("  %s\n", row->name);
		rrset = zone_find_address(z, name, len, row->type, &place);
		assert_int_equal(place, row->place);
		assert_int_equal(rrset != NULL, row->last != 0);
		if (!rrset)
			continue;
		zone_rdata_next(zone_rrset_first(z, rrset), &rd);
		assert_int_equal(rd.len, 4);
		assert_int_equal(rd.bytes[3], row->last);
		assert_ptr_equal(zone_find_address(z, name, len, row->type, NULL), rrset);
	}
	zone_free(z);
}

static void tells_its_properties(void **state)
{
	struct zone *z = zone_of("Example.COM.", tricky);
	struct zone *deep = zone_of("a.b", "@ 30 IN SOA a b 9 1 1 1 60\n@ 30 IN NS a.\n"
					   "@ 30 IN DNSKEY 257 3 8 AQPJ\n");
	struct zone_rdata rd;
	uint8_t apex[256];
	unsigned len;

	(void)state;
	assert_memory_equal(zone_apex(z, &len), apex, wire_of(apex, "example.com"));
	assert_int_equal(len, 13);
	assert_int_equal(zone_serial(z), 7);
	assert_int_equal(zone_negative_ttl(z), 60);
	assert_int_equal(zone_negative_ttl(deep), 30);
	assert_false(zone_is_signed(z));
	assert_true(zone_is_signed(deep));
	assert_int_equal(zone_n_records(z), 25);
	assert_int_equal(zone_n_names(deep), 1);
	assert_true(zone_memory_bytes(z) > 25 * 4);
	assert_int_equal(zone_soa(z)->ttl, 1000);
	zone_rdata_next(zone_rrset_first(deep, zone_soa(deep)), &rd);
	assert_int_equal(rd.len, 7 + 7 + 20);
	zone_free(z);
	zone_free(deep);
}

static void stands_in_canonical_order(void **state)
{
	struct zone *z = zone_of("example.com", tricky);
	uint8_t before[ZONE_NAME_MAX], owner[ZONE_NAME_MAX], cut[256], folded[256];

	(void)state;
	wire_of(cut, "sub." E);
	zone_node_owner(z, zone_node_at(z, 0), before);
	for (size_t i = 1; i < zone_n_names(z); i++) {
		unsigned n = zone_node_owner(z, zone_node_at(z, i), owner);
		bool below;

		assert_true(name_canonical_cmp(before, owner) < 0);
		name_fold(folded, owner, n);
		below = name_is_under(owner, cut) && !name_equal(owner, cut);
		assert_int_equal(zone_node_is_occluded(z, zone_node_at(z, i)), below);
		memcpy(before, owner, sizeof(before));
	}
	zone_free(z);
}

static void orders_rrsets_and_rdata(void **state)
{
	struct zone *z = zone_of(
		"example.com", ZONE_HEAD
		"m IN TXT b\nm IN A 192.0.2.9\nm IN A 192.0.2.3\n"
		"m IN TXT a\nm IN RRSIG TXT 8 3 300 20300101000000 20200101000000 1 @ AAAA\n");
	struct zone_result r;
	struct zone_rdata rd;
	const struct zone_rrset *sets;
	const uint8_t *at;
	uint8_t name[256];
	unsigned n;

	(void)state;
	zone_find(z, name, wire_of(name, "m." E), DNS_TYPE_ANY, &r);
	sets = zone_node_rrsets(z, r.node, &n);
	assert_int_equal(n, 3);
	assert_int_equal(sets[0].type, DNS_TYPE_A);
	assert_int_equal(sets[1].type, DNS_TYPE_TXT);
	assert_int_equal(sets[2].type, DNS_TYPE_RRSIG);
	at = zone_rdata_next(zone_rrset_first(z, &sets[0]), &rd);
	assert_int_equal(rd.bytes[3], 3);
	zone_rdata_next(at, &rd);
	assert_int_equal(rd.bytes[3], 9);
	zone_rdata_next(zone_rrset_first(z, &sets[2]), &rd);
	assert_int_equal(zone_rrsig_covered(&rd), DNS_TYPE_TXT);
	zone_free(z);
}

static bool is_shared(const struct zone_rrset *const rrset[5])
{
	return rrset[0]->rdata == rrset[1]->rdata && rrset[2]->rdata == rrset[4]->rdata;
}

/* Equal rdata is stored once, whoever owns it; but where two have one place by chance. */
static void shares_rdata(void **state)
{
	const struct zone_rrset *rrset[5] = { NULL };
	struct zone *z = NULL;

	(void)state;
	for (unsigned n = 0; n < 4 && !(z && is_shared(rrset)); n++) {
		zone_free(z);
		z = zone_of("example.com",
			    ZONE_HEAD "a IN NS x.y.\na IN NS z.y.\nb IN NS z.y.\nb IN NS x.y.\n"
				      "c IN NS x.y.\nd IN NS X.y.\ne IN NS x.y.\n");
		for (size_t i = 0; i < 5; i++)
			rrset[i] = zone_node_rrset(z, zone_node_at(z, i + 1), DNS_TYPE_NS);
	}
	assert_int_equal(rrset[0]->n, 2);
	assert_int_equal(rrset[2]->n, 1);
	assert_int_equal(rrset[0]->rdata, rrset[1]->rdata);
	assert_int_equal(rrset[2]->rdata, rrset[4]->rdata);
	/* The file's case is kept. */
	assert_int_not_equal(rrset[2]->rdata, rrset[3]->rdata);
	zone_free(z);
}

struct digest_row {
	const char *name, *text;
	bool same;
};

#define BASE ZONE_HEAD "a IN A 192.0.2.2\na IN A 192.0.2.3\nb IN MX 5 mail\n"
static const struct digest_row digest_rows[] = {
	{ "the same", BASE, true },
	{ "another order, comments",
	  "$TTL 300\nb MX 5 mail ; x\n; y\na A 192.0.2.3\na 5m A 192.0.2.2\n"
	  "ns A 192.0.2.1\n@ NS ns\n@ SOA ns host ( 7 2 3\n4 60 )\n",
	  true },
	{ "another case", ZONE_HEAD "A IN A 192.0.2.2\na IN A 192.0.2.3\nB IN MX 5 MAIL\n", true },
	{ "a duplicate more", BASE "b IN MX 5 MaiL\n", true },
	{ "a record more", BASE "b IN MX 6 mail\n", false },
	{ "a record less", ZONE_HEAD "a IN A 192.0.2.2\na IN A 192.0.2.3\n", false },
	{ "another TTL", ZONE_HEAD "a IN A 192.0.2.2\na IN A 192.0.2.3\nb 299 IN MX 5 mail\n",
	  false },
	{ "another owner", ZONE_HEAD "a IN A 192.0.2.2\na IN A 192.0.2.3\nc IN MX 5 mail\n",
	  false },
	{ "another octet", ZONE_HEAD "a IN A 192.0.2.2\na IN A 192.0.2.4\nb IN MX 5 mail\n",
	  false },
	{ "another type", ZONE_HEAD "a IN A 192.0.2.2\na IN A 192.0.2.3\nb IN AFSDB 5 mail\n",
	  false },
	{ "swapped owners", ZONE_HEAD "b IN A 192.0.2.2\nb IN A 192.0.2.3\na IN MX 5 mail\n",
	  false },
};

static void digests_content(void **state)
{
	uint8_t want[ZONE_DIGEST_LEN], got[ZONE_DIGEST_LEN];
	struct zone *z = zone_of("example.com", BASE);

	(void)state;
	zone_digest(z, want);
	zone_free(z);
	for (size_t i = 0; i < sizeof(digest_rows) / sizeof(digest_rows[0]); i++) {
		print_message("  %s\n", digest_rows[i].name);
		z = zone_of("example.com", digest_rows[i].text);
		zone_digest(z, got);
		assert_int_equal(memcmp(want, got, sizeof(want)) == 0, digest_rows[i].same);
		zone_free(z);
	}
}

static void serves_the_root(void **state)
{
	struct zone *z = zone_of(
		".", "$TTL 9\n@ SOA a b 1 2 3 4 5\n@ NS a\na A 192.0.2.1\ncom NS ns.com\nns.com A "
		     "192.0.2.2\n");
	struct zone_result r;
	uint8_t name[256];

	(void)state;
	zone_find(z, name, wire_of(name, "."), DNS_TYPE_NS, &r);
	assert_int_equal(r.status, ZONE_ANSWER);
	zone_find(z, name, wire_of(name, "www.example.com."), DNS_TYPE_A, &r);
	assert_int_equal(r.status, ZONE_DELEGATION);
	zone_find(z, name, wire_of(name, "org."), DNS_TYPE_A, &r);
	assert_int_equal(r.status, ZONE_NXDOMAIN);
	zone_free(z);
	zone_free(NULL);
}

/* 180 KiB of one RRset: the digest sees each of its records. */
static char *long_rrset(unsigned changed)
{
	size_t bytes;
	char *text;
	FILE *f = open_memstream(&text, &bytes);

	assert_non_null(f);
	fputs(ZONE_HEAD, f);
	for (unsigned i = 0; i < 700; i++)
		fprintf(f, "long TXT \"%0250u%s\"\n", i, i == changed ? "x" : "");
	fclose(f);
	return text;
}

static void digests_long_rrsets(void **state)
{
	static const unsigned changed[] = { 0, 300, 699 };
	uint8_t want[ZONE_DIGEST_LEN], got[ZONE_DIGEST_LEN];
	char *text = long_rrset(700);
	struct zone *z = zone_of("example.com", text);

	(void)state;
	zone_digest(z, want);
	zone_free(z);
	free(text);
	for (size_t i = 0; i < sizeof(changed) / sizeof(changed[0]); i++) {
		text = long_rrset(changed[i]);
		z = zone_of("example.com", text);
		zone_digest(z, got);
		assert_memory_not_equal(want, got, sizeof(want));
		zone_free(z);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds),
		cmocka_unit_test(finds_addresses),
		cmocka_unit_test(tells_its_properties),
		cmocka_unit_test(stands_in_canonical_order),
		cmocka_unit_test(orders_rrsets_and_rdata),
		cmocka_unit_test(shares_rdata),
		cmocka_unit_test(digests_content),
		cmocka_unit_test(digests_long_rrsets),
		cmocka_unit_test(serves_the_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
