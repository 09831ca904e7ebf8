/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shares of prefixes in an overload: xdp/shed.h, built natively, before a worker that answers
 * one message a tick. Each prefix asks at its own rate.
 *
 *   prefixes ─► shed.h ─► on their way (a number only) ─► worker, 1 a tick
 *
 * Without a clock or random numbers, so each run gives the same numbers. Rates are in thousandths
 * of the worker's rate. In the first half of the ticks the queue finds its level; these do not
 * count.
 */
#include "xdp/native.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "xdp/lookup.h"
#include "xdp/shed.h"

#define LIMIT          1024u
#define TURN_BITS      13u /* of VOLLEY_TURN * LIMIT */
#define WHOLE          1000u
#define PREFIXES_MAX   2048u
#define TICKS          200000u
#define JIFFY_TICKS    16u
#define BEHAVE         10u /* prefixes that do not flood, in each test */
#define BEHAVE_RATE    5u
#define NEXT_PRIME_MUL 2654435761u /* another prefix asks first in each tick */

static struct volley_state state = { .hash_keys = { 0x9d3f1a2b4c5d6e7full } };
static struct volley_queue queue;
static struct volley_shares shares;
static struct volley_cpu cpu;

static struct prefix {
	uint32_t rate, due;
	uint64_t n_asked, n_up;
} prefixes[PREFIXES_MAX];
static unsigned int n_prefixes;
static uint64_t n_idle, n_over;

/* Every second client has IPv6. */
static void be_client(unsigned int i)
{
	uint8_t octets[] = { 10, (uint8_t)(i >> 8), (uint8_t)i };

	cpu.ipv6 = i & 1;
	memset(cpu.client.address, 0, sizeof(cpu.client.address));
	memcpy(cpu.client.address + (cpu.ipv6 ? 2 : 12), octets, sizeof(octets));
}

static int ask_as(unsigned int i)
{
	int reason = -1;

	be_client(i);
	if (shed_is_behind(&queue))
		reason = shed_judge(&cpu, &state, &queue, 0, &shares);
	if (reason < 0)
		queue.handed++;
	n_over += reason == VOLLEY_DROP_OVERLOAD;
	return reason < 0;
}

static void tick(unsigned int first)
{
	for (unsigned int k = 0; k < n_prefixes; k++) {
		unsigned int i = (first + k) % n_prefixes;
		struct prefix *p = &prefixes[i];

		for (p->due += p->rate; p->due >= WHOLE; p->due -= WHOLE) {
			p->n_asked++;
			p->n_up += (uint64_t)ask_as(i);
		}
	}
	if (queue.handed > queue.taken)
		queue.taken++;
	else
		n_idle++;
}

static void simulate(void)
{
	for (uint32_t t = 0; t < TICKS; t++) {
		if (t == TICKS / 2) {
			n_idle = n_over = 0;
			for (unsigned int i = 0; i < n_prefixes; i++)
				prefixes[i].n_asked = prefixes[i].n_up = 0;
		}
		native_jiffies = t / JIFFY_TICKS;
		tick(t * NEXT_PRIME_MUL % n_prefixes);
	}
}

static void add(unsigned int n, uint32_t rate)
{
	while (n--) {
		assert_true(n_prefixes < PREFIXES_MAX);
		prefixes[n_prefixes] =
			(struct prefix){ .rate = rate, .due = n_prefixes * 37 % WHOLE };
		n_prefixes++;
	}
}

/* An empty queue. Prefixes 0 to BEHAVE - 1 do not flood. */
static int setup(void **unused)
{
	(void)unused;
	memset(&shares, 0, sizeof(shares));
	queue = (struct volley_queue){ .limit = LIMIT, .turn_bits = TURN_BITS };
	n_prefixes = 0;
	add(BEHAVE, BEHAVE_RATE);
	return 0;
}

/* The share of these prefixes' queries that went up, in thousandths. */
static unsigned int answered(unsigned int first, unsigned int n)
{
	uint64_t n_asked = 0, n_up = 0;

	for (unsigned int i = first; i < first + n; i++) {
		n_asked += prefixes[i].n_asked;
		n_up += prefixes[i].n_up;
	}
	return (unsigned int)(n_up * WHOLE / n_asked);
}

static void test_room_for_all(void **unused)
{
	(void)unused;
	add(4, WHOLE / 5);
	simulate();
	assert_int_equal(answered(0, n_prefixes), WHOLE);
}

/* If one prefix floods, the worker is not idle, and the others lose nothing. */
static void test_one_floods(void **unused)
{
	static const uint32_t rates[] = { 2 * WHOLE, 10 * WHOLE, 100 * WHOLE };

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		setup(unused);
		add(1, rates[i]);
		simulate();
		assert_int_equal(n_idle, 0);
		assert_int_equal(n_over, 0);
		assert_in_range(answered(0, BEHAVE), WHOLE - 1, WHOLE);
	}
}

/* The others lose queries only while they share a slot with a prefix that floods. */
static void test_many_flood(void **unused)
{
	static const unsigned int floods[] = { 2, 10, 100 };

	for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
		setup(unused);
		add(floods[i], 10 * WHOLE / floods[i]);
		simulate();
		assert_int_equal(n_idle, 0);
		assert_in_range(answered(0, BEHAVE), WHOLE - 40, WHOLE);
	}
}

/* Prefixes that ask for more than their share all get the same. */
static void test_equal_shares(void **unused)
{
	const unsigned int n = 20;
	unsigned int each;

	(void)unused;
	add(n - 1, WHOLE);
	add(1, 10 * WHOLE);
	simulate();
	each = (WHOLE - BEHAVE * BEHAVE_RATE) / n;
	for (unsigned int i = BEHAVE; i < BEHAVE + n - 1; i++)
		assert_in_range(answered(i, 1), each * 8 / 10, each * 12 / 10);
	assert_in_range(answered(BEHAVE + n - 1, 1) * 10, each * 8 / 10, each * 12 / 10);
}

/* A thousand prefixes flood: a share is a fifth of what the others ask for, and they get it. */
static void test_a_thousand_flood(void **unused)
{
	(void)unused;
	add(1000, 10);
	simulate();
	assert_int_equal(n_idle, 0);
	assert_in_range(answered(0, BEHAVE), 150, 300);
}

/* After the flood nothing is lost, once the worker has answered the rest of the queue. */
static void test_after_the_flood(void **unused)
{
	(void)unused;
	add(1, 10 * WHOLE);
	simulate();
	prefixes[BEHAVE].rate = WHOLE / 2;
	simulate();
	assert_int_equal(answered(0, n_prefixes), WHOLE);
}

/* A prefix that was silent may send a burst: into an empty queue, at least half the limit. */
static void test_burst(void **unused)
{
	unsigned int n = 0;

	(void)unused;
	while (ask_as(0))
		n++;
	assert_in_range(n, LIMIT / 2, LIMIT - LIMIT / 16);
	assert_true(ask_as(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_room_for_all, setup),
		cmocka_unit_test_setup(test_one_floods, setup),
		cmocka_unit_test_setup(test_many_flood, setup),
		cmocka_unit_test_setup(test_equal_shares, setup),
		cmocka_unit_test_setup(test_a_thousand_flood, setup),
		cmocka_unit_test_setup(test_after_the_flood, setup),
		cmocka_unit_test_setup(test_burst, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
