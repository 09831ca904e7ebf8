/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether packets to an address arrive at this host. Sockets listen at an address that no interface
 * has (IP_FREEBIND), so that it may come later: until then status, health and metrics say so.
 */
#ifndef VOLLEY_IFACE_ADDR_HERE_H
#define VOLLEY_IFACE_ADDR_HERE_H

#include "port/addr.h"

/* The sentence about an address that this host does not have, after the address. */
#define ADDR_HERE_MISSING "no interface has this address: no query can reach it"

/*
 * 1 if an interface of the caller's network namespace has the address, or a local route leads to
 * it, as `ip route add local 203.0.113.0/24 dev lo`; a wildcard always counts. 0 if not, also while
 * an IPv6 address is tentative (RFC 4862 section 5.4), and for all of IPv6 in a kernel without it
 * (ipv6.disable=1). -errno: it cannot be found out. The port does not matter. Any thread; it asks
 * the kernel by a socket or two.
 */
int addr_here(const struct port_addr *addr) __attribute__((warn_unused_result));

#endif
