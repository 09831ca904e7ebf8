/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address of one end of a connection or a datagram, as ports keep it: without the padding and
 * the different sizes of struct sockaddr. Any thread; pure, except for names of interfaces.
 */
#ifndef VOLLEY_PORT_ADDR_H
#define VOLLEY_PORT_ADDR_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define PORT_ADDR_TEXT_CAP 72 /* "fe80::...%eth0@65535" with its NUL */

struct port_addr {
	uint8_t family; /* AF_INET (the first 4 bytes) or AF_INET6 */
	__be16 port;
	uint32_t scope_id; /* the interface of a link-local IPv6 address, else 0 */
	uint8_t bytes[16];
};

/* bytes has 4 or 16 octets, by the family. */
struct port_addr port_addr_make(uint16_t family, const uint8_t *bytes, __be16 net_port);

/*
 * text is an address without port and brackets; port is in host order. A link-local IPv6 address
 * may have its interface, by name or number: "fe80::1%eth0" (RFC 4007 section 11). 0; -EINVAL; or
 * -ENODEV with everything but scope_id: this host has no such interface.
 */
__attribute__((warn_unused_result)) int port_addr_from_text(struct port_addr *a, const char *text,
							    uint16_t port);

/* 0, or -EAFNOSUPPORT for any other family. */
__attribute__((warn_unused_result)) int port_addr_from_sockaddr(struct port_addr *a,
								const struct sockaddr *sa);

/* True if the hosts are the same. Ports and interfaces are not compared. */
bool port_addr_same_host(const struct port_addr *a, const struct port_addr *b);

/* True if host, port and interface are the same. */
bool port_addr_is_same(const struct port_addr *a, const struct port_addr *b);

/* 0.0.0.0 or :: */
bool port_addr_is_wildcard(const struct port_addr *a);

/* Fills ss. Returns the length of the address in it. */
socklen_t port_addr_to_sockaddr(const struct port_addr *a, struct sockaddr_storage *ss);

/* True for fe80::/10: RFC 4291 section 2.5.6. Such an address is of use with an interface only. */
bool port_addr_is_link_local(const struct port_addr *a);

/* Writes "192.0.2.1@53" or "fe80::1%eth0@53", the notation of the configuration. Returns text. */
char *port_addr_text(const struct port_addr *a, char text[PORT_ADDR_TEXT_CAP]);

#endif
