/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks in the driver: each action, for prefixes of both families, names and types, with VLAN tags
 * and in tunnels, for hits, misses and malformed messages. A block ends when it expires, or without
 * a daemon for longer than cache.orphan-serve. test_truth_blocks.c compares driver and engine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "tests/lib/blocklab.h"
#include "tests/lib/tunnel.h"
#include "tests/lib/xdpworld.h"

#define NAME   "\3www\7example"
#define OTHER  "\3www\7exampl2"
#define CAP    1024u
#define NEVER  VOLLEY_NEVER
#define WAYS   (2 * 3 * (1 + TUNNELS)) /* families, tags, tunnels or none */
#define LABELS 100

static uint8_t frame[PKT_FRAME_MAX], plain[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;
static struct blocklab lab;

/* A world with NAME in the cache, tunnels allowed, and no blocks yet. */
static struct xdp_world *take(void **state)
{
	const struct entry e = { .name = (const uint8_t *)NAME, .full_bytes = 40 };
	struct xdp_world *w = xdp_world_take(state);
	uint32_t end4[4] = { 0 }, end6[4];

	memcpy(end4, tunnel_end4, sizeof(tunnel_end4));
	memcpy(end6, tunnel_end6, sizeof(tunnel_end6));
	bpfmaps_serve(w->maps.memory.state, end4, VOLLEY_TUNNEL_END | 4, 0);
	bpfmaps_serve(w->maps.memory.state, end6, VOLLEY_TUNNEL_END | 6, 0);
	w->maps.link->tunnels = VOLLEY_TUNNEL_IPIP | VOLLEY_TUNNEL_GUE;
	w->maps.link->gue_port = __builtin_bswap16(TUNNEL_GUE_PORT);
	xdp_world_put(w, &e);
	blocklab_open(&lab, &w->maps, CAP);
	return w;
}

static struct pkt_ask ask_for(const char *name)
{
	return (struct pkt_ask){
		.name = (const uint8_t *)name, .flags = PKT_RD, .edns = true, .udp_size = 1232
	};
}

/* Builds the query in one of the ways in `frame`, and without a tunnel in `plain`. */
static size_t build(unsigned int way, const struct pkt_ask *ask, size_t *plain_n)
{
	struct pkt p = way % 2 ? pkt_ipv6 : pkt_ipv4;
	unsigned int tunnel = way / 6;

	p.n_tags = way / 2 % 3;
	p.tpid[0] = p.n_tags == 2 ? PKT_TPID_AD : PKT_TPID_Q;
	p.tci[0] = 100;
	p.tci[1] = 7;
	*plain_n = pkt_build(plain, &p, dns, pkt_ask(dns, ask));
	if (tunnel)
		return tunnel_wrap(frame, &tunnels[tunnel - 1], plain, *plain_n);
	memcpy(frame, plain, *plain_n);
	return *plain_n;
}

/* Both clients of the lab. */
static void block_clients(uint32_t action, uint32_t expires_s)
{
	static char what[2][64];

	snprintf(what[0], sizeof(what[0]), "%u.%u.%u.0/24", pkt_ipv4.from[0], pkt_ipv4.from[1],
		 pkt_ipv4.from[2]);
	snprintf(what[1], sizeof(what[1]), "%02x%02x:%02x%02x::/32", pkt_ipv6.from[0],
		 pkt_ipv6.from[1], pkt_ipv6.from[2], pkt_ipv6.from[3]);
	for (int i = 0; i < 2; i++)
		blocklab_set(&lab, what[i], action, expires_s, 0);
}

static void expect_dropped(struct xdp_world *w, size_t n)
{
	xdp_world_run(w, frame, n, &result);
	if (result.action != XDP_DROP || result.reason != VOLLEY_DROP_BLOCKED)
		fail_msg("%s", xdp_reason_name(result.reason));
}

/* The answer is that to the frame without its tunnel: with these flags, without records. */
static void expect_reply(struct xdp_world *w, size_t n, size_t plain_n, int reason, uint16_t flags,
			 int ede)
{
	const char *wrong;

	xdp_world_run(w, frame, n, &result);
	if (result.action != XDP_TX || result.reason != reason)
		fail_msg("%s", xdp_reason_name(result.reason));
	wrong = pkt_check_answer(plain, plain_n, result.frame, result.bytes, XDP_WORLD_MAX_UDP,
				 &answer);
	if (wrong)
		fail_msg("%s", wrong);
	assert_int_equal(answer.flags, flags);
	assert_int_equal(answer.ancount + answer.nscount + answer.body_bytes, 0);
	assert_int_equal(answer.opt_options, ede ? 6 : 0);
	if (ede) {
		const uint8_t wanted[6] = { 0, 15, 0, 2, 0, (uint8_t)ede };

		assert_memory_equal(answer.opt + PKT_OPT_BYTES, wanted, sizeof(wanted));
	}
}

/* ---- Each action ----------------------------------------------------------------------------- */

static void check_way(struct xdp_world *w, unsigned int way, const char *name)
{
	struct pkt_ask ask = ask_for(name);
	size_t plain_n, n = build(way, &ask, &plain_n);

	block_clients(VOLLEY_BLOCK_DROP, NEVER);
	expect_dropped(w, n);
	block_clients(VOLLEY_BLOCK_REFUSE, NEVER);
	expect_reply(w, n, plain_n, VOLLEY_HIT_REFUSED, PKT_QR | PKT_RD | 5, 18);
	block_clients(VOLLEY_BLOCK_TRUNCATE, NEVER);
	expect_reply(w, n, plain_n, VOLLEY_HIT_BLOCK_TRUNCATED, PKT_QR | PKT_RD | PKT_TC, 0);
	block_clients(VOLLEY_BLOCK_UP, NEVER);
	xdp_expect_unchanged(w, "up", frame, n, VOLLEY_UP_BLOCKED);
}

/* The cache has NAME, and not OTHER. */
static void test_prefixes(void **state)
{
	struct xdp_world *w = take(state);

	for (unsigned int way = 0; way < WAYS; way++) {
		check_way(w, way, NAME);
		check_way(w, way, OTHER);
	}
	blocklab_close(&lab);
}

static void test_names_and_types(void **state)
{
	static const char *const what[] = { "name:example.", "name:www.example.", "name:.",
					    "type:1" };
	struct xdp_world *w = take(state);
	struct pkt_ask ask = ask_for("\3wWw\7ExAMPLE");

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		for (unsigned int way = 0; way < WAYS; way++) {
			size_t plain_n, n = build(way, &ask, &plain_n);

			blocklab_set(&lab, what[i], VOLLEY_BLOCK_DROP, NEVER, 0);
			expect_dropped(w, n);
			blocklab_set(&lab, what[i], VOLLEY_BLOCK_REFUSE, NEVER, 0);
			expect_reply(w, n, plain_n, VOLLEY_HIT_REFUSED, PKT_QR | PKT_RD | 5, 15);
			blocklab_set(&lab, what[i], VOLLEY_BLOCK_TRUNCATE, NEVER, 0);
			expect_reply(w, n, plain_n, VOLLEY_HIT_BLOCK_TRUNCATED,
				     PKT_QR | PKT_RD | PKT_TC, 0);
			blocklab_set(&lab, what[i], VOLLEY_BLOCK_UP, NEVER, 0);
			xdp_expect_unchanged(w, what[i], frame, n, VOLLEY_UP_BLOCKED);
		}
		blocklab_remove(&lab, what[i]);
	}
	blocklab_close(&lab);
}

/* Without EDNS the answer has no option, so no extended error. */
static void test_without_edns(void **state)
{
	struct xdp_world *w = take(state);
	struct pkt_ask ask = ask_for(NAME);

	ask.edns = false;
	block_clients(VOLLEY_BLOCK_REFUSE, NEVER);
	for (unsigned int way = 0; way < WAYS; way++) {
		size_t plain_n, n = build(way, &ask, &plain_n);

		expect_reply(w, n, plain_n, VOLLEY_HIT_REFUSED, PKT_QR | PKT_RD | 5, 0);
	}
	blocklab_close(&lab);
}

/* Unless a good cookie shows the address, the answer has neither COOKIE nor NSID. */
static void test_options(void **state)
{
	static uint8_t options[32] = { 0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 3, 0, 0 };
	struct xdp_world *w = take(state);
	struct volley_options *o = &w->maps.memory.state->options[0];
	struct pkt_ask ask = ask_for(NAME);
	size_t plain_n, n;
	uint8_t good[28];

	*o = (struct volley_options){ .n_secrets = 1, .secrets = { { 1, 2 } }, .nsid_bytes = 132 };
	w->maps.memory.state->option_up_mask = 1u << 3 | 1u << 10;
	ask.options = options;
	ask.n_options = 16;
	n = build(0, &ask, &plain_n);
	xdp_expect_answer(w, "not blocked", frame, n, VOLLEY_HIT_FULL, &result, &answer);
	assert_int_equal(answer.opt_options, 28 + 132);
	memcpy(good, answer.opt + PKT_OPT_BYTES, sizeof(good));
	block_clients(VOLLEY_BLOCK_REFUSE, NEVER);
	n = build(0, &ask, &plain_n);
	expect_reply(w, n, plain_n, VOLLEY_HIT_REFUSED, PKT_QR | PKT_RD | 5, 18);
	block_clients(VOLLEY_BLOCK_TRUNCATE, NEVER);
	expect_reply(w, n, plain_n, VOLLEY_HIT_BLOCK_TRUNCATED, PKT_QR | PKT_RD | PKT_TC, 0);
	memcpy(options, good, sizeof(good));
	memcpy(options + 28, "\0\3\0", 4);
	ask.n_options = 32;
	n = build(0, &ask, &plain_n);
	xdp_expect_answer(w, "a good cookie", frame, n, VOLLEY_HIT_BLOCK_TRUNCATED, &result,
			  &answer);
	assert_int_equal(answer.opt_options, 28 + 132);
	blocklab_close(&lab);
}

/* ---- Which one decides ----------------------------------------------------------------------- */

static void expect_hit(struct xdp_world *w, size_t n, size_t plain_n)
{
	(void)plain_n;
	xdp_world_run(w, frame, n, &result);
	if (result.reason != VOLLEY_HIT_FULL)
		fail_msg("%s", xdp_reason_name(result.reason));
}

static void test_longest_decides(void **state)
{
	struct xdp_world *w = take(state);
	struct pkt_ask ask = ask_for(NAME);
	size_t plain_n, n = build(0, &ask, &plain_n);
	char what[32];

	blocklab_set(&lab, "0.0.0.0/0", VOLLEY_BLOCK_DROP, NEVER, 0);
	expect_dropped(w, n);
	snprintf(what, sizeof(what), "%u.%u.%u.%u/32", pkt_ipv4.from[0], pkt_ipv4.from[1],
		 pkt_ipv4.from[2], pkt_ipv4.from[3]);
	blocklab_set(&lab, what, VOLLEY_BLOCK_ALLOW, NEVER, 0);
	expect_hit(w, n, plain_n);
	blocklab_set(&lab, "name:example.", VOLLEY_BLOCK_DROP, NEVER, 0);
	expect_dropped(w, n); /* the address is allowed, the name is not */
	blocklab_set(&lab, "name:www.example.", VOLLEY_BLOCK_ALLOW, NEVER, 0);
	expect_hit(w, n, plain_n);
	blocklab_remove(&lab, what);
	expect_dropped(w, n);
	blocklab_close(&lab);
}

/* The driver reads its own clock. */
static void test_expiry(void **state)
{
	struct xdp_world *w = take(state);
	struct pkt_ask ask = ask_for(NAME);
	size_t plain_n, n = build(0, &ask, &plain_n);

	block_clients(VOLLEY_BLOCK_DROP, xdp_coarse_s() + 1000);
	expect_dropped(w, n);
	block_clients(VOLLEY_BLOCK_DROP, xdp_coarse_s());
	expect_hit(w, n, plain_n);
	blocklab_set(&lab, "name:example.", VOLLEY_BLOCK_DROP, xdp_coarse_s(), 0);
	expect_hit(w, n, plain_n);
	block_clients(VOLLEY_BLOCK_DROP, NEVER);
	/* No daemon for longer than cache.orphan-serve. */
	w->maps.memory.state->serve_until_s = xdp_coarse_s();
	xdp_expect_unchanged(w, "orphaned", frame, n, VOLLEY_UP_ORPHANED);
	blocklab_close(&lab);
}

/* ---- What is malformed ----------------------------------------------------------------------- */

static void test_malformed(void **state)
{
	struct xdp_world *w = take(state);
	struct pkt_ask ask = ask_for(NAME);
	size_t plain_n, n;

	ask.flags = 0x2800; /* opcode UPDATE */
	n = build(0, &ask, &plain_n);
	block_clients(VOLLEY_BLOCK_REFUSE, NEVER);
	xdp_expect_unchanged(w, "an engine says so", frame, n, VOLLEY_UP_OPCODE);
	block_clients(VOLLEY_BLOCK_DROP, NEVER);
	expect_dropped(w, n);
	ask.flags = PKT_QR;
	n = build(1, &ask, &plain_n);
	expect_dropped(w, n);
	w->maps.link->driver_answers = 0;
	expect_dropped(w, n);
	blocklab_close(&lab);
}

/* A name of LABELS labels of one octet. */
static void test_many_labels(void **state)
{
	struct xdp_world *w = take(state);
	char name[2 * LABELS + 1] = { 0 };
	struct pkt_ask ask;
	size_t plain_n, n;

	for (int i = 0; i < LABELS; i++)
		memcpy(name + 2 * i, "\1a", 2);
	ask = ask_for(name);
	n = build(0, &ask, &plain_n);
	blocklab_set(&lab, "name:b.", VOLLEY_BLOCK_DROP, NEVER, 0);
	xdp_expect_unchanged(w, "not in b", frame, n, VOLLEY_UP_MISS);
	blocklab_set(&lab, "name:a.a.a.a.", VOLLEY_BLOCK_DROP, NEVER, 0);
	expect_dropped(w, n);
	blocklab_close(&lab);
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* The driver counts the packets that it drops or answers, and not those that go up. */
static void test_counts(void **state)
{
	struct xdp_world *w = take(state);
	struct pkt_ask ask = ask_for(NAME);
	size_t plain_n, n = build(0, &ask, &plain_n);
	uint64_t before;

	blocklab_set(&lab, "name:www.example.", VOLLEY_BLOCK_DROP, NEVER, 0);
	for (int i = 0; i < 3; i++)
		expect_dropped(w, n);
	assert_int_equal(blocklab_met(&lab, "name:www.example."), 3);
	blocklab_set(&lab, "name:www.example.", VOLLEY_BLOCK_UP, NEVER, 0);
	xdp_expect_unchanged(w, "up", frame, n, VOLLEY_UP_BLOCKED);
	blocklab_set(&lab, "name:www.example.", VOLLEY_BLOCK_REFUSE, NEVER, 0);
	expect_reply(w, n, plain_n, VOLLEY_HIT_REFUSED, PKT_QR | PKT_RD | 5, 15);
	assert_int_equal(blocklab_met(&lab, "name:www.example."), 4);
	blocklab_remove(&lab, "name:www.example.");
	before = blocklab_list_met(&lab, 7);
	blocklab_set(&lab, "0.0.0.0/0", VOLLEY_BLOCK_DROP, NEVER, 7);
	expect_dropped(w, n);
	blocklab_set(&lab, "0.0.0.0/0", VOLLEY_BLOCK_TRUNCATE, NEVER, 7);
	expect_reply(w, n, plain_n, VOLLEY_HIT_BLOCK_TRUNCATED, PKT_QR | PKT_RD | PKT_TC, 0);
	assert_int_equal(blocklab_list_met(&lab, 7), before + 2);
	assert_int_equal(blocklab_met(&lab, "0.0.0.0/0"), 0);
	blocklab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixes),        cmocka_unit_test(test_names_and_types),
		cmocka_unit_test(test_without_edns),    cmocka_unit_test(test_options),
		cmocka_unit_test(test_longest_decides), cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_malformed),       cmocka_unit_test(test_many_labels),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
