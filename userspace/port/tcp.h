/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DNS over TCP (RFC 1035 section 4.2.2, RFC 7766): two octets of length come before each message.
 *
 *      listeners ─► connections (slots, all made at open) ─► messages ─► worker ─► replies
 *
 * Connections over TLS have a port of their own. Another thread does their handshakes and hands
 * them over (port/tcp_intake.h). Only their way of reading and writing differs (port/tcp_tls.h).
 *
 * One port has all listeners of a worker, so that the connections of all addresses share slots and
 * memory. The ports of all workers share the limits (port/tcp_share.h).
 *
 * A client may pipeline; the connections take turns. Replies go straight to the socket. Octets that
 * a slow reader does not take wait in chunks of one bounded pool. While a connection has
 * TCP_OUT_HIGH bytes or more waiting, nothing more is read from it. A message is taken only if the
 * pool could hold its longest reply, so no reply is lost for lack of memory. If the pool has no
 * room, the connection that has stalled longest is closed.
 *
 * Late replies are sent as soon as they are ready, in any order (RFC 7766 section 6.2.1.1). While
 * one is outstanding, the only timeout of its connection is that for replies that are not read.
 * With TCP_DEFERRED_MAX of them outstanding, no more messages are taken from the connection. When a
 * connection ends, its late replies are dropped.
 *
 * Another thread may answer a message (port_claim()), with any number of messages. From then on the
 * connection is one of a peer: it counts in limits of its own (port/tcp_peers.h), and its readers
 * have more time.
 *
 * Idle connections, incomplete messages and unread replies have a timeout each; the timeouts
 * shorten as the slots fill. If a client (a prefix) has its share of connections, its next
 * connection replaces one of its own. If the total limit is reached, a connection is closed, in
 * this order: with an incomplete message, with a stalled reader, without a first query, idle; the
 * oldest of each kind first. A connection that waits for replies from volleyd is never closed for
 * another. A client that has closed its sending side still gets all its answers. A message of
 * length 0 ends a connection.
 *
 * The port's fd is an epoll with the listeners and all connections in it. Address space: about 68
 * KiB for each slot, and the pool; a page takes memory only after it was written to.
 */
#ifndef VOLLEY_PORT_TCP_H
#define VOLLEY_PORT_TCP_H

#include "port/addr.h"
#include "port/port.h"
#include "port/tcp_config.h"

/*
 * Opens a port without an address. The caller closes *out with port_close(). Control's thread. 0 or
 * -errno; -EINVAL for a pool that is too small.
 */
__attribute__((warn_unused_result)) int tcp_open(struct port **out,
						 const struct tcp_config *config);

/*
 * Opens a socket that listens at one more address, which need not exist yet (IP_FREEBIND). If its
 * port is 0, the kernel chooses one. The caller owns the descriptor. Control's thread, which may
 * have to ask for the address: port/privileged.h. The descriptor, or an error of port_bind().
 */
__attribute__((warn_unused_result)) int tcp_listener_open(const struct port *p,
							  const struct port_addr *addr);

/*
 * Accepts connections from the descriptor of tcp_listener_open(), which is the port's from now on,
 * or is closed after an error. Call it before a worker gets the port, or on the worker's thread
 * (worker_call()). 0, -errno, or -ENOSPC for more than 1024 listeners.
 */
__attribute__((warn_unused_result)) int tcp_listener_add(struct port *p, int fd);

/* Both, for a port that no worker has yet. */
__attribute__((warn_unused_result)) int tcp_listen(struct port *p, const struct port_addr *addr);

/*
 * Stops listening at addr. Accepts the connections that wait; open connections stay open. Threads
 * as for tcp_listener_add(). 0, or -ENOENT: the port does not listen there.
 */
__attribute__((warn_unused_result)) int tcp_unlisten(struct port *p, const struct port_addr *addr);

/*
 * Names the port by its addresses. Control's thread, after tcp_listener_add() or tcp_unlisten(): a
 * worker may not ask the kernel for the interface's name of a link-local address (base/sandbox.h).
 */
void tcp_set_name(struct port *p);

#endif
