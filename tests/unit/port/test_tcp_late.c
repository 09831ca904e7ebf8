/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP over loopback, one thread: replies that come after their messages were handed back. */
#include "tests/unit/port/tcp_client.h"

#include "port/tcp_conn.h"

static struct later later;

static void test_out_of_order(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	later.n = 0;
	assert_true(port_can_defer(p));
	ask(fd, "first");
	ask(fd, "Quick");
	ask(fd, "No");
	ask(fd, "last");
	serve_or_defer(p, &later);
	expect(fd, "Quick");
	assert_int_equal(later.n, 3);
	assert_int_equal(port_deferred(p), 3);
	assert_int_equal(later.to[0].cap, 65535);
	assert_true(later.to[0].stream);
	assert_int_equal(port_reply(p, now_ns, &later.replies[1], 2), 1);
	expect(fd, "last");
	assert_int_equal(port_reply(p, now_ns, &later.replies[0], 1), 1);
	expect(fd, "first");
	assert_int_equal(p->stats.deferred, 3);
	assert_int_equal(p->stats.late, 3);
	assert_int_equal(p->stats.no_reply, 1);
	assert_int_equal(p->stats.tx, 3);
	assert_int_equal(p->stats.tx_bytes, 5 + 4 + 5);
	assert_int_equal(port_deferred(p), 0);
	close(fd);
	done(p);
}

/* One call for replies to several connections, in turns: each goes where it belongs. */
static void test_several_connections_in_one_call(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	static const char *const names[] = { "anna", "bert", "carl" };
	int fds[3];

	(void)state;
	later.n = 0;
	for (int i = 0; i < 3; i++)
		fds[i] = client_open(SOCK_STREAM, &bound);
	for (int i = 0; i < 12; i++) {
		ask(fds[i / 2 % 3], names[i / 2 % 3]);
		serve_or_defer(p, &later);
	}
	assert_int_equal(later.n, 12);
	assert_int_equal(port_reply(p, now_ns, later.replies, 12), 12);
	for (int i = 0; i < 12; i++)
		expect(fds[i % 3], names[i % 3]);
	for (int i = 0; i < 3; i++) {
		assert_false(is_closed(fds[i]));
		close(fds[i]);
	}
	done(p);
}

/* Who waits for us is not idle, nor pushed out by others; the idle time begins with the last
 * reply. */
static void test_no_timeout_while_a_reply_is_to_come(void **state)
{
	/* All slots are taken: a sixteenth of the time. */
	struct tcp_config config = { .idle_ms = 16000, .message_ms = 16000, .n_conns_max = 1 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fd = client_open(SOCK_STREAM, &bound), other;

	(void)state;
	later.n = 0;
	ask(fd, "one");
	ask(fd, "two");
	put(fd, "\0\3ha", 4);
	serve_or_defer(p, &later);
	assert_true(port_wake_at(p) == PORT_NEVER);
	pass_ms(p, 60000);
	other = client_open(SOCK_STREAM, &bound);
	serve(p);
	assert_true(is_closed(other));
	assert_false(is_closed(fd));
	assert_int_equal(port_reply(p, now_ns, later.replies, 1), 1);
	pass_ms(p, 60000);
	assert_false(is_closed(fd));
	put(fd, "t", 1);
	serve_or_defer(p, &later);
	assert_int_equal(port_reply(p, now_ns, later.replies + 1, 2), 2);
	expect(fd, "one");
	expect(fd, "two");
	expect(fd, "hat");
	assert_true(port_wake_at(p) == now_ns + 1000 * MS);
	pass_ms(p, 999);
	assert_false(is_closed(fd));
	pass_ms(p, 1);
	assert_true(is_closed(fd));
	close(fd);
	close(other);
	done(p);
}

static void ask_numbered(int fd, int first, int n)
{
	for (int i = first; i < first + n; i++)
		put(fd, (uint8_t[]){ 0, 2, 'a', (uint8_t)i }, 4);
}

/* A pipeline of 100: not more than the limit is taken, and each reply lets one more in. */
static void test_limit_of_one_connection(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound), other = client_open(SOCK_STREAM, &bound);

	(void)state;
	later.n = 0;
	ask_numbered(fd, 0, 80);
	serve_or_defer(p, &later);
	assert_int_equal(later.n, TCP_DEFERRED_MAX);
	assert_true(port_wake_at(p) > now_ns);
	ask_numbered(fd, 80, 20);
	/* What the port does not read does not keep its fd readable. */
	assert_int_equal(poll(&(struct pollfd){ .fd = p->fd, .events = POLLIN }, 1, 5), 0);
	ask(other, "Quick");
	serve_or_defer(p, &later);
	expect(other, "Quick");
	for (unsigned int i = 0; i < 100; i++) {
		uint8_t reply[4];

		assert_int_equal(port_reply(p, now_ns, &later.replies[i], 1), 1);
		get(fd, reply, 4);
		assert_int_equal(reply[3], i);
		serve_or_defer(p, &later);
		assert_true(port_deferred(p) <= TCP_DEFERRED_MAX);
		assert_int_equal(later.n, i < 36 ? TCP_DEFERRED_MAX + 1 + i : 100);
	}
	close(fd);
	close(other);
	done(p);
}

/* Reset, or closed when the reply comes; the slot is another's by then, who gets nothing of it. */
static void test_connection_gone(void **state)
{
	struct linger reset = { .l_onoff = 1 };
	struct tcp_config config = { .n_conns_max = 1, .idle_ms = 1000 };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	later.n = 0;
	ask(fd, "gone");
	ask(fd, "No");
	serve_or_defer(p, &later);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
	serve(p);
	assert_int_equal(tcp_n_conns(p), 0);
	assert_int_equal(port_deferred(p), 2);
	fd = client_open(SOCK_STREAM, &bound);
	ask(fd, "mine");
	serve_or_defer(p, &later);
	assert_int_equal(later.to[0].slot, later.to[2].slot);
	assert_int_equal(port_reply(p, now_ns, later.replies, 3), 1);
	expect(fd, "mine");
	assert_false(is_closed(fd));
	assert_int_equal(p->stats.late, 3);
	assert_int_equal(p->stats.late_orphaned, 2);
	assert_int_equal(p->stats.tx_dropped, 1);
	assert_int_equal(p->stats.no_reply, 1);
	/* Nor is it taken for one that is owed what the other was. */
	pass_ms(p, 1000);
	assert_true(is_closed(fd));
	close(fd);
	done(p);
}

static void test_half_closed_client_gets_late_replies(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ .idle_ms = 1000 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	later.n = 0;
	ask(fd, "one");
	ask(fd, "two");
	ask(fd, "No");
	put(fd, "\0\11cut", 5);
	shutdown(fd, SHUT_WR);
	serve_or_defer(p, &later);
	assert_int_equal(later.n, 3);
	/* The end that was read is not reported again and again. */
	assert_int_equal(poll(&(struct pollfd){ .fd = p->fd, .events = POLLIN }, 1, 5), 0);
	pass_ms(p, 60000);
	assert_int_equal(tcp_n_conns(p), 1);
	assert_int_equal(port_reply(p, now_ns, later.replies, 2), 2);
	expect(fd, "one");
	expect(fd, "two");
	assert_false(is_closed(fd));
	assert_int_equal(port_reply(p, now_ns, later.replies + 2, 1), 0);
	assert_true(is_closed(fd));
	assert_int_equal(tcp_n_conns(p), 0);
	close(fd);
	done(p);
}

/* The connection is to end, by a message of no length or by the limit of queries, but not
 * before. */
static void test_goodbye_waits_for_late_replies(void **state)
{
	struct tcp_config config = { .queries_max = 2 };

	(void)state;
	for (int limit = 0; limit < 2; limit++) {
		struct port_addr bound;
		struct port *p = open_with(&config, &bound);
		int fd = client_open(SOCK_STREAM, &bound);

		later.n = 0;
		ask(fd, "one");
		if (limit)
			ask(fd, "Quick");
		put(fd, "\0\0", 2);
		serve_or_defer(p, &later);
		if (limit)
			expect(fd, "Quick");
		assert_false(is_closed(fd));
		assert_int_equal(port_reply(p, now_ns, later.replies, 1), 1);
		expect(fd, "one");
		assert_true(is_closed(fd));
		close(fd);
		serve(p);
		done(p);
	}
}

/* However little a write takes, in the length or behind it, the stream is whole and in order. */
static void test_partial_writes(void **state)
{
	static const size_t limits[] = { 1, 2, 3, 6, 7, 8, 100 };
	uint8_t in[PORT_BURST * 7];

	(void)state;
	for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++) {
		struct port_addr bound;
		struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
		int fd = client_open(SOCK_STREAM, &bound);

		later.n = 0;
		for (int i = 0; i < PORT_BURST; i++)
			put(fd, (uint8_t[]){ 0, 5, 'q', (uint8_t)i, 7, 8, 9 }, 7);
		serve_or_defer(p, &later);
		assert_int_equal(later.n, PORT_BURST);
		write_limit = limits[l];
		write_calls = 0;
		assert_int_equal(port_reply(p, now_ns, later.replies, PORT_BURST), PORT_BURST);
		memset(later.data, 0, sizeof(later.data));
		assert_int_equal(tcp_pending(p), PORT_BURST - limits[l] / 7);
		serve(p);
		write_limit = 0;
		serve(p);
		get(fd, in, sizeof(in));
		for (int i = 0; i < PORT_BURST; i++)
			assert_memory_equal(in + i * 7,
					    ((uint8_t[]){ 0, 5, 'q' | 0x80, (uint8_t)i, 7, 8, 9 }),
					    7);
		assert_int_equal(p->stats.tx, PORT_BURST);
		assert_int_equal(tcp_pending(p), 0);
		close(fd);
		done(p);
	}
}

/*
 * Slow readers are owed more than the smallest pool can hold: those that have stalled longest go,
 * and who reads gets all, the longest too.
 */
static void test_pool_is_shared(void **state)
{
	enum { SLOW = 3, EACH = 50 };
	struct tcp_config config = { .pool_bytes = TCP_POOL_BYTES_MIN };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	uint8_t *big = malloc(65537), *in = malloc(65537);
	int slow[SLOW], fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	memset(big, 'x', 65537);
	for (int i = 0; i < SLOW; i++)
		slow[i] = client_open(SOCK_STREAM, &bound);
	/* Some rounds, since the kernel takes megabytes of each. */
	for (int i = 0; i < 10 * SLOW && !p->stats.conns_evicted; i++) {
		later.n = 0;
		for (int q = 0; q < EACH; q++)
			ask(slow[i % SLOW], "slow");
		serve_or_defer(p, &later);
		for (unsigned int q = 0; q < later.n; q++) {
			later.replies[q].data = big;
			later.replies[q].len = 65535;
		}
		for (unsigned int q = 0; q < later.n; q += PORT_BURST)
			(void)port_reply(p, now_ns, &later.replies[q],
					 later.n - q < PORT_BURST ? later.n - q : PORT_BURST);
	}
	assert_true(p->stats.conns_evicted > 0);
	assert_true(p->stats.late_orphaned > 0);
	later.n = 0;
	ask(fd, "read");
	serve_or_defer(p, &later);
	later.replies[0].data = big;
	later.replies[0].len = 65535;
	assert_int_equal(port_reply(p, now_ns, later.replies, 1), 1);
	get_big(p, fd, in, 65537);
	assert_int_equal(wire_load_be16(in), 65535);
	assert_memory_equal(in + 2, big, 65535);
	for (int i = 0; i < SLOW; i++)
		close(slow[i]);
	free(big);
	free(in);
	close(fd);
	done(p);
}

/* Messages that are with the handler while late replies are sent. */
static unsigned int take(struct port *p, struct port_msg *msgs)
{
	unsigned int n = 0;

	for (int i = 0; i < 100 && !n; i++)
		n = port_receive(p, now_ns, msgs, PORT_BURST);
	return n;
}

/* The last late reply does not end a half-closed connection whose next message is with the
 * handler. */
static void test_within_a_burst_of_a_half_closed_client(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);
	struct port_msg msgs[PORT_BURST];

	(void)state;
	later.n = 0;
	ask(fd, "late");
	serve_or_defer(p, &later);
	ask(fd, "query");
	shutdown(fd, SHUT_WR);
	/* The message is read, then the end, and then the message is handed out. */
	while (poll(&(struct pollfd){ .fd = p->fd, .events = POLLIN }, 1, 5) == 1)
		assert_int_equal(port_receive(p, now_ns, msgs, 0), 0);
	assert_int_equal(take(p, msgs), 1);
	assert_int_equal(port_reply(p, now_ns, later.replies, 1), 1);
	assert_int_equal(tcp_n_conns(p), 1);
	echo_handle(NULL, msgs, 1, p, now_ns);
	port_send(p, now_ns, msgs, 1);
	serve(p);
	expect(fd, "late");
	expect(fd, "query");
	assert_true(is_closed(fd));
	assert_int_equal(tcp_n_conns(p), 0);
	close(fd);
	done(p);
}

/* A late reply finds out that the client is gone; the messages it had sent are with the handler. */
static void test_within_a_burst_of_a_client_that_is_gone(void **state)
{
	struct linger reset = { .l_onoff = 1 };
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ .n_conns_max = 1 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);
	struct port_msg msgs[PORT_BURST];

	(void)state;
	later.n = 0;
	ask(fd, "late");
	serve_or_defer(p, &later);
	ask(fd, "Quick");
	ask(fd, "later");
	ask(fd, "No");
	assert_int_equal(take(p, msgs), 3);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
	assert_int_equal(port_reply(p, now_ns, later.replies, 1), 0);
	assert_int_equal(tcp_n_conns(p), 0);
	echo_defer(&later, msgs, 2, p, now_ns);
	echo_handle(NULL, msgs + 2, 1, p, now_ns);
	port_send(p, now_ns, msgs, 3);
	assert_int_equal(p->stats.tx_dropped, 2);
	assert_int_equal(p->stats.no_reply, 1);
	assert_int_equal(port_deferred(p), 1);
	/* The slot's next connection is not the one that asked. */
	fd = client_open(SOCK_STREAM, &bound);
	ask(fd, "Quick");
	serve(p);
	expect(fd, "Quick");
	assert_int_equal(port_reply(p, now_ns, later.replies + 1, 1), 0);
	assert_false(is_closed(fd));
	assert_int_equal(p->stats.late_orphaned, 1);
	close(fd);
	done(p);
}

/* The burst that is out holds the whole of the smallest pool: the late reply has no room, its
 * connection ends. */
static void test_within_a_burst_that_holds_the_pool(void **state)
{
	struct tcp_config config = { .pool_bytes = TCP_POOL_BYTES_MIN };
	struct port_addr bound;
	struct port *p = open_with(&config, &bound);
	int fd = client_open(SOCK_STREAM, &bound), fds[4];
	struct port_msg msgs[PORT_BURST];
	unsigned int n;

	(void)state;
	later.n = 0;
	ask(fd, "late");
	serve_or_defer(p, &later);
	for (int i = 0; i < 4; i++) {
		fds[i] = client_open(SOCK_STREAM, &bound);
		for (int q = 0; q < 8; q++)
			ask(fds[i], "query");
	}
	n = take(p, msgs);
	assert_int_equal(n, TCP_POOL_BYTES_MIN / TCP_CHUNK_BYTES / TCP_CHUNKS_PER_MSG);
	assert_int_equal(port_reply(p, now_ns, later.replies, 1), 0);
	assert_true(is_closed(fd));
	assert_int_equal(p->stats.conns_evicted, 1);
	assert_int_equal(p->stats.tx_dropped, 1);
	echo_handle(NULL, msgs, n, p, now_ns);
	port_send(p, now_ns, msgs, n);
	serve(p);
	for (int i = 0; i < 4; i++) {
		for (int q = 0; q < 8; q++)
			expect(fds[i], "query");
		close(fds[i]);
	}
	close(fd);
	done(p);
}

/* Nothing of a closed port is touched, and what is owed is not waited for. */
static void test_close_with_replies_to_come(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	later.n = 0;
	ask(fd, "one");
	ask(fd, "two");
	serve_or_defer(p, &later);
	port_stop(p);
	assert_int_equal(port_reply(p, now_ns, later.replies, 1), 1);
	expect(fd, "one");
	assert_int_equal(port_deferred(p), 1);
	done(p);
	assert_true(is_closed(fd));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_several_connections_in_one_call),
		cmocka_unit_test(test_no_timeout_while_a_reply_is_to_come),
		cmocka_unit_test(test_limit_of_one_connection),
		cmocka_unit_test(test_connection_gone),
		cmocka_unit_test(test_half_closed_client_gets_late_replies),
		cmocka_unit_test(test_goodbye_waits_for_late_replies),
		cmocka_unit_test(test_partial_writes),
		cmocka_unit_test(test_pool_is_shared),
		cmocka_unit_test(test_within_a_burst_of_a_half_closed_client),
		cmocka_unit_test(test_within_a_burst_of_a_client_that_is_gone),
		cmocka_unit_test(test_within_a_burst_that_holds_the_pool),
		cmocka_unit_test(test_close_with_replies_to_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
