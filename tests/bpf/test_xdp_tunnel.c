/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queries in tunnels: the answer equals, octet by octet, the answer to the same query without a
 * tunnel, and the worker's (userspace/port/frame.c parses the same frames). Frames that are not
 * understood or not ours pass or go up unchanged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "port/frame.h"
#include "tests/lib/tunnel.h"
#include "tests/lib/xdpworld.h"

#define NAME     "\3www\7example"
#define TAGS     3 /* none, VLAN, QinQ */
#define BODY_MAX 1100

static uint8_t plain[PKT_FRAME_MAX], frame[PKT_FRAME_MAX], copy[PKT_FRAME_MAX];
static struct xdp_result result, expected;

static const struct frame_tunnels worker = { .kinds = VOLLEY_TUNNEL_IPIP | VOLLEY_TUNNEL_GUE,
					     .gue_port = __builtin_bswap16(TUNNEL_GUE_PORT) };

static struct xdp_world *take(void **state, uint16_t body)
{
	struct entry e = { .name = (const uint8_t *)NAME, .full_bytes = body, .short_bytes = body };
	struct xdp_world *w = xdp_world_take(state);
	uint32_t end4[4] = { 0 }, end6[4];

	memcpy(end4, tunnel_end4, sizeof(tunnel_end4));
	memcpy(end6, tunnel_end6, sizeof(tunnel_end6));
	bpfmaps_serve(w->maps.memory.state, end4, VOLLEY_TUNNEL_END | 4, 0);
	bpfmaps_serve(w->maps.memory.state, end6, VOLLEY_TUNNEL_END | 6, 0);
	w->maps.link->tunnels = worker.kinds;
	w->maps.link->gue_port = worker.gue_port;
	xdp_world_put(w, &e);
	return w;
}

/* Builds the query in `plain`: IPv4 or IPv6, with tags and EDNS, without a tunnel. */
static size_t build(bool ipv6, unsigned int n_tags)
{
	struct pkt_ask ask = { .name = (const uint8_t *)NAME, .edns = true, .udp_size = 1232 };
	struct pkt p = ipv6 ? pkt_ipv6 : pkt_ipv4;
	uint8_t dns[PKT_NAME_MAX];

	p.n_tags = n_tags;
	p.tpid[0] = n_tags == 2 ? PKT_TPID_AD : PKT_TPID_Q;
	p.tci[0] = 100;
	p.tci[1] = 7;
	return pkt_build(plain, &p, dns, pkt_ask(dns, &ask));
}

/* The worker's reply to the frame of n octets, with this DNS message. Its length; 0: the worker
 * does not accept the frame. */
static size_t reply_of_worker(uint8_t *to, size_t n, const uint8_t *dns, size_t dns_bytes)
{
	uint32_t len = (uint32_t)n, at;
	struct frame f;

	memcpy(copy, frame, n);
	at = frame_decap(&worker, copy, &len);
	if (frame_parse(&f, copy + at, len))
		return 0;
	memcpy(copy + at + f.data_off, dns, dns_bytes);
	n = frame_reply(&f, copy + at, (uint32_t)dns_bytes);
	memcpy(to, copy + at, n);
	return n;
}

static void check_worker(const char *what, size_t n, const struct pkt_answer *a)
{
	static uint8_t sent[PKT_FRAME_MAX];
	size_t bytes = reply_of_worker(sent, n, a->dns, a->dns_bytes);

	if (bytes != result.bytes || memcmp(sent, result.frame, bytes))
		fail_msg("%s: the worker would send another frame", what);
}

/* `frame` of n octets must be answered like the one without a tunnel. */
static void expect_same(struct xdp_world *w, const char *what, size_t n, const struct pkt_answer *a)
{
	xdp_world_run(w, frame, n, &result);
	if (result.reason != VOLLEY_HIT_FULL || result.action != XDP_TX)
		fail_msg("%s: %s", what, xdp_reason_name(result.reason));
	if (result.bytes != expected.bytes || memcmp(result.frame, expected.frame, expected.bytes))
		fail_msg("%s: another answer than without a tunnel", what);
	check_worker(what, n, a);
}

/* Bodies from none to large: cut at the tail, grown at the head, grown at the tail; padded frames,
 * too. */
static void test_answers(void **state)
{
	struct pkt_answer a;

	for (uint16_t body = 0; body <= BODY_MAX; body = (uint16_t)(body + (body < 300 ? 1 : 67))) {
		struct xdp_world *w = take(state, body);

		for (unsigned int i = 0; i < TUNNELS * TAGS * 2; i++) {
			const struct tunnel *t = &tunnels[i % TUNNELS];
			size_t n = build(i / TUNNELS % 2, i / TUNNELS / 2), pad = body % 3 * 9;

			xdp_expect_answer(w, "plain", plain, n, VOLLEY_HIT_FULL, &expected, &a);
			n = tunnel_wrap(frame, t, plain, n);
			memset(frame + n, 0xee, pad);
			expect_same(w, t->name, n + pad, &a);
		}
	}
}

/* The client's address counts, not the balancer's; if it may not read the entry, the whole frame
 * goes up. */
static void test_miss_goes_up_whole(void **state)
{
	struct xdp_world *w = take(state, 40);
	uint8_t sent[PKT_FRAME_MAX];

	w->maps.link->driver_answers = 0;
	for (unsigned int i = 0; i < TUNNELS * TAGS * 2; i++) {
		size_t n = tunnel_wrap(frame, &tunnels[i % TUNNELS], plain,
				       build(i / TUNNELS % 2, i / TUNNELS / 2));

		xdp_expect_unchanged(w, tunnels[i % TUNNELS].name, frame, n,
				     VOLLEY_UP_SWITCHED_OFF);
		assert_true(reply_of_worker(sent, n, (const uint8_t *)"answer", 6) > 0);
	}
}

/* A frame cut at any place passes unchanged, and the worker does not accept it. */
static void test_every_truncation(void **state)
{
	struct xdp_world *w = take(state, 40);
	uint8_t sent[PKT_FRAME_MAX];

	for (unsigned int i = 0; i < TUNNELS * TAGS * 2; i++) {
		size_t whole = tunnel_wrap(frame, &tunnels[i % TUNNELS], plain,
					   build(i / TUNNELS % 2, i / TUNNELS / 2));

		for (size_t n = PKT_ETH_BYTES; n < whole; n++) {
			xdp_world_run(w, frame, n, &result);
			if (result.action != XDP_PASS || result.bytes != n ||
			    memcmp(result.frame, frame, n))
				fail_msg("%s: cut to %zu", tunnels[i % TUNNELS].name, n);
			assert_int_equal(reply_of_worker(sent, n, sent, 12), 0);
		}
	}
}

/*
 * With any value of one octet before the inner DNS message, the frame passes or goes up unchanged,
 * or is answered. If it is answered, the worker accepts it, too, and sends the same.
 */
static void test_every_octet_changed(void **state)
{
	struct xdp_world *w = take(state, 40);
	struct pkt_answer a;
	unsigned int n_answers = 0;

	for (unsigned int i = 0; i < TUNNELS * 2; i++) {
		const struct tunnel *t = &tunnels[i % TUNNELS];
		size_t inner_at = PKT_ETH_BYTES + tunnel_bytes(t);
		size_t n = build(i / TUNNELS, 0), end = inner_at + (i / TUNNELS ? 48 : 28);

		xdp_expect_answer(w, "plain", plain, n, VOLLEY_HIT_FULL, &expected, &a);
		n = tunnel_wrap(frame, t, plain, n);
		for (size_t at = PKT_ETH_BYTES; at < end; at++) {
			for (unsigned int value = 0; value < 256; value++) {
				uint8_t was = frame[at];

				frame[at] = (uint8_t)value;
				xdp_world_run(w, frame, n, &result);
				if (result.reason == VOLLEY_HIT_FULL) {
					a.dns = result.frame + result.bytes - a.dns_bytes;
					check_worker(t->name, n, &a);
					n_answers++;
				} else if (result.action != XDP_PASS || result.bytes != n ||
					   memcmp(result.frame, frame, n)) {
					fail_msg("%s: octet %zu is %u: changed", t->name, at,
						 value);
				}
				frame[at] = was;
			}
		}
	}
	assert_true(n_answers > 0);
}

struct row {
	const char *name;
	unsigned int tunnel;
	bool ipv6; /* within */
	int reason;
	size_t at; /* behind Ethernet */
	const char *octets;
	size_t n;
};

#define O(octets) (octets), sizeof(octets) - 1

enum { V4, V6, GUE0_V4, GUE0_V6, GUE1_V4, GUE1_V6 };

static const struct row rows[] = {
	{ "another host's tunnel", V4, false, VOLLEY_PASS_PROTOCOL, 19, O("\x08") },
	{ "another host's tunnel, IPv6", V6, true, VOLLEY_PASS_PROTOCOL, 39, O("\x08") },
	{ "another host's GUE", GUE0_V4, false, VOLLEY_PASS_SERVICE, 19, O("\x08") },
	{ "another port", GUE1_V4, false, VOLLEY_PASS_SERVICE, 22, O("\x17\xc1") },
	{ "GRE", V4, false, VOLLEY_PASS_PROTOCOL, 9, O("\x2f") },
	{ "outer options", V4, false, VOLLEY_PASS_IP_OPTIONS, 0, O("\x46") },
	{ "outer fragment", V4, false, VOLLEY_PASS_FRAGMENT, 6, O("\x20") },
	{ "outer destination options", V6, false, VOLLEY_PASS_PROTOCOL, 6, O("\x3c") },
	{ "outer length below its header", V4, false, VOLLEY_PASS_PROTOCOL, 2, O("\0\x13") },
	{ "outer length over the frame", V4, false, VOLLEY_PASS_PROTOCOL, 2, O("\x05\0") },
	{ "outer length over the frame, IPv6", V6, false, VOLLEY_PASS_PROTOCOL, 4, O("\x05\0") },
	{ "outer packet ends within the inner", V4, false, VOLLEY_PASS_TUNNEL, 2, O("\0\x51") },
	{ "inner IPv6 called IPv4", V4, true, VOLLEY_PASS_TUNNEL, 9, O("\4") },
	{ "inner version 5", V4, false, VOLLEY_PASS_IP_LENGTH, 20, O("\x55") },
	{ "inner options", V4, false, VOLLEY_PASS_IP_OPTIONS, 20, O("\x46") },
	{ "inner fragment", V4, false, VOLLEY_PASS_FRAGMENT, 26, O("\x20") },
	{ "later inner fragment", V6, false, VOLLEY_PASS_FRAGMENT, 47, O("\1") },
	{ "inner fragment header", V4, true, VOLLEY_PASS_PROTOCOL, 26, O("\x2c") },
	{ "inner TCP", V4, false, VOLLEY_PASS_PROTOCOL, 29, O("\6") },
	{ "inner ICMPv6", V6, true, VOLLEY_PASS_PROTOCOL, 46, O("\x3a") },
	{ "tunnel in a tunnel", V4, false, VOLLEY_PASS_PROTOCOL, 29, O("\4") },
	{ "inner destination that is no service", V4, false, VOLLEY_PASS_SERVICE, 39, O("\x36") },
	{ "inner port that is no service", V4, false, VOLLEY_PASS_SERVICE, 42, O("\0\x36") },
	{ "inner source 127.0.0.1", V4, false, VOLLEY_PASS_SOURCE, 32, O("\x7f\0\0\1") },
	{ "inner UDP length", V4, false, VOLLEY_PASS_UDP_LENGTH, 44, O("\0\x08") },
	{ "GUE control message", GUE0_V4, false, VOLLEY_PASS_TUNNEL, 28, O("\x20") },
	{ "GUE extension", GUE0_V4, false, VOLLEY_PASS_TUNNEL, 28, O("\x01") },
	{ "GUE flag", GUE0_V4, false, VOLLEY_PASS_TUNNEL, 31, O("\x01") },
	{ "GUE flag, first octet", GUE0_V6, false, VOLLEY_PASS_TUNNEL, 50, O("\x80") },
	{ "GUE with UDP in it", GUE0_V4, false, VOLLEY_PASS_TUNNEL, 29, O("\x11") },
	{ "GUE with a protocol beside ours", GUE0_V4, false, VOLLEY_PASS_TUNNEL, 29, O("\x05") },
	{ "GUE variant 2", GUE0_V4, false, VOLLEY_PASS_TUNNEL, 28, O("\x80") },
	{ "GUE variant 3", GUE1_V4, false, VOLLEY_PASS_TUNNEL, 28, O("\xc5") },
	{ "GUE variant 1, IP version 5", GUE1_V4, false, VOLLEY_PASS_IP_LENGTH, 28, O("\x55") },
	{ "GUE variant 1, IP version 7", GUE1_V4, true, VOLLEY_PASS_IP_LENGTH, 28, O("\x70") },
	{ "outer UDP length", GUE0_V4, false, VOLLEY_PASS_TUNNEL, 24, O("\0\x20") },
	{ "outer UDP length, IPv6", GUE1_V6, false, VOLLEY_PASS_TUNNEL, 44, O("\xff\xff") },
};

static void test_passes(void **state)
{
	struct xdp_world *w = take(state, 40);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		size_t n = tunnel_wrap(frame, &tunnels[r->tunnel], plain, build(r->ipv6, 0));

		memcpy(frame + PKT_ETH_BYTES + r->at, r->octets, r->n);
		xdp_expect_unchanged(w, r->name, frame, n, r->reason);
	}
}

/* A tunnel in a tunnel: one layer is removed, and no query is in it. */
static void test_nested(void **state)
{
	struct xdp_world *w = take(state, 40);
	static uint8_t inner[PKT_FRAME_MAX];

	for (unsigned int i = 0; i < TUNNELS; i++) {
		size_t n = tunnel_wrap(inner, &tunnels[i], plain, build(false, 0));
		int reason = tunnels[i].kind == TUNNEL_IPIP ? VOLLEY_PASS_PROTOCOL :
							      VOLLEY_PASS_SERVICE;

		n = tunnel_wrap(frame, &tunnels[0], inner, n);
		xdp_expect_unchanged(w, tunnels[i].name, frame, n, reason);
	}
}

/* Each kind alone, and none, which is the default. */
static void test_switched_off(void **state)
{
	struct xdp_world *w = take(state, 40);
	struct pkt_answer a;

	for (uint8_t kinds = 0; kinds < 3; kinds++) {
		w->maps.link->tunnels = kinds;
		for (unsigned int i = 0; i < TUNNELS; i++) {
			bool is_ipip = tunnels[i].kind == TUNNEL_IPIP;
			size_t n = build(i % 2, 0);

			xdp_expect_answer(w, "plain", plain, n, VOLLEY_HIT_FULL, &expected, &a);
			n = tunnel_wrap(frame, &tunnels[i], plain, n);
			if (kinds & (is_ipip ? VOLLEY_TUNNEL_IPIP : VOLLEY_TUNNEL_GUE))
				expect_same(w, tunnels[i].name, n, &a);
			else
				xdp_expect_unchanged(w, tunnels[i].name, frame, n,
						     is_ipip ? VOLLEY_PASS_PROTOCOL :
							       VOLLEY_PASS_SERVICE);
		}
	}
}

/* A prefix with these first octets of an address, from octet `at` of 16 on. */
static struct volley_prefix prefix_of(const uint8_t *octets, size_t at, size_t bits)
{
	uint8_t address[16] = { [10] = at ? 0xff : 0, [11] = at ? 0xff : 0 }, mask[16] = { 0 };
	struct volley_prefix p;

	memcpy(address + at, octets, 16 - at);
	for (size_t i = 0; i < at * 8 + bits; i++)
		mask[i / 8] |= (uint8_t)(0x80 >> i % 8);
	for (size_t i = 0; i < 16; i++)
		address[i] &= mask[i];
	memcpy(p.address, address, 16);
	memcpy(p.mask, mask, 16);
	return p;
}

/* Tunnels of both families in turn. Bit `wrong` of the outer source is changed, unless it is
 * 128. */
static void expect_source(struct xdp_world *w, unsigned int i, size_t wrong, bool is_believed)
{
	size_t n = build(i % 2, 0), at = PKT_ETH_BYTES + (tunnels[i].ipv6 ? 8 : 12);
	struct pkt_answer a;

	if (tunnels[i].ipv6 && wrong == 7)
		return; /* ::9, which no host has */
	xdp_expect_answer(w, "plain", plain, n, VOLLEY_HIT_FULL, &expected, &a);
	n = tunnel_wrap(frame, &tunnels[i], plain, n);
	if (wrong < 128)
		frame[at + wrong / 8] ^= (uint8_t)(0x80 >> wrong % 8);
	if (is_believed)
		expect_same(w, tunnels[i].name, n, &a);
	else
		xdp_expect_unchanged(w, tunnels[i].name, frame, n, VOLLEY_PASS_TUNNEL_SOURCE);
}

/* Each length of a prefix, at each place of the list: its last bit is compared, and no bit behind
 * it. */
static void test_sources(void **state)
{
	static const uint8_t balancer4[4] = { 10, 0, 0, 9 }, balancer6[16] = { 1, [15] = 9 };
	struct xdp_world *w = take(state, 40);
	struct volley_link *link = w->maps.link;

	for (unsigned int i = 0; i < TUNNELS; i++) {
		const size_t all = tunnels[i].ipv6 ? 128 : 32;

		for (size_t bits = 0; bits <= all; bits++) {
			const uint32_t place = (uint32_t)bits % VOLLEY_TUNNEL_SOURCES;

			memset(link->tunnel_sources, 0xff, sizeof(link->tunnel_sources));
			link->tunnel_sources[place] = tunnels[i].ipv6 ?
							      prefix_of(balancer6, 0, bits) :
							      prefix_of(balancer4, 12, bits);
			link->n_tunnel_sources = VOLLEY_TUNNEL_SOURCES;
			expect_source(w, i, 128, true);
			if (bits < all)
				expect_source(w, i, bits, true);
			if (bits)
				expect_source(w, i, bits - 1, false);
			link->n_tunnel_sources = place ? place :
							 1; /* behind the end, except with 0 */
			expect_source(w, i, 128, !place);
		}
	}
}

/* An address at which tunnels end is no service: port 0 there is not DNS. */
static void test_end_is_no_service(void **state)
{
	struct xdp_world *w = take(state, 40);
	struct pkt p = pkt_ipv4;
	uint8_t dns[PKT_NAME_MAX];
	struct pkt_ask ask = { .name = (const uint8_t *)NAME };
	size_t n = pkt_ask(dns, &ask);

	memcpy(p.to, tunnel_end4, 4);
	p.to_port = 0;
	xdp_expect_unchanged(w, "port 0", frame, pkt_build(frame, &p, dns, n), VOLLEY_PASS_SERVICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),          cmocka_unit_test(test_miss_goes_up_whole),
		cmocka_unit_test(test_every_truncation), cmocka_unit_test(test_every_octet_changed),
		cmocka_unit_test(test_passes),           cmocka_unit_test(test_nested),
		cmocka_unit_test(test_switched_off),     cmocka_unit_test(test_end_is_no_service),
		cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
