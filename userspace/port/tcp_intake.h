/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hands connections that another thread has accepted to the tcp ports of the workers: connections
 * over TLS, after their handshakes.
 *
 *      tcp_intake_put() ─► inbox of a port, by turns ─► limits (port/tcp_share.h) ─┬► a slot
 *                                                                                  └► closed
 *
 * While the workers start, the first TCP_INTAKE_EARLY connections wait for the first port.
 *
 * Threads: control makes it, and frees it when no port and no other thread uses it. Ports join and
 * leave on their workers' threads.
 */
#ifndef VOLLEY_PORT_TCP_INTAKE_H
#define VOLLEY_PORT_TCP_INTAKE_H

#include <openssl/types.h>
#include <stdbool.h>

#include "port/addr.h"

#define TCP_INTAKE_EARLY 64

struct tcp_intake;

/* Allocated with malloc(). */
struct tcp_arrival {
	struct tcp_arrival *next;
	int fd;   /* non-blocking */
	SSL *ssl; /* on fd; the handshake is done */
	struct port_addr peer;
};

/* The inbox of one port. fd is an eventfd of the port, readable if there are arrivals; the rest is
 * for the intake alone. */
struct tcp_arrivals {
	struct tcp_arrival *newest; /* links to older arrivals; atomic */
	bool is_to_wake;
	int fd;
};

/* 0 or -ENOMEM. */
int tcp_intake_new(struct tcp_intake **out) __attribute__((warn_unused_result));
void tcp_intake_free(struct tcp_intake *intake); /* NULL is allowed */

/*
 * Gives the arrivals, linked by next, to the ports, and wakes each port once. False: there is no
 * port, too many wait, and the caller still owns the arrivals. Any thread.
 */
bool tcp_intake_put(struct tcp_intake *intake, struct tcp_arrival *arrivals)
	__attribute__((warn_unused_result));

/* Registers the inbox of a port. After tcp_intake_leave() it gets no more. 0 or -ENOMEM. */
int tcp_intake_join(struct tcp_intake *intake, struct tcp_arrivals *port)
	__attribute__((warn_unused_result));
void tcp_intake_leave(struct tcp_intake *intake, const struct tcp_arrivals *port);
/* For the port: takes all arrivals, oldest first, linked by next, and clears its fd. NULL: none. */
struct tcp_arrival *tcp_intake_take(struct tcp_arrivals *port);

/* Closes the connection and frees the arrival. */
void tcp_arrival_drop(struct tcp_arrival *arrival);

#endif
