/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "broker/named.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/files.h"
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
static void allow_ports_of(struct named *named, const struct config *config)
{
	for (uint32_t i = 0; i < config->n_listen; i++) {
		allow_port(named->udp, config->listen[i].net_port);
		allow_port(named->tcp, config->listen[i].net_port);
	}
	for (uint32_t i = 0; i < config->n_tls_listen; i++)
		allow_port(named->tcp, config->tls_listen[i].net_port);
	if (config->metrics.family)
		allow_port(named->tcp, config->metrics.net_port);
	for (uint32_t i = 0; i < config->n_remotes; i++)
		for (uint32_t k = 0; k < config->remotes[i].n_source; k++) {
			allow_port(named->udp, config->remotes[i].source[k].net_port);
			allow_port(named->tcp, config->remotes[i].source[k].net_port);
		}
}

static bool has_interface(const struct named *named, const char *ifname)
{
	for (unsigned int i = 0; i < NAMED_INTERFACES_MAX; i++)
		if (*ifname && !strcmp(named->interfaces[i], ifname))
			return true;
	return false;
}

static void allow_interface(struct named *named, const char *ifname)
{
	if (has_interface(named, ifname))
		return;
	snprintf(named->interfaces[named->next_interface], IF_NAMESIZE, "%s", ifname);
	named->next_interface = (named->next_interface + 1) % NAMED_INTERFACES_MAX;
}

static void allow_config(struct named *named, const struct config *config)
{
	allow_ports_of(named, config);
	for (uint32_t i = 0; i < config->n_interfaces; i++)
		allow_interface(named, config->interfaces[i].name);
}

void named_init(struct named *named, const struct config *config)
{
	memset(named, 0, sizeof(*named));
	allow_port(named->udp, htons(PORT_DNS));
	allow_port(named->tcp, htons(PORT_DNS));
	allow_port(named->tcp, htons(PORT_DOT));
	if (!config)
		return;
	snprintf(named->path, sizeof(named->path), "%s", config->path);
	allow_config(named, config);
}

/* What earlier configurations name stays allowed: a reload that is refused needs it again. */
static void read_named_file(struct named *named)
{
	struct config *config;
	char err[512];

	if (!*named->path)
		return;
	if (config_load(&config, named->path, err, sizeof(err))) {
		log_warn("broker: the configuration is read to look for a name in it: %s", err);
		return;
	}
	allow_config(named, config);
	config_free(config);
}

int named_read_text(struct named *named, int fd)
{
	struct config *config;
	char err[512];
	int code;

	if (!memory_file_is_of_owner(fd, named->path))
		return -EPERM;
	code = config_load_as(&config, fd, named->path, named->path, err, sizeof(err));
	if (code) {
		log_warn("broker: a configuration that was passed: %s", err);
		return code;
	}
	allow_config(named, config);
	config_free(config);
	return 0;
}

bool named_allow_interface(struct named *named, const char *ifname)
{
	if (!has_interface(named, ifname))
		read_named_file(named);
	return has_interface(named, ifname);
}

static bool is_port_allowed(const uint8_t *bits, uint16_t port)
{
	return bits[port / 8] >> port % 8 & 1;
}

bool named_allow_port(struct named *named, bool is_tcp, uint16_t port)
{
	const uint8_t *bits = is_tcp ? named->tcp : named->udp;

	if (!is_port_allowed(bits, port))
		read_named_file(named);
	return port && is_port_allowed(bits, port);
}

/* A number that SOL_SOCKET tells of the socket; -1: it is no socket. */
static int socket_fact(int fd, int option)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) ? -1 : value;
}

int named_bind(struct named *named, int fd, const struct broker_address *address)
{
	struct port_addr addr = port_addr_make(address->family, address->bytes, address->net_port);
	const int protocol = socket_fact(fd, SO_PROTOCOL);
	struct sockaddr_storage ss;
	socklen_t len;

	if (socket_fact(fd, SO_DOMAIN) != address->family ||
	    socket_fact(fd, SO_TYPE) != (protocol == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM) ||
	    (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP))
		return -EPROTOTYPE;
	if (!named_allow_port(named, protocol == IPPROTO_TCP, ntohs(address->net_port)))
		return ERR_PORT;
	addr.scope_id = address->scope_id;
	len = port_addr_to_sockaddr(&addr, &ss);
	return bind(fd, (const struct sockaddr *)&ss, len) ? -errno : 0;
}
