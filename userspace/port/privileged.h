/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls on sockets that may need a capability. Where this process has none, a helper with the
 * capability makes the call on the same socket.
 *
 *      port_bind() ──► bind() ──EACCES──► helper: broker/network.h ──► the broker calls bind()
 */
#ifndef VOLLEY_PORT_PRIVILEGED_H
#define VOLLEY_PORT_PRIVILEGED_H

#include "port/addr.h"

struct port_helper {
	/* 0 or a negative code, as of bind(2). The descriptor stays the caller's. */
	int (*bind)(int fd, const struct port_addr *addr);
	int (*force_buffer)(int fd, uint32_t n_bytes);
};

/* NULL, as before the first call: no helper. Before any thread that uses sockets. */
void port_set_helper(const struct port_helper *helper);

/*
 * bind(2) of a TCP or UDP socket; its other options are the caller's. The helper is asked if the
 * kernel refuses the port (ip_unprivileged_port_start, CAP_NET_BIND_SERVICE). May wait for the
 * helper, so it is not for workers. 0, -errno or an error of the helper.
 */
int port_bind(int fd, const struct port_addr *addr) __attribute__((warn_unused_result));

/*
 * Gives a socket a receive buffer for n_bytes of datagrams (SO_RCVBUF, which the kernel doubles).
 * If net.core.rmem_max is less, the capability CAP_NET_ADMIN or the helper is used; without both
 * the socket has as much as the system allows.
 */
void port_set_buffer(int fd, uint32_t n_bytes);

/* The same without a helper, whatever rmem_max is. 0 or -errno. */
int port_force_buffer(int fd, uint32_t n_bytes) __attribute__((warn_unused_result));

#endif
