/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses of the configuration: in the form of ports, and which of them volleyd itself answers.
 */
#ifndef VOLLEY_CONFIG_ADDRESSES_H
#define VOLLEY_CONFIG_ADDRESSES_H

#include <stdint.h>

#include "config/config.h"
#include "port/addr.h"

/* Pure; any thread. */
static inline struct port_addr config_port_addr(const struct config_addr *from)
{
	struct port_addr addr = port_addr_make(from->family, from->addr, from->net_port);

	addr.scope_id = from->scope_id;
	return addr;
}

/* Finds addresses where volleyd itself answers: a question forwarded there would never end. */

/*
 * The address among the n of LISTEN that receives a query to TO, or NULL. That is TO itself, or the
 * wildcard of its family with the same port, if TO is an address of this host now. A query to the
 * wildcard arrives at the loopback address. Any thread.
 */
const struct config_addr *loops_find(const struct config_addr *listen, uint32_t n,
				     const struct config_addr *to);

#endif
