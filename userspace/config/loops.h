/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds addresses where volleyd itself answers: a question forwarded there would never end. */
#ifndef VOLLEY_CONFIG_LOOPS_H
#define VOLLEY_CONFIG_LOOPS_H

#include <stdint.h>

#include "config/config.h"

/*
 * The address among the n of LISTEN that receives a query to TO, or NULL. That is TO itself, or the
 * wildcard of its family with the same port, if TO is an address of this host now. A query to the
 * wildcard arrives at the loopback address. Any thread.
 */
const struct config_addr *loops_find(const struct config_addr *listen, uint32_t n,
				     const struct config_addr *to);

#endif
