/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dns/edns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/wire.h"
#include "dns/proto.h"
#include "tests/lib/bytes.h"

#define QUESTION "\3www\7example\0\0\1\0\1"
#define ANSWER   "\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4\xc0\0\2\1"
#define OPT      "\0\0\x29\4\xd0\0\0\0\0\0\0"
#define OPT_EDE  "\0\0\x29\4\xd0\0\0\0\0\0\6\0\x0f\0\2\0\1"

static struct bytes reply_with(uint16_t n_answers, uint16_t n_additional)
{
	struct bytes b = { .n = DNS_HEADER_BYTES };

	wire_store_be16(b.at + DNS_FLAGS_AT, DNS_FLAG_QR);
	wire_store_be16(b.at + DNS_QDCOUNT_AT, 1);
	wire_store_be16(b.at + DNS_ANCOUNT_AT, n_answers);
	wire_store_be16(b.at + DNS_ARCOUNT_AT, n_additional);
	add(&b, QUESTION);
	return b;
}

/* An answer with an OPT record at *opt. */
static struct bytes answer(size_t *opt)
{
	struct bytes b = reply_with(1, 1);

	add(&b, ANSWER);
	*opt = b.n;
	add(&b, OPT_EDE);
	return b;
}

static void a_reply_is_a_multiple(void **state)
{
	size_t opt;
	struct bytes b = answer(&opt);
	size_t n = padding_add(b.at, b.n, sizeof(b.at), 0);

	(void)state;
	assert_int_equal(n, 468); /* RFC 8467 section 4.1 */
	assert_int_equal(wire_load_be16(b.at + opt + 9), n - opt - DNS_OPT_FIXED_BYTES);
	assert_int_equal(wire_load_be16(b.at + b.n), DNS_OPTION_PADDING);
	assert_int_equal(wire_load_be16(b.at + b.n + 2), n - b.n - 4);
	for (size_t i = b.n + 4; i < n; i++)
		assert_int_equal(b.at[i], 0);
}

/* Every length before padding, so that the option itself may exceed a multiple. */
static void from_every_length(void **state)
{
	(void)state;
	for (size_t n_data = 0; n_data < 2 * PADDING_REPLY_BYTES; n_data++) {
		struct bytes b = reply_with(1, 1);
		size_t n;

		add(&b, "\xc0\x0c\0\x10\0\1\0\0\0\1");
		wire_store_be16(b.at + b.n, (uint16_t)n_data);
		b.n += 2 + n_data;
		add(&b, OPT);
		n = padding_add(b.at, b.n, sizeof(b.at), 0);
		assert_int_equal(n % PADDING_REPLY_BYTES, 0);
		assert_true(n >= b.n + 4 && n < b.n + 4 + PADDING_REPLY_BYTES);
	}
}

static void a_signature_that_follows_counts(void **state)
{
	size_t opt;
	struct bytes b = answer(&opt);

	(void)state;
	assert_int_equal(padding_add(b.at, b.n, sizeof(b.at), 100), PADDING_REPLY_BYTES - 100);
}

static void no_more_than_there_is_room(void **state)
{
	size_t opt;
	struct bytes b = answer(&opt);

	(void)state;
	assert_int_equal(padding_add(b.at, b.n, b.n + 3, 0), b.n);
	assert_int_equal(wire_load_be16(b.at + opt + 9), 6);
	assert_int_equal(padding_add(b.at, b.n, b.n + 20, 10), b.n + 10);
}

static void nothing_without_an_opt_at_the_end(void **state)
{
	struct bytes b = reply_with(1, 0);
	size_t opt;

	(void)state;
	add(&b, ANSWER);
	assert_int_equal(padding_add(b.at, b.n, sizeof(b.at), 0), b.n);
	b = answer(&opt);
	add(&b, "more");
	assert_int_equal(padding_add(b.at, b.n, sizeof(b.at), 0), b.n);
	b = answer(&opt);
	for (size_t n = 0; n < b.n; n++) /* cut */
		assert_int_equal(padding_add(b.at, n, sizeof(b.at), 0), n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reply_is_a_multiple),
		cmocka_unit_test(from_every_length),
		cmocka_unit_test(a_signature_that_follows_counts),
		cmocka_unit_test(no_more_than_there_is_room),
		cmocka_unit_test(nothing_without_an_opt_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
