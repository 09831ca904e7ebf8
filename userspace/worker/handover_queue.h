/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes messages from workers to the transfer thread: messages that need keys or a journal, or
 * whose answer needs more than one message.
 *
 *      UDP   NOTIFY, UPDATE, and messages with a TSIG by a configured key: a copy of the message.
 *            The reply comes back through the worker's inbox and leaves by the message's port.
 *      TCP   these, AXFR and IXFR: the whole connection, with all octets that were read from it.
 *            The receiver owns its file descriptor from then on, and also answers the ordinary
 *            queries that follow.
 *
 * engine/handover_rules.h first checks which clients may send such messages. A message of another
 * client costs the worker no more than a REFUSED, and never reaches the transfer thread. At most
 * HANDOVER_PENDING_MAX messages with HANDOVER_PENDING_BYTES octets wait. Further messages are
 * dropped, as if the network had lost them, and counted.
 *
 *      worker: handover_put() ─► queue ─► handover_take() :receiver
 *      worker: handover_source() ◄─ way back ◄─ handover_reply()
 *
 * Threads: control calls new and free. The other functions name their thread.
 */
#ifndef VOLLEY_WORKER_HANDOVER_QUEUE_H
#define VOLLEY_WORKER_HANDOVER_QUEUE_H

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

/* A message or a connection. The receiver owns it after handover_take(). */
struct handover_item {
	struct handover_item *next;
	int fd; /* a TCP connection, non-blocking; -1: a single message, which gets one reply */
	/* TLS of the connection, or NULL; it may have read more from fd. The receiver owns both. */
	SSL *ssl;
	uint8_t family;
	uint8_t peer[16], local[16];
	__be16 peer_port, local_port;
	/* the message; of a connection, all unanswered octets that were read, with lengths */
	uint8_t *bytes;
	size_t n_bytes;
	size_t reply_cap; /* of a single message: the largest reply that its port can send */
};

int handover_new(struct handover **out) __attribute__((warn_unused_result));
/* Call it when neither side uses the queue. Frees waiting items. NULL is allowed. */
void handover_free(struct handover *h);

/* Receiver: the fd is readable when items wait. handover_take() takes all, oldest first. */
int handover_fd(const struct handover *h);
struct handover_item *handover_take(struct handover *h);
/*
 * Receiver: for an item with fd -1, sends the reply (copied; n 0: no reply); call it once. For a
 * connection, says that the receiver has taken it. Frees the item.
 */
void handover_reply(struct handover_item *item, const uint8_t *reply, size_t n);

/* A worker's way back. Free it when the worker has ended; open items get no reply. */
int handover_way_new(struct handover_way **out) __attribute__((warn_unused_result));
void handover_way_free(struct handover_way *way); /* NULL is allowed */

/* One of worker_config.sources: it passes replies to their ports. */
struct worker_source handover_source(struct handover_way *way);

/*
 * Worker, in its handler: hands over the message, or the connection that it came by, and tells the
 * port in *msg. False if the message was dropped, for example because too many wait; then it gets
 * no reply. If the port puts the message back, the result is true. The caller must treat later
 * messages of the connection in this burst in the same way.
 */
bool handover_put(struct handover *h, struct handover_way *way, struct port *port,
		  struct port_msg *msg);

/* Worker: sends no more replies to this port. For worker_config.port_gone. */
void handover_port_gone(struct handover_way *way, const struct port *port);

#endif
