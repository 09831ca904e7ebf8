/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits that the tcp ports of all workers share: how many connections there are in all and of
 * each client.
 *
 *      worker 0: port ─┐                     ┌─ connections in all: at most n_conns_max
 *      worker 1: port ─┼── struct tcp_share ─┼─ of a client (a prefix): at most n_client_max
 *      worker 2: port ─┘                     └─ wishes: a port asks the others to close one
 *
 * A port closes its own connections only. If a limit is reached and only other ports have
 * connections that may be closed, the new connection is admitted and a wish wakes the other ports:
 * the first port that has such a connection closes it; for a client's limit, such a connection of
 * that client. So for a moment there may be one connection too many for each port, in all and of a
 * client. If all connections of a client wait for replies, this lasts until one of them ends.
 *
 * Timeouts shorten as the slots fill: up to half of n_conns_max they are as configured; from there
 * on they fall linearly to a sixteenth.
 *
 * Threads: control makes and frees it, and adds and removes ports; any worker calls the rest.
 */
#ifndef VOLLEY_PORT_TCP_SHARE_H
#define VOLLEY_PORT_TCP_SHARE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "port/addr.h"

#define TCP_SHARE_PREFIX4    24 /* bits of an address that identify a client, as in xdp/shed.h */
#define TCP_SHARE_PREFIX6    48
#define TCP_SHARE_SCALE_FULL 256u
#define TCP_SHARE_SCALE_MIN  16u

struct tcp_share;

/* n_client_max 0: one client may have all connections. 0, -ENOMEM, or the error of getrandom(). */
int tcp_share_new(struct tcp_share **out, uint32_t n_conns_max, uint32_t n_client_max,
		  uint32_t n_ports) __attribute__((warn_unused_result));
/* No port may use it any more. NULL is allowed. */
void tcp_share_free(struct tcp_share *share);

/* The most connections that there can be at any moment. */
uint32_t tcp_share_cap(const struct tcp_share *share);

/* Registers a port's eventfd, which wishes make readable. 0, or -ENOSPC: more than n_ports. */
int tcp_share_join(struct tcp_share *share, int wake_fd) __attribute__((warn_unused_result));
void tcp_share_leave(struct tcp_share *share, int wake_fd);

/*
 * Takes a place for one more connection of this client. LIMITS_TAKEN: the connection counts until
 * tcp_share_give(); it may be one too many, see tcp_share_is_over() and
 * tcp_share_client_is_over(). LIMITS_CLIENT, LIMITS_TOTAL: it does not count. *place identifies the
 * client with LIMITS_CLIENT, too.
 */
enum limits_verdict tcp_share_take(struct tcp_share *share, const struct port_addr *client,
				   struct limits_place *place);
void tcp_share_give(struct tcp_share *share, const struct limits_place *place);

/* True if there are more connections than n_conns_max. */
bool tcp_share_is_over(const struct tcp_share *share);
/* True if this client has more connections than n_client_max. */
bool tcp_share_client_is_over(const struct tcp_share *share, const struct limits_place *client);

/* Counts n more (or fewer) incomplete messages over all ports; true if there are any. */
void tcp_share_count_half(struct tcp_share *share, int n);
bool tcp_share_has_half(const struct tcp_share *share);

/* Asks the other ports to close a connection. False: there is no other port. */
bool tcp_share_wish(struct tcp_share *share, int own_wake_fd);
/* True if another port waits until a connection is closed: the caller then closes one. */
bool tcp_share_is_wished(const struct tcp_share *share);
bool tcp_share_take_wish(struct tcp_share *share);

/* Asks the other ports to close a connection of this client. A port has one such wish: the new one
 * takes the place of the one before. False: there is no other port. */
bool tcp_share_wish_client(struct tcp_share *share, int own_wake_fd,
			   const struct limits_place *client);
/*
 * Finds the next such wish of another port. *at begins with 0 and counts the ports. True: *client
 * still has too many connections, and the caller may close one after it has taken the wish. False:
 * there are no more.
 */
bool tcp_share_next_client_wish(struct tcp_share *share, int own_wake_fd, uint32_t *at,
				struct limits_place *client);
/* Removes a wish for this client. False: another port has done so. */
bool tcp_share_take_client_wish(struct tcp_share *share, const struct limits_place *client);

/* The current part of each timeout, in units of 1 / TCP_SHARE_SCALE_FULL. */
uint32_t tcp_share_scale(const struct tcp_share *share);

#endif
