/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a TCP port: the address that the kernel gave it, its connections, and the replies
 * that wait. */
#ifndef VOLLEY_TESTS_UNIT_PORT_TCP_STATE_H
#define VOLLEY_TESTS_UNIT_PORT_TCP_STATE_H

#include "port/tcp_port.h"

/* The first bound address. The worker's thread, or any if the port has no worker. */
static inline void tcp_port_addr(const struct port *p, struct port_addr *out)
{
	const struct tcp_port *t = (const struct tcp_port *)p;

	*out = (struct port_addr){ 0 };
	for (uint32_t i = t->n_listeners; i-- > 0;)
		if (t->listeners[i].fd >= 0)
			*out = t->listeners[i].at;
}

/* The number of open connections. Any thread. */
static inline uint32_t tcp_n_conns(const struct port *p)
{
	return (uint32_t)(port_counter(&p->stats.conns_opened) -
			  port_counter(&p->stats.conns_closed));
}

/* Replies that wait for room in their sockets. The worker's thread, or any without a worker. */
static inline uint64_t tcp_pending(const struct port *p)
{
	return ((const struct tcp_port *)p)->n_queued;
}

#endif
