/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolver/failures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "dns/edns.h"

#define NOW 1000000000ULL

static struct failures failures;
static char line[FAILURES_TEXT_CAP];

static size_t make_line(int ede_code, const char *text, uint64_t now_ns)
{
	static const struct resolver_question q = { .name = "\3www\3lab", .qtype = DNS_TYPE_AAAA };

	return failures_line(&failures, line, sizeof(line), &q, ede_code, text, now_ns);
}

static void a_line_says_name_type_and_why(void **state)
{
	static const char expected[] = "recursion: www.lab. AAAA failed: signature expired";

	(void)state;
	failures = (struct failures){ 0 };
	assert_int_equal(make_line(DNS_EDE_DNSSEC_BOGUS, "signature expired", NOW),
			 strlen(expected));
	assert_string_equal(line, expected);
	assert_int_not_equal(make_line(EDNS_NO_EDE, NULL, NOW), 0);
	assert_string_equal(line, "recursion: www.lab. AAAA failed: no reason is known");
}

static void each_cause_has_a_line_in_its_time(void **state)
{
	(void)state;
	failures = (struct failures){ 0 };
	assert_int_not_equal(make_line(DNS_EDE_DNSSEC_BOGUS, "a", NOW), 0);
	assert_int_equal(make_line(DNS_EDE_DNSSEC_BOGUS, "b", NOW), 0);
	assert_int_equal(make_line(DNS_EDE_DNSSEC_BOGUS, "b", NOW + FAILURES_EVERY_NS - 1), 0);
	assert_int_not_equal(make_line(DNS_EDE_NETWORK_ERROR, "c", NOW + 1), 0);
	assert_int_not_equal(make_line(DNS_EDE_DNSSEC_BOGUS, "d", NOW + FAILURES_EVERY_NS), 0);
	assert_string_equal(line, "recursion: www.lab. AAAA failed: d (2 more failed with this "
				  "error before)");
	assert_int_not_equal(make_line(DNS_EDE_DNSSEC_BOGUS, "e", NOW + 2 * FAILURES_EVERY_NS), 0);
	assert_string_equal(line, "recursion: www.lab. AAAA failed: e");
}

/* An upstream says any code. */
static void codes_above_are_one_cause(void **state)
{
	(void)state;
	failures = (struct failures){ 0 };
	assert_int_not_equal(make_line(65535, "a", NOW), 0);
	assert_int_equal(make_line(FAILURES_CAUSES, "a", NOW), 0);
	assert_int_equal(make_line(EDNS_NO_EDE, "a", NOW), 0);
}

static void a_long_reason_is_cut(void **state)
{
	static char text[2 * FAILURES_TEXT_CAP];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	failures = (struct failures){ 0 };
	assert_int_equal(make_line(DNS_EDE_OTHER, text, NOW), sizeof(line) - 1);
	assert_int_equal(strlen(line), sizeof(line) - 1);
}

#define FAILURE(reason) "validation failure <www.lab. A IN>: " reason " from 192.0.2.1"

/* The texts are those of libunbound 1.17.1 and 1.26.2. */
static void a_reason_of_the_validator_has_its_code(void **state)
{
	static const struct {
		const char *why;
		int ede_code;
	} rows[] = {
		{ FAILURE("signature expired"), 7 },
		{ FAILURE("signature expired") " for key lab. while building chain of trust", 7 },
		{ FAILURE("signature before inception date"), 8 },
		{ FAILURE("signatures from unknown keys"), 9 },
		{ FAILURE("No DNSKEY record"), 9 },
		{ FAILURE("DNSKEY RRset did not match DS RRset by name"), 9 },
		{ FAILURE("DS hash mismatches key"), 9 },
		{ FAILURE("no signatures"), 10 },
		{ FAILURE("signature missing"), 10 },
		{ FAILURE("dnskey without ZSK flag"), 11 },
		{ FAILURE("zone has no known algorithms"), 1 },
		{ FAILURE("ECDSA signature verification failed"), 6 },
		{ "validation failure <no.signatures. A IN>: key lab.", 6 },
		{ "", 6 },
		{ NULL, 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(failures_bogus_ede(rows[i].why), rows[i].ede_code);
		assert_true(proto_ede_is_bogus(rows[i].ede_code));
	}
	assert_false(proto_ede_is_bogus(EDNS_NO_EDE));
	assert_false(proto_ede_is_bogus(DNS_EDE_STALE_ANSWER));
	assert_false(proto_ede_is_bogus(DNS_EDE_NO_REACHABLE_AUTHORITY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_says_name_type_and_why),
		cmocka_unit_test(each_cause_has_a_line_in_its_time),
		cmocka_unit_test(codes_above_are_one_cause),
		cmocka_unit_test(a_reason_of_the_validator_has_its_code),
		cmocka_unit_test(a_long_reason_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
