/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limit of the connections of peers, which the tcp ports of all workers share. A connection is
 * one of a peer from the first message on that another thread answers (port_claim()): only clients
 * that a rule of a zone allows, or that know the name of a key, get so far. So a flood of other
 * clients does not displace them.
 *
 *      worker 0: port ─ rank ─┐
 *      worker 1: port ─ rank ─┼── struct tcp_peers: at most n_max, and one too many for each port
 *      worker 2: port ─ rank ─┘
 *
 * At the limit the connection of all ports with the lowest rank is closed: with an incomplete
 * message, then idle for the longest time, then with the reader that has stalled longest. Each port
 * keeps its lowest rank here. A port closes its own connections only: it wakes the port that has
 * the lowest rank, which compares once more.
 *
 * Threads: control makes and frees it, and adds and removes ports; any worker calls the rest.
 */
#ifndef VOLLEY_PORT_TCP_PEERS_H
#define VOLLEY_PORT_TCP_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#define TCP_PEERS_DEFAULT 1024       /* of a daemon that has descriptors enough */
#define TCP_PEERS_NONE    UINT64_MAX /* rank: the port has no connection to close */

struct tcp_peers;

/* Of a port, and in its memory. */
struct tcp_peers_port {
	int wake_fd;       /* an eventfd of the port; -1: it has not joined */
	uint32_t n_wishes; /* connections that it is to close; atomic */
	uint64_t rank;     /* the lowest of its connections; atomic, written by the port */
};

/* 0 or -ENOMEM. */
int tcp_peers_new(struct tcp_peers **out, uint32_t n_max, uint32_t n_ports)
	__attribute__((warn_unused_result));
/* No port may use it any more. NULL is allowed. */
void tcp_peers_free(struct tcp_peers *peers);

/* The most connections that there can be at any moment. */
uint32_t tcp_peers_cap(const struct tcp_peers *peers);

/* Registers a port whose wake_fd is set. 0, or -ENOSPC: more than n_ports. */
int tcp_peers_join(struct tcp_peers *peers, struct tcp_peers_port *port)
	__attribute__((warn_unused_result));
void tcp_peers_leave(struct tcp_peers *peers, struct tcp_peers_port *port);

/* Takes a place for one more connection, until tcp_peers_give(). False: there is none. */
bool tcp_peers_take(struct tcp_peers *peers);
void tcp_peers_give(struct tcp_peers *peers);
/* True if there are more than n_max. */
bool tcp_peers_is_over(const struct tcp_peers *peers);

/* If another port has a lower rank than this one, wakes it, so that it closes that connection. */
bool tcp_peers_wish(struct tcp_peers *peers, const struct tcp_peers_port *own)
	__attribute__((warn_unused_result));
/* Takes the wishes of other ports; returns their number. */
uint32_t tcp_peers_take_wishes(struct tcp_peers_port *port);

#endif
