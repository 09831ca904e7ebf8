/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With an AF_XDP socket: it gets the packets that go up, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "tests/lib/xdpsocket.h"
#include "tests/lib/xdpworld.h"

static uint8_t frame[PKT_FRAME_MAX], dns[PKT_FRAME_MAX];
static struct xdp_result result;

static size_t build(uint16_t qtype, uint16_t to_port)
{
	struct pkt_ask ask = { .name = (const uint8_t *)"\3www\7example", .qtype = qtype };
	struct pkt p = pkt_ipv4;

	p.to_port = to_port;
	return pkt_build(frame, &p, dns, pkt_ask(dns, &ask));
}

static void expect(struct xdp_world *w, size_t n, int reason, int action)
{
	uint64_t to_worker = w->counted.to_worker;

	xdp_world_run(w, frame, n, &result);
	assert_int_equal(result.reason, reason);
	assert_int_equal(result.action, action);
	assert_int_equal(w->counted.to_worker - to_worker, action == XDP_REDIRECT);
	if (action == XDP_TX)
		return;
	assert_int_equal(result.bytes, n);
	assert_memory_equal(result.frame, frame, n);
}

static void test_socket(void **state)
{
	struct xdp_world *w = xdp_world_take(state);
	struct entry e = { .name = (const uint8_t *)"\3www\7example" };
	int fd;

	xdp_world_put(w, &e);
	expect(w, build(2, 53), VOLLEY_UP_MISS, XDP_PASS);
	fd = xdp_socket_open(&w->maps);
	expect(w, build(2, 53), VOLLEY_UP_MISS, XDP_REDIRECT);
	expect(w, build(1, 53), VOLLEY_HIT_FULL, XDP_TX);
	expect(w, build(2, 54), VOLLEY_PASS_SERVICE, XDP_PASS);
	w->maps.link->driver_answers = 0;
	expect(w, build(1, 53), VOLLEY_UP_SWITCHED_OFF, XDP_REDIRECT);
	close(fd); /* when a worker ends, its socket leaves the map */
	for (int i = 0; i < 10000 && result.action != XDP_PASS; i++) {
		usleep(1000);
		xdp_world_run(w, frame, build(1, 53), &result);
	}
	expect(w, build(1, 53), VOLLEY_UP_SWITCHED_OFF, XDP_PASS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_socket),
	};

	return cmocka_run_group_tests(tests, xdp_world_open, xdp_world_close);
}
