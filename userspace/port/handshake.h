/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS handshakes of clients, in threads of their own: a handshake makes a signature, which takes up
 * to a millisecond, and a flood of handshakes must not delay transfers, or workers on the same
 * processor.
 *
 *      tls_listener.c: accept ─► handshakes_begin() ─► thread: SSL_accept() ...
 *           ├─► a worker (port/tcp_intake.h)
 *           └─► mailbox ─► tls_listener.c: the handshake has failed
 *
 * The threads have a lower priority than the workers (base/affinity.h). At most HANDSHAKES_MAX
 * handshakes run at a time, and half of them for one client (an IPv4 /24 or an IPv6 /48). Above
 * either limit a connection waits in line. Then the oldest handshake gives way to the line if its
 * client is silent; above the client's limit, the oldest one of that client. A client is silent if
 * no unread octets have come for two seconds, or for a quarter of a second if it has sent nothing
 * at all; the times are shorter when the line is long. A handshake that waits for a thread never
 * gives way. So a client that opens a thousand connections at once gets them all in the end, and a
 * flood of half handshakes delays only its own prefix.
 *
 * Threads: the loop's thread calls all functions.
 */
#ifndef VOLLEY_PORT_HANDSHAKE_H
#define VOLLEY_PORT_HANDSHAKE_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/addr.h"
#include "port/tcp_intake.h"
#include "base/mailbox.h"

#define HANDSHAKE_S       5
#define HANDSHAKE_THREADS 2   /* fewer if the process may use fewer processors */
#define HANDSHAKES_MAX    512 /* over all threads */
#define HANDSHAKES_CLIENT 256
#define HANDSHAKES_NEW    2048 /* accepted but not begun; more are closed at once */
#define HANDSHAKES_NEW_OF 1536 /* the part of them that one client may have */

/* A handshake that has failed; its descriptor is closed. */
struct handshake {
	struct tcp_arrival conn; /* first */
	struct post post;
};

struct handshakes;

/* Starts the threads. After the handshake a connection goes to a port of @intake; NULL: it is
 * closed. 0 or -errno. */
int handshakes_open(struct handshakes **out, struct tcp_intake *intake)
	__attribute__((warn_unused_result));
/* Closes the handshakes that run and the connections that were not taken. NULL is allowed. */
void handshakes_close(struct handshakes *h);

/* Takes over @fd, which is not blocking. False: too many wait, or there is no memory; @fd is
 * closed. */
bool handshakes_begin(struct handshakes *h, int fd, SSL_CTX *ctx, const struct port_addr *peer);

/* Readable when handshakes_take() has something to return. */
int handshakes_fd(const struct handshakes *h);
/* The first of the handshakes that have failed. The caller frees each item. NULL: none. */
struct handshake *handshakes_take(struct handshakes *h);
/* The next of the taken handshakes, or NULL. */
struct handshake *handshakes_next(const struct handshake *k);

#endif
