/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop accepts for the listeners for DNS over TLS (port/tls_listener.h) and counts what failed.
 *
 * Threads: control's opens it, so that errors are known at once; all else is the loop's.
 */
#ifndef VOLLEY_TRANSFER_SERVER_TLS_H
#define VOLLEY_TRANSFER_SERVER_TLS_H

#include "transfer/transfer_thread.h"

struct server_tls;

/* As tls_listener_open() and tls_listener_check(), with server.tls of this configuration. */
int server_tls_open(struct server_tls **out, struct tls_listener_kept **kept,
		    const struct config *config, struct tcp_intake *intake, char *err,
		    size_t err_cap) __attribute__((warn_unused_result));
int server_tls_check(const struct config *config, char *err, size_t err_cap)
	__attribute__((warn_unused_result));
/* Moves the handshakes of @before to @tls. To be called before server_tls_start(). */
void server_tls_inherit(struct server_tls *tls, struct server_tls *before);
/* Begins to accept. 0 or -ENOMEM. */
int server_tls_start(struct server_tls *tls, struct transfer *t)
	__attribute__((warn_unused_result));
/* Open connections stay. NULL is allowed. */
void server_tls_close(struct server_tls *tls);

#endif
