/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP over loopback, one thread: clients act, then the port has its rounds, with a clock of
 * ours. */
#include "tests/unit/port/tcp_client.h"

#include <netinet/tcp.h>
#include <sys/resource.h>

static void test_answers(void **state)
{
	static const struct {
		const char *name, *listen, *ask;
	} rows[] = {
		{ "IPv4", "127.0.0.1", "127.0.0.1" },
		{ "wildcard", "0.0.0.0", "127.3.2.1" },
		{ "IPv6", "::1", "::1" },
		{ "IPv6 wildcard", "::", "::1" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tcp_config config = { .fastopen = 16 };
		struct port_addr bound, to;
		struct port *p = open_at(&config, rows[i].listen, &bound);
		int fd;

		print_message("  %s\n", rows[i].name);
		to = addr_of(rows[i].ask, ntohs(bound.port));
		fd = client_open(SOCK_STREAM, &to);
		ask(fd, "query");
		serve(p);
		expect(fd, "query");
		ask(fd, "again");
		serve(p);
		expect(fd, "again");
		assert_int_equal(tcp_n_conns(p), 1);
		assert_int_equal(p->stats.rx, 2);
		close(fd);
		serve(p);
		assert_int_equal(tcp_n_conns(p), 0);
		done(p);
	}
}

static void test_message_says_who_and_where(void **state)
{
	struct port_addr bound, to, mine;
	struct port *p = open_at(&(struct tcp_config){ 0 }, "0.0.0.0", &bound);
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct port_msg msgs[PORT_BURST];
	unsigned int n = 0;
	int fd;

	(void)state;
	to = addr_of("127.0.0.7", ntohs(bound.port));
	fd = client_open(SOCK_STREAM, &to);
	getsockname(fd, (struct sockaddr *)&ss, &len);
	assert_int_equal(port_addr_from_sockaddr(&mine, (struct sockaddr *)&ss), 0);
	ask(fd, "abc");
	for (int i = 0; i < 100 && !n; i++)
		n = port_receive(p, now_ns, msgs, PORT_BURST);
	assert_int_equal(n, 1);
	assert_true(msgs[0].stream);
	assert_int_equal(msgs[0].len, 3);
	assert_int_equal(msgs[0].cap, 65535);
	assert_int_equal(msgs[0].family, AF_INET);
	assert_int_equal(msgs[0].peer_port, mine.port);
	assert_memory_equal(msgs[0].peer, mine.bytes, 4);
	assert_int_equal(msgs[0].local_port, bound.port);
	assert_memory_equal(msgs[0].local, to.bytes, 4);
	port_send(p, now_ns, msgs, 1);
	close(fd);
	done(p);
}

static void test_pipelining_in_one_write(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);
	uint8_t out[100 * 5], in[100 * 5];

	(void)state;
	for (int i = 0; i < 100; i++)
		memcpy(out + i * 5, (uint8_t[]){ 0, 3, 'q', (uint8_t)i, 7 }, 5);
	put(fd, out, sizeof(out));
	serve(p);
	get(fd, in, sizeof(in));
	for (int i = 0; i < 100; i++)
		out[i * 5 + 2] |= 0x80;
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(p->stats.tx, 100);
	close(fd);
	done(p);
}

/* However little a write takes, the stream is whole and in order. */
static void test_partial_writes(void **state)
{
	static const size_t limits[] = { 1, 2, 3, 7, 1000 };
	uint8_t out[100 * 7], in[100 * 7];

	(void)state;
	for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
		struct port_addr bound;
		struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
		int fd = client_open(SOCK_STREAM, &bound);

		for (int i = 0; i < 100; i++)
			memcpy(out + i * 7, (uint8_t[]){ 0, 5, 'q', (uint8_t)i, 7, 8, 9 }, 7);
		put(fd, out, sizeof(out));
		write_limit = limits[l];
		serve(p);
		write_limit = 0;
		serve(p);
		get(fd, in, sizeof(in));
		for (int i = 0; i < 100; i++)
			out[i * 7 + 2] |= 0x80;
		assert_memory_equal(in, out, sizeof(in));
		assert_int_equal(p->stats.tx, 100);
		assert_true(p->stats.tx_retried > 0);
		assert_int_equal(tcp_n_conns(p), 1);
		close(fd);
		done(p);
	}
}

static void test_byte_by_byte(void **state)
{
	static const uint8_t out[] = { 0, 2, 'a', 'b', 0, 1, 'N', 0, 3, 'c', 'd', 'e' };
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound), one = 1;

	(void)state;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (size_t i = 0; i < sizeof(out); i++) {
		put(fd, out + i, 1);
		serve(p);
	}
	expect(fd, "ab");
	expect(fd, "cde");
	assert_int_equal(p->stats.no_reply, 1);
	close(fd);
	done(p);
}

/* Two clients stop in the middle of a message; the one between them is answered. */
static void test_a_slow_sender_stalls_nobody(void **state)
{
	struct tcp_config config = { .message_ms = 1000, .idle_ms = 100000 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int a = client_open(SOCK_STREAM, &bound), b = client_open(SOCK_STREAM, &bound);
	int c = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(a, "\0", 1);
	put(c, "\0\5qu", 4);
	ask(b, "query");
	serve(p);
	expect(b, "query");
	/* A byte now and then does not help: the deadline is the message's. */
	pass_ms(p, 900);
	put(c, "e", 1);
	serve(p);
	pass_ms(p, 99);
	assert_int_equal(tcp_n_conns(p), 3);
	pass_ms(p, 1);
	assert_int_equal(tcp_n_conns(p), 1);
	assert_true(is_closed(a));
	assert_true(is_closed(c));
	assert_int_equal(p->stats.conns_timed_out, 2);
	close(a);
	close(b);
	close(c);
	done(p);
}

static void test_idle_timeout(void **state)
{
	struct tcp_config config = { .idle_ms = 1000 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int a = client_open(SOCK_STREAM, &bound), b = client_open(SOCK_STREAM, &bound);

	(void)state;
	serve(p);
	assert_true(port_wake_at(p) == now_ns + 1000 * MS);
	pass_ms(p, 600);
	ask(b, "query");
	serve(p);
	expect(b, "query");
	pass_ms(p, 400);
	assert_true(is_closed(a));
	assert_false(is_closed(b));
	assert_true(port_wake_at(p) == now_ns + 600 * MS);
	pass_ms(p, 600);
	assert_true(is_closed(b));
	assert_int_equal(p->stats.conns_timed_out, 2);
	assert_true(port_wake_at(p) == PORT_NEVER);
	close(a);
	close(b);
	done(p);
}

static void test_client_gone_before_accept(void **state)
{
	struct linger reset = { .l_onoff = 1 };
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd;

	(void)state;
	for (int i = 0; i < 20; i++) {
		fd = client_open(SOCK_STREAM, &bound);
		if (i % 2)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		if (i % 3)
			ask(fd, "gone");
		close(fd);
	}
	fd = client_open(SOCK_STREAM, &bound);
	ask(fd, "query");
	serve(p);
	expect(fd, "query");
	assert_int_equal(tcp_n_conns(p), 1);
	close(fd);
	done(p);
}

/* The third connection pushes out the one that is idle longest; then half messages go, the oldest
 * first. */
static void test_limit_of_connections(void **state)
{
	struct tcp_config config = { .n_conns_max = 2 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fds[4];

	(void)state;
	for (int i = 0; i < 3; i++) {
		fds[i] = client_open(SOCK_STREAM, &bound);
		ask(fds[i], "query");
		serve(p);
		expect(fds[i], "query");
	}
	assert_true(is_closed(fds[0]));
	assert_int_equal(p->stats.conns_evicted, 1);
	put(fds[1], "\0", 1);
	put(fds[2], "\0", 1);
	serve(p);
	fds[3] = client_open(SOCK_STREAM, &bound);
	serve(p);
	assert_true(is_closed(fds[1]));
	assert_false(is_closed(fds[2]));
	assert_false(is_closed(fds[3]));
	assert_int_equal(p->stats.conns_refused, 0);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	done(p);
}

static void test_half_closed_client_gets_its_answers(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);
	uint8_t *reply = malloc(65537);

	(void)state;
	ask(fd, "first");
	for (int i = 0; i < 20; i++)
		ask_big(fd, 'x', 65535);
	ask(fd, "last");
	put(fd, "\0\11cut", 5);
	shutdown(fd, SHUT_WR);
	serve(p);
	expect(fd, "first");
	for (int i = 0; i < 20; i++) {
		get_big(p, fd, reply, 65537);
	}
	expect(fd, "last");
	serve(p);
	assert_true(is_closed(fd));
	assert_int_equal(tcp_n_conns(p), 0);
	assert_int_equal(p->stats.tx, 22);
	free(reply);
	close(fd);
	done(p);
}

static void test_a_message_of_no_length_ends_it(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, "\0\2ab\0\0\0\2cd", 10);
	serve(p);
	expect(fd, "ab");
	assert_true(is_closed(fd));
	assert_int_equal(p->stats.malformed, 1);
	assert_int_equal(p->stats.tx, 1);
	close(fd);
	serve(p);
	assert_int_equal(tcp_n_conns(p), 0);
	done(p);
}

static void test_queries_max(void **state)
{
	struct tcp_config config = { .queries_max = 3 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	for (int i = 0; i < 5; i++)
		ask(fd, "abc");
	serve(p);
	for (int i = 0; i < 3; i++)
		expect(fd, "abc");
	assert_true(is_closed(fd));
	assert_int_equal(p->stats.rx, 3);
	/* If the client never ends it, time does. */
	pass_ms(p, TCP_MESSAGE_MS_DEFAULT);
	assert_int_equal(tcp_n_conns(p), 0);
	close(fd);
	done(p);
}

static void test_longest_query_and_reply(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);
	uint8_t *out = malloc(65537), *in = malloc(65537);

	(void)state;
	memset(out, 0xff, 2);
	for (int i = 0; i < 65535; i++)
		out[i + 2] = (uint8_t)(i * 7 / 5);
	for (int times = 0; times < 3; times++) {
		for (int at = 0; at < 65537; at += 8192) {
			put(fd, out + at, at + 8192 < 65537 ? 8192 : 65537 - (size_t)at);
			serve(p);
		}
		get_big(p, fd, in, 65537);
		assert_int_equal(in[2], out[2] | 0x80);
		assert_memory_equal(in + 3, out + 3, 65534);
	}
	free(out);
	free(in);
	close(fd);
	done(p);
}

/*
 * A client asks for 64 MB and does not read: soon nothing more is taken from it, others are served,
 * and memory stays within the pool. Once it reads, it gets everything, in order.
 */
static void test_slow_reader_is_held_back(void **state)
{
	enum { QUERIES = 1000 };
	struct tcp_config config = { .pool_bytes = TCP_POOL_BYTES_MIN };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int slow = client_open(SOCK_STREAM, &bound), other = client_open(SOCK_STREAM, &bound);
	uint8_t *reply = malloc(65537);

	(void)state;
	for (int i = 0; i < QUERIES; i++)
		ask_big(slow, (uint8_t)i, 65535);
	serve(p);
	assert_true(p->stats.rx < QUERIES / 2);
	assert_true(tcp_pending(p) > 0);
	ask(other, "query");
	serve(p);
	expect(other, "query");
	for (int i = 0; i < QUERIES; i++) {
		get_big(p, slow, reply, 65537);
		assert_int_equal(reply[2], (uint8_t)i);
		assert_int_equal(reply[65536], (uint8_t)i);
	}
	assert_int_equal(p->stats.rx, QUERIES + 1);
	assert_int_equal(p->stats.tx_dropped, 0);
	assert_int_equal(tcp_pending(p), 0);
	assert_int_equal(tcp_n_conns(p), 2);
	free(reply);
	close(slow);
	close(other);
	done(p);
}

static void test_who_never_reads_is_closed(void **state)
{
	struct tcp_config config = { .write_ms = 1000, .idle_ms = 100000 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fd = client_open(SOCK_STREAM, &bound);
	uint64_t pending;

	(void)state;
	for (int i = 0; i < 200; i++)
		ask_big(fd, 'x', 65535);
	serve(p);
	pending = tcp_pending(p);
	assert_true(pending > 0);
	pass_ms(p, 999);
	assert_int_equal(tcp_n_conns(p), 1);
	pass_ms(p, 1);
	assert_int_equal(tcp_n_conns(p), 0);
	assert_int_equal(p->stats.tx_dropped, pending);
	close(fd);
	done(p);
}

/* More slow readers than the pool can hold: those that have stalled longest go, the rest is
 * served. */
static void test_pool_is_shared(void **state)
{
	enum { SLOW = 40 };
	struct tcp_config config = { .pool_bytes = TCP_POOL_BYTES_MIN };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int slow[SLOW], other = client_open(SOCK_STREAM, &bound);

	(void)state;
	for (int i = 0; i < SLOW; i++) {
		slow[i] = client_open(SOCK_STREAM, &bound);
		for (int q = 0; q < 100; q++)
			ask_big(slow[i], 'x', 65535);
		serve(p);
	}
	assert_true(p->stats.conns_evicted > 0);
	ask(other, "query");
	serve(p);
	expect(other, "query");
	for (int i = 0; i < SLOW; i++)
		close(slow[i]);
	serve(p);
	assert_int_equal(tcp_n_conns(p), 1);
	close(other);
	done(p);
}

/* Without descriptors nothing can be accepted: the port waits a while and does not spin. */
static void test_no_descriptors_left(void **state)
{
	struct rlimit old, none;
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound), spare = dup(0);

	(void)state;
	close(spare);
	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){ .rlim_cur = (rlim_t)spare, .rlim_max = old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	ask(fd, "query");
	serve(p);
	assert_int_equal(tcp_n_conns(p), 0);
	assert_int_equal(p->stats.rx_errors, 1);
	assert_true(port_wake_at(p) != PORT_NEVER);
	setrlimit(RLIMIT_NOFILE, &old);
	pass_ms(p, 100);
	serve(p);
	expect(fd, "query");
	close(fd);
	done(p);
}

/* Those who have connected before the stop are served; later ones are refused by the kernel. */
static void test_stop(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound), late = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(&bound, &ss);

	(void)state;
	ask(fd, "query");
	port_stop(p);
	assert_int_equal(connect(late, (struct sockaddr *)&ss, len), -1);
	assert_int_equal(errno, ECONNREFUSED);
	serve(p);
	expect(fd, "query");
	close(fd);
	close(late);
	done(p);
}

static void test_open_says_why_not(void **state)
{
	struct tcp_config config = { .pool_bytes = 4096 };
	struct port_addr listen_at = addr_of("127.0.0.1", 0);
	struct port *p = NULL;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_storage ss;
	socklen_t len = port_addr_to_sockaddr(&listen_at, &ss);

	(void)state;
	assert_int_equal(tcp_open(&p, &config), -EINVAL);
	config.pool_bytes = 0;
	assert_int_equal(bind(fd, (struct sockaddr *)&ss, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	getsockname(fd, (struct sockaddr *)&ss, &len);
	assert_int_equal(port_addr_from_sockaddr(&listen_at, (struct sockaddr *)&ss), 0);
	assert_int_equal(tcp_open(&p, &config), 0);
	assert_int_equal(tcp_listen(p, &listen_at), -EADDRINUSE);
	port_close(p);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_message_says_who_and_where),
		cmocka_unit_test(test_pipelining_in_one_write),
		cmocka_unit_test(test_partial_writes),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_a_slow_sender_stalls_nobody),
		cmocka_unit_test(test_idle_timeout),
		cmocka_unit_test(test_client_gone_before_accept),
		cmocka_unit_test(test_limit_of_connections),
		cmocka_unit_test(test_half_closed_client_gets_its_answers),
		cmocka_unit_test(test_a_message_of_no_length_ends_it),
		cmocka_unit_test(test_queries_max),
		cmocka_unit_test(test_longest_query_and_reply),
		cmocka_unit_test(test_slow_reader_is_held_back),
		cmocka_unit_test(test_who_never_reads_is_closed),
		cmocka_unit_test(test_pool_is_shared),
		cmocka_unit_test(test_no_descriptors_left),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_open_says_why_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
