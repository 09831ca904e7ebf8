/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes record data as text, by the rows of dns/rdtypes.h: in the presentation form (RFC 1035
 * section 5.1 and the RFC of each type) if zone/rdtext.h and other name servers read it back as the
 * same octets, otherwise in the generic form (RFC 3597 section 5).
 */
#ifndef VOLLEY_ZONE_RDPRINT_H
#define VOLLEY_ZONE_RDPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "zone/zone.h"

#define RDPRINT_TEXT_MAX (272u << 10) /* four characters for each octet, and a little */
#define RDPRINT_NAME_MAX 1024

/*
 * Writes type and data of a record, "MX\t10 mail.example.", at @dst, which has room for
 * RDPRINT_TEXT_MAX, without a NUL. The generic form is for data that rdata_check() refuses, and for
 * types that few other servers know. Returns the length. Pure.
 */
size_t rdprint_record(char *dst, uint16_t type, const uint8_t *rdata, unsigned n);

/*
 * Writes the data in the form of its type at @dst, as above. Returns the length, or 0 if no such
 * form would be read back as the same octets. Pure.
 */
size_t rdprint(char *dst, uint16_t type, const uint8_t *rdata, unsigned n);

/*
 * Writes a checked name, absolute, at @dst with room for RDPRINT_NAME_MAX. Returns the length.
 * Pure.
 */
size_t rdprint_name(char *dst, const uint8_t *name);

/*
 * Writes the type's mnemonic, or TYPEnnn if other servers may not know it, at @dst with room for
 * 16. Returns the length. Pure.
 */
size_t rdprint_type(char *dst, uint16_t type);

size_t rdprint_u32(char *dst, uint32_t value);

/* Writes a version of a zone as one master file. */

/*
 * Writes every record on a line of its own: absolute owner, TTL, class, type, rdata; no directives
 * and no comments. The SOA comes first, then all others in canonical order. Rdata without a form of
 * its own has the generic form of RFC 3597 section 5. Any thread may call it. It ends early if
 * @cancel, unless NULL, becomes true. Returns 0, -ENOMEM, -ECANCELED, or -errno of the write.
 */
int zone_dump(const struct zone *z, FILE *out, const bool *cancel)
	__attribute__((warn_unused_result));

#endif
