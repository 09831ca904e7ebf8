/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames in several buffers, which a card's driver gives only to a program that is loaded for them
 * (BPF_F_XDP_HAS_FRAGS). The program sees the first buffer; in a test run this is a page less 576
 * octets, so 3,520 octets. With pages of 16 KiB it holds all frames of these tests, and those that
 * need a second buffer are skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <unistd.h>

#include "base/page.h"
#include "tests/lib/xdpsocket.h"
#include "tests/lib/xdpworld.h"

#define NAME         "\3www\7example"
#define NOT_FOR_DATA 576u /* head room, and the kernel's struct skb_shared_info behind the data */
#define BODY_LARGE   1100

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;
static struct pkt_answer answer;

static size_t first_buffer(void)
{
	return page_bytes() - NOT_FOR_DATA;
}

/* With pages of this size no frame of a test has a second buffer. */
static void need_second_buffer(void)
{
	if (first_buffer() >= PKT_FRAME_MAX)
		skip();
}

static struct xdp_world *take(void **state, uint16_t body)
{
	struct entry e = { .name = (const uint8_t *)NAME, .full_bytes = body, .short_bytes = body };
	struct xdp_world *w = xdp_world_take(state);

	xdp_world_put(w, &e);
	return w;
}

static size_t query(const struct pkt *p, const char *name)
{
	struct pkt_ask ask = { .name = (const uint8_t *)name, .edns = true, .udp_size = 1232 };

	return pkt_build(frame, p, dns, pkt_ask(dns, &ask));
}

/* A frame in one buffer is handled as without the flag. */
static void test_one_buffer(void **state)
{
	static const uint16_t bodies[] = { 0, 40, 300, BODY_LARGE };

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct xdp_world *w = take(state, bodies[i]);

		xdp_expect_answer(w, "IPv4", frame, query(&pkt_ipv4, NAME), VOLLEY_HIT_FULL,
				  &result, &answer);
		xdp_expect_answer(w, "IPv6", frame, query(&pkt_ipv6, NAME), VOLLEY_HIT_FULL,
				  &result, &answer);
	}
}

/* A query that would be answered, with padding in further buffers: no such query is answered, with
 * any length of the answer. */
static void test_padding_in_more_buffers(void **state)
{
	static const uint16_t bodies[] = { 0, 40, 300, BODY_LARGE };

	need_second_buffer();
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct xdp_world *w = take(state, bodies[i]);
		struct pkt p = pkt_ipv4;

		p.pad_to = first_buffer();
		xdp_expect_answer(w, "one buffer", frame, query(&p, NAME), VOLLEY_HIT_FULL, &result,
				  &answer);
		for (p.pad_to = first_buffer() + 1; p.pad_to < PKT_FRAME_MAX; p.pad_to += 1013)
			xdp_expect_unchanged(w, "more", frame, query(&p, NAME), VOLLEY_UP_NO_ROOM);
	}
}

/* A packet that is longer than the first buffer. */
static void test_long_packets(void **state)
{
	struct xdp_world *w = take(state, 40);

	need_second_buffer();
	query(&pkt_ipv4, NAME);
	for (size_t n = first_buffer(); n < PKT_FRAME_MAX - 100; n += 509) {
		xdp_expect_unchanged(w, "IPv4", frame, pkt_build(frame, &pkt_ipv4, dns, n),
				     VOLLEY_PASS_IP_LENGTH);
		xdp_expect_unchanged(w, "IPv6", frame, pkt_build(frame, &pkt_ipv6, dns, n),
				     VOLLEY_PASS_IP_LENGTH);
	}
}

/* The kernel drops a frame in several buffers that is redirected to a socket, so the program passes
 * it. */
static void test_no_redirect(void **state)
{
	struct xdp_world *w = take(state, 40);
	struct pkt p = pkt_ipv4;
	int fd;

	need_second_buffer();
	fd = xdp_socket_open(&w->maps);
	p.pad_to = first_buffer();
	xdp_world_run(w, frame, query(&p, "\4miss"), &result);
	assert_int_equal(result.reason, VOLLEY_UP_MISS);
	assert_int_equal(result.action, XDP_REDIRECT);
	p.pad_to = first_buffer() + 1;
	xdp_expect_unchanged(w, "a miss", frame, query(&p, "\4miss"), VOLLEY_UP_MISS);
	xdp_expect_unchanged(w, "a hit", frame, query(&p, NAME), VOLLEY_UP_NO_ROOM);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_buffer),
		cmocka_unit_test(test_padding_in_more_buffers),
		cmocka_unit_test(test_long_packets),
		cmocka_unit_test(test_no_redirect),
	};

	return cmocka_run_group_tests(tests, xdp_world_open_frags, xdp_world_close);
}
