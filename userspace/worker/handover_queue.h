/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes messages from workers to the transfer thread, and its replies back: messages that need
 * keys or a journal, or whose reply needs more than one message. Connections stay with the worker.
 *
 *      worker: handover_put() ─► queue ─► handover_take() :receiver
 *      worker: handover_source() ◄─ way back ◄─ handover_reply(), handover_send() ...
 *
 * engine/handover_rules.h first checks which clients may send such messages. A message of another
 * client costs the worker no more than a REFUSED, and never reaches the transfer thread. At most
 * HANDOVER_PENDING_MAX messages with HANDOVER_PENDING_BYTES octets wait. Further messages are
 * dropped, as if the network had lost them, and counted. On a stream nothing is lost, so its
 * connection is closed: the client need not wait for its own timeout.
 *
 * A reply over a connection may have many messages. They wait in the item, in memory that the
 * receiver has filled; the worker gives them to the port as the socket takes them. At HANDOVER_HIGH
 * waiting octets the receiver makes no more, until HANDOVER_ROOM says that HANDOVER_LOW are left:
 *
 *      receiver                       worker                            port
 *      handover_send() ─► messages of the item ─► port_reply(.more) ─► socket
 *      HANDOVER_ROOM   ◄─ few are left  ◄──────── PORT_ROOM        ◄─ has taken all
 *      HANDOVER_GONE   ◄───────────────────────── PORT_GONE        ◄─ the client is gone
 *
 * The receiver may also give a question to the worker that the message came from, without its
 * signature: handover_ask(). The worker answers it with its cache, RPZ and its resolver,
 * and HANDOVER_ANSWERED brings the answer back, to be signed.
 *
 * Messages that have to be answered after all earlier messages of their connection, and before all
 * later ones, are transfers, NOTIFY and UPDATE (port_claim() with a watch). The worker answers
 * questions on the same connection in any order (RFC 7766 section 6.2.1.1), and without a detour.
 *
 * Threads: control calls new and free. The other functions name their thread.
 */
#ifndef VOLLEY_WORKER_HANDOVER_QUEUE_H
#define VOLLEY_WORKER_HANDOVER_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/port.h"
#include "worker/worker.h"

#define HANDOVER_PENDING_MAX   4096
#define HANDOVER_PENDING_BYTES (16u << 20)
#define HANDOVER_HIGH          (192u << 10)
#define HANDOVER_LOW           (64u << 10)

struct handover;     /* the queue between workers and the transfer thread */
struct handover_way; /* the way back to one worker */

enum handover_event {
	HANDOVER_MESSAGE,  /* a new item, with its message */
	HANDOVER_ANSWERED, /* the answer to handover_ask() is at bytes; n_bytes 0: there is none */
	HANDOVER_CLOSES,   /* instead of an answer to handover_ask() the connection has to end */
	HANDOVER_ROOM,     /* after handover_send(): there is room for more messages */
	HANDOVER_GONE,     /* the connection has ended; the item still has to be ended */
};

/* How a message came. Each but the first is a stream. */
enum handover_transport { HANDOVER_UDP, HANDOVER_TCP, HANDOVER_TLS, HANDOVER_TLS13 };

/* A message. The receiver owns it from handover_take() until it ends it. */
struct handover_item {
	void *user; /* the receiver's; NULL at first */
	uint8_t family;
	bool is_first; /* the first item of its connection */
	enum handover_transport transport;
	uint8_t peer[16], local[16];
	__be16 peer_port, local_port;
	uint16_t idle_100ms; /* as in struct port_msg */
	uint8_t *bytes;      /* from malloc(); the receiver may replace it */
	size_t n_bytes;
	size_t reply_cap; /* the largest message that its port can send */
};

int handover_new(struct handover **out) __attribute__((warn_unused_result));
/* Call it when neither side uses the queue. Frees waiting items. NULL is allowed. */
void handover_free(struct handover *h);

/* Receiver: the fd is readable when something has come. */
int handover_fd(const struct handover *h);
/* Receiver: the next event, oldest first, and its item. NULL: all that had come were taken; then it
 * looks anew. An item that was ended has no more events. */
struct handover_item *handover_take(struct handover *h, enum handover_event *event);

/* Receiver: frees bytes. An item without them does not count as one that waits. */
void handover_drop_message(struct handover_item *item);
/* Receiver: ends the item with this reply (copied; n 0: no reply). Call it once. */
void handover_reply(struct handover_item *item, const uint8_t *reply, size_t n);
/* Receiver: ends the item, and its connection at once: messages that still wait are dropped. */
void handover_close(struct handover_item *item);

/* Receiver: room for a message of the item's reply. NULL: no memory. handover_send() must follow
 * before the next. */
uint8_t *handover_begin(struct handover_item *item, size_t cap);
/* Receiver: adds the n octets that were written there; 0: none. handover_flush() lets them go. */
void handover_send(struct handover_item *item, size_t n);
void handover_flush(struct handover_item *item);
/* Receiver: ends the item with the messages that were sent. */
void handover_end(struct handover_item *item);
/* Receiver: true if fewer than HANDOVER_HIGH octets wait. */
bool handover_has_room(const struct handover_item *item);

/* Receiver: has the worker answer the question at bytes, in at most `cap` octets. The item is the
 * worker's until HANDOVER_ANSWERED or HANDOVER_CLOSES. */
void handover_ask(struct handover_item *item, size_t cap);

/* Answers the question of an item on the worker's thread: handover_answer(), now or later. */
typedef void handover_question_fn(void *ctx, struct handover_item *item,
				  const struct port_return *to, uint64_t now_ns);

/* A worker's way back. Free it when the worker has ended; open items get no reply. */
int handover_way_new(struct handover_way **out, handover_question_fn *question, void *ctx)
	__attribute__((warn_unused_result));
void handover_way_free(struct handover_way *way); /* NULL is allowed */

/* One of worker_config.sources: it passes replies to their ports. */
struct worker_source handover_source(struct handover_way *way);

/*
 * Worker, in its handler: hands over the message and tells the port in *msg. False if the message
 * was dropped, for example because too many wait; then it gets no reply, and a stream's outcome is
 * PORT_CLOSES. If the port puts the message back, the result is true. `alone`: its reply has the
 * connection for itself. Then, if the message is deferred or put back, the caller must put back
 * later messages of the connection in this burst.
 */
bool handover_put(struct handover *h, struct handover_way *way, struct port *port,
		  struct port_msg *msg, bool alone);

/* Worker: the answer to a question; copied. n 0: there is none, and `closes`: the connection ends.
 */
void handover_answer(struct handover_item *item, const uint8_t *answer, size_t n, bool closes);

/* Worker: sends no more replies to this port. For worker_config.port_gone. */
void handover_port_gone(struct handover_way *way, const struct port *port);

#endif
