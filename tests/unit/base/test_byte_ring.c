/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/byte_ring.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CAP       4096u
#define N_RECORDS 200000u
#define LONGEST   700u

static struct byte_ring_shared *shared;
static struct byte_ring_writer writer;
static struct byte_ring_reader reader;

static int begin(void **state)
{
	(void)state;
	shared = aligned_alloc(64, byte_ring_bytes(CAP));
	assert_non_null(shared);
	memset(shared, 0, byte_ring_bytes(CAP));
	byte_ring_writer_init(&writer, shared, CAP);
	byte_ring_reader_init(&reader, shared, CAP);
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(shared);
	return 0;
}

static bool put_number(uint64_t number, size_t length)
{
	uint8_t octets[LONGEST];
	const struct iovec parts[] = { { &number, sizeof(number) }, { octets, length } };

	memset(octets, (int)(number & 0xff), length);
	return byte_ring_put(&writer, parts, 2);
}

/* Takes the next record, which must be whole. */
static void take_number(uint64_t number, size_t length)
{
	uint8_t octets[LONGEST];
	int64_t bytes = byte_ring_next(&reader);
	uint64_t is;

	assert_int_equal(bytes, sizeof(is) + length);
	byte_ring_copy(&reader, 0, &is, sizeof(is));
	byte_ring_copy(&reader, sizeof(is), octets, length);
	assert_int_equal(is, number);
	for (size_t i = 0; i < length; i++)
		assert_int_equal(octets[i], number & 0xff);
	byte_ring_pop(&reader, bytes);
}

static void records_come_out_as_they_went_in(void **state)
{
	(void)state;
	assert_int_equal(byte_ring_next(&reader), BYTE_RING_EMPTY);
	for (uint64_t i = 0; i < 1000; i++) { /* many times round, so that records wrap */
		size_t length = i * 37 % LONGEST;

		assert_true(put_number(i, length));
		assert_int_equal(byte_ring_next(&reader), BYTE_RING_EMPTY); /* not published yet */
		(void)byte_ring_publish(&writer);
		take_number(i, length);
		assert_int_equal(byte_ring_next(&reader), BYTE_RING_EMPTY);
	}
}

static void a_full_ring_takes_no_more(void **state)
{
	uint64_t n = 0;

	(void)state;
	while (put_number(n, 100))
		n++;
	assert_int_equal(n, CAP / (8 + 112)); /* a length and 108 octets, to a multiple of 8 */
	(void)byte_ring_publish(&writer);
	take_number(0, 100);
	assert_true(put_number(n, 100));
	assert_false(put_number(n + 1, 100));
}

static void the_reader_is_woken_once_when_it_waits(void **state)
{
	(void)state;
	assert_true(put_number(0, 1));
	assert_false(byte_ring_publish(&writer)); /* it does not wait */
	assert_false(byte_ring_wait(&reader));    /* a record is there */
	take_number(0, 1);
	assert_true(byte_ring_wait(&reader));
	assert_true(put_number(1, 1));
	assert_true(byte_ring_publish(&writer));
	assert_true(put_number(2, 1));
	assert_false(byte_ring_publish(&writer));
}

/* A writer that moves its head to and fro does not keep the reader from its work. */
static void a_head_that_goes_back_is_found(void **state)
{
	(void)state;
	assert_true(put_number(0, 1));
	(void)byte_ring_publish(&writer);
	assert_false(byte_ring_wait(&reader));
	shared->head = 0;
	take_number(0, 1);
	assert_false(byte_ring_wait(&reader));
	assert_int_equal(byte_ring_next(&reader), BYTE_RING_NONSENSE);
}

/* Heads and lengths that no writer of ours would write. */
static void nonsense_is_found(void **state)
{
	static const struct {
		const char *name;
		uint64_t head, length;
	} rows[] = {
		{ "more than the ring holds", CAP + 8, 8 },
		{ "behind the tail", (uint64_t)-8, 8 },
		{ "not a multiple of 8", 12, 1 },
		{ "an empty record", 16, 0 },
		{ "longer than what was published", 16, 9 },
		{ "longer than the ring", CAP, CAP },
		{ "longer than all memory", 16, UINT64_MAX },
		{ "longer after rounding", 16, UINT64_MAX - 7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		shared->head = rows[i].head;
		memcpy(shared->octets, &rows[i].length, sizeof(rows[i].length));
		byte_ring_reader_init(&reader, shared, CAP);
		if (byte_ring_next(&reader) != BYTE_RING_NONSENSE)
			fail_msg("%s", rows[i].name);
	}
}

/* A reader that claims to have read more than there is gets no room for it. */
static void a_wrong_tail_gives_no_room(void **state)
{
	uint64_t n = 0;

	(void)state;
	while (put_number(n, 100))
		n++;
	for (uint64_t tail = writer.head + 8; tail < writer.head + 3 * CAP; tail += 8) {
		shared->tail = tail;
		assert_false(put_number(n, 100));
		assert_false(put_number(n, LONGEST));
	}
	shared->tail = writer.head;
	assert_true(put_number(n, 100));
}

static void *write_all(void *arg)
{
	(void)arg;
	for (uint64_t i = 0; i < N_RECORDS; i++) {
		while (!put_number(i, i % 53)) {
			(void)byte_ring_publish(&writer);
			sched_yield();
		}
		if (i % 7 == 0)
			(void)byte_ring_publish(&writer);
	}
	(void)byte_ring_publish(&writer);
	return NULL;
}

static void two_threads_lose_nothing(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, write_all, NULL), 0);
	for (uint64_t i = 0; i < N_RECORDS; i++) {
		while (byte_ring_next(&reader) == BYTE_RING_EMPTY)
			sched_yield();
		take_number(i, i % 53);
	}
	pthread_join(thread, NULL);
	assert_int_equal(byte_ring_next(&reader), BYTE_RING_EMPTY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_come_out_as_they_went_in, begin, end),
		cmocka_unit_test_setup_teardown(a_full_ring_takes_no_more, begin, end),
		cmocka_unit_test_setup_teardown(the_reader_is_woken_once_when_it_waits, begin, end),
		cmocka_unit_test_setup_teardown(a_head_that_goes_back_is_found, begin, end),
		cmocka_unit_test_setup_teardown(nonsense_is_found, begin, end),
		cmocka_unit_test_setup_teardown(a_wrong_tail_gives_no_room, begin, end),
		cmocka_unit_test_setup_teardown(two_threads_lose_nothing, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
