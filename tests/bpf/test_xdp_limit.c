/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rate limits in the driver: the number of answers that a client gets, the replies over the limit,
 * the exempt clients. Driver and userspace must give the same verdict on each of many queries, by a
 * clock that the test moves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/socket.h>

#include "tests/lib/xdpworld.h"

#define WWW       "\3www\7example\3com"
#define ANSWERS   64u
#define N_QUERIES 60000u
#define BODY      40u

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

/* A world with one answer in the cache, these limits, and a first stage that holds no load back. */
static struct xdp_world *take(void **state, const struct limiter_config *config)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)WWW);
	struct volley_rrl *rrl = w->maps.limiter.rrl;

	memset(rrl, 0, sizeof(*rrl));
	memset(w->maps.limiter.loads, 0, VOLLEY_RRL_LINES * sizeof(struct volley_rrl_line));
	for (uint64_t i = 0; i < 4; i++)
		rrl->keys[i] = 0x0123456789abcdefull * (2 * i + 1);
	assert_int_equal(limiter_configure(rrl, config), 0);
	rrl->near_cost = 0;
	return w;
}

static const struct limiter_config usual = { .answers = ANSWERS, .slip = 1, .n_readers = 1 };

struct client {
	bool ipv6;
	uint8_t address[16];
};

static size_t build(const struct client *from, uint16_t id, const uint8_t *options,
		    size_t n_options)
{
	const struct pkt_ask ask = { .name = (const uint8_t *)WWW,
				     .id = id,
				     .edns = n_options > 0,
				     .udp_size = 1232,
				     .options = options,
				     .n_options = n_options };
	struct pkt p = from->ipv6 ? pkt_ipv6 : pkt_ipv4;

	memcpy(p.from, from->address, from->ipv6 ? 16 : 4);
	return pkt_build(frame, &p, dns, pkt_ask(dns, &ask));
}

static void run(struct xdp_world *w, const struct client *from, uint16_t id)
{
	xdp_world_run(w, frame, build(from, id, NULL, 0), &result);
}

static const struct client ipv4 = { .address = { 192, 0, 2, 1 } };
static const struct client ipv4_beside = { .address = { 192, 0, 2, 2 } };
static const struct client ipv6 = { .ipv6 = true, .address = { 0x20, 1, 0x0d, 0xb8, [15] = 1 } };
static const struct client ipv6_beside = { .ipv6 = true,
					   .address = { 0x20, 1, 0x0d, 0xb8, 1, [15] = 1 } };

/* Stops decay: a load loses nothing between two runs, however long they take. */
static void stop_decay(struct xdp_world *w)
{
	memset(w->maps.limiter.rrl->decay, 0xff, sizeof(w->maps.limiter.rrl->decay));
}

static void test_exact(void **state)
{
	const struct client *const clients[][2] = { { &ipv4, &ipv4_beside },
						    { &ipv6, &ipv6_beside } };
	struct xdp_world *w = take(state, &usual);

	stop_decay(w);
	for (size_t i = 0; i < 2; i++) {
		/* The 65th has no room: without decay a load is a unit too small when the clock
		 * ticks. */
		for (unsigned int n = 0; n < ANSWERS; n++) {
			run(w, clients[i][0], (uint16_t)n);
			assert_int_equal(result.reason, VOLLEY_HIT_FULL);
		}
		run(w, clients[i][0], 1);
		assert_int_equal(result.reason, VOLLEY_HIT_SLIPPED);
		run(w, clients[i][1], 1);
		assert_int_equal(result.reason, VOLLEY_HIT_FULL);
	}
}

static void test_slipped(void **state)
{
	struct xdp_world *w = take(state, &usual);
	size_t n;

	w->maps.limiter.rrl->answer_cost = VOLLEY_RRL_FULL;
	run(w, &ipv4, 1);
	n = build(&ipv4, 2, NULL, 0);
	xdp_expect_answer(w, "slipped", frame, n, VOLLEY_HIT_SLIPPED, &result, &answer);
	assert_int_equal(answer.body_bytes, 0);
	assert_int_equal(answer.ancount + answer.nscount + answer.arcount, 0);
	assert_true(answer.flags & PKT_TC);
	assert_int_equal(result.bytes, n);
}

static void test_dropped(void **state)
{
	struct limiter_config config = usual;
	struct xdp_world *w;

	config.slip = 0;
	w = take(state, &config);
	w->maps.limiter.rrl->answer_cost = VOLLEY_RRL_FULL;
	run(w, &ipv6, 1);
	assert_int_equal(result.reason, VOLLEY_HIT_FULL);
	run(w, &ipv6, 2);
	assert_int_equal(result.reason, VOLLEY_DROP_LIMITED);
	assert_int_equal(result.action, XDP_DROP);
}

static void test_dry_run(void **state)
{
	struct limiter_config config = usual;
	struct xdp_world *w;

	config.dry_run = true;
	w = take(state, &config);
	w->maps.limiter.rrl->answer_cost = VOLLEY_RRL_FULL;
	for (int i = 0; i < 3; i++) {
		run(w, &ipv4, 1);
		assert_int_equal(result.reason, VOLLEY_HIT_FULL);
	}
}

/* With a cookie: BADCOOKIE and a new cookie; a client with that one gets all answers. */
static void test_cookies(void **state)
{
	struct xdp_world *w = take(state, &usual);
	struct volley_options *o = &w->maps.memory.state->options[0];
	uint8_t options[28] = { 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8 };

	*o = (struct volley_options){ .n_secrets = 1, .secrets = { { 1, 2 } } };
	w->maps.limiter.rrl->answer_cost = VOLLEY_RRL_FULL;
	run(w, &ipv4, 1);
	xdp_expect_answer(w, "a client's part", frame, build(&ipv4, 2, options, 12),
			  VOLLEY_HIT_BADCOOKIE, &result, &answer);
	assert_int_equal(answer.flags & 15, 23 & 15);
	assert_false(answer.flags & PKT_TC);
	assert_int_equal(answer.opt[5], 23 >> 4);
	assert_int_equal(answer.body_bytes, 0);
	assert_int_equal(answer.opt_options, 28);
	memcpy(options, answer.opt + PKT_OPT_BYTES, 28);
	for (int i = 0; i < 5; i++)
		xdp_expect_answer(w, "a whole cookie", frame, build(&ipv4, 3, options, 28),
				  VOLLEY_HIT_FULL, &result, &answer);
	options[27] ^= 1;
	xdp_expect_answer(w, "a damaged one", frame, build(&ipv4, 4, options, 28),
			  VOLLEY_HIT_BADCOOKIE, &result, &answer);
	run(w, &ipv4, 5);
	assert_int_equal(result.reason, VOLLEY_HIT_SLIPPED);
}

/* An answer is counted under its own response code, whatever code the answer before it had. */
static void test_counted_by_rcode(void **state)
{
	const uint8_t cookie[12] = { 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct xdp_world *w = take(state, &usual);
	struct volley_cpu before, after;

	w->maps.memory.state->options[0] =
		(struct volley_options){ .n_secrets = 1, .secrets = { { 1, 2 } } };
	w->maps.limiter.rrl->answer_cost = VOLLEY_RRL_FULL;
	run(w, &ipv4, 1);
	xdp_world_run(w, frame, build(&ipv4, 2, cookie, sizeof(cookie)), &result);
	assert_int_equal(result.reason, VOLLEY_HIT_BADCOOKIE);
	assert_int_equal(bpfmaps_counters(&w->maps, &before), 0);
	run(w, &ipv4_beside, 3);
	assert_int_equal(result.reason, VOLLEY_HIT_FULL);
	assert_int_equal(bpfmaps_counters(&w->maps, &after), 0);
	for (unsigned int rcode = 0; rcode < VOLLEY_COUNT_RCODES; rcode++)
		assert_int_equal(after.answers.by_rcode[rcode] - before.answers.by_rcode[rcode],
				 rcode == 0);
}

/* A reply over the limit has no extended error, even if the answer would have one. */
static void test_slipped_without_error(void **state)
{
	static const uint8_t cookie[12] = { 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct xdp_world *w = take(state, &usual);
	struct entry put = { .name = (const uint8_t *)"\3ede\4test", .full_bytes = 33 };
	struct pkt_ask ask = { .name = put.name, .edns = true, .udp_size = 1232 };
	struct volley_entry *e = xdp_world_put(w, &put);
	size_t n;

	w->maps.memory.state->options[0] =
		(struct volley_options){ .n_secrets = 1, .secrets = { { 1, 2 } } };
	w->maps.limiter.rrl->answer_cost = VOLLEY_RRL_FULL;
	e->ede = 22 + 1;
	e->refresh_s = 1;
	run(w, &ipv4, 1);
	n = pkt_build(frame, &pkt_ipv4, dns, pkt_ask(dns, &ask));
	xdp_expect_answer(w, "slipped", frame, n, VOLLEY_HIT_SLIPPED, &result, &answer);
	assert_int_equal(answer.opt_options, 0);
	ask.options = cookie;
	ask.n_options = sizeof(cookie);
	n = pkt_build(frame, &pkt_ipv4, dns, pkt_ask(dns, &ask));
	xdp_expect_answer(w, "BADCOOKIE", frame, n, VOLLEY_HIT_BADCOOKIE, &result, &answer);
	assert_int_equal(answer.opt_options, 28);
}

/* A reply over the limit has no NSID: nothing limits these replies. */
static void test_slipped_without_nsid(void **state)
{
	static const uint8_t asked[16] = { 0, 3, 0, 0, 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct xdp_world *w = take(state, &usual);
	struct volley_options *o = &w->maps.memory.state->options[0];
	size_t n;

	*o = (struct volley_options){ .n_secrets = 1, .secrets = { { 1, 2 } }, .nsid_bytes = 132 };
	w->maps.memory.state->option_up_mask = 1u << 3 | 1u << 10;
	w->maps.limiter.rrl->answer_cost = VOLLEY_RRL_FULL;
	n = build(&ipv4, 1, asked, 4);
	xdp_expect_answer(w, "whole", frame, n, VOLLEY_HIT_FULL, &result, &answer);
	assert_int_equal(answer.opt_options, 132);
	xdp_expect_answer(w, "slipped", frame, n, VOLLEY_HIT_SLIPPED, &result, &answer);
	assert_int_equal(answer.opt_options, 0);
	n = build(&ipv4, 2, asked, sizeof(asked));
	xdp_expect_answer(w, "BADCOOKIE", frame, n, VOLLEY_HIT_BADCOOKIE, &result, &answer);
	assert_int_equal(answer.opt_options, 28);
}

static void test_exempt(void **state)
{
	const struct volley_client prefix = { .prefix_bits = 120,
					      .address = { [10] = 0xff, 0xff, 192, 0, 2, 0 } };
	const uint32_t views = 1u << VOLLEY_VIEW_PUBLIC | VOLLEY_CLIENT_EXEMPT;
	struct limiter_config config = usual;
	struct xdp_world *w;
	int fd;

	config.has_exempt = true;
	w = take(state, &config);
	fd = bpfmaps_map_fd(&w->maps, "volley_clients");
	w->maps.limiter.rrl->answer_cost = VOLLEY_RRL_FULL;
	assert_int_equal(bpf_map_update_elem(fd, &prefix, &views, BPF_ANY), 0);
	for (int i = 0; i < 5; i++) {
		run(w, &ipv4, 1);
		assert_int_equal(result.reason, VOLLEY_HIT_FULL);
	}
	run(w, &ipv6, 1);
	run(w, &ipv6, 2);
	assert_int_equal(result.reason, VOLLEY_HIT_SLIPPED);
}

/* A query that goes up for lack of room is not charged: the worker charges it. A damaged entry has
 * no room in any frame. */
static void test_no_room_costs_nothing(void **state)
{
	const struct client *const clients[] = { &ipv4, &ipv6 };
	struct xdp_world *w = take(state, &usual);
	struct entry e = { .name = (const uint8_t *)"\3all", .full_bytes = 40, .short_bytes = 20 };

	stop_decay(w);
	xdp_world_put(w, &e)->body_offset = 0xffff;
	for (size_t i = 0; i < 2; i++) {
		const struct pkt_ask ask = { .name = (const uint8_t *)"\3all" };
		struct pkt p = clients[i]->ipv6 ? pkt_ipv6 : pkt_ipv4;

		memcpy(p.from, clients[i]->address, clients[i]->ipv6 ? 16 : 4);
		for (unsigned int n = 0; n < 2 * ANSWERS; n++)
			xdp_expect_unchanged(w, "no room", frame,
					     pkt_build(frame, &p, dns, pkt_ask(dns, &ask)),
					     VOLLEY_UP_NO_ROOM);
		for (unsigned int n = 0; n < ANSWERS; n++) {
			run(w, clients[i], (uint16_t)(1 + n));
			assert_int_equal(result.reason, VOLLEY_HIT_FULL);
		}
		run(w, clients[i], 1);
		assert_int_equal(result.reason, VOLLEY_HIT_SLIPPED);
	}
}

/* ---- Two answerers, one truth ---------------------------------------------------------------- */

/* The driver's clock in the last run on this CPU. */
static uint64_t driver_ms(struct xdp_world *w, int cpu)
{
	static struct volley_cpu *each;
	const uint32_t room = 0;

	if (!each)
		each = calloc((size_t)libbpf_num_possible_cpus(), sizeof(*each));
	assert_non_null(each);
	assert_int_equal(bpf_map_lookup_elem(bpfmaps_map_fd(&w->maps, "volley_cpu"), &room, each),
			 0);
	return each[cpu].now_ms;
}

static uint32_t draw(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*seed >> 32) * n >> 32);
}

/* One of 10,000 prefixes: few ask often, many rarely. */
static struct client draw_client(uint64_t *seed)
{
	uint32_t spread = 1u << draw(seed, 14);
	uint32_t prefix = draw(seed, spread < 10000 ? spread : 10000);
	struct client c = { .ipv6 = prefix & 1 };

	memcpy(c.address, c.ipv6 ? ipv6.address : ipv4.address, 16);
	c.address[c.ipv6 ? 5 : 1] = (uint8_t)(prefix >> 8);
	c.address[c.ipv6 ? 6 : 2] = (uint8_t)prefix;
	c.address[c.ipv6 ? 15 : 3] = (uint8_t)(1 + draw(seed, 4));
	return c;
}

static int reason_of(enum limiter_verdict verdict)
{
	return verdict == LIMITER_SLIPS   ? VOLLEY_HIT_SLIPPED :
	       verdict == LIMITER_DROPPED ? VOLLEY_DROP_LIMITED :
					    VOLLEY_HIT_FULL;
}

/*
 * Each answerer has its own table and gets the same queries at the same millisecond: the driver's
 * clock and the time that the test adds. The first stage is as in production. In the environment
 * QUERIES is the number of queries.
 */
static void test_two_answerers(void **state)
{
	const struct limiter_config config = {
		.answers = 20, .octets = 2000, .slip = 2, .n_readers = 2
	};
	const char *said = getenv("QUERIES");
	unsigned long n = said ? strtoul(said, NULL, 0) : N_QUERIES, n_over = 0;
	struct xdp_world *w = take(state, &config);
	struct volley_near *near = calloc(1, sizeof(*near));
	struct limiter other = { calloc(1, sizeof(struct volley_rrl)),
				 calloc(VOLLEY_RRL_LINES, sizeof(struct volley_rrl_line)) };
	const uint32_t octets = 12 + sizeof(WWW) + 4 + BODY;
	uint64_t seed = 1;
	cpu_set_t cpus;
	int cpu = sched_getcpu();

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	assert_true(near && other.rrl && other.loads);
	assert_int_equal(limiter_configure(w->maps.limiter.rrl, &config), 0);
	/* The first stage's periods of an earlier test are long over. */
	w->maps.limiter.rrl->ahead_ms = 1000000000;
	memcpy(other.rrl, w->maps.limiter.rrl, sizeof(*other.rrl));
	for (unsigned long i = 0; i < n; i++) {
		struct client c = draw_client(&seed);
		uint16_t id = (uint16_t)(1 + draw(&seed, 65535)); /* pkt_ask() replaces 0 */
		struct limiter_answer a = { .family = c.ipv6 ? AF_INET6 : AF_INET,
					    .client = c.address,
					    .octets = octets,
					    .net_id = (uint16_t)(id << 8 | id >> 8) };
		enum limiter_verdict verdict;

		w->maps.limiter.rrl->ahead_ms += draw(&seed, 100) ? 0 : draw(&seed, 50);
		w->maps.limiter.rrl->ahead_ms += draw(&seed, 5000) ? 0 : 65536;
		other.rrl->ahead_ms = w->maps.limiter.rrl->ahead_ms;
		run(w, &c, id);
		a.now_ms = driver_ms(w, cpu);
		verdict = limiter_judge(&other, near, &a);
		if (result.reason != reason_of(verdict))
			fail_msg("query %lu: the driver says %s, userspace %s", i,
				 xdp_reason_name(result.reason),
				 xdp_reason_name(reason_of(verdict)));
		n_over += verdict != LIMITER_GIVEN;
	}
	print_message("           %lu queries, %lu over a limit\n", n, n_over);
	assert_in_range(n_over, n / 20, n - n / 20);
	assert_memory_equal(other.loads, w->maps.limiter.loads,
			    VOLLEY_RRL_LINES * sizeof(struct volley_rrl_line));
	free(near);
	free(other.rrl);
	free(other.loads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_slipped),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_dry_run),
		cmocka_unit_test(test_counted_by_rcode),
		cmocka_unit_test(test_cookies),
		cmocka_unit_test(test_slipped_without_error),
		cmocka_unit_test(test_slipped_without_nsid),
		cmocka_unit_test(test_exempt),
		cmocka_unit_test(test_no_room_costs_nothing),
		cmocka_unit_test(test_two_answerers),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
