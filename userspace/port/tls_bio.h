/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A BIO over the socket that gathers the octets of a handshake. OpenSSL flushes after each flight
 * of a handshake. So the session ticket would be a segment of its own, although the first question
 * mostly comes with the client's last flight, and its reply follows at once. This BIO holds octets
 * while tls_bio_hold() is on; they are sent before the next write, or by tls_bio_flush().
 *
 *      SSL_accept() ──► held (1 KiB) ──► tls_bio_flush(), or the first reply in the same segment
 *
 * With another BIO, the functions do nothing. Threads: one at a time for each connection.
 */
#ifndef VOLLEY_PORT_TLS_BIO_H
#define VOLLEY_PORT_TLS_BIO_H

#include <openssl/types.h>
#include <stdbool.h>

/* Replaces SSL_set_fd(). fd is non-blocking; the caller closes it. 0 or -ENOMEM. */
int tls_bio_attach(SSL *ssl, int fd) __attribute__((warn_unused_result));

/* Switches holding on or off. Octets that do not fit are sent, together with the octets held. */
void tls_bio_hold(SSL *ssl, bool is_on);

/* Sends the octets held. False: the socket did not take all, or is broken; the next read or write
 * tells which. */
bool tls_bio_flush(SSL *ssl);

#endif
