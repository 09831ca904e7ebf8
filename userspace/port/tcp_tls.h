/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes the octets of a connection over TLS whose handshake is done. The socket is
 * non-blocking; a call reads all there is, or writes what fits. For the tcp port alone.
 *
 * OpenSSL may have read more from the socket than it has returned: epoll does not report these
 * octets, tcp_tls_is_hiding() does. OpenSSL may also hold an encrypted record that the socket did
 * not take: the next write must begin with the same octets; their address may differ, and more may
 * follow.
 *
 * Threads: one at a time for each connection.
 */
#ifndef VOLLEY_PORT_TCP_TLS_H
#define VOLLEY_PORT_TCP_TLS_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Call once, before the other functions: sets the modes that they need. */
void tcp_tls_enter(SSL *ssl);

/*
 * Returns octets read; 0: none now; -errno: the connection is dead. *is_end: nothing more comes,
 * because the other side has sent close_notify or has closed its socket (RFC 8446 section 6.1: the
 * length before each message shows if it was cut).
 */
ssize_t tcp_tls_read(SSL *ssl, uint8_t *out, size_t cap, bool *is_end);

/* Sends the octets that the handshake left (tls_bio_hold()). If the socket does not take all, the
 * rest goes with the next write. */
void tcp_tls_flush(SSL *ssl);

/* True if octets may be there that epoll does not report. */
bool tcp_tls_is_hiding(const SSL *ssl);

/* Returns octets taken (0: none now) or -errno. If not all were taken, the next call must begin
 * with the octets that were not taken. */
ssize_t tcp_tls_write(SSL *ssl, const struct iovec *iov, unsigned int n);

/* True if it is TLS 1.3 or later. */
bool tcp_tls_is_13(const SSL *ssl);

/* Sends close_notify: nothing more comes from us. If the socket does not take it, it is lost. */
void tcp_tls_shut(SSL *ssl);

/* Does the same and frees ssl. The caller closes the socket. */
void tcp_tls_end(SSL *ssl);

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

/* Replaces SSL_set_fd(). fd is non-blocking; the caller closes it. 0 or -ENOMEM. */
int tls_bio_attach(SSL *ssl, int fd) __attribute__((warn_unused_result));

/* Switches holding on or off. Octets that do not fit are sent, together with the octets held. */
void tls_bio_hold(SSL *ssl, bool is_on);

/* Sends the octets held. False: the socket did not take all, or is broken; the next read or write
 * tells which. */
bool tls_bio_flush(SSL *ssl);

#endif
