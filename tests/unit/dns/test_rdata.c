/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The form of rdata, the names in it, its canonical order. */
#include "dns/rdata.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/err.h"
#include "dns/proto.h"

struct shape {
	const char *name;
	uint16_t type;
	const char *bytes;
	unsigned len;
	int rc;
	unsigned start, end; /* of the names */
};

#define B(text) text, sizeof(text) - 1
#define BAD     ERR_RDATA, 0, 0
static const struct shape shapes[] = {
	{ "A", DNS_TYPE_A, B("\1\2\3\4"), 0, 0, 0 },
	{ "A short", DNS_TYPE_A, B("\1\2\3"), BAD },
	{ "A long", DNS_TYPE_A, B("\1\2\3\4\5"), BAD },
	{ "AAAA", DNS_TYPE_AAAA, B("0123456789abcdef"), 0, 0, 0 },
	{ "AAAA short", DNS_TYPE_AAAA, B("0123456789abcde"), BAD },
	{ "NS", DNS_TYPE_NS, B("\1a\0"), 0, 0, 3 },
	{ "NS root", DNS_TYPE_NS, B("\0"), 0, 0, 1 },
	{ "NS empty", DNS_TYPE_NS, B(""), BAD },
	{ "NS without end", DNS_TYPE_NS, B("\1a"), BAD },
	{ "NS and more", DNS_TYPE_NS, B("\1a\0x"), BAD },
	{ "NS pointer", DNS_TYPE_NS, B("\xc0\x0c"), BAD },
	{ "MX", DNS_TYPE_MX, B("\0\1\1a\0"), 0, 2, 5 },
	{ "MX short", DNS_TYPE_MX, B("\0"), BAD },
	{ "MX without name", DNS_TYPE_MX, B("\0\1"), BAD },
	{ "SOA", DNS_TYPE_SOA,
	  B("\1a\0\1b\0"
	    "01234567890123456789"),
	  0, 0, 6 },
	{ "SOA short", DNS_TYPE_SOA,
	  B("\1a\0\1b\0"
	    "0123456789012345678"),
	  BAD },
	{ "SRV", DNS_TYPE_SRV, B("\0\0\0\0\0\0\1a\0"), 0, 6, 9 },
	{ "NAPTR", DNS_TYPE_NAPTR, B("\0\0\0\0\1u\0\2ab\1a\0"), 0, 10, 13 },
	{ "NAPTR string beyond", DNS_TYPE_NAPTR, B("\0\0\0\0\1u\0\2a"), BAD },
	{ "HINFO", DNS_TYPE_HINFO, B("\1a\1b"), 0, 0, 0 },
	{ "HINFO one string", DNS_TYPE_HINFO, B("\1a"), BAD },
	{ "TXT", DNS_TYPE_TXT, B("\1a\0\1b"), 0, 0, 0 },
	{ "TXT empty", DNS_TYPE_TXT, B(""), BAD },
	{ "TXT beyond", DNS_TYPE_TXT, B("\1a\2b"), BAD },
	{ "RRSIG", DNS_TYPE_RRSIG, B("012345678901234567\1a\0s"), 0, 18, 21 },
	{ "RRSIG without signature", DNS_TYPE_RRSIG, B("012345678901234567\1a\0"), BAD },
	{ "NSEC keeps case", DNS_TYPE_NSEC, B("\1a\0\0\1\x40"), 0, 0, 0 },
	{ "HTTPS keeps case", DNS_TYPE_HTTPS, B("\0\1\1a\0"), 0, 0, 0 },
	{ "HTTPS without target", DNS_TYPE_HTTPS, B("\0\1"), BAD },
	{ "unknown", 65280, B("anything"), 0, 0, 0 },
	{ "unknown and empty", 65280, B(""), 0, 0, 0 },
};

static void knows_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *row = &shapes[i];
		const uint8_t *bytes = (const uint8_t *)row->bytes;
		struct rdata_span names;

		print_message("  %s\n", row->name);
		assert_int_equal(rdata_check(row->type, bytes, row->len), row->rc);
		if (row->rc)
			continue;
		names = rdata_names(row->type, bytes, row->len);
		assert_int_equal(names.end - names.start, row->end - row->start);
		if (row->end)
			assert_int_equal(names.start, row->start);
	}
}

/* One row for each type for which UPDATE and transfers once accepted any octets. */
static const struct shape malformed[] = {
	{ "WKS", DNS_TYPE_WKS, B("\1\2\3\4"), BAD },
	{ "X25", DNS_TYPE_X25, B("\5ab"), BAD },
	{ "ISDN", DNS_TYPE_ISDN, B("\1a\1b\1c"), BAD },
	{ "SIG", DNS_TYPE_SIG, B("012345678901234567\1a\0"), BAD },
	{ "KEY", DNS_TYPE_KEY, B("\0\1\2"), BAD },
	{ "GPOS", DNS_TYPE_GPOS, B("\1a\1b"), BAD },
	{ "LOC", DNS_TYPE_LOC, B("\0\1\2"), BAD },
	{ "LOC, a size", DNS_TYPE_LOC, B("\0\xa0\0\0\x80\0\0\0\x80\0\0\0\0\0\0\0"), BAD },
	{ "LOC, a precision", DNS_TYPE_LOC, B("\0\0\0\x1a\x80\0\0\0\x80\0\0\0\0\0\0\0"), BAD },
	{ "LOC, a latitude", DNS_TYPE_LOC, B("\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0"), BAD },
	{ "NXT", DNS_TYPE_NXT, B("\0\x80"), BAD },
	{ "CERT", DNS_TYPE_CERT, B("\0\1\0\1"), BAD },
	{ "SSHFP", DNS_TYPE_SSHFP, B("\1"), BAD },
	{ "IPSECKEY, half an address", DNS_TYPE_IPSECKEY, B("\1\1\1\1\2"), BAD },
	{ "IPSECKEY, a broken name", DNS_TYPE_IPSECKEY, B("\1\3\1\5a"), BAD },
	{ "NSEC3, no hash", DNS_TYPE_NSEC3, B("\1\0\0\0\0\0\0"), BAD },
	{ "NSEC3, a bitmap", DNS_TYPE_NSEC3, B("\1\0\0\0\0\1a\0\1\0"), BAD },
	{ "NSEC3PARAM", DNS_TYPE_NSEC3PARAM, B("\1\0\0\0\1"), BAD },
	{ "TLSA", DNS_TYPE_TLSA, B("\1\2"), BAD },
	{ "SMIMEA", DNS_TYPE_SMIMEA, B("\1\2"), BAD },
	{ "HIP", DNS_TYPE_HIP, B("\5\1\0\5abcde"), BAD },
	{ "CDS", DNS_TYPE_CDS, B("\0\1\2\3"), BAD },
	{ "CDNSKEY", DNS_TYPE_CDNSKEY, B("\0\1\2\3"), BAD },
	{ "CSYNC", DNS_TYPE_CSYNC, B("\0\0\0\1\0\1\1"), BAD },
	{ "ZONEMD", DNS_TYPE_ZONEMD, B("\0\0\0\1\1\1"), BAD },
	{ "NID", DNS_TYPE_NID, B("\0\1\2\3\4\5\6\7\10"), BAD },
	{ "L32", DNS_TYPE_L32, B("\0\1\2\3\4\5\6"), BAD },
	{ "L64", DNS_TYPE_L64, B("\0\1"), BAD },
	{ "EUI48", DNS_TYPE_EUI48, B("abcde"), BAD },
	{ "EUI64", DNS_TYPE_EUI64, B("abcdefghi"), BAD },
	{ "URI", DNS_TYPE_URI, B("\0\1\0"), BAD },
	{ "CAA, no tag", DNS_TYPE_CAA, B("\0\0x"), BAD },
	{ "CAA, a tag of marks", DNS_TYPE_CAA, B("\0\2--x"), BAD },
	{ "DLV", DNS_TYPE_DLV, B("\0\1\2\3"), BAD },
	{ "APL, a long prefix", DNS_TYPE_APL, B("\0\1\41\0"), BAD },
	{ "SVCB, a key twice", DNS_TYPE_SVCB, B("\0\1\0\0\7\0\0\0\7\0\0"), BAD },
	{ "HTTPS, a short port", DNS_TYPE_HTTPS, B("\0\1\0\0\3\0\1\1"), BAD },
};

/* Mistakes of primaries that cost no zone, and those that do. */
static const struct shape foreign[] = {
	{ "SVCB, keys out of order", DNS_TYPE_SVCB, B("\0\1\0\0\3\0\2\0\65\0\1\0\2\1a"), 0, 0, 0 },
	{ "SVCB, a key twice", DNS_TYPE_SVCB, B("\0\1\0\0\7\0\0\0\7\0\0"), 0, 0, 0 },
	{ "SVCB, key65535", DNS_TYPE_SVCB, B("\0\1\0\xff\xff\0\1x"), 0, 0, 0 },
	{ "SVCB, an empty dohpath", DNS_TYPE_SVCB, B("\0\1\0\0\7\0\0"), 0, 0, 0 },
	{ "SVCB, a mandatory key is missing", DNS_TYPE_HTTPS, B("\0\1\0\0\0\0\2\0\1"), 0, 0, 0 },
	{ "HTTPS, a short port", DNS_TYPE_HTTPS, B("\0\1\0\0\3\0\1\1"), 0, 0, 0 },
	{ "CAA, no tag", DNS_TYPE_CAA, B("\0\0x"), 0, 0, 0 },
	{ "CAA, a tag of marks", DNS_TYPE_CAA, B("\0\2--x"), 0, 0, 0 },
	{ "LOC, out of range", DNS_TYPE_LOC, B("\0\xff\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0"), 0, 0,
	  0 },
	{ "APL, a long prefix", DNS_TYPE_APL, B("\0\1\41\0"), 0, 0, 0 },
	{ "SVCB, a key that is cut", DNS_TYPE_SVCB, B("\0\1\0\0\3\0\2\1"), BAD },
	{ "CAA, a tag that is cut", DNS_TYPE_CAA, B("\0\5is"), BAD },
	{ "LOC, cut", DNS_TYPE_LOC, B("\0\0\0\0"), BAD },
	{ "APL, cut", DNS_TYPE_APL, B("\0\1\41\4a"), BAD },
	{ "A of three", DNS_TYPE_A, B("abc"), BAD },
	{ "NSEC, zeros at the end", DNS_TYPE_NSEC, B("\0\0\2\100\0"), BAD },
};

static void takes_what_primaries_have(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		const struct shape *row = &foreign[i];
		const uint8_t *bytes = (const uint8_t *)row->bytes;

		print_message("  %s\n", row->name);
		assert_int_equal(rdata_check_foreign(row->type, bytes, row->len), row->rc);
		assert_int_equal(!rdata_fault_foreign(row->type, bytes, row->len), !row->rc);
		assert_int_equal(rdata_check(row->type, bytes, row->len), ERR_RDATA);
	}
}

/* The resolver passes data on unchanged unless a name or a number in it is malformed. */
static void refuses_what_is_malformed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		const struct shape *row = &malformed[i];

		print_message("  %s\n", row->name);
		assert_int_equal(rdata_check(row->type, (const uint8_t *)row->bytes, row->len),
				 row->rc);
		assert_non_null(rdata_fault(row->type, (const uint8_t *)row->bytes, row->len));
	}
	assert_int_equal(rdata_check_frame(DNS_TYPE_HTTPS, (const uint8_t *)"\0\1\0\0\3\0", 6), 0);
	assert_int_equal(rdata_check_frame(DNS_TYPE_MX, (const uint8_t *)"\0\1\1", 3), ERR_RDATA);
}

struct order {
	const char *name;
	uint16_t type;
	const char *a;
	unsigned a_len;
	const char *b;
	unsigned b_len;
	int sign;
};

static const struct order orders[] = {
	{ "equal", DNS_TYPE_TXT, B("\1a"), B("\1a"), 0 },
	{ "octets are unsigned", DNS_TYPE_TXT, B("\1\x80"), B("\1\x7f"), 1 },
	{ "the shorter first", 65280, B("ab"), B("abc"), -1 },
	{ "case counts in text", DNS_TYPE_TXT, B("\1A"), B("\1a"), -1 },
	{ "but not in names", DNS_TYPE_NS, B("\1A\0"), B("\1a\0"), 0 },
	{ "nor behind a number", DNS_TYPE_MX, B("\0A\1A\0"), B("\0A\1a\0"), 0 },
	{ "a number is no name", DNS_TYPE_MX, B("\0A\1a\0"), B("\0a\1a\0"), -1 },
	{ "names as octets", DNS_TYPE_NS, B("\2aa\0"), B("\1b\0"), 1 },
};

static void orders_rdata(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const struct order *row = &orders[i];
		const uint8_t *a = (const uint8_t *)row->a, *b = (const uint8_t *)row->b;
		int diff = rdata_cmp(row->type, a, row->a_len, b, row->b_len);
		int back = rdata_cmp(row->type, b, row->b_len, a, row->a_len);

		print_message("  %s\n", row->name);
		assert_int_equal((diff > 0) - (diff < 0), row->sign);
		assert_int_equal((back > 0) - (back < 0), -row->sign);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_shapes),
		cmocka_unit_test(refuses_what_is_malformed),
		cmocka_unit_test(takes_what_primaries_have),
		cmocka_unit_test(orders_rdata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
