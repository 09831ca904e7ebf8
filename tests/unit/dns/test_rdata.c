/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shape of rdata, the names in it, its canonical order.
 */
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
		cmocka_unit_test(orders_rdata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
