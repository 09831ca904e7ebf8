/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets that are shed when the worker of a queue is behind (xdp/shed.h): each branch of the
 * decision, by values that the test writes into volley_queues and volley_shares.
 *
 * The slot of a prefix depends on the time, so the test sets every slot of every CPU to the same
 * value. A test about slots may try twice, since they change rarely.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "tests/lib/xdpsocket.h"
#include "tests/lib/xdpworld.h"

#define LIMIT     1024u
#define TURN_BITS 13u /* of VOLLEY_TURN * LIMIT */
#define TURN      100u
#define TAKEN     ((uint64_t)TURN << TURN_BITS)

static const uint8_t name[] = "\3www\7example";
static int sock = -1;

static struct xdp_result result;

/* --- The maps --------------------------------------------------------------------------------- */

static struct volley_shares *new_shares(int *n_cpus)
{
	struct volley_shares *all;

	*n_cpus = libbpf_num_possible_cpus();
	assert_true(*n_cpus > 0);
	all = calloc((size_t)*n_cpus, sizeof(*all));
	assert_non_null(all);
	return all;
}

/* Sets the count of every prefix. */
static void set_shares(const struct xdp_world *w, uint32_t turn, uint32_t sent)
{
	const __u32 zero = 0;
	int n_cpus;
	struct volley_shares *all = new_shares(&n_cpus);

	for (int i = 0; i < n_cpus; i++)
		for (unsigned int k = 0; k < VOLLEY_SHARE_SLOTS; k++)
			all[i].slots[k] = (struct volley_share){ turn, sent };
	assert_int_equal(bpf_map_update_elem(bpfmaps_map_fd(&w->maps, "volley_shares"), &zero, all,
					     BPF_ANY),
			 0);
	free(all);
}

/* How many slots have exactly these values. */
static unsigned int count_shares(const struct xdp_world *w, uint32_t turn, uint32_t sent)
{
	const __u32 zero = 0;
	unsigned int n = 0;
	int n_cpus;
	struct volley_shares *all = new_shares(&n_cpus);

	assert_int_equal(bpf_map_lookup_elem(bpfmaps_map_fd(&w->maps, "volley_shares"), &zero, all),
			 0);
	for (int i = 0; i < n_cpus; i++)
		for (unsigned int k = 0; k < VOLLEY_SHARE_SLOTS; k++)
			n += all[i].slots[k].turn == turn && all[i].slots[k].sent == sent;
	free(all);
	return n;
}

static void set_behind(struct xdp_world *w, int64_t behind)
{
	*w->maps.queues = (struct volley_queue){
		.taken = TAKEN,
		.limit = LIMIT,
		.turn_bits = TURN_BITS,
		.handed = TAKEN + (uint64_t)behind,
	};
}

/* The count that is allowed with this much room. */
static uint32_t allowed(uint32_t room)
{
	return 1 + room * room * 512 / (VOLLEY_TURN * LIMIT);
}

/* --- Packets ---------------------------------------------------------------------------------- */

static struct xdp_world *take(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, name);

	if (sock < 0)
		sock = xdp_socket_open(&w->maps);
	*w->maps.queues = (struct volley_queue){ 0 };
	set_shares(w, 0, 0);
	return w;
}

/* Sends a query from this address. */
static int send_from(struct xdp_world *w, const char *from, struct pkt_ask ask)
{
	static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
	struct pkt p = strchr(from, ':') ? pkt_ipv6 : pkt_ipv4;

	assert_int_equal(inet_pton(p.ipv6 ? AF_INET6 : AF_INET, from, p.from), 1);
	xdp_world_run(w, frame, pkt_build(frame, &p, dns, pkt_ask(dns, &ask)), &result);
	return result.reason;
}

/* Asks for the answer in the cache or for another type. */
static int ask_as(struct xdp_world *w, const char *from, uint16_t qtype)
{
	return send_from(w, from, (struct pkt_ask){ .name = name, .qtype = qtype });
}

/* A miss must have this result, in each counter. */
static void expect_miss(struct xdp_world *w, const char *from, int reason)
{
	struct volley_queue before = *w->maps.queues;
	int found = ask_as(w, from, 2);
	bool is_up = reason == VOLLEY_UP_MISS;

	if (found != reason)
		fail_msg("%s with %ld on the way: %s, not %s", from,
			 (long)(before.handed - before.taken), xdp_reason_name(found),
			 xdp_reason_name(reason));
	assert_int_equal(result.action, is_up ? XDP_REDIRECT : XDP_DROP);
	assert_int_equal(w->maps.queues->handed - before.handed, is_up);
	assert_int_equal(w->maps.queues->shed - before.shed, !is_up);
}

#define CLIENT "198.51.100.7"

/* --- Tests ------------------------------------------------------------------------------------ */

static void test_room(void **state)
{
	static const int64_t few[] = { 0, 1, LIMIT / 4 - 1, -1, -64 };
	struct xdp_world *w = take(state);

	set_shares(w, TURN, 1u << 30);
	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
		set_behind(w, few[i]);
		expect_miss(w, CLIENT, VOLLEY_UP_MISS);
	}
	/* no share was looked at */
	assert_int_equal(count_shares(w, TURN, 1u << 30) % VOLLEY_SHARE_SLOTS, 0);
}

static void test_share(void **state)
{
	static const uint32_t rooms[] = { LIMIT - LIMIT / 4, LIMIT / 2, 100, 5, 4, 1 };
	struct xdp_world *w = take(state);

	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		uint32_t max = allowed(rooms[i]);

		set_shares(w, TURN, max - 1);
		set_behind(w, (int64_t)LIMIT - rooms[i]);
		expect_miss(w, CLIENT, VOLLEY_UP_MISS);
		assert_int_equal(count_shares(w, TURN, max), 1);
		set_shares(w, TURN, max);
		set_behind(w, (int64_t)LIMIT - rooms[i]);
		expect_miss(w, CLIENT, VOLLEY_DROP_SHARE);
		assert_int_equal(count_shares(w, TURN, max) % VOLLEY_SHARE_SLOTS, 0);
	}
}

/* A limit of one answer a second, and no loads. */
static void limit_to_one(struct xdp_world *w)
{
	const struct limiter_config limits = { .answers = 1, .slip = 1, .n_readers = 1 };
	struct volley_rrl *rrl = w->maps.limiter.rrl;

	memset(rrl, 0, sizeof(*rrl));
	memset(w->maps.limiter.loads, 0, VOLLEY_RRL_LINES * sizeof(struct volley_rrl_line));
	assert_int_equal(limiter_configure(rrl, &limits), 0);
	rrl->near_cost = 0;
	memset(rrl->decay, 0xff, sizeof(rrl->decay)); /* no decay for the first 32 s */
}

/* When the worker is behind, a client that has used up its rate limit is dropped at once, and
 * another one goes up. */
static void test_over_the_rate_limit(void **state)
{
	struct xdp_world *w = take(state);

	limit_to_one(w);
	assert_int_equal(ask_as(w, CLIENT, 1), VOLLEY_HIT_FULL);
	set_behind(w, LIMIT / 4);
	expect_miss(w, CLIENT, VOLLEY_DROP_SHARE);
	expect_miss(w, "198.51.100.8", VOLLEY_UP_MISS);
	expect_miss(w, "2001:db8:7::7", VOLLEY_UP_MISS);
	set_behind(w, LIMIT / 4 - 1);
	expect_miss(w, CLIENT, VOLLEY_UP_MISS);
	w->maps.limiter.rrl->answer_cost = 0;
}

/*
 * As if no packet had read the clock for 30 s. By such a clock a load of now is 35 s old, so
 * nothing is left of it.
 */
static void forget_clocks(const struct xdp_world *w)
{
	const __u32 room = 0;
	int fd = bpfmaps_map_fd(&w->maps, "volley_cpu"), n_cpus = libbpf_num_possible_cpus();
	struct volley_cpu *each = calloc((size_t)n_cpus, sizeof(*each));

	assert_non_null(each);
	assert_int_equal(bpf_map_lookup_elem(fd, &room, each), 0);
	for (int i = 0; i < n_cpus; i++) {
		each[i].jiffies = 0;
		each[i].now_ms -= 30000;
		each[i].now_s -= 30;
	}
	assert_int_equal(bpf_map_update_elem(fd, &room, each, BPF_ANY), 0);
	free(each);
}

/* A packet that goes up before the driver looks for its answer is judged by the present time. */
static void test_early_packets_read_the_clock(void **state)
{
	static const struct {
		uint16_t qclass;
		uint32_t driver_answers;
	} rows[] = { { 1, 0 }, { 3, 1 }, { 3, 0 } };
	struct xdp_world *w = take(state);

	limit_to_one(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pkt_ask ask = { .name = name, .qtype = 2, .qclass = rows[i].qclass };

		memset(w->maps.limiter.loads, 0, VOLLEY_RRL_LINES * sizeof(struct volley_rrl_line));
		w->maps.link->driver_answers = 1;
		assert_int_equal(ask_as(w, CLIENT, 1), VOLLEY_HIT_FULL);
		set_behind(w, LIMIT / 4);
		forget_clocks(w);
		w->maps.link->driver_answers = rows[i].driver_answers;
		assert_int_equal(send_from(w, CLIENT, ask), VOLLEY_DROP_SHARE);
	}
	w->maps.link->driver_answers = 1;
	w->maps.limiter.rrl->answer_cost = 0;
}

static void test_overload(void **state)
{
	static const int64_t many[] = { LIMIT, LIMIT + 1, 1ll << 40 };
	struct xdp_world *w = take(state);

	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		set_behind(w, many[i]);
		expect_miss(w, CLIENT, VOLLEY_DROP_OVERLOAD);
		expect_miss(w, "2001:db8:7::7", VOLLEY_DROP_OVERLOAD);
	}
	set_behind(w, LIMIT - 1);
	expect_miss(w, CLIENT, VOLLEY_UP_MISS);
	expect_miss(w, CLIENT, VOLLEY_DROP_OVERLOAD); /* it was the last */
}

/* With each turn of the queue the counts are halved. */
static void test_turns(void **state)
{
	static const struct {
		uint32_t turns_ago, sent;
		bool is_up;
	} rows[] = {
		{ 1, 2 * 19 - 1, true },  { 1, 2 * 19, false },
		{ 3, 8 * 19 - 1, true },  { 3, 8 * 19, false },
		{ 31, 0xffffffff, true }, { 32, 0xffffffff, true },
		{ 99, 0xffffffff, true }, { (uint32_t)-1, 0xffffffff, true },
	};
	const uint32_t room = 17;
	struct xdp_world *w = take(state);

	assert_int_equal(allowed(room), 19);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		set_shares(w, TURN - rows[i].turns_ago, rows[i].sent);
		set_behind(w, LIMIT - room);
		expect_miss(w, CLIENT, rows[i].is_up ? VOLLEY_UP_MISS : VOLLEY_DROP_SHARE);
	}
	set_shares(w, TURN - 1, 20);
	set_behind(w, LIMIT - room);
	expect_miss(w, CLIENT, VOLLEY_UP_MISS);
	assert_int_equal(count_shares(w, TURN, 11), 1); /* half of 20, and this one */
}

/* Whether these two clients share a slot. */
static bool is_one_slot(struct xdp_world *w, const char *a, const char *b)
{
	for (int tries = 0; tries < 2; tries++) {
		set_shares(w, 0, 0);
		set_behind(w, LIMIT / 2);
		expect_miss(w, a, VOLLEY_UP_MISS);
		expect_miss(w, b, VOLLEY_UP_MISS);
		if (count_shares(w, TURN, 2) == 1)
			return true;
		assert_int_equal(count_shares(w, TURN, 1), 2);
	}
	return false;
}

static void test_prefixes(void **state)
{
	static const struct {
		const char *a, *b;
		bool is_one;
	} rows[] = {
		{ "198.51.100.7", "198.51.100.200", true },
		{ "198.51.100.7", "198.51.101.7", false },
		{ "198.51.100.7", "199.51.100.7", false },
		{ "2001:db8:7::1", "2001:db8:7:ffff:ffff::1", true },
		{ "2001:db8:7::1", "2001:db8:8::1", false },
		{ "2001:db8:7::1", "2001:db9:7::1", false },
	};
	struct xdp_world *w = take(state);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is_one = is_one_slot(w, rows[i].a, rows[i].b);

		/* clients that share a slot by chance do not with another secret */
		if (is_one && !rows[i].is_one) {
			w->maps.memory.state->hash_keys[0] *= 0x9e3779b97f4a7c15ull;
			is_one = is_one_slot(w, rows[i].a, rows[i].b);
		}
		if (is_one != rows[i].is_one)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
	}
}

/* Each secret gives a prefix another slot. */
static void test_salt(void **state)
{
	struct xdp_world *w = take(state);
	unsigned int n = 0;

	for (unsigned int i = 0; i < 16; i++) {
		set_behind(w, LIMIT / 2);
		w->maps.memory.state->hash_keys[0] = i * 0xd1342543de82ef95ull;
		expect_miss(w, CLIENT, VOLLEY_UP_MISS);
	}
	for (uint32_t sent = 1; sent <= 16; sent++)
		n += count_shares(w, TURN, sent);
	assert_in_range(n, 12, 16);
}

/* Nothing is shed without a worker's limit, and only packets that go up are shed. */
static void test_not_shed(void **state)
{
	struct xdp_world *w = take(state);

	set_behind(w, 2 * LIMIT);
	assert_int_equal(ask_as(w, CLIENT, 1), VOLLEY_HIT_FULL);
	assert_int_equal(result.action, XDP_TX);
	assert_int_equal(ask_as(w, "127.0.0.1", 1), VOLLEY_PASS_SOURCE);
	assert_int_equal(result.action, XDP_PASS);
	assert_int_equal(w->maps.queues->handed, TAKEN + 2 * LIMIT);
	w->maps.queues->limit = 0;
	expect_miss(w, CLIENT, VOLLEY_UP_MISS);
	w->maps.link->driver_answers = 0;
	w->maps.queues->limit = LIMIT;
	assert_int_equal(ask_as(w, CLIENT, 1), VOLLEY_DROP_OVERLOAD);
}

/* The worker was killed: its limit is still there, its socket is not. */
static void test_no_socket(void **state)
{
	struct xdp_world *w = take(state);

	set_behind(w, 2 * LIMIT);
	close(sock);
	for (int i = 0; i < 10000 && ask_as(w, CLIENT, 2) != VOLLEY_UP_MISS; i++)
		usleep(1000);
	sock = -1;
	assert_int_equal(ask_as(w, CLIENT, 2), VOLLEY_UP_MISS);
	assert_int_equal(result.action, XDP_PASS);
	assert_int_equal(w->maps.queues->handed, TAKEN + 2 * LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_over_the_rate_limit),
		cmocka_unit_test(test_early_packets_read_the_clock),
		cmocka_unit_test(test_overload),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_salt),
		cmocka_unit_test(test_not_shed),
		cmocka_unit_test(test_no_socket),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
