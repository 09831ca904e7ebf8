/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removes from addresses the bits that tell a client from its neighbours. Pure; any thread. */
#ifndef VOLLEY_TAP_SHORTEN_H
#define VOLLEY_TAP_SHORTEN_H

#include <stddef.h>
#include <stdint.h>

/* How many bits stay: 0 to 32 of IPv4, 0 to 128 of IPv6. */
struct tap_prefix {
	uint8_t bits4, bits6;
};

/* Clears the bits after the prefix in an address (4 octets of AF_INET, 16 of AF_INET6). */
void tap_shorten(uint8_t *address, uint8_t family, const struct tap_prefix *prefix);

/* Does the same to the client subnet (RFC 7871) in the OPT record of a message of n octets. The
 * message keeps its length; its source prefix length becomes at most the prefix's. */
void tap_shorten_subnet(uint8_t *msg, size_t n, const struct tap_prefix *prefix);

#endif
