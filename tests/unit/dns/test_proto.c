/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/err.h"
#include "dns/proto.h"

static const struct {
	const char *text;
	int type; /* or the error */
} cases[] = {
	{ "A", 1 },
	{ "aaaa", DNS_TYPE_AAAA },
	{ "NULL", DNS_TYPE_NULL },
	{ "NsEc3PaRaM", 51 },
	{ "ANY", 255 },
	{ "TYPE0", 0 },
	{ "TYPE1", 1 },
	{ "type65280", 65280 },
	{ "TYPE00012", 12 },
	{ "TYPE65535", 65535 },
	{ "TYPE65536", ERR_TYPE },
	{ "TYPE99999999999999999999", ERR_TYPE },
	{ "TYPE", ERR_TYPE },
	{ "TYPE-1", ERR_TYPE },
	{ "TYPE 1", ERR_TYPE },
	{ "TYPE1x", ERR_TYPE },
	{ "", ERR_TYPE },
	{ "AA", ERR_TYPE },
	{ "1", ERR_TYPE },
};

static void test_type_from_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(proto_type_from_text(cases[i].text, strlen(cases[i].text)),
				 cases[i].type);
}

static void test_text_needs_no_end(void **state)
{
	(void)state;
	assert_int_equal(proto_type_from_text("MX10", 2), DNS_TYPE_MX);
	assert_int_equal(proto_type_from_text("TYPE123", 6), 12);
}

static void test_every_type_there_and_back(void **state)
{
	char text[PROTO_TEXT_MAX];

	(void)state;
	for (int type = 0; type <= UINT16_MAX; type++) {
		int n = proto_type_to_text(text, (uint16_t)type);

		assert_int_equal(n, strlen(text));
		assert_int_equal(proto_type_from_text(text, (size_t)n), type);
	}
	assert_string_equal(text, "TYPE65535");
}

static void test_rcode_text(void **state)
{
	char text[PROTO_TEXT_MAX];

	(void)state;
	proto_rcode_to_text(text, DNS_RCODE_NXDOMAIN);
	assert_string_equal(text, "NXDOMAIN");
	proto_rcode_to_text(text, DNS_RCODE_BADCOOKIE);
	assert_string_equal(text, "BADCOOKIE");
	assert_int_equal(proto_rcode_to_text(text, 4095), 9);
	assert_string_equal(text, "RCODE4095");
}

static void test_ede_text(void **state)
{
	(void)state;
	assert_string_equal(proto_ede_text(DNS_EDE_OTHER), "Other Error");
	assert_string_equal(proto_ede_text(DNS_EDE_DNSSEC_BOGUS), "DNSSEC Bogus");
	assert_string_equal(proto_ede_text(DNS_EDE_STALE_NXDOMAIN), "Stale NXDOMAIN Answer");
	assert_string_equal(proto_ede_text(DNS_EDE_NETWORK_ERROR), "Network Error");
	assert_string_equal(proto_ede_text(DNS_EDE_INVALID_DATA), "Invalid Data");
	assert_string_equal(proto_ede_text(30), "Invalid Query Type");
	assert_null(proto_ede_text(31));
	assert_null(proto_ede_text(65535));
}

/* RFC 8914: the errors of a validator, without 5, an indeterminate state. */
static void test_ede_is_bogus(void **state)
{
	static const char bogus[] = ".BB...BBBBBBB.........................";

	(void)state;
	for (int code = 0; code < 30; code++)
		assert_int_equal(proto_ede_is_bogus(code), bogus[code] == 'B');
	assert_false(proto_ede_is_bogus(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ede_text),
		cmocka_unit_test(test_ede_is_bogus),
		cmocka_unit_test(test_type_from_text),
		cmocka_unit_test(test_text_needs_no_end),
		cmocka_unit_test(test_every_type_there_and_back),
		cmocka_unit_test(test_rcode_text),
	};

	return cmocka_run_group_tests_name("proto", tests, NULL, NULL);
}
