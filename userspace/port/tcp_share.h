/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tcp ports of all workers share: how many connections there are, in all and of each
 * client, and how full that is.
 *
 *      worker 0: port ─┐                     ┌─ connections in all, at most n_conns_max
 *      worker 1: port ─┼── struct tcp_share ─┼─ connections of a client (a prefix), at most n_client_max
 *      worker 2: port ─┘                     └─ wishes: a port that has nothing to close asks the others
 *
 * A port closes its own connections only. Where the limit is reached and all that may be closed is
 * another port's, the new connection is let in, and a wish wakes the other ports: the first that
 * has such a connection closes it. So there may be one connection too many for each port, for a
 * moment.
 *
 * Timeouts shorten as the slots fill: up to half of n_conns_max they are as configured; from there
 * on they fall in a straight line to a sixteenth.
 *
 * Threads: made and freed by control's thread, ports are added and removed by it too; all else by
 * any worker.
 */
#ifndef VOLLEY_PORT_TCP_SHARE_H
#define VOLLEY_PORT_TCP_SHARE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "port/addr.h"

#define TCP_SHARE_PREFIX4    24 /* bits of an address that make a client, as xdp/shed.h has them */
#define TCP_SHARE_PREFIX6    48
#define TCP_SHARE_SCALE_FULL 256u
#define TCP_SHARE_SCALE_MIN  16u

struct tcp_share;

/* For so many ports. n_client_max 0: a client may have all. 0 or -ENOMEM, or what getrandom()
 * says. */
int tcp_share_new(struct tcp_share **out, uint32_t n_conns_max, uint32_t n_client_max,
		  uint32_t n_ports) __attribute__((warn_unused_result));
/* When no port uses it any more. NULL is allowed. */
void tcp_share_free(struct tcp_share *share);

/* The most connections that there can be, for a moment. */
uint32_t tcp_share_cap(const struct tcp_share *share);

/* A port's eventfd, which wishes wake. 0, or -ENOSPC: more ports than planned. */
int tcp_share_join(struct tcp_share *share, int wake_fd) __attribute__((warn_unused_result));
void tcp_share_leave(struct tcp_share *share, int wake_fd);

/*
 * A place for one more connection of this client. LIMITS_TAKEN: it counts until tcp_share_give();
 * it may be one too many, see tcp_share_is_over(). LIMITS_CLIENT, LIMITS_TOTAL: it does not count;
 * *place says which client it is in the first case.
 */
enum limits_verdict tcp_share_take(struct tcp_share *share, const struct port_addr *client,
				   struct limits_place *place);
void tcp_share_give(struct tcp_share *share, const struct limits_place *place);

/* Whether there are more connections than n_conns_max. */
bool tcp_share_is_over(const struct tcp_share *share);

/* Half messages, over all ports: how many more (or fewer) there are now; and whether there are
 * any. */
void tcp_share_count_half(struct tcp_share *share, int n);
bool tcp_share_has_half(const struct tcp_share *share);

/* Asks the other ports to close one connection. False: there is no other port. */
bool tcp_share_wish(struct tcp_share *share, int own_wake_fd);
/* Whether another port waits for one to be closed: the caller then closes one. */
bool tcp_share_is_wished(const struct tcp_share *share);
bool tcp_share_take_wish(struct tcp_share *share);

/* What is left of each timeout now: of TCP_SHARE_SCALE_FULL parts so many. */
uint32_t tcp_share_scale(const struct tcp_share *share);

#endif
