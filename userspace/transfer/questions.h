/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ordinary questions on our connections: a worker answers them (worker/relay.h) with its cache, its
 * policies and its resolver, and counts them as its own. So a client gets the same answers over TLS
 * as over TCP.
 *
 *	peer_dispatch.c ─► questions_ask() ─► relay ─► a worker ─► relay ─► reply: signed, sent
 *
 * The replies of a connection come in any order (RFC 7766 section 6.2.1.1). When a connection ends,
 * the replies that are still to come are dropped.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_QUESTIONS_H
#define VOLLEY_TRANSFER_QUESTIONS_H

#include "transfer/peer_request.h"

#define QUESTIONS_OF_CONN_MAX 64 /* the same limit as a worker's TCP_DEFERRED_MAX */

/* Begins to receive replies. 0 or -ENOMEM. Without a relay it does nothing. */
int questions_open(struct transfer *t) __attribute__((warn_unused_result));
/* Questions that workers have get no reply. To be called after all connections are closed. */
void questions_close(struct transfer *t);

/*
 * Sends a question that came by a connection to a worker. idle_100ms is as in struct
 * engine_request; cap: octets that the reply may have without its signature. False: no worker takes
 * it, and the caller answers it.
 */
bool questions_ask(struct peer_request *rq, uint16_t idle_100ms, size_t cap)
	__attribute__((warn_unused_result));

/* The connection ends: the replies to its questions will be dropped. */
void questions_forget(struct conn *c);

#endif
