/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A struct resolver_config as octets, for the resolver's process. One table of its members
 * (RESOLVER_CONFIG_MEMBERS) makes both the writer and the reader.
 */
#ifndef VOLLEY_RESOLVER_CONFIG_WIRE_H
#define VOLLEY_RESOLVER_CONFIG_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "resolver/resolver_config.h"

/*
 * Writes the configuration into at most cap octets, and returns how many octets it has, also if
 * this is more than cap; call it with cap 0 to learn the size. Any thread.
 */
size_t config_wire_write(uint8_t *out, size_t cap, const struct resolver_config *config);

/*
 * Reads it back. All that *config points to belongs to *memory, one block for free(). 0; -EPROTO:
 * the octets are not of config_wire_write() of the same build; or -ENOMEM. Any thread.
 */
int config_wire_read(struct resolver_config *config, void **memory, const uint8_t *from, size_t n)
	__attribute__((warn_unused_result));

#endif
