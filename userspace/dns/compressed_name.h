/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expands names that are compressed in messages (RFC 1035 section 4.1.4).
 *
 * A pointer leads to "a prior occurrence of the same name": one that begins after the header and
 * ends before the run of labels that the pointer belongs to. So there are no loops, and no name
 * uses later octets; query_parse() has the same rule.
 */
#ifndef VOLLEY_DNS_COMPRESSED_NAME_H
#define VOLLEY_DNS_COMPRESSED_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

/*
 * Expands the name at offset at of a message of len octets to dst, in its own letter case. *end
 * gets the offset after the name's own octets. Returns its length (1..255), or ERR_NAME,
 * ERR_NAME_LONG, ERR_SHORT; then dst is undefined. Pure; any thread.
 */
int name_follow(uint8_t dst[static NAME_FOLDED_BYTES], const uint8_t *msg, size_t len, size_t at,
		size_t *end) __attribute__((warn_unused_result));

#endif
