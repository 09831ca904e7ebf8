/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Master files: what each construct means, what is refused and where, and the sample zones.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/lib/zonenode.h"
#include "zone_text.h"

#define BAD "tests/data/zones/bad"

/* One record of a zone, written out: owner, TTL, type and rdata in hex. */
struct good {
	const char *name, *text;
	const char *owner;
	uint32_t ttl;
	uint16_t type;
	const char *hex; /* NULL: no such RRset */
};

#define E "example.com."
static const struct good goods[] = {
	{ "relative owner", "a IN A 192.0.2.2\n", "a." E, 300, 1, "0004c0000202" },
	{ "absolute owner", "a.example.com. IN A 192.0.2.2\n", "a." E, 300, 1, "0004c0000202" },
	{ "@ is the origin", "@ IN A 192.0.2.2\n", E, 300, 1, "0004c0000202" },
	{ "owner of the record before", "a IN TXT x\n  IN A 192.0.2.2\n", "a." E, 300, 1,
	  "0004c0000202" },
	{ "a blank line changes no owner", "a IN TXT x\n\n \t \n; c\n\tIN A 192.0.2.2\n", "a." E,
	  300, 1, "0004c0000202" },
	{ "no class", "a A 192.0.2.2\n", "a." E, 300, 1, "0004c0000202" },
	{ "TTL before class", "a 5 IN A 192.0.2.2\n", "a." E, 5, 1, "0004c0000202" },
	{ "class before TTL", "a IN 5 A 192.0.2.2\n", "a." E, 5, 1, "0004c0000202" },
	{ "TTL in units", "a 1w2d3h4m5s A 192.0.2.2\n", "a." E, 788645, 1, "0004c0000202" },
	{ "largest TTL", "a 2147483647 A 192.0.2.2\n", "a." E, 2147483647, 1, "0004c0000202" },
	{ "class as a number", "a CLASS1 A 192.0.2.2\n", "a." E, 300, 1, "0004c0000202" },
	{ "words in any case", "a in a 192.0.2.2\n", "a." E, 300, 1, "0004c0000202" },
	{ "$TTL wins over the last TTL", "b 5 A 192.0.2.2\na A 192.0.2.2\n", "a." E, 300, 1,
	  "0004c0000202" },
	{ "$TTL from here on", "$TTL 1m\na A 192.0.2.2\n", "a." E, 60, 1, "0004c0000202" },
	{ "$ORIGIN absolute", "$ORIGIN b.example.com.\na A 192.0.2.2\n", "a.b." E, 300, 1,
	  "0004c0000202" },
	{ "$ORIGIN relative, twice", "$ORIGIN b\n$ORIGIN c\na A 192.0.2.2\n", "a.c.b." E, 300, 1,
	  "0004c0000202" },
	{ "$ORIGIN outside, owner inside", "$ORIGIN com.\na.example A 192.0.2.2\n", "a." E, 300, 1,
	  "0004c0000202" },
	{ "$ORIGIN is the root", "$ORIGIN .\na.example.com MX 1 b\n", "a." E, 300, 15,
	  "00050001016200" },
	{ "origin in rdata", "$ORIGIN b\na MX 1 @\n", "a.b." E, 300, 15,
	  "001100010162076578616d706c6503636f6d00" },
	{ "parentheses over lines", "a ( IN ; c )\n 5\n  A\n192.0.2.2 ) ; d\n", "a." E, 5, 1,
	  "0004c0000202" },
	{ "parenthesis without blanks", "a TXT (x)\n", "a." E, 300, 16, "00020178" },
	{ "parentheses in quotes", "a TXT \"(;\"\n", "a." E, 300, 16, "000302283b" },
	{ "escapes in text", "a TXT \"\\\"\\065\\\\\" \\;\n", "a." E, 300, 16, "00060322415c013b" },
	{ "strings side by side", "a TXT \"x\" y\n", "a." E, 300, 16, "000401780179" },
	{ "empty string", "a TXT \"\"\n", "a." E, 300, 16, "000100" },
	{ "escaped dot in an owner", "a\\.b A 192.0.2.2\n", "a\\.b." E, 300, 1, "0004c0000202" },
	{ "escaped last dot is relative", "a\\. A 192.0.2.2\n", "a\\.." E, 300, 1, "0004c0000202" },
	{ "decimal escape in an owner", "a\\032b A 192.0.2.2\n", "a\\032b." E, 300, 1,
	  "0004c0000202" },
	{ "escaped @ is a label", "\\@ A 192.0.2.2\n", "\\@." E, 300, 1, "0004c0000202" },
	{ "escaped @ in a name of rdata", "a CNAME \\@.b.\n", "a." E, 300, 5, "00050140016200" },
	{ "escaped backslash before @", "a TXT \"\\\\@\"\n", "a." E, 300, 16, "0003025c40" },
	{ "IPSECKEY with its key in two pieces", "a IPSECKEY ( 10 1 2 192.0.2.1\n AQID BAUG )\n",
	  "a." E, 300, 45, "000d0a0102c0000201010203040506" },
	{ "carriage returns", "a A 192.0.2.2\r\n", "a." E, 300, 1, "0004c0000202" },
	{ "no line end at the end", "a A 192.0.2.2", "a." E, 300, 1, "0004c0000202" },
	{ "unknown type", "a TYPE65280 \\# 4 0A000001\n", "a." E, 300, 65280, "00040a000001" },
	{ "unknown type, hex in parts", "a TYPE65280 \\# 4 ( 0A0 00\n001 )\n", "a." E, 300, 65280,
	  "00040a000001" },
	{ "unknown type, empty", "a TYPE65280 \\# 0\n", "a." E, 300, 65280, "0000" },
	{ "known type by number", "a TYPE1 192.0.2.2\n", "a." E, 300, 1, "0004c0000202" },
	{ "known type in generic form", "a A \\# 4 C0000202\n", "a." E, 300, 1, "0004c0000202" },
	{ "HTTPS", "a HTTPS 1 . alpn=h2\n", "a." E, 300, 65,
	  "000a0001000001000302"
	  "6832" },
	{ "the lowest TTL of a set", "a 90 TXT x\na 80 TXT x\na 99 TXT x\n", "a." E, 80, 16,
	  "00020178" },
	{ "duplicates go", "a A 192.0.2.2\nA A 192.0.2.2\n", "a." E, 300, 1, "0004c0000202" },
	{ "canonical order", "a MX 2 b.\na MX 1 c.\n", "a." E, 300, 15,
	  "0005000101630000050002016200" },
	{ "a type that is not there", "a A 192.0.2.2\n", "a." E, 300, 16, NULL },
	{ "$GENERATE", "$GENERATE 1-3 h$ A 192.0.2.$\n", "h3." E, 300, 1, "0004c0000203" },
	{ "$GENERATE, its first", "$GENERATE 1-3 h$ A 192.0.2.$\n", "h1." E, 300, 1,
	  "0004c0000201" },
	{ "$GENERATE, in steps", "$GENERATE 0-4/2 h$ 60 IN A 192.0.2.$ ; c\n", "h4." E, 60, 1,
	  "0004c0000204" },
	{ "$GENERATE, offset, width and base", "$GENERATE 7-7 h${3,3,x} MX ${1} m${-7,2,d}\n",
	  "h00a." E, 300, 15, "00130008036d3030076578616d706c6503636f6d00" },
	{ "$GENERATE, nibbles of one octet", "$GENERATE 171-171 ${0,3,n} A 192.0.2.1\n", "b.a." E,
	  300, 1, "0004c0000201" },
	{ "$GENERATE, dollar signs", "$GENERATE 1-1 h TXT \"$$ \\$ $\"\n", "h." E, 300, 16,
	  "0006052420242031" },
	{ "a comment behind quotes", "@ 300 CAA 0 issue \"letsencrypt.org\" ; comment\n", E, 300,
	  257, "0016000569737375656c657473656e63727970742e6f7267" },
	{ "a blank behind quotes", "a HINFO \"x\" \"y\" \n", "a." E, 300, 13, "000401780179" },
	{ "a parenthesis behind quotes", "a URI ( 1 1\n \"x\" )\n", "a." E, 300, 256,
	  "00050001000178" },
	{ "a tab and a comment behind LOC", "a LOC 1 N 2 E 3\t; c\n", "a." E, 300, 29,
	  "001000121613"
	  "8036ee80"
	  "806ddd00"
	  "009897ac" },
	{ "a TTL from 2^31 up is 0", "a 2147483648 A 192.0.2.2\n", "a." E, 0, 1, "0004c0000202" },
	{ "$INCLUDE, and back", "$INCLUDE tests/data/zones/part.inc sub\nb A 192.0.2.2\n", "b." E,
	  300, 1, "0004c0000202" },
	{ "$INCLUDE with an origin", "$INCLUDE tests/data/zones/part.inc sub\n", "in.sub." E, 77, 1,
	  "0004c0000207" },
	{ "$INCLUDE without an origin", "$INCLUDE \"tests/data/zones/part.inc\"\n", "in." E, 77, 1,
	  "0004c0000207" },
	{ "$INCLUDE begins with our owner", "a TXT x\n$INCLUDE tests/data/zones/part.inc sub\n",
	  "a." E, 300, 1, "0004c0000206" },
	{ "$INCLUDE changes no owner", "a TXT x\n$INCLUDE tests/data/zones/part.inc\n MX 1 b.\n",
	  "a." E, 300, 15, "00050001016200" },
};

static void to_hex(const struct zone *z, const struct zone_rrset *rrset, char *dst, size_t cap)
{
	const uint8_t *from = zone_rrset_first(z, rrset), *at = from;
	struct zone_rdata rd;

	for (unsigned i = 0; i < rrset->n; i++)
		at = zone_rdata_next(at, &rd);
	assert_true((size_t)(at - from) * 2 < cap);
	for (; from < at; from++, dst += 2)
		snprintf(dst, 3, "%02x", *from);
}

/* An $INCLUDE in a row is found from here: the loader takes it from the file's folder. */
static struct zone *load_in_root(const char *text)
{
	char path[64];
	struct zone_error err;
	struct zone *z;
	FILE *f;
	int rc;

	snprintf(path, sizeof(path), "test_master.zone.%d.tmp", getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(ZONE_HEAD, f) >= 0 && fputs(text, f) >= 0);
	fclose(f);
	rc = zone_load(&z, "example.com", path, NULL, &err);
	unlink(path);
	if (rc)
		fail_msg("%s:%u: %s", err.file, err.line, err.sentence);
	return z;
}

static void takes_good_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(goods) / sizeof(goods[0]); i++) {
		const struct good *row = &goods[i];
		struct zone *z;
		struct zone_result r;
		char hex[512];
		uint8_t name[256];

		print_message("  %s\n", row->name);
		z = strstr(row->text, "$INCLUDE") ? load_in_root(row->text) : NULL;
		if (!z) {
			char text[4096];

			snprintf(text, sizeof(text), ZONE_HEAD "%s", row->text);
			z = zone_of("example.com", text);
		}
		zone_find(z, name, wire_of(name, row->owner), row->type, &r);
		assert_int_equal(r.status, row->hex ? ZONE_ANSWER : ZONE_NODATA);
		if (row->hex) {
			assert_int_equal(r.rrset->ttl, row->ttl);
			to_hex(z, r.rrset, hex, sizeof(hex));
			assert_string_equal(hex, row->hex);
		}
		zone_free(z);
	}
}

/* TTLs when there is no $TTL: the last one written, and for a first SOA its last field. */
static void inherits_ttls(void **state)
{
	struct zone *z = zone_of("example.com",
				 "@ SOA a b 1 2 3 4 55\n@ NS a\nc 9 A 192.0.2.1\nd A 192.0.2.1\n");

	(void)state;
	assert_int_equal(zone_soa(z)->ttl, 55);
	assert_int_equal(zone_node_rrset(z, zone_node_at(z, 0), DNS_TYPE_NS)->ttl, 55);
	assert_int_equal(zone_node_rrset(z, zone_node_at(z, 2), DNS_TYPE_A)->ttl, 9);
	zone_free(z);
}

static void keeps_the_case_of_the_file(void **state)
{
	struct zone *z =
		zone_of("example.com", ZONE_HEAD "WwW IN CNAME TarGet\nwww IN CNAME target\n");
	struct zone_result r;
	struct zone_rdata rd;
	char text[NAME_TEXT_MAX];
	uint8_t name[256];

	(void)state;
	zone_find(z, name, wire_of(name, "www." E), DNS_TYPE_CNAME, &r);
	assert_string_equal(owner_text(z, r.node, text), "WwW." E);
	assert_int_equal(r.rrset->n, 1);
	zone_rdata_next(zone_rrset_first(z, r.rrset), &rd);
	assert_memory_equal(rd.bytes, "\6TarGet", 7);
	zone_free(z);
}

static void warns_of_differing_ttls(void **state)
{
	struct zone_error err;
	struct zone *z;

	(void)state;
	assert_int_equal(load_text(&z, "example.com",
				   ZONE_HEAD "a 7 A 192.0.2.1\na 6 A 192.0.2.2\n", &err),
			 0);
	assert_int_equal(err.n_warnings, 1);
	assert_non_null(
		strstr(err.warning, ":6: the TTLs of the A records of a.example.com. differ"));
	zone_free(z);
	assert_int_equal(load_text(&z, "example.com", ZONE_HEAD, &err), 0);
	assert_int_equal(err.n_warnings, 0);
	assert_string_equal(err.warning, "");
	zone_free(z);
}

static void warns_of_a_line_that_does_not_end(void **state)
{
	struct zone_error err;
	struct zone *z;

	(void)state;
	assert_int_equal(load_text(&z, "example.com", ZONE_HEAD "a A 192.0.2.1", &err), 0);
	assert_int_equal(err.n_warnings, 1);
	assert_non_null(strstr(err.warning, ":5: the last line has no end"));
	zone_free(z);
}

/* Each file says itself, in its first line, which line is refused and a word of the reason. */
static void refuses_one(const char *file)
{
	char path[512], word[128] = "";
	struct zone_error err;
	unsigned line = 0;
	struct zone *z;
	FILE *f;

	snprintf(path, sizeof(path), BAD "/%s", file);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "; expect: %u %127[^\n]", &line, word), 2);
	fclose(f);
	print_message("  %s\n", file);
	assert_int_equal(zone_load(&z, "example.com", path, NULL, &err), ERR_ZONE);
	assert_null(z);
	assert_int_equal(err.line, line);
	if (!strstr(err.sentence, word))
		fail_msg("'%s' has no '%s'", err.sentence, word);
	if (!strstr(file, "include-with-error"))
		assert_string_equal(err.file, path);
	else
		assert_string_equal(err.file, BAD "/error.inc");
}

static void refuses_bad_files(void **state)
{
	DIR *dir = opendir(BAD);
	struct dirent *entry;
	unsigned n = 0;

	(void)state;
	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (!strstr(entry->d_name, ".zone"))
			continue;
		refuses_one(entry->d_name);
		n++;
	}
	closedir(dir);
	assert_true(n >= 60);
}

/* Where each mistake is, and that one does not hide the others; no more than 20 are told. */
static void tells_of_all_mistakes(void **state)
{
	static const struct {
		const char *text;
		unsigned n, line, column;
		const char *more;
	} rows[] = {
		{ "a A 192.0.2.256\n", 1, 5, 5, "" },
		{ "  \t A 192.0.2.256\n", 1, 5, 7, "" },
		{ "a MX 1 b ; c\nb MX 70000 c ; d\n", 1, 6, 6, "" },
		{ "a MX (70000\n b) ; d\n", 1, 5, 0, "" },
		{ "a A x\nb BOGUS y\nc TXT \"z\" \\256\nok A 192.0.2.1\n", 3, 5, 5,
		  ":6: 'BOGUS' is not a record type\n@:7: the data of this TXT record" },
		{ "a A x\nb A (\n", 2, 5, 5, ":6: a parenthesis is not closed\n" },
		{ "a A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\n"
		  "a A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\na A 1\n",
		  20, 5, 5,
		  ":6: the data of this A record cannot be read: '1' is not an IPv4 address "
		  "(column 5)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];
		struct zone_error err;
		struct zone *z;

		snprintf(text, sizeof(text), ZONE_HEAD "%s", rows[i].text);
		assert_int_equal(load_text(&z, "example.com", text, &err), ERR_ZONE);
		assert_int_equal(err.n_errors, rows[i].n);
		assert_int_equal(err.line, rows[i].line);
		assert_int_equal(err.column, rows[i].column);
		for (const char *want = rows[i].more; *want;) {
			size_t n = strcspn(want, "@");
			char part[128];

			snprintf(part, sizeof(part), "%.*s", (int)n, want);
			if (!strstr(err.more, part))
				fail_msg("'%s' is not in '%s'", part, err.more);
			want += n + (want[n] == '@');
		}
		assert_true(!*rows[i].more == !*err.more);
	}
}

/* One sentence for the file of another zone, and not one for each of its records. */
static void tells_of_another_zone_once(void **state)
{
	struct zone_error err;
	struct zone *z;

	(void)state;
	assert_int_equal(load_text(&z, "other.example",
				   "$ORIGIN example.com.\n@ 300 SOA ns h 1 1 1 1 1\n@ 300 NS ns\n"
				   "ns 300 A 192.0.2.1\n",
				   &err),
			 ERR_ZONE);
	assert_int_equal(err.line, 2);
	assert_int_equal(err.n_errors, 1);
	assert_string_equal(err.more, "");
	assert_string_equal(err.sentence,
			    "the file begins with the SOA of 'example.com.', so it is "
			    "not the file of other.example.");
}

/* A mistake of an included file is told once, and the file that includes it is read on. */
static void tells_of_mistakes_in_includes_once(void **state)
{
	char inner[] = "/tmp/volley-zone-XXXXXX", text[256];
	int fd = mkstemp(inner);
	struct zone_error err;
	struct zone *z;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "a A (\n", 6), 6);
	close(fd);
	snprintf(text, sizeof(text), ZONE_HEAD "$INCLUDE %s\nb A x\n", inner);
	assert_int_equal(load_text(&z, "example.com", text, &err), ERR_ZONE);
	unlink(inner);
	assert_int_equal(err.n_errors, 2);
	assert_string_equal(err.file, inner);
	assert_non_null(strstr(err.more, ":6: the data of this A record"));
}

/* A policy list may have lines of another name. */
static void leaves_out_records_outside_of_the_zone(void **state)
{
	static const char text[] = ZONE_HEAD "a A 192.0.2.1\nout.example. A 192.0.2.2\n"
					     "b A 192.0.2.3\nsub.out.example. SOA . . 1 1 1 1 1\n";
	char path[] = "/tmp/volley-zone-XXXXXX";
	struct zone_progress progress = { .skips_outside = true };
	int fd = mkstemp(path);
	struct zone_error err;
	struct zone *all, *z;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(zone_load(&all, "example.com", path, NULL, &err), ERR_ZONE);
	assert_int_equal(zone_load(&z, "example.com", path, &progress, &err), 0);
	assert_int_equal(err.n_warnings, 2);
	assert_non_null(strstr(err.warning, "left out: 'out.example. A'"));
	all = zone_of("example.com", ZONE_HEAD "a A 192.0.2.1\nb A 192.0.2.3\n");
	assert_int_equal(zone_n_records(z), zone_n_records(all));
	zone_free(z);
	zone_free(all);
	unlink(path);
}

struct unreadable {
	const char *name, *origin, *path;
	int rc;
	const char *word;
};

static const struct unreadable unreadables[] = {
	{ "no such file", "example.com", "/nonexistent/zone", -ENOENT, "No such file" },
	{ "a folder", "example.com", "/tmp", -EISDIR, "directory" },
	{ "a device", "example.com", "/dev/null", ERR_NOT_REGULAR, "regular" },
	{ "a bad zone name", "a..b", "zones/example.com.zone", ERR_ZONE, "empty label" },
	{ "another zone's file", "example.org", "zones/example.com.zone", ERR_ZONE,
	  "SOA of 'example.com.'" },
};

static void refuses_what_it_cannot_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unreadables) / sizeof(unreadables[0]); i++) {
		const struct unreadable *row = &unreadables[i];
		struct zone_error err;
		struct zone *z;

		print_message("  %s\n", row->name);
		assert_int_equal(zone_load(&z, row->origin, row->path, NULL, &err), row->rc);
		assert_null(z);
		assert_string_equal(err.file, row->path);
		assert_non_null(strstr(err.sentence, row->word));
	}
}

static void bounds_the_depth_of_includes(void **state)
{
	char dir[] = "/tmp/volley-zone-XXXXXX", path[64], text[128];
	struct zone_error err;
	struct zone *z;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 13; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%d", dir, i);
		f = fopen(path, "w");
		assert_non_null(f);
		snprintf(text, sizeof(text), "$INCLUDE %d\n", i + 1);
		fputs(text, f);
		fclose(f);
	}
	snprintf(path, sizeof(path), "%s/0", dir);
	assert_int_equal(zone_load(&z, "example.com", path, NULL, &err), ERR_ZONE);
	assert_non_null(strstr(err.sentence, "too deep"));
	assert_string_equal(err.file + strlen(dir), "/10");
	for (int i = 0; i < 13; i++) {
		snprintf(path, sizeof(path), "%s/%d", dir, i);
		unlink(path);
	}
	rmdir(dir);
}

struct sample {
	const char *origin, *path;
	size_t n_records, n_names;
};

static const struct sample samples[] = {
	{ "example.com", "zones/example.com.zone", 49, 29 },
	{ "example.net", "zones/example.net.zone", 9, 4 },
	{ "2.0.192.in-addr.arpa", "zones/2.0.192.in-addr.arpa.zone", 10, 8 },
	{ "example2.jp", "zones/example2.jp.zone", 24, 3 },
	{ "8.b.d.0.1.0.0.2.ip6.arpa", "zones/8.b.d.0.1.0.0.2.ip6.arpa.zone", 8, 32 },
	{ ".", "zones/root.zone", 18, 12 },
	{ "xn--bcher-kva.example", "zones/xn--bcher-kva.example.zone", 11, 8 },
	{ "dname.example", "zones/dname.example.zone", 14, 14 },
};

static void loads_the_samples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct zone_error err;
		struct zone *z;

		print_message("  %s\n", samples[i].path);
		assert_int_equal(zone_load(&z, samples[i].origin, samples[i].path, NULL, &err), 0);
		assert_int_equal(err.n_warnings, 0);
		assert_int_equal(zone_n_records(z), samples[i].n_records);
		assert_int_equal(zone_n_names(z), samples[i].n_names);
		zone_free(z);
	}
}

static void tells_progress(void **state)
{
	struct zone_progress p = { .n_bytes = 1, .n_records = 1 };
	struct zone_error err;
	struct zone *z;

	(void)state;
	assert_int_equal(zone_load(&z, samples[0].origin, samples[0].path, &p, &err), 0);
	assert_int_equal(p.stage, ZONE_STAGE_DONE);
	assert_int_equal(p.n_bytes, p.total_bytes);
	assert_true(p.n_bytes > 1000);
	assert_int_equal(p.n_records, samples[0].n_records);
	zone_free(z);
	p.cancel = true;
	assert_int_equal(zone_load(&z, samples[0].origin, samples[0].path, &p, &err), -ECANCELED);
	assert_null(z);
	assert_true(err.sentence[0]);
}

struct loading {
	const char *path;
	struct zone_progress progress;
	struct zone_error err;
	int rc;
};

static void *load_in_background(void *arg)
{
	struct loading *l = arg;
	struct zone *z;

	l->rc = zone_load(&z, "example.com", l->path, &l->progress, &l->err);
	zone_free(z);
	return NULL;
}

/* True: the load saw it. False: it was over before. */
static bool is_seen_to_change(const char *path)
{
	struct loading l = { .path = path };
	pthread_t thread;
	FILE *fp = fopen(path, "w");

	assert_non_null(fp);
	fputs(ZONE_HEAD, fp);
	for (int i = 0; i < 200000; i++)
		fprintf(fp, "n%d IN A 10.%d.%d.%d\n", i, i >> 16, i >> 8 & 255, i & 255);
	assert_int_equal(fflush(fp), 0);
	assert_int_equal(pthread_create(&thread, NULL, load_in_background, &l), 0);
	while (!__atomic_load_n(&l.progress.n_bytes, __ATOMIC_RELAXED) &&
	       __atomic_load_n(&l.progress.stage, __ATOMIC_RELAXED) == ZONE_STAGE_READING)
		usleep(100);
	fputs("; one line more\n", fp);
	fclose(fp);
	assert_int_equal(pthread_join(thread, NULL), 0);
	if (!l.rc)
		return false;
	assert_int_equal(l.rc, ERR_ZONE);
	assert_string_equal(l.err.sentence, "the file was written to while it was read");
	return true;
}

static void refuses_what_changes_meanwhile(void **state)
{
	char path[] = "/tmp/volley-test-master-XXXXXX";
	int fd = mkstemp(path), tries = 0;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	while (!is_seen_to_change(path))
		assert_in_range(++tries, 0, 50);
	unlink(path);
}

/* RFC 6672 section 2.3: nothing is below a DNAME, but the chain that signs the apex must be. */
static void takes_nsec3_below_an_apex_dname(void **state)
{
	struct zone *z = zone_of("example.com",
				 "$TTL 9\n@ SOA a.b. c. 1 2 3 4 5\n@ NS a.b.\n@ DNAME b.\n"
				 "00000000000000000000000000000000 NSEC3 1 0 0 - "
				 "00000000000000000000000000000001 DNAME\n");

	(void)state;
	zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_good_text),
		cmocka_unit_test(leaves_out_records_outside_of_the_zone),
		cmocka_unit_test(takes_nsec3_below_an_apex_dname),
		cmocka_unit_test(inherits_ttls),
		cmocka_unit_test(keeps_the_case_of_the_file),
		cmocka_unit_test(warns_of_differing_ttls),
		cmocka_unit_test(warns_of_a_line_that_does_not_end),
		cmocka_unit_test(refuses_bad_files),
		cmocka_unit_test(tells_of_all_mistakes),
		cmocka_unit_test(tells_of_another_zone_once),
		cmocka_unit_test(tells_of_mistakes_in_includes_once),
		cmocka_unit_test(refuses_what_it_cannot_read),
		cmocka_unit_test(bounds_the_depth_of_includes),
		cmocka_unit_test(loads_the_samples),
		cmocka_unit_test(tells_progress),
		cmocka_unit_test(refuses_what_changes_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
