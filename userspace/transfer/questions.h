/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ordinary questions on our connections: a worker answers them (worker/relay.h), by its cache, its
 * policies and its way upstream, and counts them as its own. So a client gets the same answers over
 * TLS as over TCP.
 *
 *	peer_dispatch.c ─► questions_ask() ─► relay ─► a worker ─► relay ─► reply: signed, sent
 *
 * The replies of a connection come in any order (RFC 7766 section 6.2.1.1). A connection that ends
 * does not wait for them: they are dropped.
 *
 * Threads: the loop's.
 */
#ifndef VOLLEY_TRANSFER_QUESTIONS_H
#define VOLLEY_TRANSFER_QUESTIONS_H

#include "transfer/peer_request.h"

#define QUESTIONS_OF_CONN_MAX 64 /* at TCP_DEFERRED_MAX a worker takes no more either */

/* Replies are heard from now on. 0 or -ENOMEM; nothing to be done where there is no relay. */
int questions_open(struct transfer *t) __attribute__((warn_unused_result));
/* Questions on their way get no reply. Connections are closed before. */
void questions_close(struct transfer *t);

/*
 * The question, which came by a connection, goes to a worker; idle_100ms as in struct
 * engine_request, cap: octets that the reply may have without its signature. False: it cannot, and
 * the caller answers by itself.
 */
bool questions_ask(struct peer_request *rq, uint16_t idle_100ms, size_t cap)
	__attribute__((warn_unused_result));

/* The connection ends. */
void questions_forget(struct conn *c);

#endif
