/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rdata of the types that make up large zones as text: what zone/rdfast.h reads, written. It is the same
 * presentation form (RFC 1035 section 5.1, RFC 4034, RFC 5155 section 3.3, RFC 5952) that ldns has, some
 * ten times as fast; rare types and rdata that is odd are left to ldns.
 */
#ifndef VOLLEY_ZONE_RDPRINT_H
#define VOLLEY_ZONE_RDPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RDPRINT_RDATA_MAX 4096u
#define RDPRINT_TEXT_MAX \
	(5 * RDPRINT_RDATA_MAX + 4096) /* of rdata with an octet between all strings */
#define RDPRINT_NAME_MAX 1024

/*
 * Writes @rdata of @n octets at @dst, which has room for RDPRINT_TEXT_MAX, without a NUL. Returns the
 * length, or 0: another type, not of its form, or more than RDPRINT_RDATA_MAX. Pure.
 */
size_t rdprint(char *dst, uint16_t type, const uint8_t *rdata, unsigned n);

/*
 * One of the types of rdprint()? Rdata of them that it refuses has no text that is sure to be read back
 * (an SOA with a minimum of 136 years, say), but for the generic form of RFC 3597.
 */
bool rdprint_knows(uint16_t type);

/* A checked name, absolute, at @dst with room for RDPRINT_NAME_MAX; the length. Pure. */
size_t rdprint_name(char *dst, const uint8_t *name);

/* The type's mnemonic or TYPEnnn, at @dst with room for 16; the length. Pure. */
size_t rdprint_type(char *dst, uint16_t type);

size_t rdprint_u32(char *dst, uint32_t value);

#endif
