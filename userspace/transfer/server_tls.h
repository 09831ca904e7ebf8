/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The listeners for DNS over TLS (RFC 7858, RFC 9103): TLS 1.3, and 1.2 if the configuration allows
 * it; a client that uses ALPN has to offer "dot". Sessions are resumed by tickets
 * (transfer/ticket_keys.h).
 *
 * A reload without a gap: the new configuration has its own context with certificate and ticket
 * keys. For unchanged addresses it takes over the sockets of the previous configuration, with the
 * connections that wait there. It also takes over the handshakes that run; they end with the
 * certificate that they began with. Open connections keep the context that they were made with.
 *
 * Threads: control's opens it, so that errors are known at once; all else is the loop's.
 */
#ifndef VOLLEY_TRANSFER_SERVER_TLS_H
#define VOLLEY_TRANSFER_SERVER_TLS_H

#include "transfer/transfer_thread.h"

struct server_tls;

/*
 * Control's thread keeps this from one configuration to the next: a descriptor of each listening
 * socket, the random ticket keys (so that sessions can be resumed after a reload), and the time
 * when the certificate ends.
 */
struct server_tls_kept;

/*
 * Binds the addresses of server.tls.listen that are not bound yet, and reads the certificate, its
 * key and the file of ticket keys. *out is NULL if there is no address. *kept is NULL at first, and
 * changes only if the result is 0. 0, -ENOMEM, -errno of a socket, or ERR_CONFIG; with a sentence
 * in @err.
 */
int server_tls_open(struct server_tls **out, struct server_tls_kept **kept,
		    const struct config *config, struct tcp_intake *intake, char *err,
		    size_t err_cap) __attribute__((warn_unused_result));
/* NULL is allowed. */
void server_tls_forget(struct server_tls_kept *kept);
/* When the certificate in use ends, in seconds since 1970 (notAfter, RFC 5280 section 4.1.2.5); 0:
 * nothing listens. NULL is allowed. Control's thread. */
uint64_t server_tls_certificate_end(const struct server_tls_kept *kept);
/* Checks that server_tls_open() could use the files. 0, -ENOMEM or ERR_CONFIG, with a sentence in
 * @err. */
int server_tls_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* Moves the handshakes of @before to @tls. To be called before server_tls_start(). */
void server_tls_inherit(struct server_tls *tls, struct server_tls *before);
/* Begins to accept. After its handshake a connection goes to a worker (port/tcp_intake.h). 0 or
 * -ENOMEM. */
int server_tls_start(struct server_tls *tls, struct transfer *t)
	__attribute__((warn_unused_result));
/* Open connections stay. NULL is allowed. */
void server_tls_close(struct server_tls *tls);

#endif
