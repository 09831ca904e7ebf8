/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address of one end of a conversation, as ports keep it: without the padding and the sizes of
 * struct sockaddr. Pure; any thread.
 */
#ifndef VOLLEY_PORT_ADDR_H
#define VOLLEY_PORT_ADDR_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define PORT_ADDR_TEXT_CAP 64 /* "fe80::...%12@65535" with its NUL */

struct port_addr {
	uint8_t family; /* AF_INET (the first 4 bytes) or AF_INET6 */
	__be16 port;
	uint32_t scope_id; /* the interface of a link-local IPv6 address, else 0 */
	uint8_t bytes[16];
};

/* An address of @bytes, 4 or 16 by its family, and a port. */
struct port_addr port_addr_make(uint16_t family, const uint8_t *bytes, __be16 net_port);

/* An address in text (no port, no brackets) and a port in host order. 0 or -EINVAL. */
__attribute__((warn_unused_result)) int port_addr_from_text(struct port_addr *a, const char *text,
							    uint16_t port);

/* 0, or -EAFNOSUPPORT for a family that is neither. */
__attribute__((warn_unused_result)) int port_addr_from_sockaddr(struct port_addr *a,
								const struct sockaddr *sa);

/* The same host: ports and interfaces do not count. */
bool port_addr_same_host(const struct port_addr *a, const struct port_addr *b);

/* The same host, port and interface. */
bool port_addr_is_same(const struct port_addr *a, const struct port_addr *b);

/* 0.0.0.0 or :: */
bool port_addr_is_wildcard(const struct port_addr *a);

/* Fill ss and return the length of what is in it. */
socklen_t port_addr_to_sockaddr(const struct port_addr *a, struct sockaddr_storage *ss);

/* "192.0.2.1@53", the configuration's own way to write it. Returns text. */
char *port_addr_text(const struct port_addr *a, char text[PORT_ADDR_TEXT_CAP]);

#endif
