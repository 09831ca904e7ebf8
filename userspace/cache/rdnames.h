/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in record data that may be compressed: those of RFC 1035, and of the types that a receiver
 * must accept so by RFC 3597 section 4. This section forbids it in the data of all other types, but
 * named and unbound accept it there too (NSEC, RRSIG, SVCB and so on), and so does this module.
 */
#ifndef VOLLEY_CACHE_RDNAMES_H
#define VOLLEY_CACHE_RDNAMES_H

#include <stddef.h>
#include <stdint.h>

#include "cache/message.h"

/*
 * Writes the data with its names uncompressed to out, at most cap octets. Returns their number; 0:
 * no name needs this, and the data in the message is complete as it is. ERR_RDATA: the data
 * does not fit its type. ERR_SPACE: out is too small.
 */
int rdnames_expand(const struct message *m, const struct message_record *record, uint8_t *out,
		   size_t cap) __attribute__((warn_unused_result));

#endif
