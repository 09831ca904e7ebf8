/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A relay passes messages that another thread has read from its own connections to the workers,
 * which answer them as if they had come over TCP. The transfer thread has all connections over TLS
 * and the connections that workers gave away. Its ordinary queries need a worker's cache, policies
 * and resolver.
 *
 *	owner: relay_put() ─► inbox of a port ─► worker: receive ─► handler ─► send, or reply later
 *	owner ◄─ relay_take() ◄──────────────── inbox of the relay ◄──────────────────┘
 *
 * Each worker has two ports, for connections over TCP and over TLS (PORT_TCP, PORT_TLS). Replies
 * come back in any order. The owner has an item before relay_put() and after relay_take(). Each
 * item that was put comes back; it has no reply if its port was closed. At most RELAY_PENDING_MAX
 * items with RELAY_PENDING_BYTES octets of messages are out.
 *
 * Threads: control makes and frees a relay. Ports are used like all ports. The owner, one thread,
 * calls all other functions.
 */
#ifndef VOLLEY_WORKER_RELAY_H
#define VOLLEY_WORKER_RELAY_H

#include "port/port.h"
#include "resolver/inbox.h"

#define RELAY_PENDING_MAX   4096u
#define RELAY_PENDING_BYTES (16u << 20)
#define RELAY_BURST         16 /* messages in one burst; each has a buffer of 64 KiB */

struct relay;

/* Begins memory from malloc(). relay_free() frees items that are left, with their bytes. */
struct relay_item {
	struct inbox_link link; /* first */
	/* Input: fields as in struct port_msg. */
	uint8_t family;
	bool encrypted;
	__be16 peer_port, local_port;
	uint8_t peer[16], local[16];
	uint16_t idle_100ms;
	uint32_t reply_cap; /* at least n_bytes, at most 65535 */
	/* Input: the message. Output: the reply; n_bytes 0: no reply. From malloc(); the thread
	 * that has the item frees it. */
	uint8_t *bytes;
	uint32_t n_bytes;
	bool closes; /* output: close the connection without a reply */
	/* Only the relay uses it. */
	uint32_t n_bytes_in;
};

/* 0, -ENOMEM or -errno. */
int relay_new(struct relay **out) __attribute__((warn_unused_result));
/* Call it when its ports are closed and its owner has ended. NULL is allowed. */
void relay_free(struct relay *relay);

/* Opens a worker's port, PORT_TCP or PORT_TLS; close it before relay_free(). 0 or -errno. */
int relay_open_port(struct port **out, struct relay *relay, enum port_kind kind)
	__attribute__((warn_unused_result));

/*
 * Owner: puts the item into a port of its kind: number `number`, modulo the number of ports. False,
 * and the owner keeps the item, if there is no port or too much is out.
 */
bool relay_put(struct relay *relay, struct relay_item *item, unsigned int number)
	__attribute__((warn_unused_result));

/* Owner: readable when items have come back. */
int relay_fd(const struct relay *relay);

/* Owner: takes the items that came back, oldest first, linked by relay_next(); or NULL. */
struct relay_item *relay_take(struct relay *relay);

static inline struct relay_item *relay_next(const struct relay_item *item)
{
	return (struct relay_item *)(void *)item->link.next;
}

#endif
