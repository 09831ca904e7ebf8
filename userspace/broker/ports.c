/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/log.h"
#include "config/config.h"
#include "port/addr.h"

#define PORT_DNS 53
#define PORT_DOT 853

static void allow_port(uint8_t *bits, __be16 net_port)
{
	const uint16_t port = ntohs(net_port);

	bits[port / 8] |= (uint8_t)(1u << port % 8);
}

/* Ports from which other servers are asked, too. */
static void allow_ports_of(struct ports *ports, const struct config *config)
{
	for (uint32_t i = 0; i < config->n_listen; i++) {
		allow_port(ports->udp, config->listen[i].net_port);
		allow_port(ports->tcp, config->listen[i].net_port);
	}
	for (uint32_t i = 0; i < config->n_tls_listen; i++)
		allow_port(ports->tcp, config->tls_listen[i].net_port);
	if (config->metrics.family)
		allow_port(ports->tcp, config->metrics.net_port);
	for (uint32_t i = 0; i < config->n_remotes; i++)
		for (uint32_t k = 0; k < config->remotes[i].n_source; k++) {
			allow_port(ports->udp, config->remotes[i].source[k].net_port);
			allow_port(ports->tcp, config->remotes[i].source[k].net_port);
		}
}

void ports_init(struct ports *ports, const struct config *config)
{
	memset(ports, 0, sizeof(*ports));
	allow_port(ports->udp, htons(PORT_DNS));
	allow_port(ports->tcp, htons(PORT_DNS));
	allow_port(ports->tcp, htons(PORT_DOT));
	if (!config)
		return;
	snprintf(ports->path, sizeof(ports->path), "%s", config->path);
	allow_ports_of(ports, config);
}

/* Ports of earlier configurations stay allowed: a reload that is refused needs them again. */
static void read_ports(struct ports *ports)
{
	struct config *config;
	char err[512];

	if (!*ports->path)
		return;
	if (config_load(&config, ports->path, err, sizeof(err))) {
		log_warn("broker: the configuration is read to look for a port: %s", err);
		return;
	}
	allow_ports_of(ports, config);
	config_free(config);
}

static bool is_port_allowed(const uint8_t *bits, uint16_t port)
{
	return bits[port / 8] >> port % 8 & 1;
}

bool ports_allow(struct ports *ports, bool is_tcp, uint16_t port)
{
	const uint8_t *bits = is_tcp ? ports->tcp : ports->udp;

	if (!is_port_allowed(bits, port))
		read_ports(ports);
	return port && is_port_allowed(bits, port);
}

/* A number that SOL_SOCKET tells of the socket; -1: it is no socket. */
static int socket_fact(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) ? -1 : value;
}

int ports_bind(struct ports *ports, int fd, const struct broker_address *address)
{
	struct port_addr addr = port_addr_make(address->family, address->bytes, address->net_port);
	const int protocol = socket_fact(fd, SO_PROTOCOL);
	struct sockaddr_storage ss;
	socklen_t len;

	if (socket_fact(fd, SO_DOMAIN) != address->family ||
	    socket_fact(fd, SO_TYPE) != (protocol == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM) ||
	    (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP))
		return -EPROTOTYPE;
	if (!ports_allow(ports, protocol == IPPROTO_TCP, ntohs(address->net_port)))
		return ERR_PORT;
	addr.scope_id = address->scope_id;
	len = port_addr_to_sockaddr(&addr, &ss);
	return bind(fd, (const struct sockaddr *)&ss, len) ? -errno : 0;
}
