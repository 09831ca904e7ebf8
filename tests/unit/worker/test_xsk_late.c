/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Late replies over AF_XDP, and over sockets where the test needs a link. */
#include "tests/unit/worker/xsk_lab.h"

#include "port/socket.h"

#define OTHER_IF "volley-xo"

/* Runs rounds by hand, and defers all messages, until n have come. */
static void defer_n(struct port *p, struct later *later, unsigned int n)
{
	struct port_msg msgs[PORT_BURST];
	unsigned int got = 0;

	for (int i = 0; i < 2500 && got < n; i++) {
		unsigned int burst = port_receive(p, 1, msgs, PORT_BURST);

		echo_defer(later, msgs, burst, p, 1);
		port_send(p, 1, msgs, burst);
		got += burst;
		nap_ms(burst ? 0 : 2);
	}
	assert_int_equal(got, n);
}

/* The query's frame was reused long before its reply, by many later frames. */
static void test_late_replies_over_both_families(void **state)
{
	static const struct {
		const char *name, *to;
		uint32_t longest;
	} rows[] = {
		{ "IPv4", "192.0.2.1", 1500 - 20 - 8 },
		{ "IPv6", "2001:db8::1", 1500 - 40 - 8 },
	};
	struct xsk_config config = small(64, 64);
	static struct later later, others;
	uint8_t reply[4096], big[1500];

	(void)state;
	need_lab();
	memset(big, 'x', sizeof(big));
	for (size_t i = 0; i < 2; i++) {
		struct port *p = open_port(&config);
		int fd = client_to(rows[i].to);

		print_message("  %s\n", rows[i].name);
		assert_true(port_can_defer(p));
		assert_int_equal(port_start(p), 0);
		later = (struct later){ .n = 0 };
		assert_int_equal(send(fd, "first", 5, 0), 5);
		assert_int_equal(send(fd, "big", 3, 0), 3);
		assert_int_equal(send(fd, "N", 1, 0), 1);
		defer_n(p, &later, 3);
		for (int times = 0; times < 100; times++) {
			others = (struct later){ .n = 0 };
			assert_int_equal(send(fd, "Q", 1, 0), 1);
			defer_n(p, &others, 1);
			assert_int_equal(recv(fd, reply, sizeof(reply), 0), 1);
		}
		assert_int_equal(port_deferred(p), 3);
		assert_balance(p);
		assert_int_equal(later.to[1].cap, rows[i].longest);
		later.replies[1].data = big;
		later.replies[1].len = later.to[1].cap;
		assert_int_equal(port_reply(p, 1, later.replies, 3), 2);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 5);
		assert_memory_equal(reply, "\xe6irst", 5);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), rows[i].longest);
		assert_memory_equal(reply, big, rows[i].longest);
		assert_int_equal(port_deferred(p), 0);
		assert_int_equal(p->stats.no_reply, 1);
		assert_int_equal(p->stats.tx, 102);
		assert_balance(p);
		assert_frames(p);
		close(fd);
		port_close(p);
	}
}

/*
 * More messages are deferred than there are frames. Queries are still received and answered,
 * because a deferred message keeps no frame. The late replies go out, although they outnumber the
 * frames kept for them.
 */
static void test_deferred_messages_hold_no_frames(void **state)
{
	enum { FRAMES = 64, LATE = 5 * FRAMES };
	struct xsk_config config = small(FRAMES, 64);
	static struct later later;
	unsigned int n_sent = 0;
	struct xsk_frames f;
	uint8_t reply[64];
	struct port *p;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_int_equal(port_start(p), 0);
	fd = client_to("192.0.2.1");
	later = (struct later){ .n = 0 };
	for (unsigned int i = 0; i < LATE; i++) {
		uint8_t query[2] = { (uint8_t)('a' + (i >> 8)), (uint8_t)i };

		assert_int_equal(send(fd, query, 2, 0), 2);
		defer_n(p, &later, 1);
	}
	assert_int_equal(port_deferred(p), LATE);
	xsk_frames_read(p, &f);
	assert_true(f.free >= FRAMES / XSK_LATE_SHARE);
	assert_frames(p);
	for (unsigned int i = 0; i < LATE; i += FRAMES)
		n_sent += port_reply(p, 1, later.replies + i, FRAMES);
	assert_int_equal(n_sent, LATE);
	for (unsigned int i = 0; i < LATE; i++) {
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 2);
		assert_int_equal(reply[0] & 0x7f, 'a' + (i >> 8));
		assert_int_equal(reply[1], (uint8_t)i);
	}
	assert_int_equal(p->stats.tx_dropped, 0);
	assert_balance(p);
	assert_frames(p);
	close(fd);
	port_close(p);
}

/* While a burst is out, its frames are not touched. Frames of late replies come back each round. */
static void test_late_replies_within_bursts(void **state)
{
	enum { ROUNDS = 60, EACH = 40 };
	struct xsk_config config = small(64, 16);
	static struct later laters[2];
	struct port_msg msgs[PORT_BURST];
	unsigned int n_replies = 0, n_bursts = 0, n;
	struct port *p;
	int fd;

	(void)state;
	need_lab();
	p = open_port(&config);
	assert_int_equal(port_start(p), 0);
	fd = client_to("192.0.2.1");
	laters[0].n = laters[1].n = 0;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < EACH; i++)
			(void)!send(fd, i % 4 ? "late" : "Quick", i % 4 ? 4 : 5, MSG_DONTWAIT);
		while ((n = port_receive(p, 1, msgs, PORT_BURST))) {
			struct later *last = &laters[n_bursts % 2], *now = &laters[++n_bursts % 2];

			now->n = 0;
			echo_defer(now, msgs, n, p, 1);
			assert_int_equal(port_reply(p, 1, last->replies, last->n), last->n);
			last->n = 0;
			port_send(p, 1, msgs, n);
		}
		n_replies += count_replies(fd);
	}
	n = laters[n_bursts % 2].n;
	assert_int_equal(port_reply(p, 1, laters[n_bursts % 2].replies, n), n);
	/* Replies that waited for room go out now. */
	assert_frames(p);
	n_replies += count_replies(fd);
	assert_true(p->stats.late > ROUNDS);
	assert_int_equal(port_deferred(p), 0);
	/* The kernel also sends frames of its own: neighbour discovery, multicast groups. */
	assert_int_equal(p->stats.rx - p->stats.malformed, p->stats.tx);
	assert_int_equal(n_replies, p->stats.tx);
	assert_balance(p);
	close(fd);
	port_close(p);
}

/*
 * Without a link no frame comes back. Replies are kept as far as frames, ring and backlog allow,
 * the others are counted, and no frame is lost.
 */
static void test_late_replies_without_a_link(void **state)
{
	enum { RING = 4, LATE = 5 * PORT_BURST };
	static const struct {
		const char *name;
		uint32_t n_frames;
	} rows[] = { { "few frames", 64 }, { "many frames", 4096 } };
	static struct later later;

	(void)state;
	need_lab();
	for (size_t r = 0; r < 2; r++) {
		struct xsk_config config = small(rows[r].n_frames, RING);
		unsigned int n_sent = 0, n_want;
		struct port *p = open_port(&config);
		int fd = client_to("192.0.2.1");
		struct xsk_frames f;

		print_message("  %s\n", rows[r].name);
		assert_int_equal(port_start(p), 0);
		later = (struct later){ .n = 0 };
		for (unsigned int i = 0; i < LATE; i++) {
			assert_int_equal(send(fd, "abc", 3, 0), 3);
			defer_n(p, &later, 1);
		}
		xsk_frames_read(p, &f);
		n_want = f.free < RING + XSK_BACKLOG_CAP ? f.free : RING + XSK_BACKLOG_CAP;
		link_down();
		for (unsigned int i = 0; i < LATE; i += PORT_BURST)
			n_sent += port_reply(p, 1, later.replies + i, PORT_BURST);
		assert_int_equal(n_sent, n_want);
		assert_int_equal(p->stats.tx_dropped, LATE - n_sent);
		assert_true(xsk_pending(p) > 0);
		assert_balance(p);
		link_up();
		assert_frames(p);
		assert_int_equal(count_replies(fd), n_sent);
		assert_balance(p);
		close(fd);
		port_close(p);
	}
}

static int client_from(const char *from, const char *to_text)
{
	struct port_addr to = addr_of(to_text, QUERY_PORT), me = addr_of(from, 0);
	struct timeval limit = { .tv_sec = 10 };
	struct sockaddr_storage ss;
	socklen_t len;
	int fd;

	enter(lab.client_ns);
	fd = socket(AF_INET6, SOCK_DGRAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	me.scope_id = to.scope_id = if_nametoindex(CLIENT_IF);
	len = port_addr_to_sockaddr(&me, &ss);
	assert_int_equal(bind(fd, (struct sockaddr *)&ss, len), 0);
	len = port_addr_to_sockaddr(&to, &ss);
	assert_int_equal(connect(fd, (struct sockaddr *)&ss, len), 0);
	enter(lab.server_ns);
	return fd;
}

/* If one of the addresses is link-local, a reply needs the interface, at once and later. */
static void test_late_replies_from_and_to_link_local(void **state)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "fe80::2", "fe80::53" },
		{ "fe80::2", "2001:db8::1" },
		{ "2001:db8::2", "fe80::53" },
	};
	struct socket_config config = { .listen = addr_of("::", QUERY_PORT) };
	static struct later later;
	struct port_msg msgs[PORT_BURST];
	uint8_t reply[16];
	struct port *p;

	(void)state;
	need_lab();
	/* Another link with an older route to fe80::/64 would get replies without interface. */
	assert_int_equal(run("ip link add " OTHER_IF " type veth peer name " OTHER_IF "p && "
			     "ip link set " OTHER_IF " up && ip link set " OTHER_IF "p up"),
			 0);
	link_down();
	link_up();
	assert_int_equal(run("ip addr add fe80::53/64 nodad dev " SERVER_IF " && "
			     "ip addr add 2001:db8::1/64 nodad dev " SERVER_IF),
			 0);
	enter(lab.client_ns);
	assert_int_equal(run("ip addr replace fe80::2/64 nodad dev " CLIENT_IF), 0);
	enter(lab.server_ns);
	assert_int_equal(socket_open(&p, &config), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pollfd pollfd = { .fd = p->fd, .events = POLLIN };
		int fd = client_from(rows[i].from, rows[i].to);

		print_message("  %s asks %s\n", rows[i].from, rows[i].to);
		later = (struct later){ .n = 0 };
		assert_int_equal(send(fd, "abc", 3, 0), 3);
		assert_int_equal(poll(&pollfd, 1, 5000), 1);
		assert_int_equal(port_receive(p, 1, msgs, PORT_BURST), 1);
		echo_defer(&later, msgs, 1, p, 1);
		port_send(p, 1, msgs, 1);
		assert_int_equal(port_reply(p, 1, later.replies, 1), 1);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 3);
		close(fd);
	}
	assert_balance(p);
	port_close(p);
	assert_int_equal(run("ip link del " OTHER_IF), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_replies_over_both_families),
		cmocka_unit_test(test_deferred_messages_hold_no_frames),
		cmocka_unit_test(test_late_replies_within_bursts),
		cmocka_unit_test(test_late_replies_without_a_link),
		cmocka_unit_test(test_late_replies_from_and_to_link_local),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
