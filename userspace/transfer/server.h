/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of clients. A worker has handed them over in mid-stream (TCP or TLS), or a TLS
 * listener has accepted them while there is no worker. The messages of a connection are handled in
 * turn; a message with a long answer (a transfer) or a late one (an update) delays the messages
 * after it.
 *
 *      socket ─► input ─► message ─► peer_dispatch() ─┬─► conn_send() ─► output ─► socket
 *                 ▲          │ conn is busy: wait      └─► conn_hold() ... conn_release()
 *                 └── full: nothing is read
 *
 * Bounds: connections in all; messages in a turn; questions that workers have; octets in input and
 * output; time without a message; time in which a slow reader takes something. At the limit of
 * connections the one that is idle longest, or a reader that has stood still, gives way to a new
 * one. A connection is closed only at the end of its turn.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_SERVER_H
#define VOLLEY_TRANSFER_SERVER_H

#include <openssl/types.h>

#include "port/addr.h"
#include "transfer/transfer_thread.h"

#define SERVER_CONNS_MAX 1024

int server_open(struct transfer *t) __attribute__((warn_unused_result));
void server_close(struct transfer *t);

/* Takes over a connection that a worker has handed over; frees the item. */
void server_take(struct transfer *t, struct handover_item *item);
/* Takes over a TLS connection after its handshake, and @ssl and @fd, if no worker takes it. */
void server_accept_tls(struct transfer *t, int fd, SSL *ssl, const struct port_addr *peer);

#endif
