/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages that another thread answers: a reply of many messages has its connection for itself, and
 * connections of peers have places of their own. A message that begins with 'G' claims its
 * connection with a watch, one with 'S' without; one with 'L' is answered when the test says so,
 * and the others as echo.h does.
 */
#include "tests/unit/port/tcp_client.h"

static struct claimed {
	struct port_watch watch;
	struct port_return to;
	unsigned int n, n_first, n_put_back, n_refused;
	unsigned int n_room, n_gone;
} claimed;

static struct later late;

static void tell(struct port_watch *watch, enum port_event event)
{
	assert_ptr_equal(watch, &claimed.watch);
	claimed.n_room += event == PORT_ROOM;
	claimed.n_gone += event == PORT_GONE;
}

static void claim(struct port_msg *m, struct port *p)
{
	int code = port_claim(p, m, m->data[0] == 'G' ? &claimed.watch : NULL);

	m->len = 0;
	if (code < 0)
		m->outcome = code == -EAGAIN ? PORT_PUTS_BACK : PORT_CLOSES;
	claimed.n_put_back += m->outcome == PORT_PUTS_BACK;
	claimed.n_refused += m->outcome == PORT_CLOSES;
	if (code < 0)
		return;
	claimed.n++;
	claimed.n_first += code == 1;
	port_defer(p, m, &claimed.to);
	m->outcome = PORT_DEFERS;
}

static void handle(struct port_msg *msgs, unsigned int n, struct port *p)
{
	const struct port_msg *held = NULL;

	for (unsigned int i = 0; i < n; i++) {
		struct port_msg *m = &msgs[i];

		if (held && port_same_stream(held, m)) {
			m->len = 0;
			m->outcome = PORT_PUTS_BACK;
		} else if (m->len && (m->data[0] == 'G' || m->data[0] == 'S')) {
			bool is_alone = m->data[0] == 'G';

			claim(m, p);
			held = is_alone ? m : NULL;
		} else if (m->len && m->data[0] == 'L') {
			echo_defer(&late, m, 1, p, now_ns);
		} else {
			echo_handle(NULL, m, 1, p, now_ns);
		}
	}
}

static void serve_claims(struct port *p)
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
	memset(&claimed, 0, sizeof(claimed));
	memset(&late, 0, sizeof(late));
	claimed.watch.tell = tell;
	return 0;
}

static void reply(struct port *p, const char *text, bool more)
{
	const struct port_reply reply = {
		.to = &claimed.to,
		.data = (const uint8_t *)text,
		.len = (uint32_t)strlen(text),
		.more = more,
	};

	(void)port_reply(p, now_ns, &reply, 1);
}

static void expect_text(int fd, const char *text)
{
	uint8_t got[256];
	size_t n = strlen(text);

	get(fd, got, n + 2);
	assert_int_equal(wire_load_be16(got), n);
	assert_memory_equal(got + 2, text, n);
}

static void test_many_messages_and_what_comes_behind_them(void **state)
{
	static const char sent[] = "\0\3one\0\4Give\0\3two";
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, sent, sizeof(sent) - 1);
	serve_claims(p);
	expect(fd, "one");
	assert_int_equal(claimed.n_put_back, 1); /* behind the reply of its burst */
	assert_int_equal(claimed.n, 1);
	reply(p, "first", true);
	serve_claims(p);
	reply(p, "second", true);
	reply(p, "third", false);
	serve_claims(p);
	expect_text(fd, "first");
	expect_text(fd, "second");
	expect_text(fd, "third");
	expect(fd, "two");
	assert_int_equal(p->stats.more, 2);
	assert_int_equal(p->stats.late, 1);
	assert_int_equal(port_deferred(p), 0);
	close(fd);
	serve_claims(p);
	assert_int_equal(claimed.n_gone, 0); /* not after the last message */
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
	serve_claims(p);
	assert_int_equal(claimed.n, 0);
	/* It waits without turning round. */
	put(fd, "\0\3abc", 5);
	serve_claims(p);
	assert_int_equal(claimed.n_put_back, 1);
	assert_int_equal(port_wake_at(p), PORT_NEVER);
	assert_int_equal(port_reply(p, now_ns, late.replies, 1), 1);
	serve_claims(p);
	expect(fd, "Later");
	assert_int_equal(claimed.n, 1);
	reply(p, "given", false);
	serve_claims(p);
	expect_text(fd, "given");
	expect(fd, "abc");
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
	serve_claims(p);
	write_limit = 0;
	serve_claims(p);
	expect(fd, "one");
	expect(fd, "two");
	assert_true(p->stats.tx_retried > 0);
	assert_int_equal(claimed.n, 1);
	reply(p, "given", false);
	expect_text(fd, "given");
	close(fd);
	done(p);
}

/* The port keeps what the socket has not taken, and says when it has. */
static void test_room(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	ask(fd, "Give");
	serve_claims(p);
	assert_true(port_has_room(p, &claimed.to));
	write_limit = 3;
	write_calls = 0;
	reply(p, "first", true);
	assert_false(port_has_room(p, &claimed.to));
	assert_int_equal(claimed.n_room, 0);
	write_limit = 0;
	ask(fd, "two"); /* it waits for the last message */
	serve_claims(p);
	assert_int_equal(claimed.n_room, 1);
	assert_true(port_has_room(p, &claimed.to));
	reply(p, "second", false);
	serve_claims(p);
	expect_text(fd, "first");
	expect_text(fd, "second");
	expect(fd, "two");
	close(fd);
	done(p);
}

static void test_a_client_that_goes(void **state)
{
	const struct linger reset_it = { .l_onoff = 1 };
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	ask(fd, "Give");
	serve_claims(p);
	reply(p, "first", true);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset_it, sizeof(reset_it)), 0);
	close(fd);
	serve_claims(p);
	assert_int_equal(claimed.n_gone, 1);
	assert_true(port_has_room(p, &claimed.to));
	reply(p, "second", true);
	reply(p, "", false);
	assert_int_equal(p->stats.late_orphaned, 1);
	assert_int_equal(p->stats.tx_dropped, 1);
	assert_int_equal(port_deferred(p), 0);
	done(p);
}

static void test_a_reply_that_closes(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);
	struct port_reply end = { .to = &claimed.to, .closes = true };

	(void)state;
	ask(fd, "Give");
	serve_claims(p);
	reply(p, "first", true);
	assert_int_equal(port_reply(p, now_ns, &end, 1), 0);
	expect_text(fd, "first");
	assert_true(is_closed(fd));
	assert_int_equal(claimed.n_gone, 0);
	assert_int_equal(tcp_n_conns(p), 0);
	close(fd);
	done(p);
}

/* Without a watch nothing waits for the reply. */
static void test_a_question_beside_others(void **state)
{
	static const char sent[] = "\0\6Signed\0\3two";
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	int fd = client_open(SOCK_STREAM, &bound);

	(void)state;
	put(fd, sent, sizeof(sent) - 1);
	serve_claims(p);
	expect(fd, "two");
	reply(p, "signed", false);
	expect_text(fd, "signed");
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
	serve_claims(p);
	expect(fd, "one");
	reply(p, "given", false);
	serve_claims(p);
	expect_text(fd, "given");
	assert_true(is_closed(fd));
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
	serve_claims(p);
	expect(fd, "one");
	reply(p, "given", false);
	expect_text(fd, "given");
	serve_claims(p);
	assert_true(is_closed(fd));
	close(fd);
	done(p);
}

static void test_ports_without_connections(void **state)
{
	struct port_addr bound;
	struct port *p = open_with(&(struct tcp_config){ 0 }, &bound);
	struct port_msg udp = { 0 };

	(void)state;
	assert_int_equal(port_claim(p, &udp, &claimed.watch), -EOPNOTSUPP);
	done(p);
}

/* ---- Places ---------------------------------------------------------------------------------- */

#define N_PEERS 3

static void answer_claim(struct port *p, int fd)
{
	ask(fd, "Signed");
	serve_claims(p);
	reply(p, "signed", false);
	serve_claims(p);
	expect_text(fd, "signed");
	now_ns += MS;
}

/* Two ports: the connection of either that is idle for the longest time gives way, and others than
 * peers neither count nor give way. */
static void test_the_longest_idle_peer_gives_way(void **state)
{
	struct tcp_peers *peers = NULL;
	struct port_addr bounds[2];
	struct port *ports[2];
	int fds[6], stranger;

	(void)state;
	assert_int_equal(tcp_peers_new(&peers, N_PEERS, 2), 0);
	for (int i = 0; i < 2; i++)
		ports[i] = open_with(&(struct tcp_config){ .peers = peers }, &bounds[i]);
	stranger = client_open(SOCK_STREAM, &bounds[0]);
	ask(stranger, "one");
	serve_claims(ports[0]);
	expect(stranger, "one");
	for (int i = 0; i < 6; i++) {
		/* the oldest ones are of port 0, then they are of both by turns */
		struct port *p = ports[i > 1 && i % 2];

		fds[i] = client_open(SOCK_STREAM, &bounds[i > 1 && i % 2]);
		answer_claim(p, fds[i]);
		serve_claims(ports[0]);
		serve_claims(ports[1]);
	}
	assert_int_equal(claimed.n_first, 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(is_closed(fds[i]), i < 3);
	assert_false(is_closed(stranger));
	/* It is busy: the next one gives way. */
	ask(fds[3], "Give");
	serve_claims(ports[1]);
	fds[0] = client_open(SOCK_STREAM, &bounds[0]);
	ask(fds[0], "Signed");
	serve_claims(ports[0]);
	assert_false(is_closed(fds[3]));
	assert_true(is_closed(fds[4]));
	for (int i = 0; i < 2; i++)
		port_close(ports[i]);
	for (int i = 0; i < 6; i++)
		close(fds[i]);
	close(stranger);
	tcp_peers_free(peers);
}

/* One too many for each port; all wait for replies. */
static void test_a_peer_without_a_place(void **state)
{
	struct tcp_peers *peers = NULL;
	struct port_addr bound;
	struct port *p;
	int fds[2];

	(void)state;
	assert_int_equal(tcp_peers_new(&peers, 1, 1), 0);
	p = open_with(&(struct tcp_config){ .peers = peers }, &bound);
	for (int i = 0; i < 2; i++) {
		fds[i] = client_open(SOCK_STREAM, &bound);
		ask(fds[i], "Signed");
		serve_claims(p);
	}
	assert_int_equal(claimed.n_refused, 1);
	assert_false(is_closed(fds[0]));
	assert_true(is_closed(fds[1]));
	port_close(p);
	for (int i = 0; i < 2; i++)
		close(fds[i]);
	tcp_peers_free(peers);
}

/* A port with a connection of a peer whose question has been claimed. */
static struct port *open_to_peer(struct tcp_peers **peers, int *fd)
{
	struct port_addr bound;
	struct port *p;

	assert_int_equal(tcp_peers_new(peers, 1, 1), 0);
	p = open_with(&(struct tcp_config){ .peers = *peers }, &bound);
	*fd = client_open(SOCK_STREAM, &bound);
	ask(*fd, "Give");
	serve_claims(p);
	return p;
}

static void close_to_peer(struct port *p, struct tcp_peers *peers, int fd)
{
	close(fd);
	port_close(p);
	tcp_peers_free(peers);
}

/* A reader of a transfer has more time than other readers. */
static void test_a_slow_reader(void **state)
{
	struct tcp_peers *peers = NULL;
	struct port *p;
	int fd;

	(void)state;
	p = open_to_peer(&peers, &fd);
	write_limit = 1;
	write_calls = 0;
	reply(p, "first", true);
	pass_ms(p, TCP_PEER_WRITE_MS - 1);
	assert_int_equal(tcp_n_conns(p), 1);
	write_calls = 1;
	pass_ms(p, 1);
	assert_int_equal(tcp_n_conns(p), 0);
	assert_int_equal(claimed.n_gone, 1);
	write_limit = 0;
	close_to_peer(p, peers, fd);
}

/* A peer has more time for a whole message than other clients. */
static void test_a_slow_writer(void **state)
{
	struct tcp_peers *peers = NULL;
	struct port *p;
	int fd;

	(void)state;
	p = open_to_peer(&peers, &fd);
	reply(p, "all", false);
	assert_int_equal(send(fd, "\1\0begin", 7, MSG_NOSIGNAL), 7);
	pass_ms(p, 0);
	pass_ms(p, TCP_PEER_MESSAGE_MS - 1);
	assert_int_equal(tcp_n_conns(p), 1);
	pass_ms(p, 1);
	assert_int_equal(tcp_n_conns(p), 0);
	close_to_peer(p, peers, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_many_messages_and_what_comes_behind_them, reset),
		cmocka_unit_test_setup(test_behind_late_replies, reset),
		cmocka_unit_test_setup(test_behind_replies_that_wait_for_room, reset),
		cmocka_unit_test_setup(test_room, reset),
		cmocka_unit_test_setup(test_a_client_that_goes, reset),
		cmocka_unit_test_setup(test_a_reply_that_closes, reset),
		cmocka_unit_test_setup(test_a_question_beside_others, reset),
		cmocka_unit_test_setup(test_the_last_of_a_connection_with_a_limit, reset),
		cmocka_unit_test_setup(test_half_closed, reset),
		cmocka_unit_test_setup(test_ports_without_connections, reset),
		cmocka_unit_test_setup(test_the_longest_idle_peer_gives_way, reset),
		cmocka_unit_test_setup(test_a_peer_without_a_place, reset),
		cmocka_unit_test_setup(test_a_slow_reader, reset),
		cmocka_unit_test_setup(test_a_slow_writer, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
