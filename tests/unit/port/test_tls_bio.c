/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The socket under OpenSSL: what is held, and in which order it goes out. No handshake: the BIO is
 * written to directly. */
#include <errno.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "port/tcp_tls.h"

static SSL_CTX *ctx;
static SSL *ssl;
static BIO *bio;
static int fds[2]; /* ours, the client's */

static int enter(void **state)
{
	(void)state;
	ctx = SSL_CTX_new(TLS_server_method());
	ssl = SSL_new(ctx);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	assert_int_equal(tls_bio_attach(ssl, fds[0]), 0);
	bio = SSL_get_wbio(ssl);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

static void assert_comes(const char *text)
{
	char got[64];
	size_t n = strlen(text);

	assert_int_equal(recv(fds[1], got, sizeof(got), 0), (int)n);
	assert_memory_equal(got, text, n);
}

static void assert_nothing_comes(void)
{
	char got;

	assert_int_equal(recv(fds[1], &got, 1, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

/* OpenSSL's flush does not end the hold; the next write takes along what is held. */
static void test_held_octets_go_with_the_next_write(void **state)
{
	(void)state;
	tls_bio_hold(ssl, true);
	assert_int_equal(BIO_write(bio, "ticket", 6), 6);
	assert_int_equal(BIO_flush(bio), 1);
	tls_bio_hold(ssl, false);
	assert_nothing_comes();
	assert_int_equal(BIO_write(bio, "reply", 5), 5);
	assert_comes("ticketreply");
	assert_int_equal(BIO_write(bio, "next", 4), 4);
	assert_comes("next");
}

static void test_flush(void **state)
{
	(void)state;
	assert_true(tls_bio_flush(ssl));
	tls_bio_hold(ssl, true);
	assert_int_equal(BIO_write(bio, "one", 3), 3);
	assert_int_equal(BIO_write(bio, "two", 3), 3);
	tls_bio_hold(ssl, false);
	assert_true(tls_bio_flush(ssl));
	assert_comes("onetwo");
	assert_true(tls_bio_flush(ssl));
	assert_nothing_comes();
}

/* More than is held: it goes out behind what is held, in one call. */
static void test_what_does_not_fit_goes_out(void **state)
{
	static char many[1500], got[2000];

	(void)state;
	memset(many, 'm', sizeof(many));
	tls_bio_hold(ssl, true);
	assert_int_equal(BIO_write(bio, "first", 5), 5);
	assert_int_equal(BIO_write(bio, many, sizeof(many)), sizeof(many));
	assert_int_equal(recv(fds[1], got, sizeof(got), 0), 5 + (int)sizeof(many));
	assert_memory_equal(got, "firstm", 6);
}

static int fill(void)
{
	static char many[4096];
	int n = 0, some;

	while ((some = (int)send(fds[0], many, sizeof(many), 0)) > 0)
		n += some;
	return n;
}

static void drain(int n)
{
	static char many[4096];
	int some;

	while (n && (some = (int)recv(fds[1], many,
				      (size_t)n < sizeof(many) ? (size_t)n : sizeof(many), 0)) > 0)
		n -= some;
	assert_int_equal(n, 0);
}

/* The socket is full: OpenSSL is told to come again, and nothing is lost or sent twice. */
static void test_a_full_socket(void **state)
{
	int n;

	(void)state;
	tls_bio_hold(ssl, true);
	assert_int_equal(BIO_write(bio, "ticket", 6), 6);
	tls_bio_hold(ssl, false);
	n = fill();
	assert_false(tls_bio_flush(ssl));
	assert_int_equal(BIO_write(bio, "reply", 5), -1);
	assert_true(BIO_should_write(bio));
	drain(n);
	assert_int_equal(BIO_write(bio, "reply", 5), 5);
	assert_comes("ticketreply");
}

static void test_another_bio_is_left_alone(void **state)
{
	SSL *other = SSL_new(ctx);

	(void)state;
	assert_int_equal(SSL_set_fd(other, fds[0]), 1);
	tls_bio_hold(other, true);
	assert_int_equal(BIO_write(SSL_get_wbio(other), "now", 3), 3);
	assert_comes("now");
	assert_true(tls_bio_flush(other));
	SSL_free(other);
}

static void test_reads(void **state)
{
	char got[8];

	(void)state;
	assert_int_equal(BIO_read(bio, got, sizeof(got)), -1);
	assert_true(BIO_should_read(bio));
	assert_false(BIO_eof(bio));
	assert_int_equal(send(fds[1], "hello", 5, 0), 5);
	assert_int_equal(BIO_read(bio, got, sizeof(got)), 5);
	assert_int_equal(shutdown(fds[1], SHUT_WR), 0);
	assert_int_equal(BIO_read(bio, got, sizeof(got)), 0);
	assert_false(BIO_should_retry(bio));
	assert_true(BIO_eof(bio));
}

/* A reader that is gone is an error, and no signal; libevent asks for the descriptor. */
static void test_errors_and_the_descriptor(void **state)
{
	(void)state;
	assert_int_equal(BIO_get_fd(bio, NULL), fds[0]);
	assert_int_equal(shutdown(fds[1], SHUT_RD), 0);
	assert_int_equal(BIO_write(bio, "lost", 4), -1);
	assert_int_equal(errno, EPIPE);
	assert_false(BIO_should_retry(bio));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_held_octets_go_with_the_next_write, enter,
						leave),
		cmocka_unit_test_setup_teardown(test_flush, enter, leave),
		cmocka_unit_test_setup_teardown(test_what_does_not_fit_goes_out, enter, leave),
		cmocka_unit_test_setup_teardown(test_a_full_socket, enter, leave),
		cmocka_unit_test_setup_teardown(test_another_bio_is_left_alone, enter, leave),
		cmocka_unit_test_setup_teardown(test_reads, enter, leave),
		cmocka_unit_test_setup_teardown(test_errors_and_the_descriptor, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
