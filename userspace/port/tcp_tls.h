/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The octets of a connection over TLS 1.3 whose handshake is done. The socket is not blocking; one
 * call reads or writes as much as there is, or as fits. For the tcp port alone.
 *
 * OpenSSL has read more from the socket than it has given out when a call says so
 * (tcp_tls_is_hiding()): epoll does not tell of these octets. It has encrypted a record that the
 * socket did not take: the same octets come again, perhaps with more behind them, and perhaps from
 * other memory.
 *
 * Threads: the connection's, one at a time.
 */
#ifndef VOLLEY_PORT_TCP_TLS_H
#define VOLLEY_PORT_TCP_TLS_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Once, before the others: sets the modes that they need. */
void tcp_tls_enter(SSL *ssl);

/*
 * Octets read, 0: none now, or -errno: the connection is dead. *is_end: nothing more comes, whether
 * the other side has said so or has closed its socket (RFC 8446 section 6.1: lengths in front of
 * messages tell what was cut).
 */
ssize_t tcp_tls_read(SSL *ssl, uint8_t *out, size_t cap, bool *is_end);

/* Sends what the handshake left behind (port/tls_bio.h); what the socket does not take goes with
 * the next write. */
void tcp_tls_flush(SSL *ssl);

/* Whether octets may be there that the socket does not tell of. */
bool tcp_tls_is_hiding(const SSL *ssl);

/* Octets taken, 0: none now, or -errno. After fewer than all, the next call begins with the octets
 * that were not taken. */
ssize_t tcp_tls_write(SSL *ssl, const struct iovec *iov, unsigned int n);

/* Says that nothing more comes from us: close_notify. What the socket does not take is not said. */
void tcp_tls_shut(SSL *ssl);

/* The same, and frees it; the socket is the caller's. */
void tcp_tls_end(SSL *ssl);

#endif
