/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An address of the configuration in the form of ports. Pure; any thread. */
#ifndef VOLLEY_CONFIG_PORT_ADDR_H
#define VOLLEY_CONFIG_PORT_ADDR_H

#include "config/config.h"
#include "port/addr.h"

static inline struct port_addr config_port_addr(const struct config_addr *from)
{
	struct port_addr addr = port_addr_make(from->family, from->addr, from->net_port);

	addr.scope_id = from->scope_id;
	return addr;
}

#endif
