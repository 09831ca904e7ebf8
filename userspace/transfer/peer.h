/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address of another name server: whether it answers, and its idle connections, which are kept
 * for some seconds (RFC 7766 section 6.2, RFC 9103 section 7.5). The next exchange
 * (transfer/exchange.h) uses one of them and needs no handshake.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_PEER_H
#define VOLLEY_TRANSFER_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tls_client.h"
#include "port/addr.h"

#define PEER_IDLE_MAX 32 /* connections kept for one address */

/* A connection that may be kept. close() frees it and takes it from its peer. */
struct peer_connection {
	struct peer_connection *next;
	void (*close)(struct peer_connection *connection);
};

struct peer;

/* A socket for queries by UDP (transfer/exchange.h). */
struct peer_socket {
	struct peer *peer; /* whose next query it takes; NULL: it takes no more */
};

struct peer {
	struct port_addr addr;
	struct peer_socket *socket;   /* NULL: the next query by UDP gets a new one */
	struct peer_connection *idle; /* kept, newest first */
	uint32_t n_idle;
	struct tls_session session; /* the TLS session to resume */
	uint64_t dead_until_ns;     /* it did not answer: nothing is sent to it until then */
	uint32_t n_dead;            /* failures in a row */
	uint64_t stream_until_ns;   /* it does not answer over UDP: asked by TCP until then */
};

/* Keeps an idle connection; closes it if PEER_IDLE_MAX are kept already. */
void peer_keep(struct peer *peer, struct peer_connection *connection);
/* Removes a kept connection, which is closed or used again. */
void peer_forget(struct peer *peer, struct peer_connection *connection);
/* Removes the newest kept connection and returns it; NULL: there is none. */
struct peer_connection *peer_take(struct peer *peer);

/* It has not answered: nothing is sent to it for a while. The time grows with each failure in a
 * row. */
void peer_is_dead(struct peer *peer, uint64_t now_ns);
void peer_is_alive(struct peer *peer);
bool peer_is_shunned(const struct peer *peer, uint64_t now_ns);

/* It has not answered over UDP: it is asked by TCP for an hour, or until peer_is_dead(). */
void peer_is_by_stream(struct peer *peer, uint64_t now_ns);
bool peer_wants_stream(const struct peer *peer, uint64_t now_ns);

/* The next query by UDP gets another socket, so another port. */
void peer_drop_socket(struct peer *peer);

void peer_close_idle(struct peer *peer); /* the next exchange opens a new connection */
void peer_fini(struct peer *peer);

#endif
