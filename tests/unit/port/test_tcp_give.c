/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections that the tcp port gives away: what was read goes along, what was asked before is
 * answered first. A message that begins with 'G' asks for its connection to be given; one with 'L'
 * is answered when the test says so, and the others as echo.h does.
 */
#include "tests/unit/port/tcp_client.h"

#define TAKEN_CAP (68u << 10)

static struct taken {
	int fd;
	uint8_t bytes[TAKEN_CAP];
	size_t n;
	unsigned int n_gifts, n_put_back;
} taken;

static struct later late;

static void take(struct port_msg *m, struct port *p)
{
	struct port_gift gift;
	int err = port_give(p, m, &gift);

	m->len = 0;
	m->given = !err;
	m->put_back = err == -EAGAIN;
	taken.n_put_back += m->put_back;
	if (err) {
		assert_int_equal(err, -EAGAIN);
		return;
	}
	taken.n_gifts++;
	taken.fd = gift.fd;
	taken.n = gift.n_bytes;
	memcpy(taken.bytes, gift.bytes, gift.n_bytes);
}

static void handle(struct port_msg *msgs, unsigned int n, struct port *p)
{
	const struct port_msg *before = NULL;

	for (unsigned int i = 0; i < n; i++) {
		struct port_msg *m = &msgs[i];

		if (before && port_same_stream(before, m)) {
			m->len = 0;
			m->given = before->given;
			m->put_back = before->put_back;
		} else if (m->len && m->data[0] == 'G') {
			take(m, p);
			before = m;
		} else if (m->len && m->data[0] == 'L') {
			echo_defer(&late, m, 1, p, now_ns);
		} else {
			echo_handle(NULL, m, 1, p, now_ns);
		}
	}
}

static void serve_giving(struct port *p)
{
	struct pollfd pollfd = { .fd = p->fd, .events = POLLIN };
	struct port_msg msgs[PORT_BURST];

	while (port_wake_at(p) == 0 || poll(&pollfd, 1, 5) == 1) {
		unsigned int n = port_receive(p, now_ns, msgs, PORT_BURST);

		handle(msgs, n, p);
		port_send(p, now_ns, msgs, n);
	}
}

static int reset(void **state)
{
	(void)state;
	memset(&taken, 0, sizeof(taken));
	memset(&late, 0, sizeof(late));
	taken.fd = -1;
	return 0;
}

/* The gift is this text as messages, and its socket leads to the client. */
static void expect_gift(int client, const void *bytes, size_t n)
{
	char word[4] = "";

	assert_int_equal(taken.n_gifts, 1);
	assert_int_equal(taken.n, n);
	assert_memory_equal(taken.bytes, bytes, n);
	put(taken.fd, "hey", 3);
	get(client, word, 3);
	assert_string_equal(word, "hey");
	close(taken.fd);
	assert_true(is_closed(client));
}

static void test_with_all_that_was_read(void **state)
{
	static const char sent[] = "\0\4Give\0\2me\0\3a";
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, sent, sizeof(sent) - 1);
	serve_giving(p);
	assert_int_equal(tcp_n_conns(p), 0);
	assert_int_equal(p->stats.conns_given, 1);
	assert_int_equal(p->stats.given, 2);
	assert_int_equal(p->stats.no_reply, 0);
	/* The slot is good for another, which the gift has nothing to do with. */
	put(taken.fd, "x", 1);
	get(fd, &(uint8_t){ 0 }, 1);
	expect_gift(fd, sent, sizeof(sent) - 1);
	close(fd);
	done(p);
}

static void test_behind_replies_of_the_same_burst(void **state)
{
	static const char sent[] = "\0\3one\0\3two\0\4Give\0\5three";
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, sent, sizeof(sent) - 1);
	serve_giving(p);
	expect(fd, "one");
	expect(fd, "two");
	assert_int_equal(taken.n_put_back, 1);
	assert_int_equal(p->stats.put_back, 2);
	expect_gift(fd, sent + 10, sizeof(sent) - 11);
	close(fd);
	done(p);
}

static void test_behind_late_replies(void **state)
{
	static const char sent[] = "\0\5Later\0\4Give";
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, sent, sizeof(sent) - 1);
	serve_giving(p);
	assert_int_equal(taken.n_gifts, 0);
	/* It waits without turning round. */
	put(fd, "\0\3abc", 5);
	serve_giving(p);
	assert_int_equal(taken.n_put_back, 1);
	assert_int_equal(port_wake_at(p), PORT_NEVER);
	assert_int_equal(port_reply(p, now_ns, late.replies, 1), 1);
	serve_giving(p);
	expect(fd, "Later");
	expect_gift(fd, "\0\4Give\0\3abc", 11);
	close(fd);
	done(p);
}

static void test_behind_replies_that_wait_for_room(void **state)
{
	static const char sent[] = "\0\3one\0\3two\0\4Give";
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, sent, sizeof(sent) - 1);
	write_limit = 1;
	serve_giving(p);
	write_limit = 0;
	serve_giving(p);
	expect(fd, "one");
	expect(fd, "two");
	assert_true(p->stats.tx_retried > 0);
	expect_gift(fd, "\0\4Give", 6);
	close(fd);
	done(p);
}

/* More than the input holds: what does not fit stays in the socket, for the receiver to read. */
static void test_while_it_waits_no_more_is_read_than_fits(void **state)
{
	static uint8_t more[100000];
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(more); i += 5)
		memcpy(more + i, "\0\3abc", 5);
	put(fd, "\0\5Later\0\4Give", 13);
	put(fd, more, sizeof(more));
	serve_giving(p);
	assert_int_equal(taken.n_gifts, 0);
	assert_int_equal(port_reply(p, now_ns, late.replies, 1), 1);
	serve_giving(p);
	expect(fd, "Later");
	assert_int_equal(taken.n_gifts, 1);
	n = taken.n - 6;
	assert_true(n < sizeof(more));
	assert_memory_equal(taken.bytes + 6, more, n);
	get(taken.fd, taken.bytes, sizeof(more) - n);
	assert_memory_equal(taken.bytes, more + n, sizeof(more) - n);
	close(taken.fd);
	close(fd);
	done(p);
}

static void test_the_last_of_a_connection_with_a_limit(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ .queries_max = 2 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, "\0\3one\0\4Give\0\3two", 16);
	serve_giving(p);
	expect(fd, "one");
	expect_gift(fd, "\0\4Give\0\3two", 11);
	close(fd);
	done(p);
}

static void test_half_closed(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, "\0\3one\0\4Give", 11);
	shutdown(fd, SHUT_WR);
	serve_giving(p);
	expect(fd, "one");
	expect_gift(fd, "\0\4Give", 6);
	close(fd);
	done(p);
}

static void test_others_have_none(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int giver = client_open(SOCK_STREAM, &bound), fd = client_open(SOCK_STREAM, &bound);
	struct port_msg udp = { 0 };
	struct port_gift gift;

	(void)state;
	assert_int_equal(port_give(p, &udp, &gift), -EOPNOTSUPP);
	ask(fd, "one");
	ask(giver, "Give");
	ask(fd, "two");
	serve_giving(p);
	expect(fd, "one");
	expect(fd, "two");
	assert_int_equal(tcp_n_conns(p), 1);
	expect_gift(giver, "\0\4Give", 6);
	close(giver);
	close(fd);
	done(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_with_all_that_was_read, reset),
		cmocka_unit_test_setup(test_behind_replies_of_the_same_burst, reset),
		cmocka_unit_test_setup(test_behind_late_replies, reset),
		cmocka_unit_test_setup(test_behind_replies_that_wait_for_room, reset),
		cmocka_unit_test_setup(test_while_it_waits_no_more_is_read_than_fits, reset),
		cmocka_unit_test_setup(test_the_last_of_a_connection_with_a_limit, reset),
		cmocka_unit_test_setup(test_half_closed, reset),
		cmocka_unit_test_setup(test_others_have_none, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
