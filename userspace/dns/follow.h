/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names as they stand in messages, compressed (RFC 1035 section 4.1.4), made whole.
 *
 * A pointer leads to "a prior occurrence of the same name": behind the header, and ended before the
 * run of labels that the pointer belongs to. So there are no loops, and no name reaches into what
 * comes later; query_parse() has the same rule.
 */
#ifndef VOLLEY_DNS_FOLLOW_H
#define VOLLEY_DNS_FOLLOW_H

#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

/*
 * Writes the name at offset at of a message of len octets to dst, in its own letter case, and to
 * *end the offset behind it, where it stands. Returns its length (1..255), or ERR_NAME,
 * ERR_NAME_LONG, ERR_SHORT; dst is undefined then. Pure; any thread.
 */
int name_follow(uint8_t dst[static NAME_FOLDED_BYTES], const uint8_t *msg, size_t len, size_t at,
		size_t *end) __attribute__((warn_unused_result));

#endif
