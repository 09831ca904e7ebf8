/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many answers a prefix gets, to the last one, by a clock that stands where the test puts it.
 * The limits of the first groups are powers of two, so that each prefix's share is a whole number
 * of load; what is asked of each length of prefix is what the tests of Knot's limiter ask.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "limits/clients.h"
#include "limits/limiter.h"
#include "tests/lib/must.h"
#include "xdp/rrl.h"

#define ANSWERS 256u
#define START   12345u /* ms */

/* 768 times as many, and 12: the load of an answer is a whole number, here 10,922.67 without what
 * is behind the point. */
#define LIMIT_18 (VOLLEY_RRL_FULL / (VOLLEY_RRL_FULL / ANSWERS / 3 / 256))

static const struct limiter_config at_once = { .answers = ANSWERS, .slip = 1, .n_readers = 1 };

struct fixture {
	struct limiter limiter;
	struct volley_near *near;
	uint64_t now_ms;
};

/* The first stage holds nothing back: each verdict is the table's. */
static void configure(struct fixture *f, const struct limiter_config *config)
{
	assert_int_equal(limiter_configure(f->limiter.rrl, config), 0);
	f->limiter.rrl->near_cost = 0;
}

static int open_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	MUST(f);
	f->limiter.rrl = calloc(1, sizeof(*f->limiter.rrl));
	f->limiter.loads = calloc(VOLLEY_RRL_LINES, sizeof(*f->limiter.loads));
	f->near = calloc(1, sizeof(*f->near));
	MUST(f->limiter.rrl && f->limiter.loads && f->near);
	f->now_ms = START;
	/* The same in each run: with other keys two prefixes might share a place, once in a
	 * thousand runs. */
	for (uint64_t i = 0; i < 4; i++)
		f->limiter.rrl->keys[i] = 0x0123456789abcdefull * (2 * i + 1);
	configure(f, &at_once);
	*state = f;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *f = *state;

	free(f->limiter.rrl);
	free(f->limiter.loads);
	free(f->near);
	free(f);
	return 0;
}

static struct limiter_answer answer_to(const struct fixture *f, const char *text,
				       uint8_t address[16])
{
	struct limiter_answer a = { .client = address, .octets = 100, .now_ms = f->now_ms };

	a.family = strchr(text, ':') ? AF_INET6 : AF_INET;
	MUST(inet_pton(a.family, text, address) == 1);
	a.now_s = (uint32_t)(f->now_ms / 1000);
	return a;
}

static enum limiter_verdict judge(struct fixture *f, const char *text)
{
	uint8_t address[16];
	struct limiter_answer a = answer_to(f, text, address);

	return limiter_judge(&f->limiter, f->near, &a);
}

/* Answers until the first that is refused, at most `most`; each to the next address that `form`
 * names. */
static unsigned int count(struct fixture *f, const char *form, unsigned int first,
			  unsigned int last, unsigned int most)
{
	unsigned int n_first = last - first + 1;
	char text[64];

	for (unsigned int i = 0; i < most; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), form, first + i % n_first, i / n_first % 256);
#pragma GCC diagnostic pop
		if (judge(f, text) != LIMITER_GIVEN)
			return i;
	}
	return most;
}

/* One after the other: what went before has used up of the wider prefixes. */
static const struct {
	const char *what;
	const char *form;
	unsigned int first, last; /* of the first number in `form` */
	unsigned int given;
} rows[] = {
	{ "/32", "128.0.0.0", 0, 0, ANSWERS },
	{ "not /31", "128.0.0.1", 0, 0, 1 },
	{ "/24", "128.0.0.%u", 2, 255, 32 * ANSWERS - ANSWERS - 1 },
	{ "not /23", "128.0.1.0", 0, 0, 1 },
	{ "/20", "128.0.%u.%u", 2, 15, 256 * ANSWERS - 32 * ANSWERS - 1 },
	{ "not /19", "128.0.16.0", 0, 0, 1 },
	{ "/18", "128.0.%u.%u", 17, 63, LIMIT_18 - 256 * ANSWERS - 1 },
	{ "not /17", "128.0.64.0", 0, 0, 1 },
	{ "/128, whatever IPv4 had", "8000::", 0, 0, ANSWERS },
	{ "not /127", "8000::1", 0, 0, 1 },
	{ "/64", "8000:0:0:0:%x:%x::", 1, 255, 2 * ANSWERS - ANSWERS - 1 },
	{ "not /63", "8000:0:0:1::", 0, 0, 1 },
	{ "/56", "8000:0:0:%x:%x::", 2, 255, 3 * ANSWERS - 2 * ANSWERS - 1 },
	{ "not /55", "8000:0:0:100::", 0, 0, 1 },
	{ "/48", "8000:0:0:%x00:%x::", 2, 255, 4 * ANSWERS - 3 * ANSWERS - 1 },
	{ "not /47", "8000:0:1::", 0, 0, 1 },
	{ "/32 of IPv6", "8000:0:%x:%x::", 2, 65535, 64 * ANSWERS - 4 * ANSWERS - 1 },
	{ "not /31 of IPv6", "8000:1::", 0, 0, 1 },
};

static void test_each_length(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned int most = rows[i].given > 1 ? 2 * rows[i].given : 1;
		unsigned int given = count(f, rows[i].form, rows[i].first, rows[i].last, most);

		if (given != rows[i].given)
			fail_msg("%s: %u answers, not %u", rows[i].what, given, rows[i].given);
	}
}

/* A thousandth of what a second allows comes back with each millisecond, as long as the load is
 * full. */
static void test_rate_comes_back(void **state)
{
	const struct limiter_config config = { .answers = 131072, .slip = 1, .n_readers = 1 };
	struct fixture *f = *state;

	configure(f, &config);
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 200000), 131072);
	assert_int_equal(count(f, "2001:db8::1", 0, 0, 200000), 131072);
	for (int i = 0; i < 3; i++) {
		f->now_ms++;
		assert_int_equal(count(f, "192.0.2.1", 0, 0, 200000), 131);
		assert_int_equal(count(f, "2001:db8::1", 0, 0, 200000), 131);
	}
	f->now_ms += 10; /* 131072 * (1 - 0.999^10), and what three tenths left over */
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 200000), 1305);
}

/*
 * What comes back after a time, of 131,072 answers: times 1, 32 and 1024 ms, and whole at the end.
 * Each step of the decay rounds down, which is an answer at most here.
 */
static const struct {
	const char *what;
	uint32_t ms;
	unsigned int given; /* 131072 * (1 - 0.999^ms) */
} rests[] = {
	{ "31 ms", 31, 4002 },      { "32 ms", 32, 4129 },
	{ "33 ms", 33, 4256 },      { "1023 ms", 1023, 83973 },
	{ "1024 ms", 1024, 84020 }, { "1057 ms", 1057, 85548 },
	{ "10 s", 10000, 131066 },  { "longer than a load lives", 40000, 131072 },
};

static void test_decay(void **state)
{
	const struct limiter_config config = { .answers = 131072, .slip = 1, .n_readers = 1 };
	struct fixture *f = *state;

	configure(f, &config);
	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
		unsigned int given;

		f->now_ms += 40000;
		assert_int_equal(count(f, "192.0.2.1", 0, 0, 200000), 131072);
		f->now_ms += rests[i].ms;
		given = count(f, "192.0.2.1", 0, 0, 200000);
		if (given != rests[i].given && given != rests[i].given + 1)
			fail_msg("%s: %u answers, not %u", rests[i].what, given, rests[i].given);
	}
}

static bool is_untouched(const struct fixture *f)
{
	for (uint32_t i = 0; i < VOLLEY_RRL_LINES; i++)
		for (unsigned int way = 0; way < VOLLEY_RRL_WAYS; way++)
			if (f->limiter.loads[i].slots[way])
				return false;
	return true;
}

/* When a number of the clock, of 16 or 32 bits of milliseconds, comes round. */
static const uint64_t wraps_ms[] = { 1ull << 16, 1ull << 17, 10ull << 16, 1ull << 32 };

/* A load does not come back when the milliseconds of its time come round. Nobody has asked. */
static void test_old_loads_do_not_come_back(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(wraps_ms) / sizeof(wraps_ms[0]); i++)
		for (int ms = -1000; ms <= 1000; ms += 100) {
			assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), ANSWERS);
			f->now_ms += wraps_ms[i] + (uint64_t)(int64_t)ms;
			assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), ANSWERS);
			f->now_ms += 40000;
		}
}

/* Another client whose address has its place in the line of 192.0.2.1. */
static void find_neighbour(const struct fixture *f, char text[INET_ADDRSTRLEN])
{
	const struct volley_rrl *r = f->limiter.rrl;
	const __u64 client[2] = { 0, 192 | 2 << 16 | 1 << 24 };

	for (uint32_t net = 10; net < 0x7fffff00; net += 256) {
		const __u64 words[2] = { 0, net };

		if (rrl_hash(r, words, 128) >> 48 != rrl_hash(r, client, 128) >> 48)
			continue;
		assert_non_null(inet_ntop(AF_INET, &net, text, INET_ADDRSTRLEN));
		return;
	}
	fail();
}

/* The same where others ask meanwhile, now and then, for the prefixes of the same line. */
static void test_old_loads_beside_others(void **state)
{
	struct fixture *f = *state;
	char neighbour[INET_ADDRSTRLEN];

	find_neighbour(f, neighbour);
	for (unsigned int step_ms = 500; step_ms < 40000; step_ms = step_ms * 5 / 4) {
		uint64_t end_ms = f->now_ms + 65536;

		assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), ANSWERS);
		while (f->now_ms + step_ms < end_ms) {
			f->now_ms += step_ms;
			assert_int_equal(judge(f, neighbour), LIMITER_GIVEN);
		}
		f->now_ms = end_ms;
		assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), ANSWERS);
		f->now_ms += 40000;
	}
}

/* A line is tidied in each turn, and its loads of now stay. */
static void test_loads_of_now_stay(void **state)
{
	struct fixture *f = *state;

	for (int turn = 0; turn < 4; turn++) {
		f->now_ms = (f->now_ms | 0x3fff) - 3; /* the end of a turn */
		assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), ANSWERS);
		for (int ms = 0; ms < 10; ms++, f->now_ms++)
			assert_in_range(count(f, "192.0.2.1", 0, 0, 1000), 0, 1);
		f->now_ms += 40000;
	}
}

/* ---- The first stage ------------------------------------------------------------------------- */

/* A thousand resolvers at 20 answers a second, for a minute, on one of four readers: nobody looks
 * at the table. */
static void test_far_below(void **state)
{
	const struct limiter_config config = { .answers = 1000, .slip = 1, .n_readers = 4 };
	struct fixture *f = *state;
	char text[64];

	assert_int_equal(limiter_configure(f->limiter.rrl, &config), 0);
	for (unsigned int ms = 0; ms < 60000; ms += 50, f->now_ms += 50)
		for (unsigned int i = 0; i < 1000; i++) {
			snprintf(text, sizeof(text), i % 2 ? "10.%u.%u.1" : "2001:%x:%x00::1",
				 i / 250, i % 250);
			assert_int_equal(judge(f, text), LIMITER_GIVEN);
		}
	assert_true(is_untouched(f));
}

/* The first stage forgets a period, also when the number of the period comes round. */
static void test_periods_do_not_come_back(void **state)
{
	const struct limiter_config config = { .answers = 1024, .slip = 1, .n_readers = 1 };
	struct fixture *f = *state;

	assert_int_equal(limiter_configure(f->limiter.rrl, &config), 0);
	f->now_ms = 128000;
	for (unsigned int n_bits = 16; n_bits < 30; n_bits++) {
		for (int n = 0; n < 50; n++)
			assert_int_equal(judge(f, "192.0.2.1"), LIMITER_GIVEN);
		f->now_ms += 1ull << n_bits << RRL_PERIOD_BITS;
	}
	assert_true(is_untouched(f));
}

/* What the first stage has held back is charged when it sees that the client is near: the sum is
 * exact. */
static void test_what_was_held_back_counts(void **state)
{
	const struct limiter_config config = { .answers = 1024, .slip = 1, .n_readers = 1 };
	struct fixture *f = *state;

	assert_int_equal(limiter_configure(f->limiter.rrl, &config), 0);
	f->now_ms = 128000; /* a period begins */
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 10000), 1024);
	assert_int_equal(count(f, "2001:db8::1", 0, 0, 10000), 1024);
}

/* Who goes on asking too much is never forgotten by the first stage: a second gives a second's
 * worth. */
static void test_who_goes_on_stays_hot(void **state)
{
	const struct limiter_config config = { .answers = 1024, .slip = 1, .n_readers = 1 };
	struct fixture *f = *state;
	unsigned int n = 0;

	assert_int_equal(limiter_configure(f->limiter.rrl, &config), 0);
	for (unsigned int ms = 0; ms < 10000; ms++, f->now_ms++)
		for (int i = 0; i < 10; i++)
			n += judge(f, "192.0.2.1") == LIMITER_GIVEN;
	assert_in_range(n, 10 * 1024, 11 * 1024);
}

/* ---- Places and clocks ----------------------------------------------------------------------- */

/* The line in which 192.0.2.1 has its place. */
static struct volley_rrl_line *line_of_client(const struct fixture *f)
{
	const __u64 words[2] = { 0, 192 | 2 << 16 | 1 << 24 };

	return &f->limiter.loads[rrl_hash(f->limiter.rrl, words, 128) >> 48];
}

/* Where all of a line are at their limit, a new prefix inherits a quarter of one, and no more. */
static void test_a_full_line(void **state)
{
	struct fixture *f = *state;
	struct volley_rrl_line *line = line_of_client(f);

	for (uint64_t way = 0; way < VOLLEY_RRL_WAYS; way++)
		line->slots[way] = (way + 1) << 48 | (uint64_t)(f->now_ms & 0xffff) << 32 |
				   VOLLEY_RRL_FULL;
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), ANSWERS - ANSWERS / 4);
}

/* The lightest gives way: of those with the same load the one that had it first. */
static void test_who_gives_way(void **state)
{
	struct fixture *f = *state;
	struct volley_rrl_line *line = line_of_client(f);

	for (uint64_t way = 0; way < VOLLEY_RRL_WAYS; way++)
		line->slots[way] = (way + 1) << 48 |
				   (uint64_t)((f->now_ms - (way == 5 ? 3000 : 0)) & 0xffff) << 32 |
				   VOLLEY_RRL_FULL / 2;
	judge(f, "192.0.2.1");
	for (uint64_t way = 0; way < VOLLEY_RRL_WAYS; way++)
		assert_int_equal(line->slots[way] >> 48 == way + 1, way != 5);
}

/* Workers read a finer clock than the driver: who is a little behind sees the load as it is. */
static void test_a_clock_that_is_behind(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), ANSWERS);
	f->now_ms -= 10;
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), 0);
	f->now_ms += 10;
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), 0);
}

/* ---- Attacks --------------------------------------------------------------------------------- */

static uint32_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 32);
}

/* A million forged sources, one query each, in two seconds: of a hundred honest clients nobody
 * loses an answer. */
static void test_forged_sources(void **state)
{
	const struct limiter_config config = { .answers = 1000, .slip = 2, .n_readers = 4 };
	struct fixture *f = *state;
	uint64_t seed = 1;
	char text[64];

	assert_int_equal(limiter_configure(f->limiter.rrl, &config), 0);
	for (unsigned int i = 0; i < 1000000; i++) {
		uint32_t from = draw(&seed);

		f->now_ms += i % 500 == 0;
		snprintf(text, sizeof(text), "%u.%u.%u.%u", 1 + from % 126, from >> 8 & 255,
			 from >> 16 & 255, from >> 24);
		judge(f, text);
		if (i % 250)
			continue;
		snprintf(text, sizeof(text), "198.51.%u.7", i / 250 % 100); /* 20 a second each */
		assert_int_equal(judge(f, text), LIMITER_GIVEN);
	}
}

/* One forged /24 that asks half a million times a second gets what the /24 may have; its neighbour
 * does not notice. */
static void test_one_prefix_floods(void **state)
{
	const struct limiter_config config = { .answers = 1000, .slip = 2, .n_readers = 4 };
	unsigned int n_given = 0, n_slipped = 0, n_dropped = 0;
	struct fixture *f = *state;
	char text[64];

	assert_int_equal(limiter_configure(f->limiter.rrl, &config), 0);
	for (unsigned int i = 0; i < 1000000; i++) {
		enum limiter_verdict verdict;

		f->now_ms += i % 500 == 0;
		snprintf(text, sizeof(text), "192.0.2.%u", i * 7 % 256);
		verdict = judge(f, text);
		n_given += verdict == LIMITER_GIVEN;
		n_slipped += verdict == LIMITER_SLIPS;
		n_dropped += verdict == LIMITER_DROPPED;
		if (i % 25000 == 0)
			assert_int_equal(judge(f, "192.0.3.1"), LIMITER_GIVEN);
	}
	assert_in_range(n_given, 3 * 32000 - 2000,
			3 * 32000 + 1000); /* at once, and in two seconds */
	assert_in_range(n_slipped, n_dropped - n_dropped / 20, n_dropped + n_dropped / 20);
}

/* ---- Side by side ---------------------------------------------------------------------------- */

#define N_THREADS 4

struct asker {
	pthread_t thread;
	const struct limiter *limiter;
	unsigned int n_given;
};

static void *ask_much(void *arg)
{
	static const uint8_t address[4] = { 192, 0, 2, 1 };
	struct volley_near *near = calloc(1, sizeof(*near));
	struct asker *asker = arg;

	MUST(near);
	for (unsigned int i = 0; i < 200000; i++) {
		const struct limiter_answer a = { .family = AF_INET,
						  .client = address,
						  .octets = 100,
						  .net_id = (uint16_t)i,
						  .now_ms = START,
						  .now_s = 1 };

		asker->n_given += limiter_judge(asker->limiter, near, &a) == LIMITER_GIVEN;
	}
	free(near);
	return NULL;
}

/*
 * Together they get what one would get, and each at most one more: it may have looked while another
 * added. What three tries do not add is lost, so each may have a few more; not as much as if each
 * had a limit of its own.
 */
static void test_side_by_side(void **state)
{
	const struct limiter_config config = { .answers = 65536, .slip = 2, .n_readers = 1 };
	struct asker askers[N_THREADS] = { 0 };
	struct fixture *f = *state;
	unsigned int n = 0;

	configure(f, &config);
	for (int i = 0; i < N_THREADS; i++) {
		askers[i].limiter = &f->limiter;
		assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_much, &askers[i]), 0);
	}
	for (int i = 0; i < N_THREADS; i++) {
		pthread_join(askers[i].thread, NULL);
		n += askers[i].n_given;
	}
	assert_in_range(n, 65536, 65536 + 65536 / 2);
}

/* ---- Places of the list that several take ---------------------------------------------------- */

#define N_PLACES 200000u
#define LENGTH   24u /* of all prefixes here */

struct taker {
	pthread_t thread;
	struct volley_limited *places;
	uint64_t id;
	uint32_t *n_ready; /* takers that have come to a place, all together */
};

/* Begins each place when the other taker begins it, too. */
static void *take_all(void *arg)
{
	struct taker *t = arg;
	const struct rrl_listed p = { t->id, { t->id, t->id }, LENGTH };

	for (uint32_t i = 0; i < N_PLACES; i++) {
		__atomic_fetch_add(t->n_ready, 1, __ATOMIC_RELAXED);
		while (__atomic_load_n(t->n_ready, __ATOMIC_RELAXED) < 2 * (i + 1))
			sched_yield();
		(void)rrl_list_take(&t->places[i], &p, RRL_LIST_REST_S + 1);
	}
	return NULL;
}

/* All places have rested. Each ends with the address that goes with its key. */
static void test_a_place_that_two_take(void **state)
{
	struct volley_limited *places = calloc(N_PLACES, sizeof(*places));
	struct taker takers[2];
	uint32_t n_ready = 0;

	(void)state;
	MUST(places);
	for (uint32_t i = 0; i < N_PLACES; i++)
		places[i] =
			(struct volley_limited){ .key = 1, .address = { 1, 1 }, .bits = LENGTH };
	for (uint64_t i = 0; i < 2; i++) {
		takers[i] = (struct taker){ .places = places, .id = 2 + i, .n_ready = &n_ready };
		MUST(!pthread_create(&takers[i].thread, NULL, take_all, &takers[i]));
	}
	for (int i = 0; i < 2; i++)
		pthread_join(takers[i].thread, NULL);
	for (uint32_t i = 0; i < N_PLACES; i++) {
		assert_in_range(places[i].key, 2, 3);
		assert_int_equal(places[i].address[0], places[i].key);
		assert_int_equal(places[i].address[1], places[i].key);
		assert_int_equal(places[i].bits, LENGTH);
	}
	free(places);
}

/* ---- What is told ---------------------------------------------------------------------------- */

static unsigned int slips_of(struct fixture *f, uint32_t slip)
{
	struct limiter_config config = at_once;
	unsigned int n = 0;

	config.slip = slip;
	configure(f, &config);
	count(f, "192.0.2.1", 0, 0, 1000);
	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t address[16];
		struct limiter_answer a = answer_to(f, "192.0.2.1", address);
		enum limiter_verdict verdict;

		a.net_id = (uint16_t)i;
		verdict = limiter_judge(&f->limiter, f->near, &a);
		assert_true(verdict == LIMITER_SLIPS || verdict == LIMITER_DROPPED);
		n += verdict == LIMITER_SLIPS;
	}
	return n;
}

static void test_slip(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(slips_of(f, 0), 0);
	assert_int_equal(slips_of(f, 1), 20000);
	assert_in_range(slips_of(f, 2), 9600, 10400);
	assert_in_range(slips_of(f, 10), 1750, 2250);
}

static void test_list(void **state)
{
	struct fixture *f = *state;
	unsigned int n = 0;

	f->now_ms = 5000;
	count(f, "192.0.2.1", 0, 0, 1000);
	count(f, "2001:db8::1", 0, 0, 1000);
	for (int i = 0; i < 10; i++)
		judge(f, "192.0.2.1");
	for (unsigned int i = 0; i < VOLLEY_RRL_LIMITED; i++) {
		const struct volley_limited *at = &f->limiter.rrl->limited[i];
		const uint8_t *address = (const uint8_t *)at->address;

		if (!at->key)
			continue;
		n++;
		assert_int_equal(at->bits, 128);
		assert_int_equal(at->first_s, 5);
		assert_int_equal(at->last_s, 5);
		if (address[0] == 0x20) {
			assert_int_equal(at->slipped + at->dropped, 1);
			continue;
		}
		assert_memory_equal(address, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\2\1", 16);
		assert_int_equal(at->slipped, 11);
	}
	assert_int_equal(n, 2);
}

/* ---- Who is not limited ---------------------------------------------------------------------- */

static void test_exempt(void **state)
{
	const struct clients_prefix prefix = { .family = AF_INET,
					       .bits = 24,
					       .address = { 192, 0, 2 },
					       .views = VOLLEY_CLIENT_EXEMPT };
	struct limiter_config config = at_once;
	struct fixture *f = *state;
	struct clients *clients;
	uint8_t address[16];
	struct limiter_answer a = answer_to(f, "192.0.2.1", address);

	config.has_exempt = true;
	configure(f, &config);
	assert_int_equal(clients_new(&clients, &prefix, 1), 0);
	a.clients = clients;
	for (unsigned int i = 0; i < 2 * ANSWERS; i++)
		assert_int_equal(limiter_judge(&f->limiter, f->near, &a), LIMITER_EXEMPT);
	a.clients = NULL;
	a.is_exempt = true; /* a good cookie */
	for (unsigned int i = 0; i < 2 * ANSWERS; i++)
		assert_int_equal(limiter_judge(&f->limiter, f->near, &a), LIMITER_EXEMPT);
	clients_free(clients);
	assert_true(is_untouched(f));
}

static void test_dry_run(void **state)
{
	struct limiter_config config = at_once;
	struct fixture *f = *state;

	config.dry_run = true;
	configure(f, &config);
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), ANSWERS);
	for (int i = 0; i < 100; i++)
		assert_int_equal(judge(f, "192.0.2.1"), LIMITER_DRY);
}

static void test_off(void **state)
{
	const struct limiter_config config = { .n_readers = 1 };
	struct fixture *f = *state;

	configure(f, &config);
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 1000), 1000);
	assert_true(is_untouched(f));
}

/* Of 65,536 octets a second an answer of 100 takes 100; the limit of answers is far. */
static void test_octets(void **state)
{
	const struct limiter_config config = {
		.answers = 1000000, .octets = 65536, .slip = 1, .n_readers = 1
	};
	struct fixture *f = *state;

	configure(f, &config);
	assert_int_equal(count(f, "192.0.2.1", 0, 0, 10000), 65536 / 100);
}

static void test_refused_configurations(void **state)
{
	const struct limiter_config rows_[] = {
		{ .answers = LIMITER_ANSWERS_MAX + 1, .n_readers = 1 },
		{ .octets = LIMITER_OCTETS_MAX + 1, .n_readers = 1 },
		{ .answers = 1 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows_) / sizeof(rows_[0]); i++)
		assert_int_equal(limiter_configure(f->limiter.rrl, &rows_[i]), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_length),
		TEST(test_rate_comes_back),
		TEST(test_decay),
		TEST(test_old_loads_do_not_come_back),
		TEST(test_old_loads_beside_others),
		TEST(test_loads_of_now_stay),
		TEST(test_far_below),
		TEST(test_periods_do_not_come_back),
		TEST(test_what_was_held_back_counts),
		TEST(test_who_goes_on_stays_hot),
		TEST(test_a_full_line),
		TEST(test_who_gives_way),
		TEST(test_a_clock_that_is_behind),
		TEST(test_forged_sources),
		TEST(test_one_prefix_floods),
		TEST(test_side_by_side),
		TEST(test_a_place_that_two_take),
		TEST(test_slip),
		TEST(test_list),
		TEST(test_exempt),
		TEST(test_dry_run),
		TEST(test_off),
		TEST(test_octets),
		TEST(test_refused_configurations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
