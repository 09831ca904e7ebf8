/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TSIG (RFC 8945) as far as a server without keys needs it: the record that says "not this key".
 */
#ifndef VOLLEY_DNS_TSIG_H
#define VOLLEY_DNS_TSIG_H

#include <stddef.h>
#include <stdint.h>

#include "dns/query.h"

#define TSIG_ERROR_MAX (2 * DNS_NAME_MAX + DNS_RR_FIXED_BYTES + 16)

/*
 * Writes the unsigned TSIG record of a reply with TSIG error `error` (RFC 8945 section 5.2 and
 * 5.3.2): key, algorithm, time and fudge of the query's. q has a TSIG and was read from msg. It goes
 * behind all other records; the caller counts it in ARCOUNT. Returns its length, or ERR_RDATA where
 * the query's is malformed. Pure.
 */
int tsig_write_error(uint8_t out[TSIG_ERROR_MAX], const uint8_t *msg, const struct query *q,
		     uint16_t error) __attribute__((warn_unused_result));

#endif
