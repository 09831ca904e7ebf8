/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is printed is read back as the same octets; the rows say how it looks. */
#include "zone/rdprint.h"

#include <stdlib.h>

#include "tests/lib/draw.h"
#include "dns/rdata.h"
#include "zone/rdtext.h"
#include "zone_text.h"

#define N_ROUNDS 40000
#define SIG \
	"CzBVep/E6Q4zWH2ix+wRNluApcrvFDleg6jN8hc8YYar0PUaP2SJrtP4HUJnjLHW+yBFao+02f4jSG2St9wBJg=="

struct row {
	uint16_t type;
	const char *text;
};

static const struct row rows[] = {
	{ DNS_TYPE_A, "192.0.2.1" },
	{ DNS_TYPE_A, "255.255.255.0" },
	{ DNS_TYPE_AAAA, "::" },
	{ DNS_TYPE_AAAA, "::1" },
	{ DNS_TYPE_AAAA, "1::" },
	{ DNS_TYPE_AAAA, "2001:db8::1:0:0:1" },
	{ DNS_TYPE_AAAA, "2001:db8:0:1:1:1:1:1" },
	{ DNS_TYPE_AAAA, "2001:0:0:1::1" },
	{ DNS_TYPE_AAAA, "fedc:ba98:7654:3210:f:10:100:abcd" },
	{ DNS_TYPE_NS, "." },
	{ DNS_TYPE_NS, "Ns-1.exam_ple.NET." },
	{ DNS_TYPE_CNAME, "a\\.b\\032c\\000\\255.\\@.\\$x.example." },
	{ DNS_TYPE_SOA, "ns.example. host\\.master.example. 4294967295 0 1 2 3" },
	{ DNS_TYPE_MX, "65535 mail." },
	{ DNS_TYPE_SRV, "0 5 5060 sip.example." },
	{ DNS_TYPE_TXT, "\"\"" },
	{ DNS_TYPE_TXT, "\"a; b\" \"\" \"\\\"(c)\\\\\\000\\127\\255\"" },
	{ DNS_TYPE_DS, "60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118" },
	{ DNS_TYPE_CDS, "0 0 0 00" },
	{ DNS_TYPE_DNSKEY, "257 3 13 " SIG },
	{ DNS_TYPE_CDNSKEY, "0 3 0 AA==" },
	{ DNS_TYPE_RRSIG, "A 13 2 300 20380119031408 20000229235959 1 example. " SIG },
	{ DNS_TYPE_RRSIG, "NSEC3PARAM 13 0 0 21060207062815 19700101000000 1 . AQI=" },
	{ DNS_TYPE_RRSIG, "TYPE65280 13 2 300 21000228000000 20240229120000 1 . AQID" },
	{ DNS_TYPE_NSEC, "host.example. A MX RRSIG NSEC" },
	{ DNS_TYPE_NSEC, "\\000.example. NS TYPE254 CAA TYPE319 TYPE1030" },
	{ DNS_TYPE_NSEC3, "1 1 12 AABBCCDD 2t7b4g4vsa5smi47k61mv5bv1a22bojr MX DNSKEY NSEC3PARAM" },
	{ DNS_TYPE_NSEC3, "1 0 0 - 2t7b4g4vsa5smi47k61mv5bv1a22bojr A" },
	{ DNS_TYPE_NSEC3PARAM, "1 0 12 AABBCCDD" },
	{ DNS_TYPE_NSEC3PARAM, "1 0 0 -" },
};

static struct rdtext rd;
static char text[RDPRINT_TEXT_MAX + 1];

static bool print(uint16_t type, const uint8_t *rdata, unsigned n)
{
	size_t length;

	memset(text, '#', sizeof(text));
	length = rdprint(text, type, rdata, n);
	assert_true(length < sizeof(text));
	text[length] = '\0';
	return length > 0;
}

static void looks_as_it_should(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *want = rows[i].text;

		assert_int_equal(rdtext_parse(&rd, rows[i].type, want), 0);
		assert_true(print(rows[i].type, rd.rdata, rd.len));
		assert_string_equal(text, want);
	}
}

/* False where it was not printed. */
static bool comes_back(uint16_t type, const uint8_t *rdata, unsigned n)
{
	if (!print(type, rdata, n))
		return false;
	if (rdtext_parse(&rd, type, text))
		fail_msg("type %u: \"%s\": %s", type, text, rd.why);
	if (rd.len != n || memcmp(rd.rdata, rdata, n))
		fail_msg("type %u: \"%s\" is another", type, text);
	return true;
}

/* Right rdata with octets changed, cut or longer: not printed, or printed right. */
static void never_wrong(void **state)
{
	unsigned n_printed = 0;

	(void)state;
	seed = 1;
	for (unsigned i = 0; i < N_ROUNDS; i++) {
		const struct row *row = &rows[draw(sizeof(rows) / sizeof(rows[0]))];
		uint8_t rdata[1024];
		unsigned n;

		assert_int_equal(rdtext_parse(&rd, row->type, row->text), 0);
		n = rd.len;
		memset(rdata, 1, sizeof(rdata));
		memcpy(rdata, rd.rdata, n);
		for (unsigned left = draw(4); left; left--)
			rdata[draw(n)] = (uint8_t)draw(256);
		if (!draw(8))
			n = draw(n + 3);
		if (!rdata_check(row->type, rdata, n))
			n_printed += comes_back(row->type, rdata, n);
	}
	assert_true(n_printed > N_ROUNDS / 4);
}

/* Every type of the first windows, one by one and all together, as far as there is room. */
static void all_types(void **state)
{
	uint8_t rdata[1 + 34 + 10 + 10] = { 0 };

	(void)state;
	for (unsigned type = 1; type < 320; type++) {
		unsigned window = type / 256, octet = type % 256 / 8;

		memset(rdata, 0, sizeof(rdata));
		rdata[1] = (uint8_t)window;
		rdata[2] = (uint8_t)(octet + 1);
		rdata[3 + octet] = (uint8_t)(0x80 >> type % 8);
		assert_true(comes_back(DNS_TYPE_NSEC, rdata, 3 + octet + 1));
	}
	memset(rdata, 0xff, sizeof(rdata));
	memcpy(rdata, (uint8_t[]){ 0, 0, 32 }, 3);
	memcpy(rdata + 35, (uint8_t[]){ 1, 8 }, 2);
	memcpy(rdata + 45, (uint8_t[]){ 255, 8 }, 2);
	rdata[3] = 0x7f;
	assert_true(comes_back(DNS_TYPE_NSEC, rdata, sizeof(rdata)));
}

/* As long as it may be, of what needs most room. */
static void long_ones(void **state)
{
	static uint8_t rdata[UINT16_MAX];

	(void)state;
	assert_true(comes_back(DNS_TYPE_TXT, rdata, UINT16_MAX)); /* empty strings */
	for (unsigned at = 0; at < UINT16_MAX; at += 256)
		rdata[at] = at + 256 < UINT16_MAX ? 255 : (uint8_t)(UINT16_MAX - at - 1);
	assert_true(comes_back(DNS_TYPE_TXT, rdata, UINT16_MAX));
	assert_true(comes_back(DNS_TYPE_DNSKEY, rdata, UINT16_MAX));
	assert_true(comes_back(DNS_TYPE_DS, rdata, UINT16_MAX));
	assert_true(comes_back(DNS_TYPE_URI, rdata, UINT16_MAX));
}

/* The text of 65,535 types is longer than any line: the generic form. */
static void too_long_for_text(void **state)
{
	static uint8_t rdata[1 + 256 * 34];

	(void)state;
	memset(rdata, 0xff, sizeof(rdata));
	rdata[0] = 0;
	for (unsigned window = 0; window < 256; window++) {
		rdata[1 + 34 * window] = (uint8_t)window;
		rdata[2 + 34 * window] = 32;
	}
	rdata[3] = 0x7f;
	assert_false(print(DNS_TYPE_NSEC, rdata, sizeof(rdata)));
	assert_int_equal(rdprint_record(text, DNS_TYPE_NSEC, rdata, sizeof(rdata)),
			 strlen("TYPE47\t\\# 8705 ") + 2 * sizeof(rdata));
}

struct record_row {
	const char *name;
	uint16_t type;
	const char *rdata;
	unsigned n;
	const char *text;
};

#define B(bytes) bytes, sizeof(bytes) - 1
/* What has no text, or none that all others read. */
static const struct record_row records[] = {
	{ "a form", DNS_TYPE_MX, B("\0\1\0"), "MX\t1 ." },
	{ "a type without a row", 65280, B("\1"), "TYPE65280\t\\# 1 01" },
	{ "nothing", 65280, B(""), "TYPE65280\t\\# 0" },
	{ "a new type", DNS_TYPE_RESINFO, B("\1x"), "TYPE261\t\\# 2 0178" },
	{ "what is no rdata", DNS_TYPE_A, B("\1"), "TYPE1\t\\# 1 01" },
	{ "TLSA without data", DNS_TYPE_TLSA, B("\3\1\1"), "TYPE52\t\\# 3 030101" },
	{ "SSHFP without data", DNS_TYPE_SSHFP, B("\3\1"), "TYPE44\t\\# 2 0301" },
	{ "a key of algorithm 0", DNS_TYPE_IPSECKEY, B("\1\0\0A"), "TYPE45\t\\# 4 01000041" },
	{ "a protocol of one octet before another", DNS_TYPE_SVCB, B("\0\1\0\0\1\0\5\1g\2h2"),
	  "TYPE64\t\\# 12 000100000100050167026832" },
	{ "dohpath without a value", DNS_TYPE_SVCB, B("\0\1\0\0\7\0\0"),
	  "TYPE64\t\\# 7 00010000070000" },
	{ "CSYNC without types", DNS_TYPE_CSYNC, B("\0\0\0\1\0\1"), "TYPE62\t\\# 6 000000010001" },
	{ "APL, family 9", DNS_TYPE_APL, B("\0\11\1\1a"), "TYPE42\t\\# 5 0009010161" },
	{ "APL, a zero behind", DNS_TYPE_APL, B("\0\1\10\2\12\0"), "TYPE42\t\\# 6 000108020A00" },
	{ "LOC, version 1", DNS_TYPE_LOC, B("\1"), "TYPE29\t\\# 1 01" },
	{ "LOC, two forms of 0", DNS_TYPE_LOC, B("\0\5\0\0\x80\0\0\0\x80\0\0\0\0\0\0\0"),
	  "TYPE29\t\\# 16 00050000800000008000000000000000" },
	{ "IPSECKEY, gateway 5", DNS_TYPE_IPSECKEY, B("\1\5\1x"), "TYPE45\t\\# 4 01050178" },
	{ "IPSECKEY without a key", DNS_TYPE_IPSECKEY, B("\1\0\0"), "TYPE45\t\\# 3 010000" },
	{ "alpn with a comma", DNS_TYPE_SVCB, B("\0\1\0\0\1\0\4\3a,b"),
	  "TYPE64\t\\# 11 00010000010004"
	  "03612C62" },
	{ "a service parameter", DNS_TYPE_HTTPS, B("\0\1\0\2\x9b\0\3(\"a"),
	  "HTTPS\t1 . key667=\"\\040\\034a\"" },
	{ "SOA, 136 years", DNS_TYPE_SOA, B("\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0"),
	  "TYPE6\t\\# 22 000000000000FFFFFFFF000000000000000000000000" },
	{ "an empty value", DNS_TYPE_CAA, B("\0\1x"), "TYPE257\t\\# 3 000178" },
	{ "a capital in a tag", DNS_TYPE_CAA, B("\0\1Ax"), "TYPE257\t\\# 4 00014178" },
	{ "the last capital", DNS_TYPE_CAA, B("\0\1Zx"), "TYPE257\t\\# 4 00015A78" },
	{ "names with quotes", DNS_TYPE_RP, B("\2a\"\0\1;\0"), "RP\ta\\034. \\059." },
};

static void the_form_that_all_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		const struct record_row *row = &records[i];
		size_t n = rdprint_record(text, row->type, (const uint8_t *)row->rdata, row->n);

		print_message("  %s\n", row->name);
		text[n] = '\0';
		assert_string_equal(text, row->text);
	}
}

int main(void)
{
	static const uint8_t root[] = { 0 };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_as_it_should), cmocka_unit_test(never_wrong),
		cmocka_unit_test(all_types),          cmocka_unit_test(long_ones),
		cmocka_unit_test(too_long_for_text),  cmocka_unit_test(the_form_that_all_read),
	};
	int rc;

	rdtext_init(&rd);
	if (rdtext_set_origin(&rd, root))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rdtext_fini(&rd);
	return rc;
}
