/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AF_XDP ports, alone and on a worker: replies, frames and counters in all states of the link. */
#include "tests/unit/worker/xsk_lab.h"

#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "port/socket.h"
#include "worker/worker.h"

static struct worker *start_with(struct port *p)
{
	struct worker_config config = { .cpu = WORKER_CPU_ANY, .handle = echo_handle };
	struct worker *w;

	assert_int_equal(worker_start(&w, &config), 0);
	assert_int_equal(worker_port_add(w, p), 0);
	return w;
}

static void test_answers_over_both_families(void **state)
{
	static const struct {
		const char *name, *to;
		int longest;
	} rows[] = {
		{ "IPv4", "192.0.2.1", 1500 - 20 - 8 },
		{ "IPv6", "2001:db8::1", 1500 - 40 - 8 },
	};
	struct xsk_config config = small(0, 0);
	struct port *p;
	struct worker *w;
	uint8_t reply[4096];

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_false(xsk_is_zerocopy(p));
	w = start_with(p);
	for (size_t i = 0; i < 2; i++) {
		int fd = client_to(rows[i].to);

		print_message("  %s\n", rows[i].name);
		assert_int_equal(send(fd, "query", 5, 0), 5);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 5);
		assert_memory_equal(reply, "\xf1uery", 5);
		/* The longest reply that fits frame and MTU. */
		assert_int_equal(send(fd, "Bx\xff\xff", 4, 0), 4);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), rows[i].longest);
		for (int at = 0; at < rows[i].longest; at++)
			assert_int_equal(reply[at], 'x');
		assert_int_equal(send(fd, "N", 1, 0), 1);
		assert_int_equal(send(fd, "odd", 3, 0), 3);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
		close(fd);
	}
	worker_stop(w);
	assert_int_equal(p->stats.tx, 6);
	assert_int_equal(p->stats.no_reply, 2);
	assert_balance(p);
	assert_frames(p);
	port_close(p);
}

static void send_raw(const uint8_t *frame, size_t len, int times)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	int fd;

	enter(lab.client_ns);
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	to.sll_ifindex = (int)if_nametoindex(CLIENT_IF);
	for (int i = 0; i < times; i++)
		assert_int_equal(sendto(fd, frame, len, 0, (struct sockaddr *)&to, sizeof(to)),
				 len);
	close(fd);
	enter(lab.server_ns);
}

/* Waits until the worker has received n frames that are no queries, ours or the link's own. */
static void wait_malformed(const struct port *p, uint64_t n)
{
	for (int i = 0; i < 5000; i++) {
		if (port_counter(&p->stats.malformed) >= n)
			return;
		nap_ms(1);
	}
	fail_msg("%llu, not %llu", (unsigned long long)port_counter(&p->stats.malformed),
		 (unsigned long long)n);
}

/* More bad frames than there are frames in the UMEM: if each lost a frame, none would be left. */
static void test_malformed_frames_are_recycled(void **state)
{
	uint8_t arp[60] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x06, 0, 1 };
	struct xsk_config config = small(64, 64);
	struct port *p;
	struct worker *w;
	uint8_t reply[16];
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	w = start_with(p);
	/* Even if the worker is late, there is room for the next frames and for the query. */
	for (unsigned int i = 1; i <= 20; i++) {
		send_raw(arp, sizeof(arp), 20);
		wait_malformed(p, i * 20);
	}
	fd = client_to("192.0.2.1");
	assert_int_equal(send(fd, "abc", 3, 0), 3);
	assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
	worker_stop(w);
	assert_true(p->stats.malformed > 64);
	assert_balance(p);
	assert_frames(p);
	close(fd);
	port_close(p);
}

/* A small UMEM and tiny rings under a flood: frames that the kernel drops are not the port's. */
static void test_flood_balances(void **state)
{
	struct xsk_config config = small(128, 16);
	unsigned int n_replies = 0;
	struct port *p;
	struct worker *w;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	w = start_with(p);
	fd = client_to("192.0.2.1");
	for (int round = 0; round < 30; round++) {
		unsigned int n_before = n_replies;

		for (int i = 0; i < 120; i++)
			(void)!send(fd, "flood", 5, MSG_DONTWAIT);
		/* Even a late worker has made room for some frames of the next round. */
		for (int i = 0; i < 100 && n_replies == n_before; i++)
			n_replies += count_replies(fd);
	}
	worker_stop(w);
	assert_true(p->stats.tx > 300);
	assert_int_equal(p->stats.tx_dropped, 0);
	assert_balance(p);
	assert_frames(p);
	for (int i = 0; i < 100 && n_replies < p->stats.tx; i++)
		n_replies += count_replies(fd);
	assert_int_equal(n_replies, p->stats.tx);
	close(fd);
	port_close(p);
}

/* Waits until n frames, ours or the link's own, are in the RX ring. */
static void wait_received(const struct port *p, uint32_t n)
{
	struct xsk_frames f;

	for (int i = 0; i < 500; i++) {
		xsk_frames_read(p, &f);
		if (f.total - f.free - f.fill - f.tx - f.backlog >= n)
			break;
		nap_ms(10);
	}
	nap_ms(50);
}

/* Numbered queries, answered in one burst while the link is down. */
static void ask_and_answer_without_link(struct port *p, int fd, unsigned int first, unsigned int n)
{
	struct port_msg msgs[PORT_BURST];
	uint8_t query[2];

	for (unsigned int i = first; i < first + n; i++) {
		query[0] = (uint8_t)(i >> 8);
		query[1] = (uint8_t)i;
		assert_int_equal(send(fd, query, 2, 0), 2);
	}
	wait_received(p, n);
	link_down();
	for (unsigned int got = 0; got < n;) {
		unsigned int burst = port_receive(p, 1, msgs, PORT_BURST);

		assert_true(burst > 0);
		port_send(p, 1, msgs, burst);
		got += burst;
	}
	link_up();
}

/* A port that was busy wants to be polled some more times. */
static void look_in_vain(struct port *p)
{
	struct port_msg msgs[PORT_BURST];

	for (int i = 0; i < 8 && !port_wake_at(p); i++)
		assert_int_equal(port_receive(p, 1, msgs, PORT_BURST), 0);
}

/* The kernel counts the frames that a worker did not take in time. */
static void test_kernel_counts_lost_frames(void **state)
{
	enum { RING = 64, SENT = 4 * RING };
	struct xsk_config config = small(4 * RING, RING);
	struct xdp_statistics before, after;
	struct port *p;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_int_equal(xsk_kernel_stats(p, &before), 0);
	assert_int_equal(before.rx_ring_full + before.rx_fill_ring_empty_descs, 0);
	fd = client_to("192.0.2.1");
	nap_ms(50);
	assert_int_equal(port_start(p), 0);
	for (int i = 0; i < SENT; i++)
		assert_int_equal(send(fd, "late", 4, 0), 4);
	wait_received(p, RING);
	for (int i = 0; i < 500; i++) {
		assert_int_equal(xsk_kernel_stats(p, &after), 0);
		if (after.rx_ring_full + after.rx_fill_ring_empty_descs >= SENT - 2 * RING)
			break;
		nap_ms(10);
	}
	assert_true(after.rx_ring_full + after.rx_fill_ring_empty_descs >= SENT - 2 * RING);
	assert_frames(p);
	close(fd);
	port_close(p);
}

/*
 * The link is down, so the kernel accepts nothing: the TX ring fills, then the backlog, and further
 * replies are counted as dropped. When the link is up again, all kept replies go out, in order.
 */
static void test_full_tx_ring_loses_nothing_silently(void **state)
{
	/* Half a ring at a time: an interface that is up again sends frames of its own. */
	enum { RING = 64, EACH = RING / 2, ROUNDS = 14, KEPT = RING + XSK_BACKLOG_CAP };
	struct xsk_config config = small(1024, RING);
	struct port_msg msgs[PORT_BURST];
	uint8_t reply[64];
	struct port *p;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	fd = client_to("192.0.2.1");
	nap_ms(50);
	assert_int_equal(port_start(p), 0);
	for (unsigned int i = 0; i < ROUNDS; i++)
		ask_and_answer_without_link(p, fd, i * EACH, EACH);
	assert_int_equal(p->stats.tx, RING);
	assert_int_equal(xsk_pending(p), XSK_BACKLOG_CAP);
	assert_int_equal(p->stats.tx_retried, XSK_BACKLOG_CAP);
	assert_true(p->stats.tx_dropped >= ROUNDS * EACH - KEPT);
	assert_balance(p);
	look_in_vain(p);
	assert_true(port_wake_at(p) != PORT_NEVER);

	assert_int_equal(port_receive(p, port_wake_at(p), msgs, PORT_BURST), 0);
	assert_int_equal(xsk_pending(p), 0);
	assert_int_equal(p->stats.tx, KEPT);
	for (unsigned int i = 0; i < KEPT; i++) {
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 2);
		assert_int_equal(reply[0] << 8 | reply[1], i);
	}
	assert_balance(p);
	assert_frames(p);
	assert_int_equal(port_wake_at(p), PORT_NEVER);
	close(fd);
	port_close(p);
}

/* Without an entry in the map the kernel's socket, on the same worker, answers the packet. */
static void test_sockets_take_over_when_the_port_goes(void **state)
{
	struct socket_config listen = { .listen = addr_of("0.0.0.0", QUERY_PORT) };
	struct xsk_config config = small(256, 64);
	struct worker_stats stats;
	struct port *xsk, *udp;
	struct worker *w;
	uint8_t reply[16];
	int fd;

	(void)state;
	need_lab();
	run("ip neigh replace 192.0.2.2 lladdr 02:00:00:00:00:02 dev " SERVER_IF);
	assert_int_equal(socket_open(&udp, &listen), 0);
	xsk = open_port(&config);
	w = start_with(xsk);
	assert_int_equal(worker_port_add(w, udp), 0);
	fd = client_to("192.0.2.1");
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			assert_int_equal(worker_port_remove(w, xsk), 0);
		assert_int_equal(send(fd, "abc", 3, 0), 3);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
	}
	worker_stats_read(w, &stats);
	assert_int_equal(stats.by_kind[PORT_XSK].answered, 2);
	assert_int_equal(stats.by_kind[PORT_SOCKET].answered, 2);
	worker_stop(w);
	assert_frames(xsk);
	close(fd);
	port_close(xsk);
	port_close(udp);
}

static void test_busy_poll_answers(void **state)
{
	struct xsk_config config = small(256, 64);
	struct port *p;
	struct worker *w;
	uint8_t reply[16];
	int fd;

	(void)state;
	need_lab();
	config.busy_poll_us = 20;
	config.frame_bytes = 4096;
	p = open_port(&config);
	assert_int_equal(port_wake_at(p), 0);
	w = start_with(p);
	fd = client_to("192.0.2.1");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(send(fd, "abc", 3, 0), 3);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
	}
	worker_stop(w);
	assert_balance(p);
	close(fd);
	port_close(p);
}

static void test_open_says_why_not(void **state)
{
	struct xsk_config bad[] = { small(64, 64), small(64, 64), small(64, 64), small(100, 64) };
	const int want[] = { -ENODEV, -EINVAL, -EOPNOTSUPP, -EINVAL };
	struct port *p = NULL;

	(void)state;
	need_lab();
	bad[0].ifname = "volley-none";
	bad[1].queue = 77;
	bad[2].mode = XSK_ZEROCOPY;
	for (int i = 0; i < 4; i++)
		assert_int_equal(xsk_open(&p, &bad[i]), want[i]);
}

static void test_a_queue_has_one_socket(void **state)
{
	struct xsk_config config = small(64, 64);
	struct port *p, *second = NULL;

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_int_equal(xsk_open(&second, &config), -EBUSY);
	port_close(p);
	second = open_port(&config);
	port_close(second);
}

/* The interface vanishes under a running worker: the worker goes on, does not spin, and releases
 * the port. The last test. */
static void test_interface_gone(void **state)
{
	struct xsk_config config = small(256, 64);
	struct worker_stats before, after;
	struct port *p;
	struct worker *w;

	(void)state;
	need_lab();
	p = open_port(&config);
	w = start_with(p);
	assert_int_equal(run("ip link del " SERVER_IF), 0);
	nap_ms(100);
	worker_stats_read(w, &before);
	nap_ms(500);
	worker_stats_read(w, &after);
	assert_true(after.heartbeat - before.heartbeat < 50);
	assert_int_equal(worker_port_remove(w, p), 0);
	worker_stop(w);
	port_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_over_both_families),
		cmocka_unit_test(test_malformed_frames_are_recycled),
		cmocka_unit_test(test_flood_balances),
		cmocka_unit_test(test_kernel_counts_lost_frames),
		cmocka_unit_test(test_full_tx_ring_loses_nothing_silently),
		cmocka_unit_test(test_sockets_take_over_when_the_port_goes),
		cmocka_unit_test(test_busy_poll_answers),
		cmocka_unit_test(test_open_says_why_not),
		cmocka_unit_test(test_a_queue_has_one_socket),
		cmocka_unit_test(test_interface_gone),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
