/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small domains swept whole: ports, lengths of a cut frame, ethertypes, protocols, lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/xdpworld.h"

#define NAME "\3www\7example"

static uint8_t frame[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

static size_t build(const struct pkt *p)
{
	struct pkt_ask ask = { .name = (const uint8_t *)NAME, .edns = true };
	uint8_t dns[PKT_NAME_MAX];

	return pkt_build(frame, p, dns, pkt_ask(dns, &ask));
}

static struct xdp_world *take(void **state)
{
	return xdp_world_take_with(state, (const uint8_t *)NAME);
}

static void put16(size_t at, size_t value)
{
	frame[at] = (uint8_t)(value >> 8);
	frame[at + 1] = (uint8_t)value;
}

/* Sends value `i` of the sweep: answered if `ours`, else passed with `reason`. */
static void expect(struct xdp_world *w, const char *what, size_t i, size_t n, bool ours, int reason)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %zu", what, i);
	if (ours)
		xdp_expect_answer(w, name, frame, n, VOLLEY_HIT_FULL, &result, &answer);
	else
		xdp_expect_unchanged(w, name, frame, n, reason);
}

/* No socket has port 0; services at the other ports answer an answer: see BIND's list, and RFC
 * 865. */
static bool is_reflector(uint32_t port)
{
	return !port || port == 7 || port == 13 || port == 17 || port == 19 || port == 37;
}

static void test_every_port(void **state)
{
	struct xdp_world *w = take(state);

	for (uint32_t port = 0; port < 65536; port++) {
		struct pkt p = port % 2 ? pkt_ipv4 : pkt_ipv6;

		p.to_port = (uint16_t)port;
		expect(w, "to port", port, build(&p), port == 53, VOLLEY_PASS_SERVICE);
		p.to_port = 53;
		p.from_port = (uint16_t)port;
		expect(w, "from port", port, build(&p), !is_reflector(port), VOLLEY_PASS_SOURCE);
	}
}

static void test_every_ethertype(void **state)
{
	struct xdp_world *w = take(state);
	size_t n = build(&pkt_ipv4);

	for (size_t type = 0; type < 65536; type++) {
		if (type == PKT_TPID_Q || type == PKT_TPID_AD || type == 0x86dd)
			continue; /* the payload is no query then: test_xdp_pass.c */
		n = build(&pkt_ipv4);
		put16(12, type);
		expect(w, "ethertype", type, n, type == 0x0800, VOLLEY_PASS_ETHERTYPE);
	}
}

static void test_every_protocol(void **state)
{
	struct xdp_world *w = take(state);
	size_t n;

	for (size_t protocol = 0; protocol < 256; protocol++) {
		n = build(&pkt_ipv4);
		frame[14 + 9] = (uint8_t)protocol;
		expect(w, "protocol", protocol, n, protocol == 17, VOLLEY_PASS_PROTOCOL);
		n = build(&pkt_ipv6);
		frame[14 + 6] = (uint8_t)protocol;
		expect(w, "next header", protocol, n, protocol == 17, VOLLEY_PASS_PROTOCOL);
	}
}

/* Every first octet of a source address. */
static void test_every_source(void **state)
{
	struct xdp_world *w = take(state);
	struct pkt p = pkt_ipv4, p6 = pkt_ipv6;

	for (size_t first = 0; first < 256; first++) {
		p.from[0] = p6.from[0] = (uint8_t)first;
		expect(w, "IPv4 source", first, build(&p), first && first != 127 && first < 224,
		       VOLLEY_PASS_SOURCE);
		expect(w, "IPv6 source", first, build(&p6), first != 255, VOLLEY_PASS_SOURCE);
	}
}

/* All 65,536 values of IPv4's flags and fragment offset: with DF or the evil bit alone it is no
 * fragment. */
static void test_every_fragment_word(void **state)
{
	struct xdp_world *w = take(state);
	size_t n;

	for (size_t word = 0; word < 65536; word++) {
		n = build(&pkt_ipv4);
		put16(14 + 6, word);
		expect(w, "fragment word", word, n, !(word & 0x3fff), VOLLEY_PASS_FRAGMENT);
	}
}

/* All lengths in the IP and UDP headers, alone and together. */
static void test_every_length(void **state)
{
	struct xdp_world *w = take(state);

	for (size_t length = 0; length < 65536; length++) {
		size_t n = build(&pkt_ipv4), ip = n - 14, udp = ip - 20;

		put16(14 + 2, length);
		expect(w, "total length", length, n, length == ip,
		       length < 20 || length > ip ? VOLLEY_PASS_IP_LENGTH : VOLLEY_PASS_UDP_LENGTH);
		build(&pkt_ipv4);
		put16(34 + 4, length);
		expect(w, "UDP length", length, n, length == udp, VOLLEY_PASS_UDP_LENGTH);
		n = build(&pkt_ipv6);
		put16(14 + 4, length);
		expect(w, "payload length", length, n, length == udp,
		       length > udp ? VOLLEY_PASS_IP_LENGTH : VOLLEY_PASS_UDP_LENGTH);
	}
}

/* Every length of a frame that is cut short, with unchanged headers: never answered, never
 * changed. */
static void test_every_truncation(void **state)
{
	struct xdp_world *w = take(state);

	for (unsigned int kind = 0; kind < 6; kind++) {
		struct pkt p = kind & 1 ? pkt_ipv6 : pkt_ipv4;
		size_t whole, udp;

		p.n_tags = kind / 2;
		whole = build(&p);
		udp = pkt_ip_at(&p) + (p.ipv6 ? 40 : 20);
		for (size_t n = PKT_ETH_BYTES; n < whole; n++) {
			bool has_ip = n >= udp;

			expect(w, "cut to", n, n, false,
			       has_ip ? VOLLEY_PASS_IP_LENGTH : VOLLEY_PASS_RUNT);
		}
		expect(w, "whole", whole, whole, true, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_port),          cmocka_unit_test(test_every_ethertype),
		cmocka_unit_test(test_every_protocol),      cmocka_unit_test(test_every_source),
		cmocka_unit_test(test_every_fragment_word), cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_every_truncation),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
