/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the operator has named, and so the daemon may ask for: ports that the broker binds, and
 * interfaces on which it works.
 *
 *	ports        those of DNS (53, and 853 by TCP), and those of a configuration
 *	interfaces   those of a configuration
 *
 * The broker knows the configuration with which it was started. It reads the file again when it is
 * asked for something that it does not know. The daemon passes it other texts (`config apply`,
 * `attach`), which count only if their files in memory were sealed by root or by the owner of the
 * configuration's file (memory_file_is_of_owner()). One thread.
 */
#ifndef VOLLEY_BROKER_NAMED_H
#define VOLLEY_BROKER_NAMED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "broker/request.h"

#define NAMED_INTERFACES_MAX 256u /* of several configurations: more than a host has in use */

struct config;

struct named {
	char path[PATH_MAX];  /* of the configuration's file; "": there is none */
	uint8_t tcp[1 << 13]; /* a bit for each port */
	uint8_t udp[1 << 13];
	char interfaces[NAMED_INTERFACES_MAX][IF_NAMESIZE];
	unsigned int next_interface; /* the oldest one */
};

/* config may be NULL. */
void named_init(struct named *named, const struct config *config);

/* True if a socket may be bound to the port, which is in host order and is not 0. */
bool named_allow_port(struct named *named, bool is_tcp, uint16_t port);

bool named_allow_interface(struct named *named, const char *ifname);

/* Adds what the configuration in the file in memory names. 0; -EPERM: it is of another user, or is
 * not sealed; or an error of config_load_as(). The caller keeps the descriptor. */
int named_read_text(struct named *named, int fd) __attribute__((warn_unused_result));

/*
 * Binds a TCP or UDP socket that is of the address's family. 0; ERR_PORT: the port is not allowed;
 * -EPROTOTYPE: it is another socket; or -errno.
 */
int named_bind(struct named *named, int fd, const struct broker_address *address)
	__attribute__((warn_unused_result));

#endif
