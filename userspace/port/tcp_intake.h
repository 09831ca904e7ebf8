/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections that another thread has accepted, on their way to the tcp ports of the workers: those
 * over TLS, when their handshakes are done.
 *
 *      tcp_intake_put() ─► inbox of one of the ports, by turns ─► its limits (port/tcp_share.h) ─► a slot, or closed
 *
 * Threads: made and freed by control's, when no port and no thread that puts uses it; ports join
 * and leave in their workers'.
 */
#ifndef VOLLEY_PORT_TCP_INTAKE_H
#define VOLLEY_PORT_TCP_INTAKE_H

#include <openssl/types.h>
#include <stdbool.h>

#include "port/addr.h"

struct tcp_intake;

/* From malloc(). */
struct tcp_arrival {
	struct tcp_arrival *next;
	int fd;   /* not blocking */
	SSL *ssl; /* of this descriptor; the handshake is done */
	struct port_addr peer;
};

/* One port's. fd is an eventfd of the port's, readable when there is something; the rest is the
 * intake's. */
struct tcp_arrivals {
	struct tcp_arrival *newest; /* linked to older ones; atomic */
	bool is_to_wake;
	int fd;
};

/* 0 or -ENOMEM. */
int tcp_intake_new(struct tcp_intake **out) __attribute__((warn_unused_result));
void tcp_intake_free(struct tcp_intake *intake); /* NULL is allowed */

/*
 * The arrivals, linked by next, are the ports' from here on; each port is woken once. False: there
 * is no port, and they are the caller's. Any thread.
 */
bool tcp_intake_put(struct tcp_intake *intake, struct tcp_arrival *arrivals)
	__attribute__((warn_unused_result));

/* A port's arrivals, until it leaves; nothing is put there afterwards. 0 or -ENOMEM. */
int tcp_intake_join(struct tcp_intake *intake, struct tcp_arrivals *port)
	__attribute__((warn_unused_result));
void tcp_intake_leave(struct tcp_intake *intake, const struct tcp_arrivals *port);
/* Port: all that have come, oldest first, linked by next; its fd is quiet then. NULL: none. */
struct tcp_arrival *tcp_intake_take(struct tcp_arrivals *port);

/* Closes it, and frees it with its memory. */
void tcp_arrival_drop(struct tcp_arrival *arrival);

#endif
