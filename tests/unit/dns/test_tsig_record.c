/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The TSIG record of an error, and queries whose TSIG is cut or padded at each place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/wire.h"
#include "dns/tsig_record.h"

#define QUESTION   "\1\2\0\0\0\1\0\0\0\0\0\1\1k\0\0\1\0\1"
#define AT         (sizeof(QUESTION) - 1)
#define ALGORITHM  "\5hmac1\0"
#define TIME_FUDGE "\0\0\1\2\3\4\1\54"
#define RDATA      ALGORITHM TIME_FUDGE "\0\2MM\1\2\0\0\0\3abc"

/* The query with a TSIG of n octets of RDATA; its key's name is a pointer to the question's. */
static size_t make_query(uint8_t out[512], size_t n)
{
	static const char record[] = "\300\14\0\372\0\377\0\0\0\0";
	size_t at = AT;

	memcpy(out, QUESTION, AT);
	memcpy(out + at, record, sizeof(record) - 1);
	at += sizeof(record) - 1;
	wire_store_be16(out + at, (uint16_t)n);
	memset(out + at + 2, 0, n);
	memcpy(out + at + 2, RDATA, n < sizeof(RDATA) - 1 ? n : sizeof(RDATA) - 1);
	return at + 2 + n;
}

static void test_each_length(void **state)
{
	uint8_t msg[512], out[TSIG_ERROR_MAX];

	(void)state;
	for (size_t n = 0; n < sizeof(RDATA) + 8; n++) {
		size_t len = make_query(msg, n);
		struct query q;
		int bytes;

		assert_int_equal(query_parse(&q, msg, len), QUERY_OK);
		assert_true(q.has_tsig);
		bytes = tsig_write_error(out, msg, &q, DNS_RCODE_BADKEY);
		if (n != sizeof(RDATA) - 1)
			assert_int_equal(bytes, ERR_RDATA);
		else
			assert_true(bytes > 0);
	}
}

static void test_record(void **state)
{
	static const char expected[] = "\1k\0\0\372\0\377\0\0\0\0\0\27" ALGORITHM TIME_FUDGE
				       "\0\0\1\2\0\21\0";
	uint8_t msg[512], out[TSIG_ERROR_MAX];
	struct query q;
	size_t len = make_query(msg, sizeof(RDATA) - 1);

	(void)state;
	assert_int_equal(query_parse(&q, msg, len), QUERY_OK);
	assert_int_equal(tsig_write_error(out, msg, &q, DNS_RCODE_BADKEY), sizeof(expected));
	assert_memory_equal(out, expected, sizeof(expected)); /* its NUL is the last octet */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_length),
		cmocka_unit_test(test_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
