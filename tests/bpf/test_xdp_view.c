/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clients that may read an entry: its view must be one of those of the longest prefix with the
 * client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>

#include "tests/lib/xdpworld.h"

#define PUBLIC    (1u << VOLLEY_VIEW_PUBLIC)
#define RECURSIVE (1u << VOLLEY_VIEW_RECURSIVE)
#define PRIVATE   (1u << VOLLEY_VIEW_PRIVATE)

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX], name[PKT_NAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

/* The client's address as in the map; IPv4 as v4-mapped IPv6. */
static void client_address(uint8_t address[16], const char *text)
{
	memset(address, 0, 10);
	memset(address + 10, 0xff, 2);
	if (inet_pton(AF_INET, text, address + 12) != 1)
		assert_int_equal(inet_pton(AF_INET6, text, address), 1);
}

/* For IPv4, `bits` counts from the first of its 32. */
static void allow(const struct xdp_world *w, const char *prefix, uint32_t bits, uint32_t views)
{
	struct volley_client client = { .prefix_bits = bits + (strchr(prefix, ':') ? 0 : 96) };
	int fd = bpfmaps_map_fd(&w->maps, "volley_clients");

	client_address(client.address, prefix);
	assert_int_equal(bpf_map_update_elem(fd, &client, &views, BPF_ANY), 0);
}

/* A query for www.example from this client, with n_tags VLAN tags. */
static size_t ask_from(const char *client, unsigned int n_tags)
{
	struct pkt p = strchr(client, ':') ? pkt_ipv6 : pkt_ipv4;
	struct pkt_ask ask = { .name = name };
	uint8_t address[16];

	client_address(address, client);
	memcpy(p.from, p.ipv6 ? address : address + 12, p.ipv6 ? 16 : 4);
	p.n_tags = n_tags;
	return pkt_build(frame, &p, dns, pkt_ask(dns, &ask));
}

static void expect(struct xdp_world *w, const char *client, bool may)
{
	for (unsigned int n_tags = 0; n_tags <= 2; n_tags++) {
		size_t n = ask_from(client, n_tags);

		if (may)
			xdp_expect_answer(w, client, frame, n, VOLLEY_HIT_FULL, &result, &answer);
		else
			xdp_expect_unchanged(w, client, frame, n, VOLLEY_UP_VIEW);
	}
}

static struct volley_entry *put(struct xdp_world *w, uint8_t view)
{
	struct entry e = { .name = name, .view = view, .full_bytes = 30, .short_bytes = 30 };

	pkt_name(name, "www.example");
	return xdp_world_put(w, &e);
}

/* Clients without any view may read a public entry, too. */
static void test_public(void **state)
{
	struct xdp_world *w = xdp_world_take(state);

	put(w, VOLLEY_VIEW_PUBLIC);
	expect(w, "192.0.2.1", true);
	allow(w, "192.0.2.1", 32, 0);
	allow(w, "2001:db8::", 32, RECURSIVE);
	expect(w, "192.0.2.1", true);
	expect(w, "2001:db8::1", true);
}

static void test_nobody(void **state)
{
	struct xdp_world *w = xdp_world_take(state);

	put(w, VOLLEY_VIEW_RECURSIVE);
	expect(w, "192.0.2.1", false);
	expect(w, "2001:db8::1", false);
}

/* Each view has its bit; a view that does not exist has none. */
static void test_bits(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_entry *entry = put(w, VOLLEY_VIEW_RECURSIVE);

	for (uint32_t views = 0; views < 1u << VOLLEY_N_VIEWS; views++) {
		allow(w, "192.0.2.1", 32, views);
		allow(w, "2001:db8::1", 128, views);
		for (uint8_t view = 1; view < VOLLEY_N_VIEWS; view++) {
			entry->key.view = view;
			expect(w, "192.0.2.1", views >> view & 1);
			expect(w, "2001:db8::1", views >> view & 1);
		}
	}
	allow(w, "192.0.2.1", 32, ~0u);
	for (unsigned int view = VOLLEY_N_VIEWS; view < 256; view++) {
		entry->key.view = (uint8_t)view;
		expect(w, "192.0.2.1", false);
	}
}

/* All lengths of a prefix: the last address within, and the first one outside on either side. */
static void test_lengths(void **state)
{
	static const char *const clients[] = { "10.85.170.85",
					       "2001:db8:55aa:55aa:55aa:55aa:55aa:55aa" };
	struct xdp_world *w = xdp_world_take(state);
	char text[INET6_ADDRSTRLEN];

	put(w, VOLLEY_VIEW_RECURSIVE);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t size = i ? 128 : 32,
			 first = i ? 16 : 8; /* a shorter one would change the kind of address */

		for (uint32_t bits = first; bits <= size; bits++) {
			uint8_t address[16];
			uint8_t *own = address + (i ? 0 : 12);

			(void)xdp_world_take(state);
			put(w, VOLLEY_VIEW_RECURSIVE);
			allow(w, clients[i], bits, RECURSIVE);
			expect(w, clients[i], true);
			client_address(address, clients[i]);
			if (bits < size) {
				own[bits / 8] ^= 0x80 >> bits % 8;
				expect(w,
				       inet_ntop(i ? AF_INET6 : AF_INET, own, text, sizeof(text)),
				       true);
				own[bits / 8] ^= 0x80 >> bits % 8;
			}
			own[(bits - 1) / 8] ^= 0x80 >> (bits - 1) % 8;
			expect(w, inet_ntop(i ? AF_INET6 : AF_INET, own, text, sizeof(text)),
			       false);
		}
	}
}

/* The longest prefix decides alone. */
static void test_longest(void **state)
{
	struct xdp_world *w = xdp_world_take(state);

	put(w, VOLLEY_VIEW_RECURSIVE);
	allow(w, "::", 0, RECURSIVE);
	expect(w, "198.51.100.1", true);
	expect(w, "2001:db8::1", true);
	allow(w, "0.0.0.0", 0, PUBLIC);
	expect(w, "198.51.100.1", false);
	expect(w, "2001:db8::1", true);
	allow(w, "198.51.100.0", 24, PUBLIC | RECURSIVE);
	expect(w, "198.51.100.1", true);
	allow(w, "198.51.100.1", 32, PUBLIC | PRIVATE);
	expect(w, "198.51.100.1", false);
	expect(w, "198.51.100.2", true);
	allow(w, "2001:db8:0:1::", 64, 0);
	expect(w, "2001:db8:0:1::1", false);
	expect(w, "2001:db8:0:2::1", true);
}

/* An IPv4 prefix does not match an IPv6 client with the same last octets. */
static void test_families(void **state)
{
	struct xdp_world *w = xdp_world_take(state);

	put(w, VOLLEY_VIEW_RECURSIVE);
	allow(w, "192.0.2.1", 32, RECURSIVE);
	expect(w, "192.0.2.1", true);
	expect(w, "2001:db8::c000:201", false);
	expect(w, "64:ff9b::192.0.2.1", false);
}

/* All views of a question have one hash. The driver uses the first entry that it finds. */
static void test_side_by_side(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_entry *first = put(w, VOLLEY_VIEW_PRIVATE);
	struct volley_entry *second = put(w, VOLLEY_VIEW_PUBLIC);

	assert_int_equal(first->hash, second->hash);
	allow(w, "192.0.2.0", 24, PUBLIC | PRIVATE);
	expect(w, "192.0.2.1", true);
	expect(w, "198.51.100.1", false); /* the engine finds the other */
	first->key.view = VOLLEY_VIEW_PUBLIC;
	expect(w, "198.51.100.1", true);
}

/* The client of an invalid entry is not checked, and an entry that is refused counts no hit. */
static void test_before(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_entry *entry = put(w, VOLLEY_VIEW_RECURSIVE);
	size_t n = ask_from("192.0.2.1", 0);

	xdp_expect_unchanged(w, "refused", frame, n, VOLLEY_UP_VIEW);
	assert_int_equal(entry->freq, 0);
	entry->expires_s = 1;
	xdp_expect_unchanged(w, "expired", frame, n, VOLLEY_UP_EXPIRED);
	entry->zone_gen++;
	xdp_expect_unchanged(w, "stale", frame, n, VOLLEY_UP_STALE);
}

/* Only to queries with EDNS. */
static void test_extended_error(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct volley_entry *entry = put(w, VOLLEY_VIEW_RECURSIVE);
	struct pkt_ask ask = { .name = name, .edns = true, .udp_size = 1232 };
	size_t n;

	allow(w, "192.0.2.0", 24, PUBLIC | RECURSIVE);
	for (uint8_t ede = 0; ede < 128; ede++) {
		entry->ede = ede & 0x7fu;
		entry->partial = ede & 1u;
		expect(w, "192.0.2.1", true);
		expect(w, "198.51.100.1", false);
		n = pkt_build(frame, &pkt_ipv4, dns, pkt_ask(dns, &ask));
		xdp_expect_answer(w, "with EDNS", frame, n, VOLLEY_HIT_FULL, &result, &answer);
		assert_int_equal(answer.opt_options, ede ? 6 : 0);
		if (ede) {
			const uint8_t wanted[6] = { 0, 15, 0, 2, 0, (uint8_t)(ede - 1) };

			assert_memory_equal(answer.opt + 11, wanted, sizeof(wanted));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_public),         cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_bits),           cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_longest),        cmocka_unit_test(test_families),
		cmocka_unit_test(test_side_by_side),   cmocka_unit_test(test_before),
		cmocka_unit_test(test_extended_error),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
