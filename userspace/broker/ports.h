/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ports to which the broker binds sockets of the daemon: those of DNS (53, and 853 by TCP), and
 * those that the configuration names. The broker knows the configuration with which it was started,
 * and reads its file again when it is asked for a port that it does not know.
 */
#ifndef VOLLEY_BROKER_PORTS_H
#define VOLLEY_BROKER_PORTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "broker/request.h"

struct config;

struct ports {
	char path[PATH_MAX];  /* of the configuration's file; "": there is none */
	uint8_t tcp[1 << 13]; /* a bit for each port */
	uint8_t udp[1 << 13];
};

/* config may be NULL. */
void ports_init(struct ports *ports, const struct config *config);

/* True if a socket may be bound to the port, which is in host order and is not 0. */
bool ports_allow(struct ports *ports, bool is_tcp, uint16_t port);

/*
 * Binds a TCP or UDP socket that is of the address's family. 0; ERR_PORT: the port is not allowed;
 * -EPROTOTYPE: it is another socket; or -errno.
 */
int ports_bind(struct ports *ports, int fd, const struct broker_address *address)
	__attribute__((warn_unused_result));

#endif
