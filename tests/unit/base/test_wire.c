/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/wire.h"

static const uint8_t bytes[] = { 0x01, 0x82, 0x03, 0x84, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a };

/* u8, be16, be32, 2 bytes: 9 of the 10. Values read before an error are right, those after it are
 * 0. */
static void read_all(struct wire_reader *r, uint8_t tail[2])
{
	uint8_t a = wire_read_u8(r);
	uint16_t b = wire_read_be16(r);
	uint32_t c = wire_read_be32(r);

	wire_read_bytes(r, tail, 2);
	assert_int_equal(a, r->n_bytes < 1 ? 0 : 0x01);
	assert_int_equal(b, r->n_bytes < 3 ? 0 : 0x8203);
	assert_int_equal(c, r->n_bytes < 7 ? 0 : 0x84050607);
}

static void test_read_in_order(void **state)
{
	struct wire_reader r;
	uint8_t tail[2];

	(void)state;
	wire_reader_init(&r, bytes, sizeof(bytes));
	read_all(&r, tail);
	assert_int_equal(r.error, 0);
	assert_memory_equal(tail, bytes + 7, 2);
	assert_int_equal(r.at, 9);
	assert_int_equal(wire_reader_left(&r), 1);
	assert_ptr_equal(wire_read_ref(&r, 1), bytes + 9);
	assert_int_equal(wire_reader_left(&r), 0);
	assert_int_equal(r.error, 0);
}

static void test_read_of_every_length(void **state)
{
	(void)state;
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		struct wire_reader r;
		uint8_t tail[2] = { 0xff, 0xff };

		wire_reader_init(&r, bytes, n);
		read_all(&r, tail);
		assert_int_equal(r.error, n < 9 ? ERR_SHORT : 0);
		if (n >= 9)
			continue;
		assert_int_equal(tail[0] | tail[1], 0);
		assert_int_equal(wire_reader_left(&r), 0);
	}
}

static void test_read_error_sticks(void **state)
{
	struct wire_reader r;

	(void)state;
	wire_reader_init(&r, bytes, 3);
	assert_int_equal(wire_read_be32(&r), 0);
	assert_int_equal(wire_read_u8(&r), 0);
	wire_reader_seek(&r, 0);
	assert_null(wire_read_ref(&r, 0));
	assert_int_equal(r.error, ERR_SHORT);
	assert_int_equal(r.at, 0);
}

static void test_read_seek_and_skip(void **state)
{
	struct wire_reader r;

	(void)state;
	wire_reader_init(&r, bytes, sizeof(bytes));
	wire_reader_skip(&r, 4);
	assert_int_equal(wire_read_u8(&r), 5);
	wire_reader_seek(&r, 1);
	assert_int_equal(wire_read_u8(&r), 0x82);
	wire_reader_seek(&r, sizeof(bytes));
	assert_int_equal(r.error, 0);
	wire_reader_seek(&r, sizeof(bytes) + 1);
	assert_int_equal(r.error, ERR_SHORT);
}

/* n + at must not overflow in the bounds check. */
static void test_huge_lengths(void **state)
{
	struct wire_reader r;
	struct wire_writer w;
	uint8_t buf[4];

	(void)state;
	wire_reader_init(&r, bytes, sizeof(bytes));
	wire_reader_skip(&r, 1);
	wire_reader_skip(&r, SIZE_MAX);
	assert_int_equal(r.error, ERR_SHORT);
	wire_writer_init(&w, buf, sizeof(buf));
	assert_non_null(wire_write_ref(&w, 1));
	assert_null(wire_write_ref(&w, SIZE_MAX));
	assert_int_equal(w.error, ERR_SPACE);
}

static void test_write_of_every_capacity(void **state)
{
	(void)state;
	for (size_t cap = 0; cap <= sizeof(bytes); cap++) {
		uint8_t buf[sizeof(bytes) + 1];
		struct wire_writer w;

		memset(buf, 0xee, sizeof(buf));
		wire_writer_init(&w, buf, cap);
		wire_write_u8(&w, 0x01);
		wire_write_be16(&w, 0x8203);
		wire_write_be32(&w, 0x84050607);
		wire_write_bytes(&w, bytes + 7, 3);
		assert_int_equal(w.error, cap < sizeof(bytes) ? ERR_SPACE : 0);
		assert_memory_equal(buf, bytes, w.at);
		for (size_t i = w.at; i < sizeof(buf); i++)
			assert_int_equal(buf[i], 0xee);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_in_order),
		cmocka_unit_test(test_read_of_every_length),
		cmocka_unit_test(test_read_error_sticks),
		cmocka_unit_test(test_read_seek_and_skip),
		cmocka_unit_test(test_huge_lengths),
		cmocka_unit_test(test_write_of_every_capacity),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
