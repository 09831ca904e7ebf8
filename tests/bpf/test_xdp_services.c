/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program finds the service addresses that userspace/bpf/services.c writes: 256 of any shape,
 * with and without addresses at which tunnels end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bpf/tables.h"
#include "tests/lib/draw.h"
#include "tests/lib/tunnel.h"
#include "tests/lib/xdpworld.h"

#define NAME "\3www\7example"

static struct config_addr listen_on[VOLLEY_SERVICES];
static struct xdp_result result;

/* No services, and no ends of tunnels. */
static void clear_services(struct volley_state *s)
{
	uint32_t n;

	assert_int_equal(services_update(s, NULL, 0, &n), 0);
	assert_int_equal(services_update_ends(s, NULL, 0, false), 0);
}

static struct xdp_world *take(void **state)
{
	struct xdp_world *w = xdp_world_take_with(state, (const uint8_t *)NAME);

	clear_services(w->maps.memory.state);
	w->maps.link->tunnels = VOLLEY_TUNNEL_IPIP;
	return w;
}

static void set4(struct config_addr *a, uint32_t address, uint16_t port)
{
	*a = (struct config_addr){ .family = AF_INET, .net_port = htons(port) };
	address = htonl(address);
	memcpy(a->addr, &address, sizeof(address));
}

static void set6(struct config_addr *a, const uint32_t words[4])
{
	*a = (struct config_addr){ .family = AF_INET6, .net_port = htons(53) };
	for (int i = 0; i < 4; i++) {
		const uint32_t word = htonl(words[i]);

		memcpy(a->addr + 4 * i, &word, sizeof(word));
	}
}

static struct pkt packet_to(const struct config_addr *a)
{
	struct pkt p = a->family == AF_INET ? pkt_ipv4 : pkt_ipv6;

	memcpy(p.to, a->addr, a->family == AF_INET ? 4 : 16);
	p.to_port = ntohs(a->net_port);
	return p;
}

static size_t query_to(uint8_t *frame, const struct config_addr *a)
{
	struct pkt_ask ask = { .name = (const uint8_t *)NAME };
	const struct pkt p = packet_to(a);
	uint8_t dns[PKT_NAME_MAX + 64];

	return pkt_build(frame, &p, dns, pkt_ask(dns, &ask));
}

static void expect(struct xdp_world *w, const char *what, uint32_t i, int reason)
{
	uint8_t frame[PKT_FRAME_MAX];

	xdp_world_run(w, frame, query_to(frame, &listen_on[i]), &result);
	if (result.reason != reason)
		fail_msg("%s: address %u: %s", what, i, xdp_reason_name(result.reason));
}

/* An IPIP tunnel that ends at that address, with a query for the first service in it. */
static void expect_end(struct xdp_world *w, const char *what, uint32_t i)
{
	static uint8_t inner[PKT_FRAME_MAX], frame[PKT_FRAME_MAX];
	struct pkt p = packet_to(&listen_on[i]);
	size_t n = query_to(inner, &listen_on[0]), at = pkt_ip_at(&p);
	/* A plain header with the payload and the protocol of a tunnel. */
	size_t bytes = pkt_build(frame, &p, inner + at, n - at - 8);

	assert_true(bytes > 0);
	memcpy(frame + at + (p.ipv6 ? 40 : 20), inner + at, n - at);
	frame[at + (p.ipv6 ? 6 : 9)] = listen_on[0].family == AF_INET ? 4 : 41;
	xdp_world_run(w, frame, bytes, &result);
	if (result.reason != VOLLEY_HIT_FULL)
		fail_msg("%s: end %u: %s", what, i, xdp_reason_name(result.reason));
}

/* Without tunnels, and with: then each service address is also a tunnel's end, as are some more
 * addresses of the host. */
static void check_all(struct xdp_world *w, const char *what)
{
	struct volley_state *s = w->maps.memory.state;
	uint32_t n = 0;

	for (int are_ends_wanted = 0; are_ends_wanted < 2; are_ends_wanted++) {
		clear_services(s);
		assert_int_equal(
			services_update_ends(s, listen_on, VOLLEY_SERVICES, are_ends_wanted), 0);
		assert_int_equal(services_update(s, listen_on, VOLLEY_SERVICES, &n), 0);
		assert_int_equal(n, VOLLEY_SERVICES);
		for (uint32_t i = 0; i < VOLLEY_SERVICES; i++) {
			expect(w, what, i, VOLLEY_HIT_FULL);
			if (are_ends_wanted)
				expect_end(w, what, i);
		}
	}
}

static void test_random(void **state)
{
	struct xdp_world *w = take(state);

	seed = 15;
	for (int round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < VOLLEY_SERVICES; i++) {
			const uint32_t words[4] = { 0x20010db8, draw(1u << 30), draw(1u << 30),
						    draw(1u << 30) };

			if (i % 2)
				set4(&listen_on[i], 0x0a000000 + i + (draw(1u << 15) << 9), 53);
			else
				set6(&listen_on[i], words);
		}
		check_all(w, "random");
	}
}

/* The patterns in which operators number hosts. With some of these all 256 addresses once had the
 * same slot. */
static void test_in_rows(void **state)
{
	struct xdp_world *w = take(state);

	for (uint32_t i = 0; i < VOLLEY_SERVICES; i++)
		set4(&listen_on[i], 0xc6336400 + i, 53);
	check_all(w, "198.51.100.*");
	for (uint32_t i = 0; i < VOLLEY_SERVICES; i++)
		set4(&listen_on[i], 0x0a000035 + (i << 16), 53);
	check_all(w, "10.*.0.53");
	for (uint32_t i = 0; i < VOLLEY_SERVICES; i++)
		set4(&listen_on[i], 0xc0000235, (uint16_t)(1024 + i));
	check_all(w, "192.0.2.53, 256 ports");
	for (uint32_t i = 0; i < VOLLEY_SERVICES; i++)
		set6(&listen_on[i], (const uint32_t[]){ 0x20010db8, i, 0, i });
	check_all(w, "2001:db8:0:N::N");
	for (uint32_t i = 0; i < VOLLEY_SERVICES; i++)
		set6(&listen_on[i], (const uint32_t[]){ 0x20010db8 ^ i << 8, 0, 0, 0x53 ^ i << 8 });
	check_all(w, "the same sum");
}

/* After each change the program answers on the addresses that stay, and not on the removed ones. */
static void test_changes(void **state)
{
	struct xdp_world *w = take(state);
	struct volley_state *s = w->maps.memory.state;
	uint32_t n = 0;

	seed = 16;
	for (uint32_t i = 0; i < VOLLEY_SERVICES; i++)
		set4(&listen_on[i], 0x0a000000 + i + (draw(1u << 15) << 9), 53);
	for (int round = 0; round < 200; round++) {
		const uint32_t from = draw(VOLLEY_SERVICES),
			       to = from + draw(VOLLEY_SERVICES - from);

		assert_int_equal(services_update(s, listen_on + from, to - from, &n), 0);
		assert_int_equal(n, to - from);
		for (uint32_t i = 0; i < VOLLEY_SERVICES; i++)
			expect(w, "changed", i,
			       i >= from && i < to ? VOLLEY_HIT_FULL : VOLLEY_PASS_SERVICE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_in_rows),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
