/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The listeners for DNS over TLS (RFC 7858, RFC 9103): TLS 1.3 only; who says ALPN has to say "dot".
 *
 * Threads: opened in control's, so that what is wrong is known at once; all else is the loop's.
 */
#ifndef VOLLEY_TRANSFER_SERVER_TLS_H
#define VOLLEY_TRANSFER_SERVER_TLS_H

#include "transfer/internal.h"

struct server_tls;

/*
 * Binds server.tls.listen and reads the certificate and its key. *out is NULL where there is no
 * address. 0, -ENOMEM, -errno of a socket, or ERR_CONFIG; with a sentence in @err.
 */
int server_tls_open(struct server_tls **out, const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* Whether server_tls_open() could use certificate and key. 0, -ENOMEM or ERR_CONFIG, with a sentence in @err. */
int server_tls_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* Connections go to server_accept_tls() from now on. 0 or -ENOMEM. */
int server_tls_start(struct server_tls *tls, struct transfer *t)
	__attribute__((warn_unused_result));
/* Connections that there are stay. NULL is allowed. */
void server_tls_close(struct server_tls *tls);

#endif
