/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries as text and as octets, and which replies count as answers. */
#include "client/probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/wire.h"
#include "dns/name.h"

static void test_read(void **state)
{
	static const struct {
		const char *text, *name;
		uint16_t type;
	} rows[] = {
		{ "example.com", "example.com.", DNS_TYPE_SOA },
		{ ".", ".", DNS_TYPE_SOA },
		{ "www.example.com./A", "www.example.com.", DNS_TYPE_A },
		{ "x/aaaa", "x.", DNS_TYPE_AAAA },
		{ "0/25.2.0.192.in-addr.arpa/NS", "0/25.2.0.192.in-addr.arpa.", DNS_TYPE_NS },
		{ "x/TYPE300", "x.", 300 },
	};
	static const char *const bad[] = { "", "a..b", "x/", "x/NOTYPE", "/A" };
	char text[NAME_TEXT_MAX];
	struct probe probe;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(probe_read(&probe, rows[i].text), 0);
		assert_true(name_to_text(text, sizeof(text), probe.name) > 0);
		assert_string_equal(text, rows[i].name);
		assert_int_equal(probe.type, rows[i].type);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!probe_read(&probe, bad[i]))
			fail_msg("taken: \"%s\"", bad[i]);
}

static void test_judge(void **state)
{
	static const struct {
		const char *label;
		uint16_t id, flags, n_answers;
		int verdict;
	} rows[] = {
		{ "answer", 7, DNS_FLAG_QR | DNS_FLAG_AA, 1, 0 },
		{ "truncated", 7, DNS_FLAG_QR | DNS_FLAG_TC, 0, 0 },
		{ "no records", 7, DNS_FLAG_QR, 0, PROBE_NO_RECORDS },
		{ "refused", 7, DNS_FLAG_QR | DNS_RCODE_REFUSED, 0, DNS_RCODE_REFUSED },
		{ "no name, but an alias", 7, DNS_FLAG_QR | DNS_RCODE_NXDOMAIN, 1,
		  DNS_RCODE_NXDOMAIN },
		{ "another id", 8, DNS_FLAG_QR, 1, PROBE_NOT_OURS },
		{ "a query", 7, 0, 1, PROBE_NOT_OURS },
	};
	uint8_t message[PROBE_QUERY_MAX];
	struct probe probe;
	size_t len, i;

	(void)state;
	assert_int_equal(probe_read(&probe, "www.example.com/A"), 0);
	len = probe_write(&probe, 7, message);
	assert_int_equal(len, DNS_HEADER_BYTES + 17 + DNS_QUESTION_FIXED_BYTES);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("%s\n", rows[i].label);
		wire_store_be16(message + DNS_ID_AT, rows[i].id);
		wire_store_be16(message + DNS_FLAGS_AT, rows[i].flags);
		wire_store_be16(message + DNS_ANCOUNT_AT, rows[i].n_answers);
		assert_int_equal(probe_judge(&probe, 7, message, len), rows[i].verdict);
	}
	(void)probe_write(&probe, 7, message);
	wire_store_be16(message + DNS_FLAGS_AT, DNS_FLAG_QR);
	for (i = 0; i < len; i++)
		assert_int_equal(probe_judge(&probe, 7, message, i), PROBE_NOT_OURS);
	message[len - 1] ^= 1; /* the class */
	assert_int_equal(probe_judge(&probe, 7, message, len), PROBE_NOT_OURS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
