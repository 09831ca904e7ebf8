/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the zone must know of rdata: where the names in it are, for canonical form (RFC 4034 section
 * 6.2, as corrected by RFC 6840 section 5.1), and whether it has the shape of its type.
 */
#ifndef VOLLEY_ZONE_RDATA_H
#define VOLLEY_ZONE_RDATA_H

#include <stdint.h>

/* The octets [start, end) are uncompressed names whose case does not count. */
struct rdata_span {
	unsigned start, end;
};

/*
 * Is @rdata of @len octets well formed for @type? Checks the types of RFC 1035 and those that the
 * answer path looks into (addresses, embedded names, RRSIG), and the text strings; any other
 * passes. Pure. Returns 0, or ERR_RDATA.
 */
int rdata_check(uint16_t type, const uint8_t *rdata, unsigned len)
	__attribute__((warn_unused_result));

/*
 * Where the names are in rdata that rdata_check() passed; start == end when there are none. Pure.
 */
struct rdata_span rdata_names(uint16_t type, const uint8_t *rdata, unsigned len);

/* Canonical order of two rdatas of @type (RFC 4034 section 6.3): < 0, 0, > 0. Pure. */
int rdata_cmp(uint16_t type, const uint8_t *a, unsigned a_len, const uint8_t *b, unsigned b_len);

#endif
