/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket under OpenSSL, which gathers what a server writes. OpenSSL flushes after each flight
 * of a handshake. So the session ticket would be a segment of its own, although the first question
 * has mostly come along with the client's last flight, and its reply follows at once. Here octets
 * are held while tls_bio_hold() is on; then they go ahead of the next write, or by tls_bio_flush().
 *
 *      SSL_accept() ──► held (1 KiB) ──► tls_bio_flush(), or the first reply in the same segment
 *
 * An SSL with another BIO is left as it is. Threads: the connection's, one at a time.
 */
#ifndef VOLLEY_PORT_TLS_BIO_H
#define VOLLEY_PORT_TLS_BIO_H

#include <openssl/types.h>
#include <stdbool.h>

/* In place of SSL_set_fd(). The descriptor, not blocking, stays the caller's. 0 or -ENOMEM. */
int tls_bio_attach(SSL *ssl, int fd) __attribute__((warn_unused_result));

/* Whether what is written from now on is held. What does not fit goes out, along with what is
 * held. */
void tls_bio_hold(SSL *ssl, bool is_on);

/* Sends what is held. False: the socket did not take all of it, or is broken: the next read or
 * write tells which. */
bool tls_bio_flush(SSL *ssl);

#endif
