/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections over TLS in the tcp port: they come through the intake, and are answered as others.
 * The client is OpenSSL too, in the same thread; handshakes are done before the port sees a
 * connection.
 */
#include "tests/unit/port/tcp_client.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <signal.h>

#include "port/tcp_intake.h"
#include "port/tcp_tls.h"

#define BIG_BYTES 60000

static SSL_CTX *server_ctx, *client_ctx;
static struct tcp_intake *intake;
static struct port *port;
static SSL *client;
static int client_fd, n_tickets;

/* ---- Both ends ------------------------------------------------------------------------------- */

static void use_certificate(SSL_CTX *ctx)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = X509_new();

	assert_non_null(key);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
	X509_gmtime_adj(X509_getm_notBefore(cert), 0);
	X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
	X509_set_pubkey(cert, key);
	assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
	assert_int_equal(SSL_CTX_use_certificate(ctx, cert), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
	X509_free(cert);
	EVP_PKEY_free(key);
}

static int on_ticket(SSL *ssl, SSL_SESSION *session)
{
	(void)ssl, (void)session;
	n_tickets++;
	return 0;
}

static int make_contexts(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN); /* workers block it */
	server_ctx = SSL_CTX_new(TLS_server_method());
	client_ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_min_proto_version(server_ctx, TLS1_3_VERSION);
	SSL_CTX_set_session_cache_mode(client_ctx, SSL_SESS_CACHE_CLIENT);
	SSL_CTX_sess_set_new_cb(client_ctx, on_ticket);
	SSL_CTX_set_mode(server_ctx, SSL_MODE_RELEASE_BUFFERS);
	use_certificate(server_ctx);
	return 0;
}

static int free_contexts(void **state)
{
	(void)state;
	SSL_CTX_free(server_ctx);
	SSL_CTX_free(client_ctx);
	return 0;
}

/* Two sockets that do not block, with names, as getsockname() is asked. */
static void connect_pair(int fds[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1), 0);
	getsockname(listener, (struct sockaddr *)&at, &len);
	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fds[0], (struct sockaddr *)&at, len), 0);
	fds[1] = accept(listener, NULL, NULL);
	close(listener);
	for (int i = 0; i < 2; i++)
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
}

/* The client's end in client and client_fd; the server's, the handshake done. */
static struct tcp_arrival *shake_hands(void)
{
	struct tcp_arrival *a = calloc(1, sizeof(*a));
	int fds[2], server_says = 0, client_says = 0, room = 65536;

	connect_pair(fds);
	setsockopt(fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	client = SSL_new(client_ctx);
	a->ssl = SSL_new(server_ctx);
	SSL_set_fd(client, fds[0]);
	SSL_set_fd(a->ssl, fds[1]);
	for (int i = 0; i < 100 && (client_says != 1 || server_says != 1); i++) {
		client_says = SSL_connect(client);
		server_says = SSL_accept(a->ssl);
	}
	assert_int_equal(client_says, 1);
	assert_int_equal(server_says, 1);
	client_fd = fds[0];
	a->fd = fds[1];
	a->peer = addr_of("127.0.0.1", 1);
	return a;
}

/* The same over our BIO, as the threads for handshakes have it: what follows the client's last
 * flight is held. */
static struct tcp_arrival *shake_hands_and_hold(void)
{
	struct tcp_arrival *a = calloc(1, sizeof(*a));
	int fds[2];

	connect_pair(fds);
	client = SSL_new(client_ctx);
	a->ssl = SSL_new(server_ctx);
	SSL_set_fd(client, fds[0]);
	assert_int_equal(tls_bio_attach(a->ssl, fds[1]), 0);
	assert_int_equal(SSL_connect(client), -1);
	assert_int_equal(SSL_accept(a->ssl), -1);
	assert_int_equal(SSL_connect(client), 1);
	tls_bio_hold(a->ssl, true);
	assert_int_equal(SSL_accept(a->ssl), 1);
	tls_bio_hold(a->ssl, false);
	client_fd = fds[0];
	a->fd = fds[1];
	a->peer = addr_of("127.0.0.1", 1);
	n_tickets = 0;
	return a;
}

static void open_port(const struct tcp_config *config)
{
	struct tcp_config with = *config;

	assert_int_equal(tcp_intake_new(&intake), 0);
	with.intake = intake;
	assert_int_equal(tcp_open(&port, &with), 0);
	assert_int_equal(port_start(port), 0);
}

static void enter(const struct tcp_config *config)
{
	open_port(config);
	assert_true(tcp_intake_put(intake, shake_hands()));
	serve(port);
}

static void leave(void)
{
	SSL_free(client);
	close(client_fd);
	port_stop(port);
	done(port);
	tcp_intake_free(intake);
}

static void tell(const void *bytes, int n)
{
	assert_int_equal(SSL_write(client, bytes, n), n);
}

static void tell_message(const char *text)
{
	uint8_t message[256];
	size_t n = strlen(text);

	wire_store_be16(message, (uint16_t)n);
	memcpy(message + 2, text, n);
	tell(message, (int)n + 2);
}

/* The port and the client take turns. */
static void hear(uint8_t *out, int n)
{
	int at = 0, got;

	for (int i = 0; at < n && i < 1000; i++) {
		serve(port);
		while (at < n && (got = SSL_read(client, out + at, n - at)) > 0)
			at += got;
	}
	assert_int_equal(at, n);
}

static void hear_message(const char *text)
{
	uint8_t reply[256];
	size_t n = strlen(text);

	hear(reply, (int)n + 2);
	assert_int_equal(wire_load_be16(reply), n);
	assert_int_equal(reply[2], (uint8_t)text[0] | 0x80);
	assert_memory_equal(reply + 3, text + 1, n - 1);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_messages_and_replies(void **state)
{
	(void)state;
	enter(&(struct tcp_config){ 0 });
	assert_int_equal(port->kind, PORT_TLS);
	tell_message("one");
	hear_message("one");
	tell_message("two");
	tell_message("three");
	hear_message("two");
	hear_message("three");
	assert_int_equal(tcp_n_conns(port), 1);
	leave();
}

/* Many records of which OpenSSL has read all and epoll tells of none: 100 messages are more than
 * one turn takes. */
static void test_what_openssl_hides(void **state)
{
	char text[] = "m00";

	(void)state;
	enter(&(struct tcp_config){ 0 });
	for (int i = 0; i < 100; i++) {
		text[1] = (char)('0' + i / 10), text[2] = (char)('0' + i % 10);
		tell_message(text);
	}
	for (int i = 0; i < 100; i++) {
		text[1] = (char)('0' + i / 10), text[2] = (char)('0' + i % 10);
		hear_message(text);
	}
	assert_int_equal(port->stats.rx, 100);
	leave();
}

/* The longest messages, as fast as the client can: more than the input holds, so records stay in
 * OpenSSL. */
static void test_more_than_the_input_holds(void **state)
{
	static uint8_t message[2 + BIG_BYTES], reply[2 + BIG_BYTES];
	int fd_bytes = 4 << 20;

	(void)state;
	enter(&(struct tcp_config){ 0 });
	setsockopt(client_fd, SOL_SOCKET, SO_SNDBUF, &fd_bytes, sizeof(fd_bytes));
	wire_store_be16(message, BIG_BYTES);
	memset(message + 2, 'x', BIG_BYTES);
	for (int i = 0; i < 3; i++)
		for (int at = 0, n; at<(int)sizeof(message); at += n> 0 ? n : 0) {
			n = SSL_write(client, message + at, (int)sizeof(message) - at);
			if (n <= 0)
				serve(port);
		}
	for (int i = 0; i < 3; i++) {
		hear(reply, sizeof(reply));
		assert_int_equal(reply[2], 'x' | 0x80);
	}
	leave();
}

/* A reader that stands still: what was encrypted and not taken comes again, whole and once. */
static void test_a_slow_reader(void **state)
{
	static uint8_t reply[2 + BIG_BYTES];
	const uint8_t big[] = { 0, 4, 'B', 'z', BIG_BYTES >> 8, BIG_BYTES & 255 };

	(void)state;
	enter(&(struct tcp_config){ 0 });
	for (int i = 0; i < 20; i++)
		tell(big, sizeof(big));
	serve(port);
	assert_true(tcp_pending(port) > 0);
	for (int i = 0; i < 20; i++) {
		hear(reply, sizeof(reply));
		assert_int_equal(wire_load_be16(reply), BIG_BYTES);
		assert_int_equal(reply[sizeof(reply) - 1], 'z');
	}
	assert_int_equal(tcp_pending(port), 0);
	leave();
}

static void test_close_notify_is_an_end(void **state)
{
	(void)state;
	enter(&(struct tcp_config){ 0 });
	tell_message("last");
	SSL_shutdown(client);
	hear_message("last");
	serve(port);
	assert_int_equal(tcp_n_conns(port), 0);
	assert_int_equal(SSL_shutdown(client), 1); /* and we have said so too */
	leave();
}

static void test_an_end_without_a_word(void **state)
{
	(void)state;
	enter(&(struct tcp_config){ 0 });
	tell_message("last");
	shutdown(client_fd, SHUT_WR);
	hear_message("last");
	serve(port);
	assert_int_equal(tcp_n_conns(port), 0);
	leave();
}

/* What is no record ends the connection, and nobody else's. */
static void test_garbage(void **state)
{
	(void)state;
	enter(&(struct tcp_config){ 0 });
	put(client_fd, "\x17\x03\x03\x00\x20this is no record of TLS at all .....", 40);
	serve(port);
	assert_int_equal(tcp_n_conns(port), 0);
	leave();
}

static void test_idle_time(void **state)
{
	(void)state;
	enter(&(struct tcp_config){ .idle_ms = 1000 });
	tell_message("one");
	hear_message("one");
	pass_ms(port, 999);
	assert_int_equal(tcp_n_conns(port), 1);
	pass_ms(port, 2);
	assert_int_equal(tcp_n_conns(port), 0);
	assert_int_equal(port->stats.conns_timed_out, 1);
	leave();
}

static unsigned int n_room;

static void on_room(struct port_watch *watch, enum port_event event)
{
	(void)watch;
	n_room += event == PORT_ROOM;
}

/* A reply of many messages: each is sent when there is room for it. */
static void test_a_reply_of_many_messages(void **state)
{
	static uint8_t message[60000], got[2 + sizeof(message)];
	struct port_watch watch = { .tell = on_room };
	struct port_msg msgs[PORT_BURST];
	struct port_return to;
	struct port_reply reply = { .to = &to, .data = message, .len = sizeof(message) };

	(void)state;
	enter(&(struct tcp_config){ 0 });
	tell_message("claim");
	assert_int_equal(port_receive(port, now_ns, msgs, PORT_BURST), 1);
	assert_true(msgs[0].encrypted);
	assert_int_equal(port_claim(port, &msgs[0], &watch), 1);
	port_defer(port, &msgs[0], &to);
	assert_true(to.is_tls13);
	msgs[0].len = 0;
	msgs[0].outcome = PORT_DEFERS;
	port_send(port, now_ns, msgs, 1);
	n_room = 0;
	for (unsigned int i = 0, n_sent = 0; i < 20; i++) {
		for (; n_sent < 20 && port_has_room(port, &to); n_sent++) {
			message[0] = (uint8_t)n_sent;
			reply.more = n_sent < 19;
			assert_int_equal(port_reply(port, now_ns, &reply, 1), 1);
		}
		hear(got, sizeof(got));
		assert_int_equal(wire_load_be16(got), sizeof(message));
		assert_int_equal(got[2], i);
	}
	assert_true(n_room > 0);
	assert_int_equal(port->stats.tx, 20);
	leave();
}

/* Connections that come before the first port wait for it; more than a few are not taken. */
static void test_early_arrivals(void **state)
{
	struct tcp_arrival *early = shake_hands(), *too_many = NULL;

	(void)state;
	tell_message("one");
	assert_int_equal(tcp_intake_new(&intake), 0);
	assert_true(tcp_intake_put(intake, early));
	for (int i = 0; i < TCP_INTAKE_EARLY; i++) {
		struct tcp_arrival *a = calloc(1, sizeof(*a));

		a->next = too_many;
		too_many = a;
	}
	assert_false(tcp_intake_put(intake, too_many));
	for (struct tcp_arrival *next; too_many; too_many = next) {
		next = too_many->next;
		free(too_many);
	}
	assert_int_equal(tcp_open(&port, &(struct tcp_config){ .intake = intake }), 0);
	assert_int_equal(port_start(port), 0);
	hear_message("one");
	leave();
}

/* Several at once wake a port once, and come in their order. */
static void test_several_arrive(void **state)
{
	struct tcp_arrival *all[3];
	SSL *ends[3];
	int fds[3];

	(void)state;
	open_port(&(struct tcp_config){ 0 });
	for (int i = 0; i < 3; i++) {
		all[i] = shake_hands();
		all[i]->peer.port = htons((uint16_t)(i + 1));
		ends[i] = client;
		fds[i] = client_fd;
		tell_message("all");
	}
	all[0]->next = all[1];
	all[1]->next = all[2];
	assert_true(tcp_intake_put(intake, all[0]));
	for (int i = 0; i < 3; i++) {
		client = ends[i];
		hear_message("all");
	}
	assert_int_equal(tcp_n_conns(port), 3);
	for (int i = 0; i < 2; i++) {
		SSL_free(ends[i]);
		close(fds[i]);
	}
	leave();
}

static void assert_nothing_has_come(void)
{
	char byte;

	assert_int_equal(recv(client_fd, &byte, 1, MSG_PEEK), -1);
	assert_int_equal(errno, EAGAIN);
}

/* The question is there before the port has the connection: one segment has the tickets and the
 * reply. */
static void test_tickets_go_with_the_first_reply(void **state)
{
	struct tcp_arrival *arrival;

	(void)state;
	open_port(&(struct tcp_config){ 0 });
	arrival = shake_hands_and_hold();
	tell_message("one");
	assert_nothing_has_come();
	assert_true(tcp_intake_put(intake, arrival));
	hear_message("one");
	assert_int_equal(n_tickets, 2);
	tell_message("two");
	hear_message("two");
	leave();
}

static void test_tickets_do_not_wait_for_a_question(void **state)
{
	char byte;

	(void)state;
	open_port(&(struct tcp_config){ 0 });
	assert_true(tcp_intake_put(intake, shake_hands_and_hold()));
	assert_nothing_has_come();
	serve(port);
	assert_int_equal(SSL_read(client, &byte, 1), -1);
	assert_int_equal(n_tickets, 2);
	tell_message("one");
	hear_message("one");
	leave();
}

/* A client may send the rest of its question only when it has them. */
static void test_tickets_do_not_wait_for_the_rest(void **state)
{
	char byte;

	(void)state;
	open_port(&(struct tcp_config){ 0 });
	assert_true(tcp_intake_put(intake, shake_hands_and_hold()));
	tell("\0\3o", 3);
	serve(port);
	assert_int_equal(SSL_read(client, &byte, 1), -1);
	assert_int_equal(n_tickets, 2);
	tell("ne", 2);
	hear_message("one");
	leave();
}

/* Over our BIO too, close_notify comes before the end of the stream. */
static void test_close_notify_over_our_bio(void **state)
{
	(void)state;
	open_port(&(struct tcp_config){ 0 });
	assert_true(tcp_intake_put(intake, shake_hands_and_hold()));
	tell_message("last");
	hear_message("last");
	SSL_shutdown(client);
	serve(port);
	assert_int_equal(tcp_n_conns(port), 0);
	assert_int_equal(SSL_shutdown(client), 1);
	leave();
}

/* Limits hold for them, and what is refused is closed. */
static void test_limits(void **state)
{
	SSL *first;
	int first_fd;

	(void)state;
	enter(&(struct tcp_config){ .n_conns_max = 1 });
	first = client;
	first_fd = client_fd;
	assert_true(tcp_intake_put(intake, shake_hands()));
	serve(port);
	assert_int_equal(tcp_n_conns(port), 1);
	assert_int_equal(port->stats.conns_evicted, 1); /* the one that is idle */
	SSL_free(first);
	close(first_fd);
	leave();
}

/* Those that a port was given and has not taken are served when it stops, and closed when it is
 * closed. */
static void test_a_port_that_goes(void **state)
{
	struct tcp_arrival *late;

	(void)state;
	enter(&(struct tcp_config){ 0 });
	SSL_free(client);
	close(client_fd);
	assert_true(tcp_intake_put(intake, shake_hands()));
	port_stop(port);
	tell_message("stop");
	hear_message("stop");
	SSL_free(client);
	close(client_fd);
	late = shake_hands();
	assert_false(tcp_intake_put(intake, late));
	tcp_arrival_drop(late);
	assert_true(is_closed(client_fd) || SSL_read(client, &(char){ 0 }, 1) <= 0);
	leave();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_and_replies),
		cmocka_unit_test(test_what_openssl_hides),
		cmocka_unit_test(test_more_than_the_input_holds),
		cmocka_unit_test(test_a_slow_reader),
		cmocka_unit_test(test_close_notify_is_an_end),
		cmocka_unit_test(test_an_end_without_a_word),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_idle_time),
		cmocka_unit_test(test_a_reply_of_many_messages),
		cmocka_unit_test(test_early_arrivals),
		cmocka_unit_test(test_several_arrive),
		cmocka_unit_test(test_tickets_go_with_the_first_reply),
		cmocka_unit_test(test_tickets_do_not_wait_for_a_question),
		cmocka_unit_test(test_tickets_do_not_wait_for_the_rest),
		cmocka_unit_test(test_close_notify_over_our_bio),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_a_port_that_goes),
	};

	return cmocka_run_group_tests(tests, make_contexts, free_contexts);
}
