/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections of clients: handed over by a worker in mid-stream, over TCP or TLS, or accepted by a
 * TLS listener while there is no worker. The messages of a connection are handled in turn; a
 * message with a long answer (a transfer), or a late one (an update), holds up the messages behind
 * it.
 *
 *      socket ─► input ─► message ─► peer_dispatch() ─┬─► conn_send() ─► output ─► socket
 *                 ▲          │ conn is busy: wait      └─► conn_hold() ... conn_release()
 *                 └── full: nothing is read
 *
 * Bounds: connections in all, of which the one that is idle longest, or a reader that has stood
 * still, gives way to a new one; messages in a turn; questions that workers have; octets in input
 * and output; time without a message, and time in which a slow reader takes something. A connection
 * that is to be closed is closed at the end of its turn.
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

/* A connection that a worker has given away; the item is freed. */
void server_take(struct transfer *t, struct handover_item *item);
/*
 * One over TLS, the handshake done, where no worker takes it; ssl and fd are the server's.
 */
void server_accept_tls(struct transfer *t, int fd, SSL *ssl, const struct port_addr *peer);

#endif
