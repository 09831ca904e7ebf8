/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rdata from text: what ldns takes, what it takes wrongly and we refuse, and the generic form.
 */
#include "zone/rdtext.h"
#include "zone_text.h"

struct row {
	const char *name;
	uint16_t type;
	const char *text;
	const char *hex; /* NULL: refused */
};

static const struct row rows[] = {
	{ "A", DNS_TYPE_A, "192.0.2.1", "c0000201" },
	{ "A, three octets", DNS_TYPE_A, "192.0.2", NULL },
	{ "AAAA", DNS_TYPE_AAAA, "2001:db8::1", "20010db8000000000000000000000001" },
	{ "AAAA, too short", DNS_TYPE_AAAA, "2001:db8:1", NULL },
	{ "a relative name", DNS_TYPE_NS, "a", "0161047465737400" },
	{ "an absolute name", DNS_TYPE_NS, "a.", "016100" },
	{ "the origin", DNS_TYPE_NS, "@", "047465737400" },
	{ "a quoted name", DNS_TYPE_NS, "\"a\"", NULL },
	{ "a name too long", DNS_TYPE_NS,
	  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL },
	{ "nothing", DNS_TYPE_A, "", NULL },
	{ "MX", DNS_TYPE_MX, "65535 a.", "ffff016100" },
	{ "MX, wraps in ldns", DNS_TYPE_MX, "65536 a.", NULL },
	{ "MX, negative", DNS_TYPE_MX, "-1 a.", NULL },
	{ "SOA periods", DNS_TYPE_SOA, "a. b. 1 1h 2m 3 4",
	  "0161000162000000000100000e10000000780000000300000004" },
	{ "SOA serial wraps in ldns", DNS_TYPE_SOA, "a. b. 4294967296 1 1 1 1", NULL },
	{ "SOA period wraps in ldns", DNS_TYPE_SOA, "a. b. 1 1 1 1 99999999999", NULL },
	{ "DS", DNS_TYPE_DS, "1 8 2 AA BB", "00010802aabb" },
	{ "DS, half an octet", DNS_TYPE_DS, "1 8 2 AAB", NULL },
	{ "DNSKEY, bad base64", DNS_TYPE_DNSKEY, "257 3 8 A", NULL },
	{ "CAA", DNS_TYPE_CAA, "0 issue \"x\"", "0005697373756578" },
	{ "CAA flags wrap in ldns", DNS_TYPE_CAA, "256 issue \"x\"", NULL },
	{ "generic", 65280, "\\# 3 AA BB CC", "aabbcc" },
	{ "generic, empty", 65280, "\\# 0", "" },
	{ "generic, quoted is text", DNS_TYPE_TXT, "\"\\\\#\" 0", "025c230130" },
	{ "generic, too few", 65280, "\\# 4 AABBCC", NULL },
	{ "generic, too many", 65280, "\\# 2 AABBCC", NULL },
	{ "generic, half an octet", 65280, "\\# 3 AABBC", NULL },
	{ "generic, too long", 65280, "\\# 65536 00", NULL },
	{ "generic, no hex", 65280, "\\# 1 GG", NULL },
	{ "generic of a known type", DNS_TYPE_MX, "\\# 5 000A016100", "000a016100" },
	{ "generic, octets behind", DNS_TYPE_MX, "\\# 6 000A01610000", NULL },
	{ "generic, a pointer", DNS_TYPE_NS, "\\# 2 C000", NULL },
	{ "unknown type, not generic", 65280, "foo", NULL },
};

static void parses(void **state)
{
	struct rdtext *t = test_malloc(sizeof(*t));

	(void)state;
	rdtext_init(t);
	/* The last origin holds. */
	assert_int_equal(rdtext_set_origin(t, (const uint8_t *)"\5other"), 0);
	assert_int_equal(rdtext_set_origin(t, (const uint8_t *)"\4test"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		char hex[256] = "";
		int rc;

		print_message("  %s\n", row->name);
		t->why[0] = '\0';
		rc = rdtext_parse(t, row->type, row->text);
		if (!row->hex) {
			assert_int_equal(rc, ERR_RDATA);
			assert_true(t->why[0]);
			continue;
		}
		assert_int_equal(rc, 0);
		for (unsigned j = 0; j < t->len; j++)
			snprintf(hex + 2 * j, 3, "%02x", t->rdata[j]);
		assert_string_equal(hex, row->hex);
	}
	rdtext_fini(t);
	test_free(t);
}

static void knows_types(void **state)
{
	static const struct {
		const char *text;
		int type;
	} types[] = {
		{ "A", 1 },
		{ "aaaa", 28 },
		{ "TYPE65280", 65280 },
		{ "type1", 1 },
		{ "GPOS", 27 },
		{ "TYPE", ERR_TYPE },
		{ "TYPE65536", ERR_TYPE },
		{ "", ERR_TYPE },
		{ "AA", ERR_TYPE },
		{ "A-very-long-mnemonic", ERR_TYPE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		print_message("  '%s'\n", types[i].text);
		assert_int_equal(rdtext_type(types[i].text, strlen(types[i].text)), types[i].type);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses),
		cmocka_unit_test(knows_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
