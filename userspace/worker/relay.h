/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A relay: messages that another thread has read from connections of its own, answered by the
 * workers as if they had come over TCP. The transfer thread has the connections over TLS and those
 * that workers gave away; what is asked there needs a worker's cache, its policies and its way
 * upstream.
 *
 *	owner: relay_put() ─► inbox of a port ─► worker: receive ─► handler ─► send, or reply later
 *	owner ◄─ relay_take() ◄──────────────── inbox of the relay ◄──────────────────┘
 *
 * Each worker has two ports, for connections over TCP and over TLS (PORT_TCP, PORT_TLS); replies
 * come back in any order. An item is the owner's before relay_put() and from relay_take() on, and
 * each that was put comes back, without a reply where its port was closed. Bounds:
 * RELAY_PENDING_MAX items and RELAY_PENDING_BYTES octets of messages on their way.
 *
 * Threads: made and freed by control's; the ports as all ports; all else is the owner's, one
 * thread.
 */
#ifndef VOLLEY_WORKER_RELAY_H
#define VOLLEY_WORKER_RELAY_H

#include "port/port.h"
#include "resolver/inbox.h"

#define RELAY_PENDING_MAX   4096u
#define RELAY_PENDING_BYTES (16u << 20)
#define RELAY_BURST         16 /* messages taken at a time; each has a buffer of 64 KiB */

struct relay;

/* The first member of memory from malloc(): what is left at the end relay_free() frees, with its
 * bytes. */
struct relay_item {
	struct inbox_link link; /* first */
	/* In: all of these, as in struct port_msg. */
	uint8_t family;
	bool encrypted;
	__be16 peer_port, local_port;
	uint8_t peer[16], local[16];
	uint16_t idle_100ms;
	uint32_t reply_cap; /* at most 65535, and no less than n_bytes */
	/* In: the message. Out: the reply, n_bytes 0: none. From malloc(), freed by who has the
	 * item. */
	uint8_t *bytes;
	uint32_t n_bytes;
	bool closes; /* out: the connection ends without a word */
	/* The relay's own. */
	uint32_t n_bytes_in;
};

/* 0, -ENOMEM or -errno. */
int relay_new(struct relay **out) __attribute__((warn_unused_result));
/* When its ports are closed and its owner has ended. NULL is allowed. */
void relay_free(struct relay *relay);

/* A worker's port, PORT_TCP or PORT_TLS; closed by port_close(), before the relay is freed. 0,
 * -ENOMEM or -errno. */
int relay_open_port(struct port **out, struct relay *relay, enum port_kind kind)
	__attribute__((warn_unused_result));

/*
 * Owner: hands the item over, to the port of its kind that `number` names, modulo how many there
 * are. False: there is no port, or too much is on its way; the item is still the owner's.
 */
bool relay_put(struct relay *relay, struct relay_item *item, unsigned int number)
	__attribute__((warn_unused_result));

/* Owner: readable when there is something to take. */
int relay_fd(const struct relay *relay);

/* Owner: the items that came back, oldest first, linked by relay_next(); NULL: none. */
struct relay_item *relay_take(struct relay *relay);

static inline struct relay_item *relay_next(const struct relay_item *item)
{
	return (struct relay_item *)(void *)item->link.next;
}

#endif
