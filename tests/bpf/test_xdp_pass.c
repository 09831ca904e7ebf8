/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is not ours, or not plain, passes untouched: each frame is compared before and after. The
 * frames are a query that would be answered, changed in one thing. (Sweeps: test_xdp_sweep.c.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/xdpworld.h"

#define NAME "\3www\7example"

/* The query: 60 octets of frame with IPv4 and 80 with IPv6, with the IP header at 14. */
static size_t build(uint8_t *frame, const struct pkt *p)
{
	struct pkt_ask ask = { .name = (const uint8_t *)NAME };
	uint8_t dns[PKT_NAME_MAX];

	return pkt_build(frame, p, dns, pkt_ask(dns, &ask));
}

static struct xdp_world *take(void **state)
{
	return xdp_world_take_with(state, (const uint8_t *)NAME);
}

/* Octets that are written over the frame, at an offset from its start. */
struct row {
	const char *name;
	int reason;
	size_t at;
	const char *octets;
	size_t n;
};

#define O(octets) (octets), sizeof(octets) - 1

enum { ETH = 14, IPV4_UDP = ETH + 20, IPV6_UDP = ETH + 40 };

static const struct row rows4[] = {
	{ "ARP", VOLLEY_PASS_ETHERTYPE, 12, O("\x08\x06\0\1\x08\0\6\4\0\1") },
	{ "MPLS", VOLLEY_PASS_ETHERTYPE, 12, O("\x88\x47") },
	{ "LLDP", VOLLEY_PASS_ETHERTYPE, 12, O("\x88\xcc") },
	{ "802.3 length in place of a type", VOLLEY_PASS_ETHERTYPE, 12, O("\0\x2e") },
	{ "jumbo LLC", VOLLEY_PASS_ETHERTYPE, 12, O("\x88\x70") },
	{ "IPv6 in an IPv4 frame", VOLLEY_PASS_IP_LENGTH, ETH, O("\x60") },
	{ "IPv4 in an IPv6 frame", VOLLEY_PASS_IP_LENGTH, 12, O("\x86\xdd") },
	{ "IP version 0", VOLLEY_PASS_IP_LENGTH, ETH, O("\x05") },
	{ "IHL 4", VOLLEY_PASS_IP_OPTIONS, ETH, O("\x44") },
	{ "IHL 6: an option", VOLLEY_PASS_IP_OPTIONS, ETH, O("\x46") },
	{ "IHL 15: options", VOLLEY_PASS_IP_OPTIONS, ETH, O("\x4f") },
	{ "first fragment", VOLLEY_PASS_FRAGMENT, ETH + 6, O("\x20\0") },
	{ "later fragment", VOLLEY_PASS_FRAGMENT, ETH + 6, O("\x20\x10") },
	{ "last fragment", VOLLEY_PASS_FRAGMENT, ETH + 6, O("\0\1") },
	{ "last fragment at the highest offset", VOLLEY_PASS_FRAGMENT, ETH + 6, O("\x1f\xff") },
	{ "ICMP", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\1") },
	{ "IGMP", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\2") },
	{ "TCP", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\6") },
	{ "IPv6 in IPv4", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\x29") },
	{ "SCTP", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\x84") },
	{ "UDP-Lite", VOLLEY_PASS_PROTOCOL, ETH + 9, O("\x88") },
	{ "total length 0", VOLLEY_PASS_IP_LENGTH, ETH + 2, O("\0\0") },
	{ "total length 19", VOLLEY_PASS_IP_LENGTH, ETH + 2, O("\0\x13") },
	{ "total length 20", VOLLEY_PASS_UDP_LENGTH, ETH + 2, O("\0\x14") },
	{ "total length one octet short", VOLLEY_PASS_UDP_LENGTH, ETH + 2, O("\0\x38") },
	{ "total length one octet beyond the frame", VOLLEY_PASS_IP_LENGTH, ETH + 2, O("\0\x3a") },
	{ "total length 65535", VOLLEY_PASS_IP_LENGTH, ETH + 2, O("\xff\xff") },
	{ "UDP length 0", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\0\0") },
	{ "UDP length 7", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\0\7") },
	{ "UDP length one octet short", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\0\x24") },
	{ "UDP length one octet long", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\0\x26") },
	{ "UDP length 65535", VOLLEY_PASS_UDP_LENGTH, IPV4_UDP + 4, O("\xff\xff") },
	{ "source 0.0.0.0", VOLLEY_PASS_SOURCE, ETH + 12, O("\0\0\0\0") },
	{ "source 0.1.2.3", VOLLEY_PASS_SOURCE, ETH + 12, O("\0\1\2\3") },
	{ "source 127.0.0.1", VOLLEY_PASS_SOURCE, ETH + 12, O("\x7f\0\0\1") },
	{ "source 224.0.0.1", VOLLEY_PASS_SOURCE, ETH + 12, O("\xe0\0\0\1") },
	{ "source 240.0.0.1", VOLLEY_PASS_SOURCE, ETH + 12, O("\xf0\0\0\1") },
	{ "source 255.255.255.255", VOLLEY_PASS_SOURCE, ETH + 12, O("\xff\xff\xff\xff") },
	{ "source port 0", VOLLEY_PASS_SOURCE, IPV4_UDP, O("\0\0") },
	{ "another address", VOLLEY_PASS_SERVICE, ETH + 16, O("\xc0\0\2\x36") },
	{ "the address backwards", VOLLEY_PASS_SERVICE, ETH + 16, O("\x35\2\0\xc0") },
	{ "to 255.255.255.255", VOLLEY_PASS_SERVICE, ETH + 16, O("\xff\xff\xff\xff") },
	{ "to a multicast address", VOLLEY_PASS_SERVICE, ETH + 16, O("\xe0\0\0\xfb") },
	{ "port 54", VOLLEY_PASS_SERVICE, IPV4_UDP + 2, O("\0\x36") },
	{ "mDNS", VOLLEY_PASS_SERVICE, IPV4_UDP + 2, O("\x14\xe9") },
	{ "to the broadcast MAC", VOLLEY_PASS_GROUP, 0, O("\xff\xff\xff\xff\xff\xff") },
	{ "to a multicast MAC", VOLLEY_PASS_GROUP, 0, O("\x01\0\x5e\0\0\xfb") },
	{ "a response", VOLLEY_PASS_RESPONSE, IPV4_UDP + 10, O("\x80") },
	{ "a response, opcode and all", VOLLEY_PASS_RESPONSE, IPV4_UDP + 10, O("\xff\xff") },
};

static const struct row rows6[] = {
	{ "hop-by-hop options", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\0") },
	{ "TCP", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\6") },
	{ "routing header", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x2b") },
	{ "fragment", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x2c") },
	{ "ESP", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x32") },
	{ "authentication header", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x33") },
	{ "ICMPv6", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x3a") },
	{ "no next header", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x3b") },
	{ "destination options", VOLLEY_PASS_PROTOCOL, ETH + 6, O("\x3c") },
	{ "IPv4 version", VOLLEY_PASS_IP_LENGTH, ETH, O("\x45") },
	{ "IPv6 as IPv4", VOLLEY_PASS_IP_LENGTH, 12, O("\x08\0") },
	{ "payload length 0", VOLLEY_PASS_UDP_LENGTH, ETH + 4, O("\0\0") },
	{ "payload length one octet short", VOLLEY_PASS_UDP_LENGTH, ETH + 4, O("\0\x24") },
	{ "payload length beyond the frame", VOLLEY_PASS_IP_LENGTH, ETH + 4, O("\0\x26") },
	{ "payload length 65535", VOLLEY_PASS_IP_LENGTH, ETH + 4, O("\xff\xff") },
	{ "UDP length one octet short", VOLLEY_PASS_UDP_LENGTH, IPV6_UDP + 4, O("\0\x24") },
	{ "UDP length one octet long", VOLLEY_PASS_UDP_LENGTH, IPV6_UDP + 4, O("\0\x26") },
	{ "no UDP checksum", VOLLEY_PASS_CHECKSUM, IPV6_UDP + 6, O("\0\0") },
	{ "source ::", VOLLEY_PASS_SOURCE, ETH + 8, O("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") },
	{ "source ::1", VOLLEY_PASS_SOURCE, ETH + 8, O("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1") },
	{ "source ::192.0.2.1", VOLLEY_PASS_SOURCE, ETH + 8,
	  O("\0\0\0\0\0\0\0\0\0\0\0\0\xc0\0\2\1") },
	{ "source ::ffff:192.0.2.1", VOLLEY_PASS_SOURCE, ETH + 8,
	  O("\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\2\1") },
	{ "source ff02::1", VOLLEY_PASS_SOURCE, ETH + 8, O("\xff\2") },
	{ "source port 0", VOLLEY_PASS_SOURCE, IPV6_UDP, O("\0\0") },
	{ "another address, first octet", VOLLEY_PASS_SERVICE, ETH + 24, O("\x21") },
	{ "another address, last octet", VOLLEY_PASS_SERVICE, ETH + 39, O("\x54") },
	{ "two words of the address exchanged", VOLLEY_PASS_SERVICE, ETH + 24,
	  O("\0\0\0\0\x20\1\x0d\xb8") },
	{ "port 54", VOLLEY_PASS_SERVICE, IPV6_UDP + 2, O("\0\x36") },
	{ "multicast MAC", VOLLEY_PASS_GROUP, 0, O("\x33\x33\0\0\0\1") },
	{ "a response", VOLLEY_PASS_RESPONSE, IPV6_UDP + 10, O("\x80") },
};

static void check_rows(struct xdp_world *w, const struct row *rows, size_t n_rows, bool ipv6)
{
	static uint8_t frame[PKT_FRAME_MAX];
	static struct xdp_result result;
	struct pkt_answer answer;
	size_t n = build(frame, ipv6 ? &pkt_ipv6 : &pkt_ipv4);

	xdp_expect_answer(w, "unchanged", frame, n, VOLLEY_HIT_FULL, &result, &answer);
	for (size_t i = 0; i < n_rows; i++) {
		n = build(frame, ipv6 ? &pkt_ipv6 : &pkt_ipv4);
		memcpy(frame + rows[i].at, rows[i].octets, rows[i].n);
		xdp_expect_unchanged(w, rows[i].name, frame, n, rows[i].reason);
	}
}

static void test_ipv4(void **state)
{
	struct xdp_world *w = take(state);

	check_rows(w, rows4, sizeof(rows4) / sizeof(rows4[0]), false);
}

static void test_ipv6(void **state)
{
	struct xdp_world *w = take(state);

	check_rows(w, rows6, sizeof(rows6) / sizeof(rows6[0]), true);
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

/* VLAN tags: two are taken, a third passes; a tag in front of something else too. */
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
		n = build(frame, &p);
		xdp_expect_unchanged(w, "three tags", frame, n, VOLLEY_PASS_VLAN);
		p.n_tags = 4;
		n = build(frame, &p);
		xdp_expect_unchanged(w, "four tags", frame, n, VOLLEY_PASS_VLAN);
		p.n_tags = 2;
		n = build(frame, &p);
		memcpy(frame + 20, "\x08\x06", 2);
		xdp_expect_unchanged(w, "ARP behind two tags", frame, n, VOLLEY_PASS_ETHERTYPE);
		memcpy(frame + 20, "\x91\0", 2);
		xdp_expect_unchanged(w, "an old QinQ type", frame, n, VOLLEY_PASS_ETHERTYPE);
	}
}

/* Extension headers that are whole, with the query behind them. */
static void test_extension_headers(void **state)
{
	static const uint8_t kinds[] = { 0, 43, 44, 60, 135 };
	struct xdp_world *w = take(state);
	uint8_t frame[PKT_FRAME_MAX], plain[PKT_FRAME_MAX];
	size_t n = build(plain, &pkt_ipv6);

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
 * Packets longer than a page. Drivers give such frames only to programs for several buffers, and
 * the kernel makes one buffer of them for the generic mode; a test run lets us see them all the
 * same: their first buffer ends before the IP packet does.
 */
static void test_jumbo(void **state)
{
	struct xdp_world *w = take(state);
	static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
	struct pkt_ask ask = { .name = (const uint8_t *)NAME };
	size_t n;

	pkt_ask(dns, &ask);
	n = pkt_build(frame, &pkt_ipv4, dns, 3000);
	xdp_expect_unchanged(w, "3000 octets of DNS", frame, n, VOLLEY_UP_LONG_QUERY);
	n = pkt_build(frame, &pkt_ipv4, dns, 8950);
	xdp_expect_unchanged(w, "jumbo", frame, n, VOLLEY_PASS_IP_LENGTH);
	n = pkt_build(frame, &pkt_ipv6, dns, 8930);
	xdp_expect_unchanged(w, "jumbo, IPv6", frame, n, VOLLEY_PASS_IP_LENGTH);
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
