/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When sockets count as stuck and hits as lost, and how long the pauses are: times and numbers made
 * up. */
#include "iface/leaving.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

#define S CLOCK_NS_PER_S

struct look {
	struct xsk_sent sent;
	bool is_stuck;
};

/* One look a second. */
static const struct {
	const char *name;
	struct look looks[4];
} rows[] = {
	{ "nothing to send", { { { 0, 0, 0, 64 }, false }, { { 0, 0, 0, 64 }, false } } },
	{ "all leaves", { { { 5, 5, 5, 64 }, false }, { { 9, 9, 9, 64 }, false } } },
	{ "none is taken", { { { 1, 0, 0, 64 }, false }, { { 1, 0, 0, 64 }, true } } },
	{ "none is taken, and more come",
	  { { { 1, 0, 0, 64 }, false }, { { 7, 0, 0, 64 }, true } } },
	{ "slow, but it moves",
	  { { { 9, 1, 1, 64 }, false }, { { 9, 2, 2, 64 }, false }, { { 20, 3, 3, 64 }, false } } },
	{ "waits only between two looks",
	  { { { 3, 1, 1, 64 }, false }, { { 3, 3, 3, 64 }, false }, { { 4, 3, 3, 64 }, false } } },
	{ "some are completed much later",
	  { { { 31, 31, 0, 64 }, false },
	    { { 31, 31, 0, 64 }, false },
	    { { 31, 31, 0, 64 }, false } } },
	{ "half a ring is never completed",
	  { { { 32, 32, 0, 64 }, false }, { { 32, 32, 0, 64 }, true } } },
	{ "counts that wrap",
	  { { { 2, 0xfffffffe, 0xfffffffe, 64 }, false }, { { 2, 2, 2, 64 }, false } } },
};

static void test_what_is_stuck(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct leaving_queue q = { 0 };

		print_message("%s\n", rows[i].name);
		leaving_open(&q, S);
		for (size_t j = 0; j < 4 && rows[i].looks[j].sent.ring; j++)
			assert_int_equal(leaving_is_stuck(&q, &rows[i].looks[j].sent, (j + 2) * S),
					 rows[i].looks[j].is_stuck);
	}
}

/* Control may look twice within a second, for there is news of the link. */
static void test_a_second_has_to_pass(void **state)
{
	const struct xsk_sent sent = { .given = 1, .ring = 64 };
	struct leaving_queue q = { 0 };

	(void)state;
	leaving_open(&q, 10 * S);
	assert_false(leaving_is_stuck(&q, &sent, 20 * S));
	assert_false(leaving_is_stuck(&q, &sent, 20 * S + 1));
	leaving_excuse(&q);
	assert_false(leaving_is_stuck(&q, &sent, 22 * S));
	assert_true(leaving_is_stuck(&q, &sent, 23 * S));
}

/* Stuck, a second after it was opened at *NOW; the pause that follows, in seconds. */
static uint32_t get_stuck(struct leaving_queue *q, uint64_t *now)
{
	const struct xsk_sent sent = { .given = 1, .ring = 64 };

	leaving_open(q, *now);
	assert_false(leaving_is_stuck(q, &sent, *now));
	*now += S;
	assert_true(leaving_is_stuck(q, &sent, *now));
	assert_true(leaving_is_barred(&q->pause, *now + q->pause.s * S - 1));
	*now += q->pause.s * S;
	assert_false(leaving_is_barred(&q->pause, *now));
	return q->pause.s;
}

static void test_pauses_grow(void **state)
{
	static const uint32_t pauses[] = { 16, 32, 64, 128, 256, 512, 1024, 1024 };
	struct leaving leaving = { 0 };
	uint64_t now = S;

	(void)state;
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++)
		assert_int_equal(get_stuck(&leaving.queues[3], &now), pauses[i]);
	leaving_open(&leaving.queues[3], now);
	now += 1025 * S; /* it has worked for long */
	leaving_is_stuck(&leaving.queues[3], &(struct xsk_sent){ .given = 1, .ring = 64 }, now);
	now += S;
	assert_true(leaving_is_stuck(&leaving.queues[3],
				     &(struct xsk_sent){ .given = 1, .ring = 64 }, now));
	assert_int_equal(leaving.queues[3].pause.s, 16);
	leaving_forgive(&leaving);
	assert_false(leaving_is_barred(&leaving.queues[3].pause, now));
}

struct round {
	uint64_t hits, lost; /* since the look before */
	enum leaving_verdict verdict;
};

#define WELL LEAVING_WELL
#define SOME LEAVING_SOME_LOST
#define ALL  LEAVING_ALL_LOST

/* One look a second. */
static const struct {
	const char *name;
	struct round rounds[12];
} hit_rows[] = {
	{ "all leave", { { 100, 0, WELL }, { 100, 0, WELL } } },
	{ "none leaves", { { 9000, 9000, WELL }, { 9000, 9000, ALL } } },
	{ "once is not enough", { { 100, 100, WELL }, { 100, 0, WELL }, { 100, 100, WELL } } },
	{ "nine of ten", { { 9000, 8100, WELL }, { 9000, 8100, ALL } } },
	{ "one of two, of few", { { 40, 20, WELL }, { 40, 20, ALL } } },
	{ "one of twenty, of few", { { 40, 2, WELL }, { 40, 2, WELL }, { 40, 2, WELL } } },
	{ "one of two, under load",
	  { { 9000, 4500, WELL },
	    { 9000, 4500, SOME },
	    { 9000, 0, SOME },
	    { 9000, 0, SOME },
	    { 9000, 0, SOME },
	    { 9000, 0, SOME },
	    { 9000, 0, SOME },
	    { 9000, 0, SOME },
	    { 9000, 0, SOME },
	    { 9000, 0, WELL } } },
	{ "too few make no round",
	  { { 8, 8, WELL }, { 8, 8, WELL }, { 15, 15, WELL }, { 1, 1, ALL } } },
	{ "what others send is lost, too", { { 0, 50, WELL }, { 0, 50, WELL }, { 0, 50, WELL } } },
};

static void test_which_hits_are_lost(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hit_rows) / sizeof(hit_rows[0]); i++) {
		struct leaving_hits h = { 0 };
		uint64_t hits = 1000, lost = 900;

		print_message("%s\n", hit_rows[i].name);
		leaving_begin_hits(&h, hits, lost, S);
		for (size_t j = 0; j < 12 && h.verdict != ALL; j++) {
			const struct round *round = &hit_rows[i].rounds[j];

			if (!round->hits && !round->lost)
				break;
			hits += round->hits;
			lost += round->lost;
			assert_int_equal(leaving_judge_hits(&h, hits, lost, (j + 2) * S),
					 round->verdict);
			assert_int_equal(leaving_is_barred(&h.pause, (j + 2) * S),
					 round->verdict == ALL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_stuck),
		cmocka_unit_test(test_a_second_has_to_pass),
		cmocka_unit_test(test_pauses_grow),
		cmocka_unit_test(test_which_hits_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
