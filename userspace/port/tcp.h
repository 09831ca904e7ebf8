/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DNS over TCP (RFC 1035 section 4.2.2, RFC 7766): messages with two octets of length before each.
 *
 *      listeners ─► connections (slots, all made at open) ─► messages ─► worker ─► replies, in order
 *
 * Connections over TLS come from another thread, with their handshakes done (port/tcp_intake.h), to
 * a port that has them alone, and are as all others: their octets go through OpenSSL
 * (port/tcp_tls.h).
 *
 * One port has a worker's listeners, so that its connections share slots and memory whatever
 * address they came to; the ports of all workers share the limits (port/tcp_share.h).
 *
 * A client may pipeline; all its complete messages are taken in turn with those of other clients.
 * Replies go straight to the socket. What a slow reader does not take waits in chunks of one
 * bounded pool, and while a connection has more than TCP_OUT_HIGH bytes waiting, nothing more is
 * read from it. A message is taken only if the pool could hold its longest reply, so no reply is
 * ever lost for want of memory: if need be the connection that has stalled longest is closed.
 *
 * Replies that come late go out as they come, in any order (RFC 7766 section 6.2.1.1). While one is
 * to come, its connection has no timeout but for replies that are not read; at TCP_DEFERRED_MAX of
 * them nothing more is taken from it. A connection that ends does not wait for them: they are
 * dropped.
 *
 * Nobody holds a connection for free: idle, half a message, and replies that are not read have a
 * timeout each, which shortens as the slots fill. A client (a prefix) that has its share of
 * connections pays for the next with one of its own. Where the limit of all is reached, a
 * connection is closed in this order: half a message, a reader that has stalled, one that never
 * asked, one that is idle; the oldest of them first. A connection that waits for our replies is
 * never closed for another. A client that has closed its sending side still gets all its answers. A
 * message of length 0 ends a connection.
 *
 * The port's fd is an epoll of its own with the listeners and all connections in it. Address space:
 * about 68 KiB for each slot and the pool; pages are used only by who fills them.
 */
#ifndef VOLLEY_PORT_TCP_H
#define VOLLEY_PORT_TCP_H

#include "port/addr.h"
#include "port/port.h"
#include "port/tcp_config.h"

/*
 * Open, without an address yet; *out is closed with port_close(). Control's thread. 0 or -errno;
 * -EINVAL for a pool that is too small.
 */
__attribute__((warn_unused_result)) int tcp_open(struct port **out,
						 const struct tcp_config *config);

/*
 * Listen at one more address, which need not exist yet (IP_FREEBIND). Its port 0: the kernel
 * chooses, see tcp_port_addr(). Before a worker gets the port, or on the worker's thread
 * (worker_call()). 0 or -errno, as of bind() and listen(); -ENOSPC for more than 1024.
 */
__attribute__((warn_unused_result)) int tcp_listen(struct port *p, const struct port_addr *addr);

/*
 * Listen at that address, as it was bound, no more. Connections that wait there are let in first;
 * those that are open stay. As tcp_listen() for threads. 0, or -ENOENT: the port does not listen
 * there.
 */
__attribute__((warn_unused_result)) int tcp_unlisten(struct port *p, const struct port_addr *addr);

/* The first address bound, with the port that the kernel chose. As tcp_listen() for threads. */
void tcp_port_addr(const struct port *p, struct port_addr *out);

/* Connections open now. Any thread. */
uint32_t tcp_n_conns(const struct port *p);

#endif
