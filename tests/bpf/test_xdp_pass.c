/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that are not ours or not plain pass unchanged: each frame is compared before and after.
 * Most are those of tests/lib/passrows.h. (Sweeps: test_xdp_sweep.c.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/passrows.h"
#include "base/page.h"
#include "tests/lib/xdpworld.h"

enum { ETH = 14, IPV6_UDP = ETH + 40 };

static struct xdp_world *take(void **state)
{
	return xdp_world_take_with(state, (const uint8_t *)PASS_NAME);
}

static void check_rows(struct xdp_world *w, const struct pass_row *rows, size_t n_rows, bool ipv6)
{
	static uint8_t frame[PKT_FRAME_MAX];
	static struct xdp_result result;
	struct pkt_answer answer;
	size_t n = pass_query(frame, ipv6 ? &pkt_ipv6 : &pkt_ipv4);

	xdp_expect_answer(w, "unchanged", frame, n, VOLLEY_HIT_FULL, &result, &answer);
	for (size_t i = 0; i < n_rows; i++) {
		n = pass_frame(frame, &rows[i], ipv6);
		xdp_expect_unchanged(w, rows[i].name, frame, n, rows[i].reason);
	}
}

static void test_ipv4(void **state)
{
	check_rows(take(state), pass_rows4, pass_n_rows4, false);
}

static void test_ipv6(void **state)
{
	check_rows(take(state), pass_rows6, pass_n_rows6, true);
}

/* IP and UDP lengths that agree with one another and leave no room for a DNS header. */
static void test_short_dns(void **state)
{
	struct xdp_world *w = take(state);
	uint8_t frame[PKT_FRAME_MAX];
	struct pkt p = pkt_ipv4;
	size_t n;

	for (p.pad_to = 0; p.pad_to < 128; p.pad_to += 64) {
		for (size_t dns = 0; dns < PKT_DNS_HEADER; dns++) {
			n = pkt_build(frame, &p, "\x12\x34\1\0\0\1\0\0\0\0\0\0", dns);
			xdp_expect_unchanged(w, "IPv4", frame, n, VOLLEY_PASS_DNS_SHORT);
			n = pkt_build(frame, &pkt_ipv6, "\x12\x34\1\0\0\1\0\0\0\0\0\0", dns);
			xdp_expect_unchanged(w, "IPv6", frame, n, VOLLEY_PASS_DNS_SHORT);
		}
	}
}

/* VLAN tags: two are accepted, with a third the frame passes; so does another protocol behind a
 * tag. */
static void test_tags(void **state)
{
	static const uint16_t tpids[] = { PKT_TPID_Q, PKT_TPID_AD };
	struct xdp_world *w = take(state);
	uint8_t frame[PKT_FRAME_MAX];
	struct pkt p = pkt_ipv4;
	size_t n;

	for (unsigned int i = 0; i < 8; i++) {
		p.n_tags = 3;
		for (unsigned int k = 0; k < 3; k++)
			p.tpid[k] = tpids[i >> k & 1];
		n = pass_query(frame, &p);
		xdp_expect_unchanged(w, "three tags", frame, n, VOLLEY_PASS_VLAN);
		p.n_tags = 4;
		n = pass_query(frame, &p);
		xdp_expect_unchanged(w, "four tags", frame, n, VOLLEY_PASS_VLAN);
		p.n_tags = 2;
		n = pass_query(frame, &p);
		memcpy(frame + 20, "\x08\x06", 2);
		xdp_expect_unchanged(w, "ARP behind two tags", frame, n, VOLLEY_PASS_ETHERTYPE);
		memcpy(frame + 20, "\x91\0", 2);
		xdp_expect_unchanged(w, "an old QinQ type", frame, n, VOLLEY_PASS_ETHERTYPE);
	}
}

/* Whole extension headers, with the query behind them. */
static void test_extension_headers(void **state)
{
	static const uint8_t kinds[] = { 0, 43, 44, 60, 135 };
	struct xdp_world *w = take(state);
	uint8_t frame[PKT_FRAME_MAX], plain[PKT_FRAME_MAX];
	size_t n = pass_query(plain, &pkt_ipv6);

	for (size_t i = 0; i < sizeof(kinds); i++) {
		memcpy(frame, plain, IPV6_UDP);
		memcpy(frame + IPV6_UDP, "\x11\0\1\4\0\0\0\0", 8);
		memcpy(frame + IPV6_UDP + 8, plain + IPV6_UDP, n - IPV6_UDP);
		frame[ETH + 6] = kinds[i];
		frame[ETH + 5] = (uint8_t)(frame[ETH + 5] + 8);
		xdp_expect_unchanged(w, "extension header", frame, n + 8, VOLLEY_PASS_PROTOCOL);
	}
}

/*
 * Packets longer than a page. Cards' drivers give such frames only to programs for several buffers,
 * and the generic mode copies them to one buffer. A test run gives them to us all the same: the
 * first buffer ends before the IP packet does, except with pages of 16 KiB.
 */
static void test_jumbo(void **state)
{
	struct xdp_world *w = take(state);
	static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
	struct pkt_ask ask = { .name = (const uint8_t *)PASS_NAME };
	/* the first buffer is somewhat less than a page */
	int reason = page_bytes() > PKT_FRAME_MAX ? VOLLEY_UP_LONG_QUERY : VOLLEY_PASS_IP_LENGTH;
	size_t n;

	pkt_ask(dns, &ask);
	n = pkt_build(frame, &pkt_ipv4, dns, 3000);
	xdp_expect_unchanged(w, "3000 octets of DNS", frame, n, VOLLEY_UP_LONG_QUERY);
	n = pkt_build(frame, &pkt_ipv4, dns, 8950);
	xdp_expect_unchanged(w, "jumbo", frame, n, reason);
	n = pkt_build(frame, &pkt_ipv6, dns, 8930);
	xdp_expect_unchanged(w, "jumbo, IPv6", frame, n, reason);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ipv4),
		cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_short_dns),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_extension_headers),
		cmocka_unit_test(test_jumbo),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
