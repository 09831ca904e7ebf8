/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RFC 2136, rule by rule: how a message changes a zone, or the rcode with which it is refused. Each
 * row is a list of lines: "need", "deny" and "same" are prerequisites, "add", "del" and "clear" are
 * changes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/xfr/made.h"
#include "tests/unit/zone/zone_text.h"

#include "xfr/update.h"
#include "zone/rdtext.h"

#define LINES_MAX 12

#define ZONE                                                                                \
	"@ 60 SOA ns host 7 60 120 180 240\n@ 60 NS ns\n@ 60 NS ns2\n@ 60 MX 1 mail\n"      \
	"ns 60 A 192.0.2.1\nns2 60 A 192.0.2.2\nmail 60 A 192.0.2.3\nmail 60 A 192.0.2.4\n" \
	"www 60 CNAME mail\na.ent 60 TXT \"x\"\nsub 60 NS ns.sub\nns.sub 60 A 192.0.2.9\n"  \
	"dn 60 DNAME other.\nTeXt 60 TXT \"a\"\n"

/* ---- Messages from lines --------------------------------------------------------------------- */

struct line {
	char verb[8], owner[64], type[16], rest[256];
	unsigned ttl;
};

static uint16_t type_of(const char *text)
{
	int type = proto_type_from_text(text, strlen(text));

	assert_true(type >= 0);
	return (uint16_t)type;
}

/* Makes a name absolute: "@" is the zone, and a name without a dot at its end is in the zone. */
static const char *absolute(char dst[80], const char *name)
{
	size_t n = strlen(name);

	if (!strcmp(name, "@"))
		return "z";
	snprintf(dst, 80, name[n - 1] == '.' ? "%s" : "%s.z", name);
	return dst;
}

static void make_line(struct made *m, const char *text)
{
	static const struct {
		const char *verb;
		unsigned count_at;
		uint16_t class;
	} verbs[] = {
		{ "need", DNS_ANCOUNT_AT, DNS_CLASS_ANY },
		{ "deny", DNS_ANCOUNT_AT, DNS_CLASS_NONE },
		{ "same", DNS_ANCOUNT_AT, DNS_CLASS_IN },
		{ "add", DNS_NSCOUNT_AT, DNS_CLASS_IN },
		{ "del", DNS_NSCOUNT_AT, DNS_CLASS_NONE },
		{ "clear", DNS_NSCOUNT_AT, DNS_CLASS_ANY },
	};
	struct rdtext rd;
	struct line l = { 0 };
	char owner[80];

	rdtext_init(&rd);
	assert_int_equal(rdtext_set_origin(&rd, (const uint8_t *)"\1z"), 0);
	assert_true(sscanf(text, "%7s %63s %u %15s %255[^\n]", l.verb, l.owner, &l.ttl, l.type,
			   l.rest) >= 4);
	if (l.rest[0] && rdtext_parse(&rd, type_of(l.type), l.rest))
		fail_msg("%s: %s", text, rd.why);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].verb, l.verb))
			made_record(m, verbs[i].count_at, absolute(owner, l.owner), type_of(l.type),
				    verbs[i].class, l.ttl, rd.rdata, l.rest[0] ? rd.len : 0);
	rdtext_fini(&rd);
}

/* The records of the sections have to stand in their order: prerequisites come first. */
static void make_update(struct made *m, const char *const *lines)
{
	made_begin(m, 5, DNS_OPCODE_UPDATE << DNS_OPCODE_SHIFT, "z", DNS_TYPE_SOA, DNS_CLASS_IN);
	for (unsigned i = 0; i < LINES_MAX && lines[i]; i++)
		make_line(m, lines[i]);
}

/* ---- Results --------------------------------------------------------------------------------- */

static enum dns_rcode apply(const struct made *m, struct zone *from, struct zone **to,
			    const struct update_options *options, bool *changed)
{
	struct zone_edit *edit;
	struct zone_error err;
	enum dns_rcode rcode;
	struct update u;
	/* an allocation of exactly this length, so that the sanitizer sees reads behind it */
	uint8_t *copy = malloc(m->n);

	assert_non_null(copy);
	memcpy(copy, m->bytes, m->n);
	*to = NULL;
	rcode = update_open(&u, copy, m->n);
	if (rcode == DNS_RCODE_NOERROR) {
		assert_int_equal(zone_edit_begin(&edit, from), 0);
		rcode = update_apply(&u, edit, options, changed);
		if (rcode != DNS_RCODE_NOERROR)
			zone_edit_cancel(edit);
		else if (zone_edit_finish(edit, to, NULL, &err))
			fail_msg("%s", err.sentence);
	}
	free(copy);
	return rcode;
}

static void assert_content(const char *name, const struct zone *got, const char *text)
{
	uint8_t a[ZONE_DIGEST_LEN], b[ZONE_DIGEST_LEN];
	struct zone *wanted = zone_of("z", text);

	zone_digest(got, a);
	zone_digest(wanted, b);
	if (memcmp(a, b, sizeof(a)))
		fail_msg("%s: the zone has %zu records, serial %u, or others than it should have "
			 "(%zu)",
			 name, zone_n_records(got), zone_serial(got), zone_n_records(wanted));
	zone_free(wanted);
}

/* The zone's text with one line of it replaced ("" removes it), and lines added. */
struct row {
	const char *name;
	const char *lines[LINES_MAX];
	enum dns_rcode rcode;
	const char *removed[4];
	/* NULL and nothing removed: nothing changes, not even the serial number */
	const char *added;
};

#define SOA7 "@ 60 SOA ns host 7 60 120 180 240\n"
#define SOA8 "@ 60 SOA ns host 8 60 120 180 240\n"

static const struct row rows[] = {
	/* Section 2.4, 3.2: prerequisites. */
	{ "name in use",
	  { "need ns 0 ANY", "add new 60 A 192.0.2.7" },
	  0,
	  { SOA7 },
	  SOA8 "new 60 A 192.0.2.7\n" },
	{ "name not there",
	  { "need nix 0 ANY", "add new 60 A 192.0.2.7" },
	  DNS_RCODE_NXDOMAIN,
	  { 0 },
	  0 },
	{ "empty non-terminal is not in use", { "need ent 0 ANY" }, DNS_RCODE_NXDOMAIN, { 0 }, 0 },
	{ "name not in use", { "deny nix 0 ANY" }, 0, { 0 }, 0 },
	{ "name in use though denied", { "deny NS 0 ANY" }, DNS_RCODE_YXDOMAIN, { 0 }, 0 },
	{ "RRset there", { "need ns 0 A" }, 0, { 0 }, 0 },
	{ "RRset not there", { "need ns 0 AAAA" }, DNS_RCODE_NXRRSET, { 0 }, 0 },
	{ "RRset of no name", { "need nix 0 AAAA" }, DNS_RCODE_NXRRSET, { 0 }, 0 },
	{ "RRset denied", { "deny ns 0 A" }, DNS_RCODE_YXRRSET, { 0 }, 0 },
	{ "RRset denied, not there", { "deny ns 0 AAAA", "deny nix 0 A" }, 0, { 0 }, 0 },
	{ "same RRset",
	  { "same mail 0 A 192.0.2.4", "same MAIL 0 A 192.0.2.3", "same www 0 CNAME MAIL" },
	  0,
	  { 0 },
	  0 },
	{ "same RRset, one twice",
	  { "same mail 0 A 192.0.2.4", "same mail 0 A 192.0.2.3", "same mail 0 A 192.0.2.4" },
	  0,
	  { 0 },
	  0 },
	{ "too few of it", { "same mail 0 A 192.0.2.4" }, DNS_RCODE_NXRRSET, { 0 }, 0 },
	{ "the same one twice",
	  { "same mail 0 A 192.0.2.4", "same mail 0 A 192.0.2.4" },
	  DNS_RCODE_NXRRSET,
	  { 0 },
	  0 },
	{ "too many of it",
	  { "same ns 0 A 192.0.2.1", "same ns 0 A 192.0.2.2" },
	  DNS_RCODE_NXRRSET,
	  { 0 },
	  0 },
	{ "another record", { "same ns 0 A 192.0.2.2" }, DNS_RCODE_NXRRSET, { 0 }, 0 },
	{ "below a cut", { "need ns.sub 0 A" }, 0, { 0 }, 0 },
	/* 3.4.2.2: adding. */
	{ "add is there", { "add ns 60 A 192.0.2.1" }, 0, { 0 }, 0 },
	{ "add sets the TTL of all",
	  { "add mail 30 A 192.0.2.5" },
	  0,
	  { SOA7, "mail 60 A 192.0.2.3\nmail 60 A 192.0.2.4\n" },
	  SOA8 "mail 30 A 192.0.2.3\nmail 30 A 192.0.2.4\nmail 30 A 192.0.2.5\n" },
	{ "TTL only",
	  { "add ns 61 A 192.0.2.1" },
	  0,
	  { SOA7, "ns 60 A 192.0.2.1\n" },
	  SOA8 "ns 61 A 192.0.2.1\n" },
	{ "TTL with its top bit",
	  { "add new 2147483649 A 192.0.2.1" },
	  0,
	  { SOA7 },
	  SOA8 "new 0 A 192.0.2.1\n" },
	{ "CNAME beside data", { "add mail 60 CNAME ns" }, 0, { 0 }, 0 },
	{ "data beside CNAME", { "add www 60 A 192.0.2.1" }, 0, { 0 }, 0 },
	{ "CNAME for CNAME",
	  { "add www 60 CNAME ns" },
	  0,
	  { SOA7, "www 60 CNAME mail\n" },
	  SOA8 "www 60 CNAME ns\n" },
	{ "CNAME at an empty non-terminal",
	  { "add ent 60 CNAME ns" },
	  0,
	  { SOA7 },
	  SOA8 "ent 60 CNAME ns\n" },
	{ "CNAME in place of data",
	  { "clear mail 0 A", "add mail 60 CNAME ns" },
	  0,
	  { SOA7, "mail 60 A 192.0.2.3\nmail 60 A 192.0.2.4\n" },
	  SOA8 "mail 60 CNAME ns\n" },
	{ "DNAME for DNAME",
	  { "add dn 60 DNAME another." },
	  0,
	  { SOA7, "dn 60 DNAME other.\n" },
	  SOA8 "dn 60 DNAME another.\n" },
	{ "newer SOA",
	  { "add @ 61 SOA ns host 100 1 2 3 4" },
	  0,
	  { SOA7 },
	  "@ 61 SOA ns host 100 1 2 3 4\n" },
	{ "newer SOA and more",
	  { "add new 60 A 192.0.2.7", "add @ 60 SOA ns host 9 1 2 3 4" },
	  0,
	  { SOA7 },
	  "@ 60 SOA ns host 9 1 2 3 4\nnew 60 A 192.0.2.7\n" },
	{ "same SOA serial", { "add @ 60 SOA ns host 7 1 2 3 4" }, 0, { 0 }, 0 },
	{ "older SOA, the rest holds",
	  { "add @ 60 SOA ns host 6 1 2 3 4", "add new 60 A 192.0.2.7" },
	  0,
	  { SOA7 },
	  SOA8 "new 60 A 192.0.2.7\n" },
	{ "SOA 2^31 away", { "add @ 60 SOA ns host 2147483655 1 2 3 4" }, 0, { 0 }, 0 },
	{ "SOA in two steps",
	  { "add @ 60 SOA ns host 200 1 2 3 4", "add @ 60 SOA ns host 2147483668 1 2 3 4" },
	  0,
	  { SOA7 },
	  "@ 60 SOA ns host 200 1 2 3 4\n" },
	{ "SOA off the apex", { "add www.x 60 SOA ns host 100 1 2 3 4" }, 0, { 0 }, 0 },
	{ "unknown type",
	  { "add new 60 TYPE65280 \\# 3 aabbcc" },
	  0,
	  { SOA7 },
	  SOA8 "new 60 TYPE65280 \\# 3 aabbcc\n" },
	{ "WKS with its key",
	  { "add w 60 WKS 192.0.2.1 6 25", "add w 60 WKS 192.0.2.1 6 53",
	    "add w 60 WKS 192.0.2.1 17 53" },
	  0,
	  { SOA7 },
	  SOA8 "w 60 WKS 192.0.2.1 6 53\nw 60 WKS 192.0.2.1 17 53\n" },
	/* 3.4.2.3: removing sets. */
	{ "RRset",
	  { "clear mail 0 A" },
	  0,
	  { SOA7, "mail 60 A 192.0.2.3\nmail 60 A 192.0.2.4\n" },
	  SOA8 },
	{ "RRset that is not there", { "clear mail 0 AAAA", "clear nix 0 A" }, 0, { 0 }, 0 },
	{ "name",
	  { "add mail 60 TXT y", "clear mail 0 ANY" },
	  0,
	  { SOA7, "mail 60 A 192.0.2.3\nmail 60 A 192.0.2.4\n" },
	  SOA8 },
	{ "name that is not there", { "clear nix 0 ANY" }, 0, { 0 }, 0 },
	{ "all of the apex keeps SOA and NS",
	  { "add @ 60 TXT x", "clear @ 0 ANY" },
	  0,
	  { SOA7, "@ 60 MX 1 mail\n" },
	  SOA8 },
	{ "SOA and NS of the apex", { "clear @ 0 SOA", "clear @ 0 NS" }, 0, { 0 }, 0 },
	{ "NS below the apex", { "clear sub 0 NS" }, 0, { SOA7, "sub 60 NS ns.sub\n" }, SOA8 },
	/* 3.4.2.4: removing records. */
	{ "record", { "del MAIL 0 A 192.0.2.3" }, 0, { SOA7, "mail 60 A 192.0.2.3\n" }, SOA8 },
	{ "record in another case",
	  { "del WWW 0 CNAME MAIL" },
	  0,
	  { SOA7, "www 60 CNAME mail\n" },
	  SOA8 },
	{ "record that is not there",
	  { "del mail 0 A 192.0.2.7", "del nix 0 A 192.0.2.7" },
	  0,
	  { 0 },
	  0 },
	{ "SOA stays", { "del @ 0 SOA ns host 7 60 120 180 240" }, 0, { 0 }, 0 },
	{ "one NS of two", { "del @ 0 NS ns" }, 0, { SOA7, "@ 60 NS ns\n" }, SOA8 },
	{ "the last NS stays",
	  { "del @ 0 NS ns", "del @ 0 NS ns2" },
	  0,
	  { SOA7, "@ 60 NS ns\n" },
	  SOA8 },
	{ "NS replaced",
	  { "del @ 0 NS ns", "add @ 60 NS ns3", "del @ 0 NS ns2" },
	  0,
	  { SOA7, "@ 60 NS ns\n@ 60 NS ns2\n" },
	  SOA8 "@ 60 NS ns3\n" },
	{ "in order",
	  { "del new 0 A 192.0.2.7", "add new 60 A 192.0.2.7", "add new 60 A 192.0.2.8",
	    "del new 0 A 192.0.2.8" },
	  0,
	  { SOA7 },
	  SOA8 "new 60 A 192.0.2.7\n" },
	/* An empty update. */
	{ "nothing at all", { 0 }, 0, { 0 }, 0 },
	/* 2.4, 3.4.1: malformed. */
	{ "prerequisite outside", { "need x. 0 ANY" }, DNS_RCODE_NOTZONE, { 0 }, 0 },
	{ "change outside",
	  { "add new 60 A 192.0.2.7", "add x. 60 A 192.0.2.1" },
	  DNS_RCODE_NOTZONE,
	  { 0 },
	  0 },
	{ "prerequisite with a TTL", { "need ns 1 ANY" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "prerequisite ANY with data", { "need ns 0 A 192.0.2.1" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "prerequisite NONE with data", { "deny ns 0 A 192.0.2.1" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "prerequisite without its data", { "same ns 0 A" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "prerequisite of all types", { "same ns 0 ANY" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "prerequisite AXFR", { "need ns 0 AXFR" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "add ANY", { "add ns 60 ANY" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "add OPT", { "add ns 60 OPT" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "add without data", { "add ns 60 A" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "clear with a TTL", { "clear ns 1 A" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "clear with data", { "clear ns 0 A 192.0.2.1" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "clear MAILB", { "clear ns 0 MAILB" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "del with a TTL", { "del ns 1 A 192.0.2.1" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "del ANY", { "del ns 0 ANY" }, DNS_RCODE_FORMERR, { 0 }, 0 },
	{ "del without data", { "del ns 0 A" }, DNS_RCODE_FORMERR, { 0 }, 0 },
};

/* Writes the zone that the row expects. */
static void expect(char dst[4096], const struct row *row)
{
	snprintf(dst, 4096, "%s", ZONE);
	for (unsigned i = 0; i < 4 && row->removed[i]; i++) {
		char *at = strstr(dst, row->removed[i]);
		size_t n = strlen(row->removed[i]);

		if (!at)
			fail_msg("%s: no line %s", row->name, row->removed[i]);
		else
			memmove(at, at + n, strlen(at + n) + 1);
	}
	if (row->added)
		strcat(dst, row->added);
}

static void test_rows(void **state)
{
	const struct update_options options = { UPDATE_SERIAL_INCREMENT, 1000, false };
	struct zone *z = zone_of("z", ZONE);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct made m;
		struct zone *to;
		char text[4096];
		enum dns_rcode rcode;
		bool changed = false;

		make_update(&m, row->lines);
		rcode = apply(&m, z, &to, &options, &changed);
		if (rcode != row->rcode)
			fail_msg("%s: rcode %d, not %d", row->name, rcode, row->rcode);
		if (rcode != DNS_RCODE_NOERROR)
			continue;
		if (changed != (row->removed[0] != NULL))
			fail_msg("%s: changed: %d", row->name, changed);
		expect(text, row);
		assert_content(row->name, to, text);
		zone_free(to);
	}
	zone_free(z);
}

static void test_serials(void **state)
{
	static const struct {
		const char *soa;
		enum update_serial how;
		uint64_t now_s;
		uint32_t serial;
	} cases[] = {
		{ "7", UPDATE_SERIAL_INCREMENT, 1000, 8 },
		{ "4294967295", UPDATE_SERIAL_INCREMENT, 1000, 1 },
		{ "2147483647", UPDATE_SERIAL_INCREMENT, 1000, 2147483648u },
		{ "7", UPDATE_SERIAL_UNIXTIME, 1000, 1000 },
		{ "1000", UPDATE_SERIAL_UNIXTIME, 1000, 1001 },
		{ "1001", UPDATE_SERIAL_UNIXTIME, 1000, 1002 },
		{ "7", UPDATE_SERIAL_KEEP, 1000, 7 },
	};
	static const char *const lines[LINES_MAX] = { "add new 60 A 192.0.2.7" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct update_options options = { cases[i].how, cases[i].now_s, false };
		char text[512];
		struct zone *z, *to;
		struct made m;
		bool changed;

		snprintf(text, sizeof(text),
			 "@ 60 SOA ns host %s 1 2 3 4\n@ 60 NS ns\nns 60 A 192.0.2.1\n",
			 cases[i].soa);
		z = zone_of("z", text);
		make_update(&m, lines);
		assert_int_equal(apply(&m, z, &to, &options, &changed), 0);
		assert_int_equal(zone_serial(to), cases[i].serial);
		zone_free(to);
		zone_free(z);
	}
}

/* In a zone that we sign, updates cannot change the signer's records, and the keys stay. */
static void test_signed_here(void **state)
{
	static const char *const refused[][LINES_MAX] = {
		{ "clear ns 0 RRSIG" },
		{ "clear ns 0 NSEC" },
		{ "add @ 0 NSEC3PARAM 1 0 0 -" },
		{ "add ns 60 NSEC z. A" },
		{ "add new 60 A 192.0.2.1", "clear @ 0 NSEC3PARAM" },
		{ "add @ 60 DNSKEY 257 3 13 bbbb" },
		{ "add @ 60 CDS 1 13 2 01" },
		{ "clear @ 0 DNSKEY" },
	};
	static const char *const kept[LINES_MAX] = { "clear @ 0 ANY" };
	static const char keys[] = ZONE "@ 60 DNSKEY 257 3 13 aaaa\n@ 60 CDS 1 13 2 00\n";
	struct update_options options = { UPDATE_SERIAL_KEEP, 1000, true };
	struct zone *z = zone_of("z", keys), *to;
	struct made m;
	bool changed;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		make_update(&m, refused[i]);
		assert_int_equal(apply(&m, z, &to, &options, &changed), DNS_RCODE_REFUSED);
	}
	make_update(&m, kept);
	assert_int_equal(apply(&m, z, &to, &options, &changed), 0);
	assert_int_equal(zone_n_records(to), zone_n_records(z) - 1);
	zone_free(to);
	options.is_signed_here = false;
	assert_int_equal(apply(&m, z, &to, &options, &changed), 0);
	assert_int_equal(zone_n_records(to), zone_n_records(z) - 3);
	zone_free(to);
	zone_free(z);
}

/* Wrong headers and zone sections, and messages cut at each length. */
static void test_messages(void **state)
{
	static const char *const lines[LINES_MAX] = { "same ns 0 A 192.0.2.1",
						      "add new 60 MX 1 ns" };
	struct made m;
	struct update u;

	(void)state;
	make_update(&m, lines);
	assert_int_equal(update_open(&u, m.bytes, m.n), 0);
	assert_int_equal(u.id, 5);
	assert_true(name_equal(u.zone, (const uint8_t *)"\1Z"));
	assert_int_equal(u.n_prerequisites, 1);
	assert_int_equal(u.n_updates, 1);
	for (size_t n = 0; n < m.n; n++) {
		uint8_t *copy = malloc(n + 1);

		assert_non_null(copy);
		memcpy(copy, m.bytes, n);
		assert_int_equal(update_open(&u, copy, n), DNS_RCODE_FORMERR);
		free(copy);
	}
	m.bytes[2] |= 0x80;
	assert_int_equal(update_open(&u, m.bytes, m.n), DNS_RCODE_FORMERR);
	m.bytes[2] = DNS_OPCODE_NOTIFY << 3;
	assert_int_equal(update_open(&u, m.bytes, m.n), DNS_RCODE_NOTIMP);
	made_begin(&m, 5, DNS_OPCODE_UPDATE << DNS_OPCODE_SHIFT, "z", DNS_TYPE_SOA, DNS_CLASS_CH);
	assert_int_equal(update_open(&u, m.bytes, m.n), DNS_RCODE_NOTAUTH);
	made_begin(&m, 5, DNS_OPCODE_UPDATE << DNS_OPCODE_SHIFT, "z", DNS_TYPE_ANY, DNS_CLASS_IN);
	assert_int_equal(update_open(&u, m.bytes, m.n), DNS_RCODE_FORMERR);
	made_begin(&m, 5, DNS_OPCODE_UPDATE << DNS_OPCODE_SHIFT, NULL, 0, 0);
	assert_int_equal(update_open(&u, m.bytes, m.n), DNS_RCODE_FORMERR);
	made_begin(&m, 5, DNS_OPCODE_UPDATE << DNS_OPCODE_SHIFT, "z", DNS_TYPE_SOA, DNS_CLASS_IN);
	made_record(&m, DNS_NSCOUNT_AT, "a.z", DNS_TYPE_A, DNS_CLASS_CH, 0, "abcd", 4);
	assert_int_equal(update_open(&u, m.bytes, m.n), DNS_RCODE_FORMERR);
	made_begin(&m, 5, DNS_OPCODE_UPDATE << DNS_OPCODE_SHIFT, "z", DNS_TYPE_SOA, DNS_CLASS_IN);
	made_record(&m, DNS_ANCOUNT_AT, "a.z", DNS_TYPE_A, DNS_CLASS_CH, 0, "abcd", 4);
	assert_int_equal(update_open(&u, m.bytes, m.n), DNS_RCODE_FORMERR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_serials),
		cmocka_unit_test(test_signed_here),
		cmocka_unit_test(test_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
