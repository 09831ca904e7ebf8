/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UDP sockets over loopback, driven by hand: what one receive and one send do, and the counters. */
#include "tests/unit/port/echo.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "port/awake.h"
#include "port/socket.h"

/*
 * In the C library's place: what the next calls do, one entry each. Above 0: send at most so many;
 * below: fail so; 0: send, and all later calls too.
 */
static const int *fault;

int sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags)
{
	int now = fault ? *fault : 0;

	if (now)
		fault++;
	if (now < 0) {
		errno = -now;
		return -1;
	}
	if (now > 0 && (unsigned int)now < n)
		n = (unsigned int)now;
	return (int)syscall(SYS_sendmmsg, fd, msgs, n, flags);
}

static struct port *open_on(const char *text, struct port_addr *bound)
{
	struct socket_config config = { .listen = addr_of(text, 0), .msg_bytes = 2048 };
	struct port *p;

	assert_int_equal(socket_open(&p, &config), 0);
	socket_port_addr(p, bound);
	return p;
}

/* Wait for something, then one round: receive, handle, send. The number of messages. */
static unsigned int serve_by(struct port *p,
			     void (*handle)(void *ctx, struct port_msg *msgs, unsigned int n,
					    struct port *port, uint64_t now_ns),
			     void *ctx)
{
	struct pollfd pollfd = { .fd = p->fd, .events = POLLIN };
	struct port_msg msgs[PORT_BURST];
	unsigned int n;

	assert_int_equal(poll(&pollfd, 1, 5000), 1);
	n = port_receive(p, 1, msgs, PORT_BURST);
	handle(ctx, msgs, n, p, 1);
	port_send(p, 1, msgs, n);
	return n;
}

static unsigned int serve(struct port *p)
{
	return serve_by(p, echo_handle, NULL);
}

static void assert_balance(const struct port *p)
{
	struct port_stats s;

	port_stats_read(p, &s);
	assert_int_equal(s.rx, s.malformed + s.truncated_in + s.no_reply + s.tx + s.tx_dropped +
				       port_deferred(p));
}

/* The client's socket is connected, so it sees a reply only from the address that it asked. */
static void test_reply_leaves_from_the_address_asked(void **state)
{
	static const struct {
		const char *name, *listen, *ask;
	} rows[] = {
		{ "one address", "127.0.0.1", "127.0.0.1" },
		{ "wildcard, first", "0.0.0.0", "127.0.0.1" },
		{ "wildcard, second", "0.0.0.0", "127.0.0.2" },
		{ "wildcard, far", "0.0.0.0", "127.200.3.4" },
		{ "IPv6", "::1", "::1" },
		{ "IPv6 wildcard", "::", "::1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct port_addr bound, ask;
		struct port *p = open_on(rows[i].listen, &bound);
		uint8_t reply[64];
		int fd;

		print_message("  %s\n", rows[i].name);
		ask = addr_of(rows[i].ask, ntohs(bound.port));
		fd = client_open(SOCK_DGRAM, &ask);
		assert_int_equal(send(fd, "query", 5, 0), 5);
		assert_int_equal(serve(p), 1);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 5);
		assert_memory_equal(reply, "\xf1uery", 5);
		assert_balance(p);
		close(fd);
		port_close(p);
	}
}

static void test_message_says_who_and_where(void **state)
{
	struct port_addr bound, ask, mine;
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct port *p = open_on("0.0.0.0", &bound);
	struct port_msg msgs[PORT_BURST];
	struct pollfd pollfd = { .fd = p->fd, .events = POLLIN };
	int fd;

	(void)state;
	ask = addr_of("127.0.0.9", ntohs(bound.port));
	fd = client_open(SOCK_DGRAM, &ask);
	getsockname(fd, (struct sockaddr *)&ss, &len);
	assert_int_equal(port_addr_from_sockaddr(&mine, (struct sockaddr *)&ss), 0);
	assert_int_equal(send(fd, "abc", 3, 0), 3);
	poll(&pollfd, 1, 5000);
	assert_int_equal(port_receive(p, 1, msgs, PORT_BURST), 1);
	assert_int_equal(msgs[0].len, 3);
	assert_int_equal(msgs[0].cap, 2048);
	assert_int_equal(msgs[0].family, AF_INET);
	assert_false(msgs[0].stream);
	assert_int_equal(msgs[0].peer_port, mine.port);
	assert_memory_equal(msgs[0].peer, mine.bytes, 4);
	assert_int_equal(msgs[0].local_port, bound.port);
	assert_memory_equal(msgs[0].local, ask.bytes, 4);
	assert_int_equal(msgs[0].ifindex, 1);
	msgs[0].len = 0;
	port_send(p, 1, msgs, 1);
	assert_int_equal(p->stats.no_reply, 1);
	close(fd);
	port_close(p);
}

/* How often a port that answered n queries at once wants to be looked at before its worker may
 * sleep. */
static unsigned int looks_after(unsigned int n)
{
	struct port_msg msgs[PORT_BURST];
	struct port_addr bound;
	struct port *p = open_on("127.0.0.1", &bound);
	int fd = client_open(SOCK_DGRAM, &bound);
	unsigned int n_looks = 0;

	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(send(fd, "query", 5, 0), 5);
	assert_int_equal(serve(p), n);
	while (n_looks < 100 && !port_wake_at(p)) {
		assert_int_equal(port_receive(p, 1, msgs, PORT_BURST), 0);
		n_looks++;
	}
	assert_true(port_wake_at(p) == PORT_NEVER || n_looks == 100);
	close(fd);
	port_close(p);
	return n_looks;
}

static void test_a_busy_port_keeps_its_worker_awake_for_a_while(void **state)
{
	(void)state;
	assert_int_equal(looks_after(1), 0);
	assert_int_equal(looks_after(AWAKE_BURST - 1), 0);
	assert_int_equal(looks_after(AWAKE_BURST), AWAKE_LOOKS);
}

static void test_a_burst_is_drained_and_answered(void **state)
{
	struct port_addr bound;
	struct port *p = open_on("127.0.0.1", &bound);
	int fd = client_open(SOCK_DGRAM, &bound);
	uint8_t query[2], reply[64];
	unsigned int n = 0;

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		query[0] = (uint8_t)(i % 5 ? 'Q' : 'N');
		query[1] = (uint8_t)i;
		assert_int_equal(send(fd, query, 2, 0), 2);
	}
	assert_int_equal(serve(p), PORT_BURST);
	assert_int_equal(serve(p), 100 - PORT_BURST);
	while (recv(fd, reply, sizeof(reply), MSG_DONTWAIT) == 2)
		n++;
	assert_int_equal(n, 80);
	assert_int_equal(p->stats.rx, 100);
	assert_int_equal(p->stats.rx_bytes, 200);
	assert_int_equal(p->stats.tx, 80);
	assert_int_equal(p->stats.tx_bytes, 160);
	assert_int_equal(p->stats.no_reply, 20);
	assert_balance(p);
	close(fd);
	port_close(p);
}

static void test_too_long_a_datagram_is_counted_and_dropped(void **state)
{
	struct port_addr bound;
	struct port *p = open_on("127.0.0.1", &bound);
	int fd = client_open(SOCK_DGRAM, &bound);
	uint8_t big[2049] = { 'Q' }, reply[64];

	(void)state;
	assert_int_equal(send(fd, big, sizeof(big), 0), sizeof(big));
	assert_int_equal(send(fd, "", 0, 0), 0);
	assert_int_equal(send(fd, "ok", 2, 0), 2);
	assert_int_equal(serve(p), 2);
	assert_int_equal(recv(fd, reply, sizeof(reply), 0), 2);
	assert_int_equal(p->stats.truncated_in, 1);
	assert_int_equal(p->stats.no_reply, 1);
	assert_balance(p);
	close(fd);
	port_close(p);
}

/* All that UDP can carry, for peers answer a query that is padded (RFC 7830) to any length. */
static void test_datagrams_of_any_length(void **state)
{
	static const struct {
		const char *ask;
		size_t n;
	} rows[] = {
		{ "127.0.0.1", 4096 }, { "127.0.0.1", 4097 }, { "127.0.0.1", 65507 },
		{ "::1", 4097 },       { "::1", 65527 },
	};
	static uint8_t query[65535], reply[65535];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct socket_config config = { .listen = addr_of(rows[i].ask, 0) };
		struct port_addr bound;
		struct port *p;
		int fd;

		print_message("  %s, %zu octets\n", rows[i].ask, rows[i].n);
		assert_int_equal(socket_open(&p, &config), 0);
		socket_port_addr(p, &bound);
		fd = client_open(SOCK_DGRAM, &bound);
		memset(query, 'q', sizeof(query));
		query[rows[i].n - 1] = 'z';
		assert_int_equal(send(fd, query, rows[i].n, 0), rows[i].n);
		assert_int_equal(send(fd, "small", 5, 0), 5);
		assert_int_equal(serve(p), 2);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), rows[i].n);
		query[0] |= 0x80;
		assert_memory_equal(reply, query, rows[i].n);
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 5);
		assert_memory_equal(reply, "\xf3mall", 5);
		assert_balance(p);
		close(fd);
		port_close(p);
	}
}

static unsigned int n_resident(const uint8_t *data, size_t n)
{
	unsigned char pages[17];
	uintptr_t from = ((uintptr_t)data + 4095) & ~(uintptr_t)4095;
	unsigned int n_in = 0;

	assert_int_equal(mincore((void *)from, n & ~(size_t)4095, pages), 0);
	for (size_t i = 0; i < n / 4096; i++)
		n_in += pages[i] & 1;
	return n_in;
}

static void test_memory_of_long_datagrams_goes_back(void **state)
{
	struct socket_config config = { .listen = addr_of("127.0.0.1", 0) };
	static uint8_t query[60000];
	struct port_msg msgs[PORT_BURST];
	struct port_addr bound;
	const uint8_t *data;
	struct port *p;
	int fd;

	(void)state;
	assert_int_equal(socket_open(&p, &config), 0);
	socket_port_addr(p, &bound);
	fd = client_open(SOCK_DGRAM, &bound);
	assert_int_equal(send(fd, query, sizeof(query), 0), sizeof(query));
	assert_int_equal(port_receive(p, 1, msgs, PORT_BURST), 1);
	data = msgs[0].data;
	assert_true(n_resident(data, sizeof(query)) >= 14);
	msgs[0].len = 0;
	port_send(p, 1, msgs, 1);
	assert_int_equal(port_receive(p, 1, msgs, PORT_BURST), 0);
	assert_true(n_resident(data, sizeof(query)) <= 1);
	close(fd);
	port_close(p);
}

/*
 * Each row: six queries, a kernel that behaves as `calls` says, and what must come of it. The
 * message at which the kernel balks is the first one of its call.
 */
static void test_no_reply_is_lost_silently(void **state)
{
	static const struct {
		const char *name;
		int calls[8];
		unsigned int tx, dropped, retried;
	} rows[] = {
		{ "all at once", { 0 }, 6, 0, 0 },
		{ "one by one", { 1, 1, 1, 1, 1, 1 }, 6, 0, 0 },
		{ "one is refused", { 2, -EPERM, 0 }, 5, 1, 0 },
		{ "first is refused", { -EHOSTUNREACH, 0 }, 5, 1, 0 },
		{ "all are refused", { -EPERM, -EPERM, -EPERM, -EPERM, -EPERM, -EPERM }, 0, 6, 0 },
		{ "full for a while", { 4, -EAGAIN, -ENOBUFS, 0 }, 6, 0, 2 },
		{ "full for good", { 3, -EAGAIN, -EAGAIN, -EAGAIN, -EAGAIN, 0 }, 3, 3, 3 },
		{ "interrupted", { -EINTR, 5, -EINTR, 0 }, 6, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct port_addr bound;
		struct port *p = open_on("127.0.0.1", &bound);
		int fd = client_open(SOCK_DGRAM, &bound);
		unsigned int n = 0;
		uint8_t reply[64];

		print_message("  %s\n", rows[i].name);
		for (int q = 0; q < 6; q++)
			assert_int_equal(send(fd, "abc", 3, 0), 3);
		fault = rows[i].calls;
		assert_int_equal(serve(p), 6);
		fault = NULL;
		while (recv(fd, reply, sizeof(reply), MSG_DONTWAIT) == 3)
			n++;
		assert_int_equal(n, rows[i].tx);
		assert_int_equal(p->stats.tx, rows[i].tx);
		assert_int_equal(p->stats.tx_dropped, rows[i].dropped);
		assert_int_equal(p->stats.tx_retried, rows[i].retried);
		assert_balance(p);
		close(fd);
		port_close(p);
	}
}

/* Other queries come and go by the same slots before the replies are sent, the last one first. */
static void test_late_reply_leaves_from_the_address_asked(void **state)
{
	static const struct {
		const char *name, *listen, *ask[2];
	} rows[] = {
		{ "one address", "127.0.0.1", { "127.0.0.1", "127.0.0.1" } },
		{ "wildcard", "0.0.0.0", { "127.0.0.2", "127.200.3.4" } },
		{ "IPv6", "::1", { "::1", "::1" } },
		{ "IPv6 wildcard", "::", { "::1", "::1" } },
	};
	static struct later later;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct port_addr bound, ask;
		struct port *p = open_on(rows[i].listen, &bound);
		uint8_t reply[64];
		int fd[2];

		print_message("  %s\n", rows[i].name);
		assert_true(port_can_defer(p));
		later = (struct later){ .n = 0 };
		for (int c = 0; c < 2; c++) {
			ask = addr_of(rows[i].ask[c], ntohs(bound.port));
			fd[c] = client_open(SOCK_DGRAM, &ask);
			assert_int_equal(send(fd[c], c ? "two" : "one", 3, 0), 3);
			assert_int_equal(serve_by(p, echo_defer, &later), 1);
			assert_int_equal(send(fd[c], "Q", 1, 0), 1);
			assert_int_equal(serve_by(p, echo_defer, &later), 1);
			assert_int_equal(recv(fd[c], reply, sizeof(reply), 0), 1);
		}
		assert_int_equal(port_deferred(p), 2);
		assert_balance(p);
		assert_int_equal(later.to[0].cap, 2048);
		for (int c = 1; c >= 0; c--) {
			assert_int_equal(port_reply(p, 1, &later.replies[c], 1), 1);
			assert_int_equal(recv(fd[c], reply, sizeof(reply), 0), 3);
			assert_memory_equal(reply, c ? "\xf4wo" : "\xefne", 3);
			close(fd[c]);
		}
		assert_int_equal(p->stats.no_reply, 0);
		assert_int_equal(p->stats.deferred, 2);
		assert_int_equal(p->stats.late, 2);
		assert_int_equal(p->stats.tx, 4);
		assert_int_equal(p->stats.tx_bytes, 8);
		assert_balance(p);
		port_close(p);
	}
}

/* One has no bytes, one is refused by a busy kernel, and a query is out with the handler
 * meanwhile. */
static void test_late_replies_in_a_burst(void **state)
{
	static const int refuses_second[] = { 1, -EAGAIN, -EPERM, -ENOBUFS, 0 };
	static struct later later;
	struct port_addr bound;
	struct port *p = open_on("127.0.0.1", &bound);
	int fd = client_open(SOCK_DGRAM, &bound);
	struct port_msg msgs[PORT_BURST];
	uint8_t reply[64];

	(void)state;
	later = (struct later){ .n = 0 };
	for (unsigned int i = 0; i < PORT_BURST; i++)
		assert_int_equal(send(fd, i == 5 ? "N" : "q", 1, 0), 1);
	assert_int_equal(serve_by(p, echo_defer, &later), PORT_BURST);
	assert_int_equal(later.n, PORT_BURST);
	/* While a query is out with the handler: its buffer is left alone. */
	assert_int_equal(send(fd, "query", 5, 0), 5);
	assert_int_equal(port_receive(p, 1, msgs, PORT_BURST), 1);
	fault = refuses_second;
	assert_int_equal(port_reply(p, 1, later.replies, PORT_BURST), PORT_BURST - 2);
	fault = NULL;
	echo_handle(NULL, msgs, 1, p, 1);
	port_send(p, 1, msgs, 1);
	for (unsigned int i = 0; i < PORT_BURST - 2; i++) {
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 1);
		assert_int_equal(reply[0], 'q' | 0x80);
	}
	assert_int_equal(recv(fd, reply, sizeof(reply), 0), 5);
	assert_memory_equal(reply, "\xf1uery", 5);
	assert_int_equal(p->stats.late, PORT_BURST);
	assert_int_equal(p->stats.no_reply, 1);
	assert_int_equal(p->stats.tx_dropped, 1);
	assert_int_equal(p->stats.tx_retried, PORT_BURST - 2);
	assert_int_equal(p->stats.tx, PORT_BURST - 1);
	assert_int_equal(port_deferred(p), 0);
	assert_balance(p);
	close(fd);
	port_close(p);
}

static void test_open_says_why_not(void **state)
{
	struct socket_config config = { .listen = addr_of("127.0.0.1", 0) };
	struct sockaddr_storage ss;
	struct port_addr taken;
	socklen_t len = sizeof(ss);
	struct port *p = NULL;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)state;
	/* Another's socket without SO_REUSEPORT has the address. */
	len = port_addr_to_sockaddr(&config.listen, &ss);
	assert_int_equal(bind(fd, (struct sockaddr *)&ss, len), 0);
	getsockname(fd, (struct sockaddr *)&ss, &len);
	assert_int_equal(port_addr_from_sockaddr(&taken, (struct sockaddr *)&ss), 0);
	config.listen = taken;
	assert_int_equal(socket_open(&p, &config), -EADDRINUSE);
	config = (struct socket_config){ .listen = addr_of("127.0.0.1", 0), .msg_bytes = 100 };
	assert_int_equal(socket_open(&p, &config), -EINVAL);
	/* An address that is not here yet can be bound. */
	config = (struct socket_config){ .listen = addr_of("192.0.2.77", 0) };
	assert_int_equal(socket_open(&p, &config), 0);
	assert_memory_equal(p->name, "udp 192.0.2.77@", 15);
	port_close(p);
	close(fd);
}

/* What has arrived by then is served; what comes later finds the wildcard's socket. */
static void test_a_wildcard_takes_over(void **state)
{
	struct port_addr bound, other;
	struct port *p = open_on("127.0.0.1", &bound), *wildcard;
	struct socket_config config = { .listen = addr_of("0.0.0.0", ntohs(bound.port)) };
	int fd = client_open(SOCK_DGRAM, &bound);
	uint8_t reply[16];

	(void)state;
	assert_int_equal(socket_open(&wildcard, &config), 0);
	socket_port_addr(wildcard, &other);
	assert_int_equal(other.port, bound.port);
	assert_int_equal(send(fd, "1", 1, 0), 1);
	port_retire(p);
	port_retire(p);
	assert_int_equal(send(fd, "2", 1, 0), 1);
	assert_int_equal(serve(p), 1);
	assert_int_equal(serve(wildcard), 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(recv(fd, reply, sizeof(reply), 0), 1);
	close(fd);
	port_close(p);
	port_close(wildcard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reply_leaves_from_the_address_asked),
		cmocka_unit_test(test_message_says_who_and_where),
		cmocka_unit_test(test_a_busy_port_keeps_its_worker_awake_for_a_while),
		cmocka_unit_test(test_a_burst_is_drained_and_answered),
		cmocka_unit_test(test_too_long_a_datagram_is_counted_and_dropped),
		cmocka_unit_test(test_datagrams_of_any_length),
		cmocka_unit_test(test_memory_of_long_datagrams_goes_back),
		cmocka_unit_test(test_no_reply_is_lost_silently),
		cmocka_unit_test(test_late_reply_leaves_from_the_address_asked),
		cmocka_unit_test(test_late_replies_in_a_burst),
		cmocka_unit_test(test_open_says_why_not),
		cmocka_unit_test(test_a_wildcard_takes_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
