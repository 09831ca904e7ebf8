/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UDP through the kernel's sockets: one socket for each worker and listen address, bound with
 * SO_REUSEPORT so that the kernel spreads the queries. recvmmsg() and sendmmsg() move a burst per
 * call. These sockets receive the queries that the XDP program passes to the kernel.
 *
 * A wildcard address works: the reply leaves from the address that the query was sent to
 * (IP_PKTINFO), by the interface of the routing table. Replies have no DF and ignore path MTU news
 * (IP_PMTUDISC_OMIT), so that forged ICMP cannot make the kernel fragment them.
 */
#ifndef VOLLEY_PORT_SOCKET_H
#define VOLLEY_PORT_SOCKET_H

#include "port/addr.h"
#include "port/port.h"

/* The most that UDP can carry: a server answers a query whatever its padding (RFC 7830). */
#define SOCKET_MSG_BYTES_MAX 65535
/*
 * The kernel charges a small datagram with all the memory of its buffer, 4 KiB and more, and
 * doubles the value below. So some 120 datagrams fit: as many as arrive while the worker answers a
 * burst or two. In a flood, more would leave the core's cache before they are read, and cost more
 * to answer.
 */
#define SOCKET_RCVBUF_BYTES (256u << 10)

struct socket_config {
	struct port_addr listen; /* port 0: the kernel chooses, see socket_port_addr() */
	/* room for a query and its reply: 512 to SOCKET_MSG_BYTES_MAX; 0: the most */
	uint32_t msg_bytes;
};

/*
 * Opens and binds. The caller closes *out with port_close(). The address need not exist yet
 * (IP_FREEBIND). Control's thread. 0 or -errno: -EADDRINUSE, -EACCES (a port below 1024 without the
 * capability) ...
 */
__attribute__((warn_unused_result)) int socket_open(struct port **out,
						    const struct socket_config *config);

/* Gives the bound address, with the port that the kernel chose. Any thread. */
void socket_port_addr(const struct port *p, struct port_addr *out);

#endif
