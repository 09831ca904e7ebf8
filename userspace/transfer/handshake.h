/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TLS handshakes of clients, in threads of their own: a handshake signs, which takes up to a
 * millisecond, and a flood of them must not hold up transfers, or workers on the same processor.
 *
 *      server_tls.c: accept ─► handshakes_begin() ─► thread: SSL_accept() ... ─► a worker (port/tcp_intake.h)
 *                                                                            └─► mailbox ─► server_tls.c: there is no worker, or it failed
 *
 * The threads stand behind the workers (base/affinity.h). At most HANDSHAKES_MAX run at a time, and
 * half of them for one client, an IPv4 /24 or an IPv6 /48. Past either, a connection waits in line.
 * The oldest handshake, of that client where it is the client's half that is full, gives way to the
 * line if the client is silent: for two seconds nothing has come that is not read yet, or for a
 * quarter of one where nothing came at all; for less when the line is long. A handshake that waits
 * for a thread never gives way. So a client that opens a thousand connections at once has them all
 * in the end, and a flood of half handshakes holds up its own prefix alone.
 *
 * Threads: the loop's calls all of these.
 */
#ifndef VOLLEY_TRANSFER_HANDSHAKE_H
#define VOLLEY_TRANSFER_HANDSHAKE_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "port/addr.h"
#include "port/tcp_intake.h"
#include "transfer/mailbox.h"

#define HANDSHAKE_S       5
#define HANDSHAKE_THREADS 2   /* where the process may use so many processors */
#define HANDSHAKES_MAX    512 /* over all threads */
#define HANDSHAKES_CLIENT 256
#define HANDSHAKES_NEW    2048 /* accepted, and not begun: more are closed at once */
#define HANDSHAKES_NEW_OF 1536 /* of these, of one client */

/* One that is over, and that no worker has. */
struct handshake {
	struct tcp_arrival conn; /* first; ssl NULL: it has failed, and the descriptor is closed */
	struct post post;
};

struct handshakes;

/* Starts the threads; connections go to the ports of @intake after their handshake, if there is
 * one. 0 or -errno. */
int handshakes_open(struct handshakes **out, struct tcp_intake *intake)
	__attribute__((warn_unused_result));
/* Closes handshakes under way and connections that were not taken. NULL is allowed. */
void handshakes_close(struct handshakes *h);

/* The descriptor, not blocking, is ours from here on. False: it is closed, as too many wait, or
 * without memory. */
bool handshakes_begin(struct handshakes *h, int fd, SSL_CTX *ctx, const struct port_addr *peer);

/* Readable when there is something to take. */
int handshakes_fd(const struct handshakes *h);
/* The first of the handshakes that have ended: descriptor and SSL are the caller's, who frees each
 * item. NULL: none. */
struct handshake *handshakes_take(struct handshakes *h);
/* The next of the handshakes that were taken, or NULL. */
struct handshake *handshakes_next(const struct handshake *k);

#endif
