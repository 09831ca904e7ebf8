/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "port/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct port_addr port_addr_make(uint16_t family, const uint8_t *bytes, __be16 net_port)
{
	struct port_addr a = { .family = (uint8_t)family, .port = net_port };

	memcpy(a.bytes, bytes, family == AF_INET ? 4 : 16);
	return a;
}

/* 0: there is no such interface. */
static uint32_t find_interface(const char *zone)
{
	const uint32_t ifindex = if_nametoindex(zone);
	unsigned long number;
	char *end;

	if (ifindex || *zone < '0' || *zone > '9')
		return ifindex;
	number = strtoul(zone, &end, 10);
	return *end || number > INT32_MAX ? 0 : (uint32_t)number;
}

static int read_addr_zone(struct port_addr *a, const char *zone)
{
	if (!port_addr_is_link_local(a) || !*zone || strlen(zone) >= IF_NAMESIZE ||
	    strpbrk(zone, "/: \t@#%"))
		return -EINVAL;
	a->scope_id = find_interface(zone);
	return a->scope_id ? 0 : -ENODEV;
}

int port_addr_from_text(struct port_addr *a, const char *text, uint16_t port)
{
	const char *zone = strchr(text, '%');
	const size_t n_bytes = zone ? (size_t)(zone - text) : strlen(text);
	char host[INET6_ADDRSTRLEN];

	*a = (struct port_addr){ .port = htons(port) };
	if (n_bytes >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, n_bytes);
	host[n_bytes] = 0;
	if (inet_pton(AF_INET, host, a->bytes) == 1)
		a->family = AF_INET;
	else if (inet_pton(AF_INET6, host, a->bytes) == 1)
		a->family = AF_INET6;
	else
		return -EINVAL;
	return zone ? read_addr_zone(a, zone + 1) : 0;
}

int port_addr_from_sockaddr(struct port_addr *a, const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)sa;

	*a = (struct port_addr){ 0 };
	if (sa->sa_family == AF_INET) {
		a->family = AF_INET;
		a->port = in->sin_port;
		memcpy(a->bytes, &in->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		a->family = AF_INET6;
		a->port = in6->sin6_port;
		a->scope_id = in6->sin6_scope_id;
		memcpy(a->bytes, &in6->sin6_addr, 16);
	} else {
		return -EAFNOSUPPORT;
	}
	return 0;
}

bool port_addr_same_host(const struct port_addr *a, const struct port_addr *b)
{
	return a->family == b->family && !memcmp(a->bytes, b->bytes, a->family == AF_INET ? 4 : 16);
}

bool port_addr_is_same(const struct port_addr *a, const struct port_addr *b)
{
	return port_addr_same_host(a, b) && a->port == b->port && a->scope_id == b->scope_id;
}

bool port_addr_is_wildcard(const struct port_addr *a)
{
	static const uint8_t zeros[sizeof(a->bytes)];

	return !memcmp(a->bytes, zeros, a->family == AF_INET ? 4 : 16);
}

socklen_t port_addr_to_sockaddr(const struct port_addr *a, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *in = (struct sockaddr_in *)ss;

	memset(ss, 0, sizeof(*ss));
	if (a->family == AF_INET) {
		in->sin_family = AF_INET;
		in->sin_port = a->port;
		memcpy(&in->sin_addr, a->bytes, 4);
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = a->port;
	in6->sin6_scope_id = a->scope_id;
	memcpy(&in6->sin6_addr, a->bytes, 16);
	return sizeof(*in6);
}

bool port_addr_is_link_local(const struct port_addr *a)
{
	return a->family == AF_INET6 && a->bytes[0] == 0xfe && (a->bytes[1] & 0xc0) == 0x80;
}

char *port_addr_text(const struct port_addr *a, char text[PORT_ADDR_TEXT_CAP])
{
	char host[INET6_ADDRSTRLEN] = "?", zone[IF_NAMESIZE];

	inet_ntop(a->family, a->bytes, host, sizeof(host));
	if (a->scope_id && !if_indextoname(a->scope_id, zone))
		snprintf(zone, sizeof(zone), "%u", a->scope_id);
	if (a->scope_id)
		snprintf(text, PORT_ADDR_TEXT_CAP, "%s%%%s@%u", host, zone, ntohs(a->port));
	else
		snprintf(text, PORT_ADDR_TEXT_CAP, "%s@%u", host, ntohs(a->port));
	return text;
}
