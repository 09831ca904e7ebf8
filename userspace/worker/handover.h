/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What workers leave to the transfer thread: messages that need keys, a journal, or more than one
 * message for an answer.
 *
 *      UDP   NOTIFY, UPDATE, and what has a TSIG by a key that we know: a copy of the message; the reply
 *            comes back through the worker's inbox and leaves by the port that the message came by
 *      TCP   these, AXFR and IXFR: the connection as a whole, with all that was read of it. Its
 *            file descriptor is the receiver's from then on, ordinary questions that follow included
 *
 * Who may send such messages at all is looked up first (engine/handover_rules.h): a message of a stranger costs
 * the worker what REFUSED costs, and nobody else anything. Of the others at most HANDOVER_PENDING_MAX
 * wait, of HANDOVER_PENDING_BYTES; more are dropped as if they had been lost on their way, and counted.
 *
 *      worker: handover_put() ─► queue ─► handover_take() :receiver
 *      worker: handover_source() ◄─ way back ◄─ handover_reply()
 *
 * Threads: new and free are control's; what else is whose stands below.
 */
#ifndef VOLLEY_WORKER_HANDOVER_H
#define VOLLEY_WORKER_HANDOVER_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/port.h"
#include "worker/worker.h"

#define HANDOVER_PENDING_MAX   4096
#define HANDOVER_PENDING_BYTES (16u << 20)

struct handover;     /* the queue between workers and the transfer thread */
struct handover_way; /* the way back to one worker */

/* One of them; the receiver's from handover_take() on. */
struct handover_item {
	struct handover_item *next;
	int fd; /* of a TCP connection, not blocking; -1: a single message that wants one reply */
	SSL *ssl; /* of a connection over TLS, else NULL; it may have read more of fd. The receiver's, as fd */
	uint8_t family;
	uint8_t peer[16], local[16];
	__be16 peer_port, local_port;
	uint8_t *bytes; /* the message; of a connection all that was read and not answered, with lengths */
	size_t n_bytes;
	size_t reply_cap; /* of a single message: octets that fit where it came from */
};

int handover_new(struct handover **out) __attribute__((warn_unused_result));
/* When neither side uses it any more; what nobody has taken goes. NULL is allowed. */
void handover_free(struct handover *h);

/* Receiver: readable when there is something; takes all that is there, oldest first. */
int handover_fd(const struct handover *h);
struct handover_item *handover_take(struct handover *h);
/*
 * Receiver: the reply to a single message (copied; n 0: none), once for each item with fd -1; or,
 * with a connection, that it has been taken over. Frees the item.
 */
void handover_reply(struct handover_item *item, const uint8_t *reply, size_t n);

/* A worker's way back; freed when the worker has ended. What is still out then gets no reply. */
int handover_way_new(struct handover_way **out) __attribute__((warn_unused_result));
void handover_way_free(struct handover_way *way); /* NULL is allowed */

/* One of worker_config.sources: replies go to their ports. */
struct worker_source handover_source(struct handover_way *way);

/*
 * Worker, in its handler: the message, or the connection that it came by, is handed over, and *msg says so
 * to the port. False where too much waits: it has no reply then. Where the port puts the message back it
 * is true, too. Other messages of the connection in this burst are to be given back as this one.
 */
bool handover_put(struct handover *h, struct handover_way *way, struct port *port,
		  struct port_msg *msg);

/* Worker: no reply goes to this port any more; worker_config.port_gone. */
void handover_port_gone(struct handover_way *way, const struct port *port);

#endif
