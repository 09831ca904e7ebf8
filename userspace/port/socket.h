/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UDP through the kernel's sockets: one socket for each worker and listen address, bound with
 * SO_REUSEPORT so that the kernel spreads the queries, read with recvmmsg() and written with
 * sendmmsg(), a burst per call. It takes what the XDP program passes on.
 *
 * A wildcard address works: the reply leaves from the address that was asked (IP_PKTINFO), by the
 * interface that the routing table says. Replies carry no DF and ignore path MTU news
 * (IP_PMTUDISC_OMIT), so that nobody can talk us into fragments by forged ICMP.
 */
#ifndef VOLLEY_PORT_SOCKET_H
#define VOLLEY_PORT_SOCKET_H

#include "port/addr.h"
#include "port/port.h"

/* All that UDP can carry: peers answer whatever length a query is padded to (RFC 7830). */
#define SOCKET_MSG_BYTES_MAX 65535
/*
 * A small datagram counts with all the memory that it lies in, up to 4 KiB and more, and the kernel
 * doubles
 * this: some 120 of them, as many as come while the worker answers a burst or two. More would lie
 * there in a flood until they are out of the core's cache, and cost more to answer.
 */
#define SOCKET_RCVBUF_DEFAULT (256u << 10)

struct socket_config {
	struct port_addr listen; /* port 0: the kernel chooses, see socket_port_addr() */
	/* room for a query and its reply; 512 to SOCKET_MSG_BYTES_MAX; 0: that */
	uint32_t msg_bytes;
	uint32_t rcvbuf_bytes; /* SO_RCVBUF, forced where we may; 0: the default above */
	uint32_t sndbuf_bytes;
};

/*
 * Open and bind; *out is closed with port_close(). The address need not exist yet (IP_FREEBIND).
 * Control's thread. 0 or -errno: -EADDRINUSE, -EACCES (a port below 1024 without the capability)
 * ...
 */
__attribute__((warn_unused_result)) int socket_open(struct port **out,
						    const struct socket_config *config);

/* The address bound, with the port that the kernel chose. Any thread. */
void socket_port_addr(const struct port *p, struct port_addr *out);

#endif
